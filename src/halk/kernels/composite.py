"""Sums and products of kernels, which are kernels again."""

from numbers import Real
from typing import Any, NamedTuple, Self

from halk._jit import Lanes
from halk._validation import Matrix, Vector
from halk.kernels.base import Kernel, kernel_lanes, kernel_value, rescaled
from halk.kernels.dot_product import Constant, Linear
from halk.kernels.stationary import Gaussian, Laplacian

__all__ = ["Product", "Sum"]


class _Pair(NamedTuple):
    left: Any
    right: Any


class _Composite(Kernel, _Pair):
    __slots__ = ()

    def __new__(cls, left: Any, right: Any) -> Self:
        for name, part in (("left", left), ("right", right)):
            if not isinstance(part, Kernel):
                raise TypeError(f"{name} must be a kernel, got {part!r}")
        return _Pair.__new__(cls, left, right)

    def check_features(self, n_features: int) -> None:
        """Raise ``ValueError`` if a part cannot take points of this length."""
        self.left.check_features(n_features)
        self.right.check_features(n_features)


class Sum(_Composite):
    """Sum of two kernels; made by ``left + right``.

    Examples
    --------
    >>> Gaussian(0.1) + Linear()
    Sum(left=Gaussian(bandwidth=0.1), right=Linear(scale=1.0))
    """

    __slots__ = ()

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return a plain and a nested sum."""
        plain = cls(Gaussian(0.5), Linear(0.2))
        return plain, cls(plain, Laplacian(2.0))


class Product(_Composite):
    """Product of two kernels; made by ``left * right``."""

    __slots__ = ()

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return a plain and a nested product."""
        plain = cls(Constant(2.0), Gaussian(1.0))
        return plain, cls(Sum.examples()[0], plain)


@kernel_value.register
def _(kernel: Sum, x: Vector, y: Vector) -> float:
    return kernel_value(kernel.left, x, y) + kernel_value(kernel.right, x, y)


@kernel_value.register
def _(kernel: Product, x: Vector, y: Vector) -> float:
    return kernel_value(kernel.left, x, y) * kernel_value(kernel.right, x, y)


@kernel_lanes.register
def _(
    kernel: Sum, atoms: Matrix, k: int, m: int, points: Matrix, r: int, scratch: Matrix
) -> Lanes:
    left = kernel_lanes(kernel.left, atoms, k, m, points, r, scratch)
    return left + kernel_lanes(kernel.right, atoms, k, m, points, r, scratch)


@kernel_lanes.register
def _(
    kernel: Product, atoms: Matrix, k: int, m: int, points: Matrix, r: int,
    scratch: Matrix,
) -> Lanes:  # fmt: skip
    left = kernel_lanes(kernel.left, atoms, k, m, points, r, scratch)
    return left * kernel_lanes(kernel.right, atoms, k, m, points, r, scratch)


@rescaled.register
def _(kernel: Sum, factor: float) -> Sum:
    return Sum(rescaled(kernel.left, factor), rescaled(kernel.right, factor))


@rescaled.register
def _(kernel: Product, factor: float) -> Product:
    return Product(rescaled(kernel.left, factor), rescaled(kernel.right, factor))


def combine(kind: str, left: Any, right: Any) -> Any:
    """Return the sum or product; a plain number stands for a constant kernel."""
    parts = [
        Constant(float(part)) if isinstance(part, Real) else part
        for part in (left, right)
    ]
    if not all(isinstance(part, Kernel) for part in parts):
        return NotImplemented
    return Sum(*parts) if kind == "Sum" else Product(*parts)
