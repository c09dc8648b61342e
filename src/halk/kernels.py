"""Kernels: the similarity of two points, which decides what functions can be learned.

Combine them with ``+`` and ``*``. To write one: a function ``k(X, Y)`` of points
(n, p) and (m, p) that returns the matrix (n, m) of their similarities, or a frozen
dataclass derived from :class:`Kernel` with such a method ``matrix``. The core has the
formulas of halk's own kernels natively; it calls back the others.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from halk import _core
from halk._validation import (
    Matrix,
    Vector,
    finite_array,
    integer,
    nonnegative,
    per_item,
    positive,
    require,
)
from halk.component import Component, check_result, find_arguments

__all__ = [
    "Constant", "Custom", "Gaussian", "Kernel", "Laplacian", "Linear", "Matern32",
    "Matern52", "Periodic", "Polynomial", "Product", "RationalQuadratic", "Sum",
    "as_kernel", "rescale",
]  # fmt: skip

Lengths = float | tuple[float, ...]

_FARTHEST = 1e4
"""Distance from which on exponentials are zero; keeps ``inf * 0`` out of formulas."""

_HIGHEST = 1000
"""Degree beyond which a power of nearly anything is zero or infinite."""


class Kernel(Component):
    """A positive semidefinite function of two points, with ``+`` and ``*``.

    Calling a kernel gives the Gram matrix of two sets of points.
    """

    # a NumPy number on the left of an operator would call its own operator
    __array_ufunc__ = None

    def matrix(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return the matrix (n, m) of ``k(X[i], Y[j])``: the formula of the kernel."""
        raise NotImplementedError(f"{type(self).__name__} has no method matrix")

    def diagonal(self, X: Matrix) -> Vector:
        """Return ``k(x, x)`` for every row of ``X``."""
        rows = [self.matrix(x[None], x[None])[0, 0] for x in X]
        return np.array(rows, dtype=np.float64)

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the matrix of ``k(X[i], Y[j])``; ``Y`` defaults to ``X``."""
        X = finite_array("X", X, (None, None))
        Y = X if Y is None else finite_array("Y", Y, (None, X.shape[1]))
        self.check_features(X.shape[1])
        return check_result(self, self.matrix(X, Y), (len(X), len(Y)))

    def check_features(self, n_features: int) -> None:
        """Raise ``ValueError`` if the kernel cannot take points of this length."""

    def native(self, n_features: int) -> _core.Kernel:
        """Return the kernel for the core, which calls ``matrix`` where it has none."""
        self.check_features(n_features)
        scales = _per_feature(getattr(self, "length_scale", None), n_features)
        if self.native_name is not None:
            numbers = self._parameters(n_features)
            return _core.native_kernel(self.native_name, n_features, scales, numbers)

        def matrix(X: Matrix, Y: Matrix, scale: float) -> Matrix:
            values = rescale(self, scale).matrix(X, Y)
            return check_result(self, values, (len(X), len(Y)))

        return _core.PythonKernel(n_features, matrix, scales)

    def _parameters(self, n_features: int) -> list[float]:
        """Return what the native formula takes besides length scales, in order."""
        return [number for name, number in vars(self).items() if name != "length_scale"]

    def __add__(self, other: Any) -> Any:
        return _combine(Sum, self, other)

    def __radd__(self, other: Any) -> Any:
        return _combine(Sum, other, self)

    def __mul__(self, other: Any) -> Any:
        return _combine(Product, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _combine(Product, other, self)


def as_kernel(value: Any) -> Kernel:
    """Return a kernel as it is, a function ``k(X, Y)`` as a :class:`Custom` one.

    Examples
    --------
    >>> as_kernel(Gaussian(0.5))
    Gaussian(length_scale=0.5)
    >>> as_kernel(lambda X, Y: X @ Y.T)([[1.0, 2.0]])
    array([[5.]])
    """
    if isinstance(value, Kernel):
        return value
    if callable(value) and not isinstance(value, type | Component):
        return Custom(value)
    raise TypeError(
        f"kernel must be a kernel such as kernels.Gaussian(1.0), got {value!r}"
    )


def rescale(kernel: Kernel, factor: float) -> Kernel:
    """Return ``kernel`` with its length scale multiplied by ``factor``.

    In sums and products, that of the parts; kernels without one come back as they are.
    The others are made again by their constructor, which may derive more from it; one
    whose constructor does not take it is copied.

    Raises
    ------
    TypeError
        If the length scale of a user's own kernel cannot be set.

    Examples
    --------
    >>> rescale(Gaussian((1.0, 2.0)), 3.0)
    Gaussian(length_scale=(3.0, 6.0))
    """
    if isinstance(kernel, _Pair):
        return type(kernel)(rescale(kernel.left, factor), rescale(kernel.right, factor))
    if isinstance(kernel, Labelled):
        return Labelled(rescale(kernel.kernel, factor), kernel.identity)
    scale = getattr(kernel, "length_scale", None)
    if scale is None or factor == 1.0:
        return kernel
    is_sequence = isinstance(scale, tuple | list)
    wider = tuple(s * factor for s in scale) if is_sequence else scale * factor
    arguments = find_arguments(kernel)
    if arguments is not None and "length_scale" in arguments:
        return type(kernel)(**arguments | {"length_scale": wider})
    try:
        changed = copy(kernel)  # a plain class takes other arguments than it keeps
        object.__setattr__(changed, "length_scale", wider)
    except AttributeError:
        raise TypeError(
            f"{kernel!r} must keep length_scale as an attribute, or take it in its "
            f"constructor: agents that adapt it set it anew"
        ) from None
    return changed


def _per_feature(value: Lengths | None, n_features: int) -> list[float]:
    return [] if value is None else np.broadcast_to(value, n_features).tolist()


def as_lengths(name: str, value: Any) -> Lengths:
    """Return one positive number, or a tuple of one per feature."""
    if np.ndim(value) == 0:
        return positive(name, value)
    values = tuple(positive(name, number) for number in value)
    if not values:
        raise ValueError(f"{name} must have one entry per feature, got none")
    return values


# Kernels of the distance --------------------------------------------------------------


@dataclass(frozen=True)
class _Stationary(Kernel):
    """Shared by kernels of ``x - y``: one length scale, or one per feature."""

    length_scale: Lengths = 1.0

    _checks: ClassVar = {"length_scale": as_lengths}
    _examples: ClassVar[tuple[Any, ...]] = ((0.3,), (2.0,), ((0.5, 2.0, 1.0),))

    def check_features(self, n_features: int) -> None:
        """Raise ``ValueError`` unless there is a length scale for every feature."""
        per_item("length_scale", self.length_scale, n_features, "feature")

    def _squares(self, X: Matrix, Y: Matrix) -> Matrix:
        """Return squared distances, every feature over its length scale."""
        total = np.zeros((len(X), len(Y)))
        with np.errstate(over="ignore"):  # far is infinitely far
            for f, length in enumerate(_per_feature(self.length_scale, X.shape[1])):
                total += ((X[:, f, None] - Y[:, f]) / length) ** 2
        return total

    def _distances(self, X: Matrix, Y: Matrix, factor: float = 1.0) -> Matrix:
        """Return the square root of ``factor`` times squared distances."""
        with np.errstate(over="ignore"):
            distances = np.sqrt(factor * self._squares(X, Y))
        return np.minimum(distances, _FARTHEST)


class Gaussian(_Stationary):
    r"""Gaussian kernel, smooth everywhere.

    .. math:: k(x, y) = \exp\bigl(-|x - y|^2 / (2 \ell^2)\bigr)

    Parameters
    ----------
    length_scale : float or sequence of float, positive
        Length over which the function varies, in the unit of the inputs; a sequence
        gives every feature its own.

    Examples
    --------
    >>> Gaussian(2.0)([[0.0]], [[0.0], [2.0]]).round(3)
    array([[1.   , 0.607]])
    """

    _native = "gaussian"

    def matrix(self, X: Matrix, Y: Matrix) -> Matrix:
        return np.exp(-0.5 * self._squares(X, Y))


class Laplacian(_Stationary):
    """Laplacian kernel, for rough functions: ``exp(-|x - y| / length_scale)``."""

    _native = "laplacian"

    def matrix(self, X: Matrix, Y: Matrix) -> Matrix:
        return np.exp(-self._distances(X, Y))


class Matern32(_Stationary):
    """Matern 3/2 kernel, for functions with one derivative.

    ``(1 + a) exp(-a)`` with ``a = sqrt(3) |x - y| / length_scale``.
    """

    _native = "matern32"

    def matrix(self, X: Matrix, Y: Matrix) -> Matrix:
        a = self._distances(X, Y, 3.0)
        return (1.0 + a) * np.exp(-a)


class Matern52(_Stationary):
    """Matern 5/2 kernel, for functions with two derivatives.

    ``(1 + a + a^2 / 3) exp(-a)`` with ``a = sqrt(5) |x - y| / length_scale``.
    """

    _native = "matern52"

    def matrix(self, X: Matrix, Y: Matrix) -> Matrix:
        a = self._distances(X, Y, 5.0)
        return (1.0 + a + a * a / 3.0) * np.exp(-a)


@dataclass(frozen=True)
class RationalQuadratic(_Stationary):
    """A mixture of Gaussians of many lengths: ``(1 + r^2 / (2 alpha))^-alpha``.

    ``r`` is the distance over the length scale.

    Parameters
    ----------
    length_scale : float or sequence of float, positive
    alpha : float, positive
        The smaller, the more long lengths take part; for large ones it is a Gaussian.
    """

    alpha: float = 1.0

    _native = "rational_quadratic"
    _checks: ClassVar = {"length_scale": as_lengths, "alpha": positive}
    _examples = (0.3, 0.5), ((0.5, 2.0, 1.0), 3.0)

    def matrix(self, X: Matrix, Y: Matrix) -> Matrix:
        # by the logarithm: 1 + r^2 / (2 alpha) alone would round away a large alpha
        power = np.log1p(self._squares(X, Y) / (2.0 * self.alpha))
        return np.exp(-self.alpha * power)


@dataclass(frozen=True)
class Periodic(_Stationary):
    r"""Periodic kernel: what was true one period ago is true now.

    .. math:: k(x, y) = \exp\Bigl(-2 \sum_f \sin^2(\pi (x_f - y_f) / P_f)
              / \ell_f^2\Bigr)

    Parameters
    ----------
    length_scale : float or sequence of float, positive
        How smooth the function is within a period, in units of ``period / pi``.
    period : float or sequence of float, positive
        One for all features, or one per feature.

    Examples
    --------
    >>> Periodic(1.0, period=24.0)([[6.0]], [[30.0], [18.0]]).round(3)
    array([[1.   , 0.135]])
    """

    period: Lengths = 1.0

    _native = "periodic"
    _checks: ClassVar = {"length_scale": as_lengths, "period": as_lengths}
    _examples = (1.0, 3.0), ((0.5, 2.0, 1.0), (1.0, 24.0, 7.0))

    def check_features(self, n_features: int) -> None:
        """Raise ``ValueError`` unless every feature has a length scale and a period."""
        super().check_features(n_features)
        per_item("period", self.period, n_features, "feature")

    def _parameters(self, n_features: int) -> list[float]:
        return _per_feature(self.period, n_features)

    def matrix(self, X: Matrix, Y: Matrix) -> Matrix:
        total, p = np.zeros((len(X), len(Y))), X.shape[1]
        lengths = _per_feature(self.length_scale, p)
        for f, period in enumerate(_per_feature(self.period, p)):
            turns = (X[:, f, None] - Y[:, f]) / period
            # within half a turn: after many turns pi's own rounding would show
            total += (np.sin(np.pi * (turns - np.rint(turns))) / lengths[f]) ** 2
        return np.exp(-2.0 * total)


# Kernels of the inner product ---------------------------------------------------------


def _inner_products(X: Matrix, Y: Matrix) -> Matrix:
    # feature by feature, as the core does: products of matrices round otherwise
    total = np.zeros((len(X), len(Y)))
    for f in range(X.shape[1]):
        total += X[:, f, None] * Y[:, f]
    return total


@dataclass(frozen=True)
class Linear(Kernel):
    """Linear kernel ``scale <x, y>``: the functions are the plane ones through 0."""

    scale: float = 1.0

    _native = "polynomial"
    _checks: ClassVar = {"scale": positive}

    def matrix(self, X: Matrix, Y: Matrix) -> Matrix:
        return self.scale * _inner_products(X, Y)

    def _parameters(self, n_features: int) -> list[float]:
        return [1.0, self.scale, 0.0]


def _degree(name: str, value: Any) -> int:
    degree = integer(name, value, minimum=1)
    require(degree <= _HIGHEST, name, f"be at most {_HIGHEST}", degree)
    return degree


@dataclass(frozen=True)
class Polynomial(Kernel):
    """Polynomial kernel ``(scale <x, y> + offset)^degree``.

    Parameters
    ----------
    degree : int, from 1 to 1000
    scale : float, positive
    offset : float, not negative
        Zero leaves the terms of highest degree only.
    """

    degree: int = 2
    scale: float = 1.0
    offset: float = 1.0

    _native = "polynomial"
    _checks: ClassVar = {"degree": _degree, "scale": positive, "offset": nonnegative}
    _examples = (), (3, 0.5, 0.0)

    def matrix(self, X: Matrix, Y: Matrix) -> Matrix:
        values: Matrix = self.scale * _inner_products(X, Y) + self.offset
        return values**self.degree


@dataclass(frozen=True)
class Constant(Kernel):
    """Constant kernel ``value``: adds an offset to another kernel's functions."""

    value: float = 1.0

    _native = "polynomial"
    _checks: ClassVar = {"value": nonnegative}

    def matrix(self, X: Matrix, Y: Matrix) -> Matrix:
        return np.full((len(X), len(Y)), self.value)

    def _parameters(self, n_features: int) -> list[float]:
        return [1.0, 0.0, self.value]


# Sums, products, and a user's own -----------------------------------------------------


def _part(name: str, value: Any) -> Kernel:
    if not isinstance(value, Kernel):
        raise TypeError(f"{name} must be a kernel, got {value!r}")
    return value


@dataclass(frozen=True)
class Labelled(Kernel):
    """A kernel of points whose last feature says whose they are.

    ``kernel`` of the other features, times ``exp(-identity)`` between points with
    different labels.
    """

    kernel: Kernel
    identity: float = 0.0

    _native = "labelled"
    _checks: ClassVar = {"identity": nonnegative}
    _examples = ((Gaussian(0.5), 0.3),)

    def matrix(self, X: Matrix, Y: Matrix) -> Matrix:
        other = np.where(X[:, -1:] == Y[:, -1], 1.0, np.exp(-self.identity))
        return self.kernel.matrix(X[:, :-1], Y[:, :-1]) * other

    def check_features(self, n_features: int) -> None:
        require(n_features > 1, "n_features", "be above 1 for labels", n_features)
        self.kernel.check_features(n_features - 1)

    def native(self, n_features: int) -> _core.Kernel:
        self.check_features(n_features)
        inner = self.kernel.native(n_features - 1)
        return _core.LabelledKernel(inner, float(np.exp(-self.identity)))


@dataclass(frozen=True)
class _Pair(Kernel):
    left: Kernel
    right: Kernel

    _operator: ClassVar[np.ufunc]
    _checks: ClassVar = {"left": _part, "right": _part}

    def check_features(self, n_features: int) -> None:
        """Raise ``ValueError`` if a part cannot take points of this length."""
        self.left.check_features(n_features)
        self.right.check_features(n_features)

    def matrix(self, X: Matrix, Y: Matrix) -> Any:
        return self._operator(self.left.matrix(X, Y), self.right.matrix(X, Y))

    def native(self, n_features: int) -> _core.Kernel:
        left, right = self.left.native(n_features), self.right.native(n_features)
        return _core.PairKernel(left, right, self._operator is np.add)


class Sum(_Pair):
    """Sum of two kernels; made by ``left + right``.

    Examples
    --------
    >>> Gaussian(0.1) + Linear()
    Sum(left=Gaussian(length_scale=0.1), right=Linear(scale=1.0))
    """

    _operator = np.add
    _examples = (Gaussian(0.5), Linear(0.2)), (Laplacian(2.0), Constant(0.5))


class Product(_Pair):
    """Product of two kernels; made by ``left * right``."""

    _operator = np.multiply
    _examples = (
        (Constant(2.0), Gaussian(1.0)),
        (Sum(Gaussian(0.5), Sum(Linear(0.2), Laplacian(2.0))), Matern32(1.0)),
    )


def _combine(kind: type[_Pair], left: Any, right: Any) -> Any:
    """Return the sum or product; a plain number stands for a constant kernel."""
    pair = (left, right)
    parts = [Constant(float(k)) if isinstance(k, Real) else k for k in pair]
    return kind(*parts) if all(isinstance(k, Kernel) for k in parts) else NotImplemented


def _cosine(X: Matrix, Y: Matrix) -> Matrix:
    lengths = [np.sqrt((Z**2).sum(axis=1) + 1.0) for Z in (X, Y)]
    return np.asarray((X @ Y.T + 1.0) / np.outer(*lengths))


@dataclass(frozen=True, repr=False)
class Custom(Kernel):
    """A kernel from a function of two sets of points.

    Parameters
    ----------
    function : callable
        Takes arrays (n, p) and (m, p), returns the matrix (n, m) of ``k(x, y)``. Run
        it through ``halk.checks.check_kernel``: a function that is not symmetric
        positive semidefinite is no kernel.

    Examples
    --------
    >>> def seasonal(X, Y):
    ...     return 1.0 + np.cos(X[:, :1] - Y[:, 0])
    >>> Custom(seasonal)([[0.0], [3.1415926536]]).round(6)
    array([[2., 0.],
           [0., 2.]])
    """

    function: Callable[[Any, Any], Any]

    _examples = ((_cosine,),)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}")

    def __repr__(self) -> str:
        return f"Custom({getattr(self.function, '__qualname__', self.function)})"

    def matrix(self, X: Matrix, Y: Matrix) -> Any:
        return self.function(X, Y)
