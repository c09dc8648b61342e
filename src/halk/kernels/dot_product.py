"""Kernels of the inner product of two points, and the constant kernel."""

from math import pow
from typing import NamedTuple, Self

from halk._jit import Lanes, compiled, fma, inlined, load, spread
from halk._validation import Matrix, Vector, integer, nonnegative, positive
from halk.kernels.base import Kernel, kernel_lanes, kernel_value

__all__ = ["Constant", "Linear", "Polynomial"]


@compiled
def inner_product(x: Vector, y: Vector) -> float:
    """Return ``<x, y>``."""
    total = 0.0
    for k in range(len(x)):
        total += x[k] * y[k]
    return total


@inlined
def inner_products(atoms: Matrix, k: int, points: Matrix, r: int) -> Lanes:
    """Return ``<d, x>`` in lanes."""
    total = spread(0.0)
    for f in range(len(atoms)):
        total = fma(load(atoms[f], k), spread(points[f, r]), total)
    return total


@inlined
def power(base: Lanes, degree: int) -> Lanes:
    """Return ``base^degree`` by squaring."""
    result = spread(1.0)
    while degree > 0:
        if degree % 2 == 1:
            result = result * base
        base = base * base
        degree //= 2
    return result


class Linear(Kernel, NamedTuple("_Linear", [("scale", float)])):
    """Linear kernel ``scale <x, y>``: the functions are the plane ones through 0."""

    __slots__ = ()

    def __new__(cls, scale: float = 1.0) -> Self:
        return super().__new__(cls, positive("scale", scale))


class Constant(Kernel, NamedTuple("_Constant", [("value", float)])):
    """Constant kernel ``value``: adds an offset to another kernel's functions."""

    __slots__ = ()

    def __new__(cls, value: float = 1.0) -> Self:
        return super().__new__(cls, nonnegative("value", value))


class _Polynomial(NamedTuple):
    degree: float
    scale: float
    offset: float


class Polynomial(Kernel, _Polynomial):
    """Polynomial kernel ``(scale <x, y> + offset)^degree``.

    Parameters
    ----------
    degree : int, at least 1
    scale : float, positive
    offset : float, not negative
        Zero leaves the terms of highest degree only.
    """

    __slots__ = ()

    def __new__(cls, degree: int = 2, scale: float = 1.0, offset: float = 1.0) -> Self:
        # whole, but held as a float: an int field would compile every loop again
        whole = int(degree) if isinstance(degree, float) and degree % 1 == 0 else degree
        return _Polynomial.__new__(
            cls,
            float(integer("degree", whole, minimum=1)),
            positive("scale", scale),
            nonnegative("offset", offset),
        )

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return a quadratic, and a cubic without lower terms."""
        return cls(), cls(3, 0.5, 0.0)


@kernel_value.register
def _(kernel: Linear, x: Vector, y: Vector) -> float:
    return kernel.scale * inner_product(x, y)


@kernel_value.register
def _(kernel: Constant, x: Vector, y: Vector) -> float:
    return kernel.value


@kernel_value.register
def _(kernel: Polynomial, x: Vector, y: Vector) -> float:
    return pow(kernel.scale * inner_product(x, y) + kernel.offset, kernel.degree)


@kernel_lanes.register
def _(
    kernel: Linear, atoms: Matrix, k: int, m: int, points: Matrix, r: int,
    scratch: Matrix,
) -> Lanes:  # fmt: skip
    return spread(kernel.scale) * inner_products(atoms, k, points, r)


@kernel_lanes.register
def _(
    kernel: Constant, atoms: Matrix, k: int, m: int, points: Matrix, r: int,
    scratch: Matrix,
) -> Lanes:  # fmt: skip
    return spread(kernel.value)


@kernel_lanes.register
def _(
    kernel: Polynomial, atoms: Matrix, k: int, m: int, points: Matrix, r: int,
    scratch: Matrix,
) -> Lanes:  # fmt: skip
    product = inner_products(atoms, k, points, r)
    base = fma(spread(kernel.scale), product, spread(kernel.offset))
    return power(base, int(kernel.degree))
