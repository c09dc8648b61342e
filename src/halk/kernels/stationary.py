"""Kernels of the distance between two points over a bandwidth.

To add one: a class, its formula registered with ``kernel_value``, how its bandwidth is
multiplied registered with ``rescaled``, and its name in ``__all__``. The formulas in
lanes at the end are for speed; the plain ones are their twins.
"""

from math import exp, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from halk._jit import (
    FARTHEST,
    Lanes,
    decay,
    fma,
    generic,
    generic_in_lanes,
    generic_procedure,
    least,
    load,
    root,
    scaled_tuple,
    spread,
)
from halk._validation import Matrix, Vector, positive
from halk.kernels.base import (
    Kernel,
    kernel_lanes,
    kernel_value,
    rescaled,
)

__all__ = ["Gaussian", "Laplacian", "Matern32", "Matern52"]


@generic_procedure
def squared_ratio(bandwidth: Any, x: Vector, y: Vector) -> float:
    """Return the squared distance of two points, each feature over its bandwidth."""
    raise TypeError("bandwidth must be a number or one number per feature")


@squared_ratio.register(float)
def _(bandwidth: float, x: Vector, y: Vector) -> float:
    total = 0.0
    for k in range(len(x)):
        ratio = (x[k] - y[k]) / bandwidth
        total += ratio * ratio
    return total


@squared_ratio.register(tuple)
def _(bandwidth: tuple[float, ...], x: Vector, y: Vector) -> float:
    total = 0.0
    for k in range(len(x)):
        ratio = (x[k] - y[k]) / bandwidth[k]
        total += ratio * ratio
    return total


@generic_in_lanes
def squared_ratios(
    bandwidth: Any, atoms: Matrix, k: int, points: Matrix, r: int
) -> Lanes:
    """Return squared distances in lanes, each feature over its bandwidth."""
    raise TypeError("bandwidth must be a number or one number per feature")


@squared_ratios.register(float)
def _(bandwidth: float, atoms: Matrix, k: int, points: Matrix, r: int) -> Lanes:
    # Written out for up to three features: the loop's own bookkeeping costs as much as
    # one of them.
    inverse, p = spread(1.0 / bandwidth), len(atoms)
    # divided before it is squared: squares of bandwidths leave the finite numbers
    ratio = (load(atoms[0], k) - spread(points[0, r])) * inverse
    total = ratio * ratio
    if p > 1:
        ratio = (load(atoms[1], k) - spread(points[1, r])) * inverse
        total = fma(ratio, ratio, total)
    if p > 2:
        ratio = (load(atoms[2], k) - spread(points[2, r])) * inverse
        total = fma(ratio, ratio, total)
    for f in range(3, p):
        ratio = (load(atoms[f], k) - spread(points[f, r])) * inverse
        total = fma(ratio, ratio, total)
    return total


@squared_ratios.register(tuple)
def _(bandwidth: Any, atoms: Matrix, k: int, points: Matrix, r: int) -> Lanes:
    total = spread(0.0)
    for f in range(len(atoms)):
        difference = load(atoms[f], k) - spread(points[f, r])
        ratio = difference * spread(1.0 / bandwidth[f])
        total = fma(ratio, ratio, total)
    return total


@generic
def _multiplied(bandwidth: Any, factor: float) -> Any:
    raise TypeError("bandwidth must be a number or one number per feature")


@_multiplied.register(float)
def _(bandwidth: float, factor: float) -> float:
    return bandwidth * factor


@_multiplied.register(tuple)
def _(bandwidth: tuple[float, ...], factor: float) -> tuple[float, ...]:
    return scaled_tuple(bandwidth, factor)


class _Bandwidth(NamedTuple):
    bandwidth: Any


class _Stationary(Kernel, _Bandwidth):
    """Shared by the kernels below: one bandwidth, or one for each feature."""

    __slots__ = ()

    def __new__(cls, bandwidth: Any = 1.0) -> Self:
        if np.ndim(bandwidth) == 0:
            return _Bandwidth.__new__(cls, positive("bandwidth", bandwidth))
        values = tuple(positive("bandwidth", value) for value in bandwidth)
        if not values:
            raise ValueError("bandwidth must have one entry per feature, got none")
        return _Bandwidth.__new__(cls, values)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return a narrow and a wide kernel, and one with a bandwidth a feature."""
        return cls(0.3), cls(2.0), cls((0.5, 2.0, 1.0))

    @property
    def at_itself(self) -> float:
        """``k(x, x)``, which is 1."""
        return 1.0

    def check_features(self, n_features: int) -> None:
        """Raise ``ValueError`` unless there is a bandwidth for every feature."""
        if isinstance(self.bandwidth, tuple) and len(self.bandwidth) != n_features:
            raise ValueError(
                f"bandwidth must be a number or have one entry per feature "
                f"({n_features}), got {len(self.bandwidth)} entries"
            )


class Gaussian(_Stationary):
    r"""Gaussian kernel, smooth everywhere.

    .. math:: k(x, y) = \exp\bigl(-|x - y|^2 / (2 \sigma^2)\bigr)

    Parameters
    ----------
    bandwidth : float or sequence of float, positive
        Length over which the function varies, in the unit of the inputs; a sequence
        gives every feature its own.

    Examples
    --------
    >>> Gaussian(2.0)([[0.0]], [[0.0], [2.0]]).round(3)
    array([[1.   , 0.607]])
    """

    __slots__ = ()


class Laplacian(_Stationary):
    """Laplacian kernel, for rough functions: ``exp(-|x - y| / bandwidth)``."""

    __slots__ = ()


class Matern32(_Stationary):
    """Matern 3/2 kernel, for functions with one derivative.

    ``(1 + a) exp(-a)`` with ``a = sqrt(3) |x - y| / bandwidth``.
    """

    __slots__ = ()


class Matern52(_Stationary):
    """Matern 5/2 kernel, for functions with two derivatives.

    ``(1 + a + a^2 / 3) exp(-a)`` with ``a = sqrt(5) |x - y| / bandwidth``.
    """

    __slots__ = ()


@kernel_value.register
def _(kernel: Gaussian, x: Vector, y: Vector) -> float:
    return exp(-0.5 * squared_ratio(kernel.bandwidth, x, y))


@kernel_value.register
def _(kernel: Laplacian, x: Vector, y: Vector) -> float:
    return exp(-sqrt(squared_ratio(kernel.bandwidth, x, y)))


@kernel_value.register
def _(kernel: Matern32, x: Vector, y: Vector) -> float:
    a = sqrt(3.0 * squared_ratio(kernel.bandwidth, x, y))
    return (1.0 + a) * exp(-a)


@kernel_value.register
def _(kernel: Matern52, x: Vector, y: Vector) -> float:
    a = sqrt(5.0 * squared_ratio(kernel.bandwidth, x, y))
    return (1.0 + a + a * a / 3.0) * exp(-a)


@rescaled.register
def _(kernel: Gaussian, factor: float) -> Gaussian:
    return Gaussian(_multiplied(kernel.bandwidth, factor))


@rescaled.register
def _(kernel: Laplacian, factor: float) -> Laplacian:
    return Laplacian(_multiplied(kernel.bandwidth, factor))


@rescaled.register
def _(kernel: Matern32, factor: float) -> Matern32:
    return Matern32(_multiplied(kernel.bandwidth, factor))


@rescaled.register
def _(kernel: Matern52, factor: float) -> Matern52:
    return Matern52(_multiplied(kernel.bandwidth, factor))


@kernel_lanes.register
def _(
    kernel: Gaussian, atoms: Matrix, k: int, m: int, points: Matrix, r: int,
    scratch: Matrix,
) -> Lanes:  # fmt: skip
    squares = squared_ratios(kernel.bandwidth, atoms, k, points, r)
    return decay(spread(0.5) * squares)


@kernel_lanes.register
def _(
    kernel: Laplacian, atoms: Matrix, k: int, m: int, points: Matrix, r: int,
    scratch: Matrix,
) -> Lanes:  # fmt: skip
    squares = squared_ratios(kernel.bandwidth, atoms, k, points, r)
    return decay(root(squares))


@kernel_lanes.register
def _(
    kernel: Matern32, atoms: Matrix, k: int, m: int, points: Matrix, r: int,
    scratch: Matrix,
) -> Lanes:  # fmt: skip
    squares = squared_ratios(kernel.bandwidth, atoms, k, points, r)
    a = least(root(spread(3.0) * squares), spread(FARTHEST))
    return (spread(1.0) + a) * decay(a)


@kernel_lanes.register
def _(
    kernel: Matern52, atoms: Matrix, k: int, m: int, points: Matrix, r: int,
    scratch: Matrix,
) -> Lanes:  # fmt: skip
    squares = squared_ratios(kernel.bandwidth, atoms, k, points, r)
    a = least(root(spread(5.0) * squares), spread(FARTHEST))
    return fma(a, fma(a, spread(1.0 / 3.0), spread(1.0)), spread(1.0)) * decay(a)
