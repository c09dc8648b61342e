"""A kernel that the user writes as a plain function."""

from collections.abc import Callable
from functools import cache
from math import exp, sin
from typing import Any, NamedTuple, Self

from halk._jit import (
    InLanes,
    Lanes,
    generic_in_lanes,
    lane_function,
    point_function,
    same,
    several,
)
from halk._validation import Matrix, Vector
from halk.kernels.base import Kernel, kernel_lanes, kernel_one_by_one, kernel_value

__all__ = ["Custom"]


@cache
def _compiled(function: Callable[[Any, Any], float]) -> tuple[Any, Any]:
    """Return pointers, the same for the same function: equal ones are equal kernels."""
    return point_function(function), lane_function(function)


class _Custom(NamedTuple):
    function: Any
    in_lanes: Any  # the same for four atoms at a time; None if it cannot be compiled so


class Custom(Kernel, _Custom):
    """A kernel from a function of two points.

    Parameters
    ----------
    function : callable
        Takes two vectors, returns ``k(x, y)``. It is compiled, so it is written with
        loops, indexing and ``math``; what it closes over is frozen when it is wrapped.
        One that does without comparisons and slices runs for four atoms at a time,
        and takes half the time; ``min`` and ``max`` of two numbers are no comparisons.
        Run it through ``halk.checks.check_kernel``: a function that is not symmetric
        positive semidefinite is no kernel.

    Examples
    --------
    >>> from math import cos
    >>> def seasonal(x, y):
    ...     return 1.0 + cos(x[0] - y[0])
    >>> Custom(seasonal)([[0.0], [3.1415926536]]).round(6)
    array([[2., 0.],
           [0., 2.]])
    """

    __slots__ = ()

    def __new__(cls, function: Callable[[Any, Any], float]) -> Self:
        if not callable(function):
            raise TypeError(f"function must be callable, got {function!r}")
        return _Custom.__new__(cls, *_compiled(function))

    @property
    def source(self) -> Callable[[Any, Any], float]:
        """The function as the user wrote it."""
        return getattr(self.function, "__wrapped__", self.function)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"Custom({getattr(self.source, '__qualname__', self.source)})"

    def __reduce__(self) -> tuple[type, tuple[Callable[..., float]]]:
        return Custom, (self.source,)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return a periodic kernel in the first feature."""
        return (cls(_periodic),)


def _periodic(x: Vector, y: Vector) -> float:
    half = sin(0.5 * (x[0] - y[0]))
    return exp(-2.0 * half * half)


@kernel_value.register
def _(kernel: Custom, x: Vector, y: Vector) -> float:
    return kernel.function(x, y)  # type: ignore[no-any-return]


@kernel_lanes.register
def _(
    kernel: Custom, atoms: Matrix, k: int, m: int, points: Matrix, r: int,
    scratch: Matrix,
) -> Lanes:  # fmt: skip
    return _lanes_by(kernel.in_lanes, kernel, atoms, k, m, points, r, scratch)


@generic_in_lanes
def _lanes_by(
    way: Any, kernel: Any, atoms: Matrix, k: int, m: int, points: Matrix, r: int,
    scratch: Matrix,
) -> Lanes:  # fmt: skip
    return kernel_one_by_one(kernel, atoms, k, m, points, r, scratch)


@_lanes_by.register
def _(
    way: InLanes, kernel: Any, atoms: Matrix, k: int, m: int, points: Matrix, r: int,
    scratch: Matrix,
) -> Lanes:  # fmt: skip
    n = m - k
    return way.function(several(atoms, k, n), same(points, r, n), n)
