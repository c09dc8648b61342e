"""Every kernel through its laws, and against other people's formulas."""

import pickle
from dataclasses import dataclass
from functools import partial
from math import exp, inf
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise

from halk import checks, reference
from halk.component import subclasses
from halk.errors import LawError
from halk.function import Function
from halk.kernels import (
    Constant,
    Custom,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Periodic,
    Polynomial,
    Product,
    RationalQuadratic,
    Sum,
    as_kernel,
    rescale,
)

WIDTHS, PERIODS = (0.5, 2.0, 1.0), (1.0, 24.0, 7.0)
INSTANCES = [
    kernel
    for cls in subclasses(Kernel)
    if cls.__module__.startswith("halk.")
    for kernel in cls.examples()
]
every_kernel = pytest.mark.parametrize("kernel", INSTANCES, ids=repr)


@pytest.fixture
def points(rng: np.random.Generator) -> tuple[Any, Any]:
    return rng.normal(size=(7, 3)), rng.normal(size=(5, 3))


@every_kernel
def test_laws(kernel: Kernel) -> None:
    checks.check_kernel(kernel)
    checks.check_kernel(kernel, n_features=3, seed=1)


def test_discovery_finds_all() -> None:
    found = {cls.__name__ for cls in subclasses(Kernel)}
    assert found >= {"Gaussian", "Laplacian", "Matern32", "Matern52", "Polynomial"}
    assert found >= {"Linear", "Constant", "Sum", "Product", "Custom"}
    assert found >= {"Periodic", "RationalQuadratic"}
    assert not any(name.startswith("_") for name in found)


# Agreement ----------------------------------------------------------------------------

SKLEARN: list[tuple[Kernel, Any]] = [
    (Gaussian(0.7), lambda X, Y: pairwise.rbf_kernel(X, Y, gamma=0.5 / 0.49)),
    (Gaussian(WIDTHS), gp.RBF(WIDTHS)),
    (Laplacian(0.7), gp.Matern(0.7, nu=0.5)),
    (Laplacian(WIDTHS), gp.Matern(WIDTHS, nu=0.5)),
    (Matern32(0.7), gp.Matern(0.7, nu=1.5)),
    (Matern32(WIDTHS), gp.Matern(WIDTHS, nu=1.5)),
    (Matern52(0.7), gp.Matern(0.7, nu=2.5)),
    (Matern52(WIDTHS), gp.Matern(WIDTHS, nu=2.5)),
    (RationalQuadratic(0.7, 1.5), gp.RationalQuadratic(0.7, alpha=1.5)),
    (RationalQuadratic(2.0, 0.3), gp.RationalQuadratic(2.0, alpha=0.3)),
    (Linear(), pairwise.linear_kernel),
    (Constant(3.0), gp.ConstantKernel(3.0)),
    (
        Polynomial(3, 0.5, 2.0),
        lambda X, Y: pairwise.polynomial_kernel(X, Y, degree=3, gamma=0.5, coef0=2.0),
    ),
    (Sum(Gaussian(0.7), Linear()), gp.RBF(0.7) + gp.DotProduct(sigma_0=0.0)),
    (2.0 * Gaussian(0.7), gp.ConstantKernel(2.0) * gp.RBF(0.7)),
]


@pytest.mark.parametrize(
    ("kernel", "other"), SKLEARN, ids=[repr(k)[:40] for k, _ in SKLEARN]
)
def test_agrees_with_scikit_learn(kernel: Kernel, other: Any, points: Any) -> None:
    X, Y = points
    np.testing.assert_allclose(kernel(X, Y), other(X, Y), rtol=1e-12, atol=1e-14)


def test_periodic_agrees_with_scikit_learn(points: Any) -> None:
    """As a product over features: scikit-learn's takes the distance of all first."""
    expected = np.ones((7, 5))
    for f, (width, period) in enumerate(zip(WIDTHS, PERIODS, strict=True)):
        one = gp.ExpSineSquared(width, periodicity=period)
        expected *= one(points[0][:, f, None], points[1][:, f, None])
    got = Periodic(WIDTHS, PERIODS)(*points)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_periodic_is_the_same_many_periods_later() -> None:
    x, y = np.array([[0.25]]), np.array([[0.75]])
    kernel = Periodic(0.5, 2.0)
    assert kernel(x, y + 2.0**40) == kernel(x, y)


REFERENCE: list[tuple[Kernel, Any]] = [
    *(
        (
            cls(widths),
            partial(getattr(reference, cls.__name__.lower()), length_scale=widths),
        )
        for cls in (Gaussian, Laplacian, Matern32, Matern52)
        for widths in (0.7, WIDTHS)
    ),
    (
        RationalQuadratic(WIDTHS, 1.5),
        partial(reference.rational_quadratic, length_scale=WIDTHS, alpha=1.5),
    ),
    (
        Periodic(WIDTHS, PERIODS),
        partial(reference.periodic, length_scale=WIDTHS, period=PERIODS),
    ),
    (
        Polynomial(3, 0.5, 2.0),
        partial(reference.polynomial, degree=3, scale=0.5, offset=2.0),
    ),
    (Linear(), reference.linear),
]


@pytest.mark.parametrize(
    ("kernel", "plain"), REFERENCE, ids=[str(kernel) for kernel, _ in REFERENCE]
)
def test_agrees_with_the_reference(kernel: Kernel, plain: Any, points: Any) -> None:
    expected = plain(*points)
    np.testing.assert_allclose(kernel(*points), expected, rtol=1e-11, atol=1e-14)


def test_functions_are_sums_of_kernels(points: Any) -> None:
    (atoms, X), kernel = points, Gaussian(0.5) + Linear(0.2)
    f = Function(kernel, atoms, np.linspace(-1.0, 2.0, len(atoms)))
    np.testing.assert_allclose(f(X), kernel(X, atoms) @ f.weights, rtol=1e-12)


def test_far_points_underflow_to_zero() -> None:
    for cls in (Gaussian, Laplacian, Matern32, Matern52):
        assert cls(1e-6)([[0.0]], [[1.0]])[0, 0] == 0.0
        assert cls(1e-300)([[0.0]], [[1e10]])[0, 0] == 0.0  # its square overflows


# Composition --------------------------------------------------------------------------


def test_operators_make_sums_and_products() -> None:
    a, b = Gaussian(0.5), Linear(2.0)
    assert a + b == Sum(a, b)
    assert a * b == Product(a, b)
    assert a + 1 == Sum(a, Constant(1.0))
    assert 2.5 + a == Sum(Constant(2.5), a)
    assert a * 3 == Product(a, Constant(3.0))
    assert 0.5 * a == Product(Constant(0.5), a)
    assert np.float64(2.0) * a == Product(Constant(2.0), a)


@pytest.mark.parametrize("other", ["1.0", None, [1.0], 1j])
def test_operators_refuse_what_is_no_kernel(other: Any) -> None:
    for operate in (
        lambda k: k + other,
        lambda k: other + k,
        lambda k: k * other,
        lambda k: other * k,
    ):
        with pytest.raises(TypeError):
            operate(Gaussian(1.0))


def test_negative_factor_is_refused() -> None:
    with pytest.raises(ValueError, match="value must not be negative, got -1"):
        Gaussian(1.0) * -1.0


def test_parts_keep_their_number_of_features() -> None:
    with pytest.raises(ValueError, match=r"one entry per feature \(2\), got 3"):
        (Linear() + Gaussian(WIDTHS))([[0.0, 0.0]])


def test_rescaling_reaches_into_composites() -> None:
    kernel = 2.0 * Gaussian((1.0, 2.0)) + Matern32(3.0)
    expected = 2.0 * Gaussian((2.0, 4.0)) + Matern32(6.0)
    assert rescale(kernel, 2.0) == expected
    assert rescale(Linear(2.0), 3.0) == Linear(2.0)


@pytest.mark.parametrize("cls", [Gaussian, Laplacian, Matern32, RationalQuadratic])
def test_rescaling_divides_distances(cls: Any, points: Any) -> None:
    X, Y = points
    got, expected = rescale(cls(0.7), 1.7)(X, Y), cls(0.7)(X / 1.7, Y / 1.7)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_rescaling_keeps_the_period() -> None:
    assert rescale(Periodic(0.5, 24.0), 2.0) == Periodic(1.0, 24.0)


def test_types_count_in_equality() -> None:
    assert Gaussian(1.0) != Laplacian(1.0)
    assert len({Gaussian(1.0), Laplacian(1.0), Gaussian(1), Matern32(1.0)}) == 3


# A user's own -------------------------------------------------------------------------


def season(X: Any, Y: Any) -> Any:
    return np.exp(-np.abs(X[:, :1] - Y[:, 0])) + 0.5 * np.outer(X[:, 1], Y[:, 1])


@dataclass(frozen=True)
class Cauchy(Kernel):
    length_scale: float = 1.0

    def matrix(self, X: Any, Y: Any) -> Any:
        apart = (X[:, None] - Y) / self.length_scale
        return 1.0 / (1.0 + (apart**2).sum(axis=2))


class Biased(Kernel):
    """Neither a dataclass nor with parameters."""

    def matrix(self, X: Any, Y: Any) -> Any:
        return X @ Y.T + 1.0


def test_a_function_is_a_kernel() -> None:
    rate = 0.25
    checks.check_kernel(lambda X, Y: np.exp(-rate * np.abs(X[:, :1] - Y[:, 0])))
    checks.check_kernel(season, n_features=2)
    kernel = as_kernel(season)
    assert kernel == Custom(season)
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert repr(kernel) == "Custom(season)"
    assert kernel([[1.0, 2.0]], [[0.0, 3.0]])[0, 0] == pytest.approx(exp(-1.0) + 3.0)
    checks.check_kernel(0.5 * kernel + Gaussian(0.3), n_features=2)


def test_a_class_is_a_kernel() -> None:
    checks.check_kernel(Cauchy(0.5))
    checks.check_kernel(Cauchy(0.5) * Periodic(1.0, 2.0) + 1.0)
    checks.check_kernel(Biased())
    assert as_kernel(Cauchy()) == Cauchy(1.0) != Cauchy(2.0)
    assert rescale(Cauchy(2.0), 3.0) == Cauchy(6.0)
    assert Biased() == Biased() != Cauchy()
    assert repr(Biased()) == "Biased()"


def test_a_derived_kernel_has_its_own_formula(points: Any) -> None:
    class Louder(Gaussian):
        def matrix(self, X: Any, Y: Any) -> Any:
            return 4.0 * super().matrix(X, Y)

        def diagonal(self, X: Any) -> Any:
            return np.full(len(X), 4.0)

    checks.check_kernel(Louder(0.5))
    got = Louder(0.5).native(3).matrix(*points)
    np.testing.assert_allclose(got, 4.0 * Gaussian(0.5)(*points), rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X, Y: X[0] - Y[0], r"got float64 of shape \(1,\)"),
        (lambda X, Y: 1.0, r"got float64 of shape \(\)"),
        (lambda X, Y: (X @ Y.T).astype(complex), "got complex128"),
        (lambda X, Y: np.full((len(X), len(Y)), np.nan), "finite numbers, got nan"),
    ],
)
def test_what_a_function_returns_is_checked(function: Any, message: str) -> None:
    X, Y = np.zeros((2, 1)), np.ones((3, 1))
    kernel = Custom(function)
    for evaluate in (kernel, kernel.native(1).matrix):
        with pytest.raises(ValueError, match=message) as caught:
            evaluate(X, Y)
        assert repr(kernel) in str(caught.value)


def test_what_is_no_kernel_is_refused() -> None:
    with pytest.raises(TypeError, match=r"function must be callable, got 3"):
        Custom(3)  # type: ignore[arg-type]
    for value in (3, "gaussian", None, Gaussian):
        with pytest.raises(TypeError, match=r"kernel must be a kernel such as kernels"):
            as_kernel(value)


# Broken ones --------------------------------------------------------------------------


def _first(X: Any, Y: Any) -> Any:
    return X[:, :1] - Y[:, 0]


def _antisymmetric(X: Any, Y: Any) -> Any:
    return np.sin(_first(X, Y))


def _negative_distance(X: Any, Y: Any) -> Any:
    return -np.abs(_first(X, Y))


def _box(X: Any, Y: Any) -> Any:
    return (np.abs(_first(X, Y)) < 1.0).astype(float)


def _negative(X: Any, Y: Any) -> Any:
    return -np.outer(X[:, 0], Y[:, 0])


def _infinite(X: Any, Y: Any) -> Any:
    return np.where(_first(X, Y) == 0.0, 1.0, inf)


def _centred(X: Any, Y: Any) -> Any:
    return np.exp(-np.abs(_first(X, Y))) + len(X)


def _flat(X: Any, Y: Any) -> Any:
    return np.ones(len(X))


def _spoiling(X: Any, Y: Any) -> Any:
    K = np.exp(-np.abs(_first(X, Y)))
    X *= 0.5
    return K


@dataclass(frozen=True)
class _Stubborn(Kernel):
    """Has a length scale that does not matter."""

    length_scale: float = 1.0

    def matrix(self, X: Any, Y: Any) -> Any:
        return np.exp(-np.abs(_first(X, Y)))


@dataclass(frozen=True)
class _Constant(Kernel):
    scale: float = 1.0

    def matrix(self, X: Any, Y: Any) -> Any:
        return np.full((len(X), len(Y)), self.scale)


class _Mumbling(_Constant):
    def __repr__(self) -> str:
        return f"Mumble({self.scale})"


class _Louder(Gaussian):
    """Another formula than the Gaussian's, whose native one it takes."""

    _native = "gaussian"

    def matrix(self, X: Any, Y: Any) -> Any:
        return super().matrix(X, Y) ** 2


class _Boastful(_Constant):
    """Says that it is larger than it is."""

    def diagonal(self, X: Any) -> Any:
        return np.full(len(X), 2.0)


class _Promiscuous(_Constant):
    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = _Constant.__hash__


@pytest.mark.parametrize(
    ("kernel", "broken"),
    [
        (Custom(_antisymmetric), "symmetric: k_xy"),
        (Custom(_negative_distance), "Cauchy-Schwarz"),
        (Custom(_box), "positive semidefinite: c'Kc = -"),
        (Custom(_negative), r"k\(x, x\) >= 0"),
        (Custom(_infinite), "finite"),
        (Custom(_centred), r"diagonal is k\(x, x\)|matrix is pointwise"),
        (Custom(_flat), r"shape: it is \(20,\), not \(20, 20\)"),
        (Custom(_spoiling), "leaves inputs alone"),
        (_Stubborn(1.0), "rescaling by 1.7"),
        (_Mumbling(1.0), "repr evaluates back"),
        (_Promiscuous(1.0), "equality"),
        (_Louder(1.0), "native is the formula"),
        (_Boastful(1.0), r"diagonal is k\(x, x\)"),
    ],
    ids=repr,
)
def test_checks_find_broken_kernels(kernel: Kernel, broken: str) -> None:
    with pytest.raises(LawError, match=broken) as caught:
        checks.check_kernel(kernel)
    assert repr(kernel) in str(caught.value)


def test_checks_want_a_kernel() -> None:
    with pytest.raises(TypeError, match=r"kernel must be a kernel such as .*, got 1.0"):
        checks.check_kernel(1.0)
