"""Kernels of the inner product of two points, and the constant kernel."""

from math import pow
from typing import NamedTuple, Self

from halk._jit import compiled
from halk._validation import Vector, integer, nonnegative, positive
from halk.kernels.base import Kernel, kernel_value

__all__ = ["Constant", "Linear", "Polynomial"]


@compiled
def inner_product(x: Vector, y: Vector) -> float:
    """Return ``<x, y>``."""
    total = 0.0
    for k in range(len(x)):
        total += x[k] * y[k]
    return total


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
