"""A kernel that the user writes as a plain function."""

from collections.abc import Callable
from functools import lru_cache
from math import exp, sin
from typing import Any, NamedTuple, Self

from halk._jit import point_function
from halk._validation import Vector
from halk.kernels.base import Kernel, kernel_value

__all__ = ["Custom"]

# one pointer a function, so that equal functions make equal kernels
_pointer = lru_cache(maxsize=None)(point_function)


class _Custom(NamedTuple):
    function: Any


class Custom(Kernel, _Custom):
    """A kernel from a function of two points.

    Parameters
    ----------
    function : callable
        Takes two vectors, returns ``k(x, y)``. It is compiled, so it is written with
        loops, indexing and ``math``; what it closes over is frozen when it is wrapped.
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
        return _Custom.__new__(cls, _pointer(function))

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
