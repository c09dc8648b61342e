"""Every kernel through its laws, and against other people's formulas."""

import pickle
from math import exp, inf, sin
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise

from halk import checks, reference
from halk.component import subclasses
from halk.errors import LawError
from halk.expansion import Expansion, value_at
from halk.kernels import (
    Constant,
    Custom,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    Product,
    Sum,
    kernel_value,
    rescaled,
)
from halk.kernels.base import _fill_gram
from halk.kernels.stationary import squared_ratio
from tests.engine.drive import Rowed

WIDTHS = (0.5, 2.0, 1.0)
INSTANCES = [kernel for cls in subclasses(Kernel) for kernel in cls.examples()]
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


def test_periodic_example_agrees_with_scikit_learn(rng: np.random.Generator) -> None:
    X = rng.normal(size=(6, 1))
    expected = gp.ExpSineSquared(1.0, periodicity=2 * np.pi)(X)
    np.testing.assert_allclose(Custom.examples()[0](X), expected, rtol=1e-12)


@pytest.mark.parametrize("bandwidth", [0.7, WIDTHS], ids=repr)
@pytest.mark.parametrize("cls", [Gaussian, Laplacian, Matern32, Matern52])
def test_stationary_agree_with_the_reference(
    cls: Any, bandwidth: Any, points: Any
) -> None:
    formula = getattr(reference, cls.__name__.lower())
    expected = formula(*points, bandwidth)
    np.testing.assert_allclose(cls(bandwidth)(*points), expected, rtol=1e-12)


def test_dot_products_agree_with_the_reference(points: Any) -> None:
    got = Polynomial(3, 0.5, 2.0)(*points)
    np.testing.assert_allclose(got, reference.polynomial(*points, 3, 0.5, 2.0))
    expected = 2.0 * reference.linear(*points)
    np.testing.assert_allclose(Linear(2.0)(*points), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.compiled
@every_kernel
def test_compiled_is_interpreted(kernel: Kernel, points: Any) -> None:
    X, Y = points
    plain = np.empty((len(X), len(Y)))
    _fill_gram.py_func(kernel, X, Y, plain)
    np.testing.assert_allclose(kernel(X, Y), plain, rtol=1e-12, atol=1e-300)


@pytest.mark.compiled
def test_compiled_expansion_is_interpreted(points: Any) -> None:
    atoms, X = points
    f, w = Matern52(0.8), np.linspace(-1.0, 2.0, len(atoms))
    plain = [value_at.py_func(f, atoms, w, len(w), x) for x in X]
    np.testing.assert_allclose(Expansion(f, atoms, w)(X), plain, rtol=1e-12)
    rows, same = Rowed(f, atoms, w, X), np.empty((len(X), len(w)))
    _fill_gram.py_func(f, X, atoms, same)
    np.testing.assert_allclose(rows.cross, same, rtol=1e-12)
    np.testing.assert_allclose(rows.values, plain, rtol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (Gaussian(5.0), exp(-0.5)),
        (Laplacian(2.0), exp(-2.5)),
        (Matern32(5.0), (1 + 3**0.5) * exp(-(3**0.5))),
        (Matern52(5.0), (1 + 5**0.5 + 5 / 3) * exp(-(5**0.5))),
        (Linear(2.0), 8.0),
        (Constant(1.5), 1.5),
        (Polynomial(2, 0.25, 1.0), 4.0),
        (Sum(Constant(1.5), Linear()), 5.5),
        (Product(Constant(1.5), Linear()), 6.0),
    ],
    ids=repr,
)
def test_hand_computed(kernel: Kernel, expected: float) -> None:
    x, y = np.array([4.0, 3.0]), np.array([1.0, 0.0])
    if hasattr(kernel, "bandwidth"):
        y = np.array([0.0, 0.0])  # a distance of 5
    assert kernel_value(kernel, x, y) == pytest.approx(expected, rel=1e-14)
    assert kernel([x], [y])[0, 0] == pytest.approx(expected, rel=1e-14)


def test_far_points_underflow_to_zero() -> None:
    for cls in (Gaussian, Laplacian, Matern32, Matern52):
        assert cls(1e-6)([[0.0]], [[1.0]])[0, 0] == 0.0


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


def test_composition_is_pointwise(points: Any) -> None:
    a, b = Gaussian(0.5), Linear(2.0)
    np.testing.assert_allclose((a + b)(*points), a(*points) + b(*points), rtol=1e-14)
    np.testing.assert_allclose((a * b)(*points), a(*points) * b(*points), rtol=1e-14)


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
    assert rescaled(kernel, 2.0) == expected
    assert rescaled(Linear(2.0), 3.0) == Linear(2.0)


def test_types_count_in_equality() -> None:
    assert Gaussian(1.0) != Laplacian(1.0)
    assert len({Gaussian(1.0), Laplacian(1.0), Gaussian(1), Matern32(1.0)}) == 3


# Custom -------------------------------------------------------------------------------


def season(x: Any, y: Any) -> float:
    return exp(-abs(x[0] - y[0])) + 0.5 * x[1] * y[1]


def test_custom_equals_its_function() -> None:
    kernel = Custom(season)
    checks.check_kernel(kernel, n_features=2)
    assert kernel == Custom(season)
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert kernel.source is season
    assert kernel([[1.0, 2.0]], [[0.0, 3.0]])[0, 0] == pytest.approx(exp(-1.0) + 3.0)
    checks.check_kernel(0.5 * kernel + Gaussian(0.3), n_features=2)


def test_custom_of_a_closure_passes() -> None:
    rate = 0.25
    checks.check_kernel(Custom(lambda x, y: exp(-rate * abs(x[0] - y[0]))))


@pytest.mark.compiled
def test_custom_says_why_it_cannot_compile() -> None:
    def joined(x: Any, y: Any) -> float:
        return float(",".join(str(v) for v in x))

    with pytest.raises(TypeError, match=r"function must be compilable: a float from"):
        Custom(joined)


def test_custom_takes_a_function() -> None:
    with pytest.raises(TypeError, match=r"function must be callable, got 3"):
        Custom(3)  # type: ignore[arg-type]


# Broken ones --------------------------------------------------------------------------


def _antisymmetric(x: Any, y: Any) -> float:
    return sin(x[0] - y[0])


def _negative_distance(x: Any, y: Any) -> float:
    return -abs(x[0] - y[0])


def _box(x: Any, y: Any) -> float:
    return 1.0 if abs(x[0] - y[0]) < 1.0 else 0.0


def _negative(x: Any, y: Any) -> float:
    return -x[0] * y[0]


def _infinite(x: Any, y: Any) -> float:
    return inf if x[0] != y[0] else 1.0


class _Stubborn(Kernel, NamedTuple("_S", [("bandwidth", float)])):
    """Has a bandwidth that ``rescaled`` was not told of."""


class _Restless(Kernel, NamedTuple("_R", [("bandwidth", float)])):
    """Rescales to another kernel."""


class _Mumbling(Kernel, NamedTuple("_M", [("scale", float)])):
    def __repr__(self) -> str:
        return f"Mumble({self.scale})"


class _Louder(Gaussian):
    """Another formula than the Gaussian's, whose lanes it has."""

    __slots__ = ()

    @property
    def at_itself(self) -> float:
        return 4.0


class _Boastful(Kernel, NamedTuple("_B", [("scale", float)])):
    """Says that it is larger than it is."""

    @property
    def at_itself(self) -> float:
        return 2.0


class _Promiscuous(Kernel, NamedTuple("_P", [("scale", float)])):
    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = Kernel.__hash__


@kernel_value.register
def _(kernel: _Stubborn, x: Any, y: Any) -> float:
    return exp(-abs(x[0] - y[0]) / kernel.bandwidth)


@kernel_value.register
def _(kernel: _Restless, x: Any, y: Any) -> float:
    return exp(-abs(x[0] - y[0]) / kernel.bandwidth)


@rescaled.register
def _(kernel: _Restless, factor: float) -> Any:
    return Gaussian(kernel.bandwidth * factor)


@kernel_value.register
def _(kernel: _Mumbling, x: Any, y: Any) -> float:
    return kernel.scale


@kernel_value.register
def _(kernel: _Promiscuous, x: Any, y: Any) -> float:
    return kernel.scale


@kernel_value.register
def _(kernel: _Boastful, x: Any, y: Any) -> float:
    return kernel.scale


@kernel_value.register
def _(kernel: _Louder, x: Any, y: Any) -> float:
    return 4.0 * exp(-0.5 * squared_ratio(kernel.bandwidth, x, y))


@rescaled.register
def _(kernel: _Louder, factor: float) -> Any:
    return _Louder(kernel.bandwidth * factor)


@pytest.mark.parametrize(
    ("kernel", "broken"),
    [
        (Custom(_antisymmetric), "symmetric: k_xy"),
        (Custom(_negative_distance), "Cauchy-Schwarz"),
        (Custom(_box), "positive semidefinite: c'Kc = -"),
        (Custom(_negative), r"k\(x, x\) >= 0"),
        (Custom(_infinite), "finite"),
        (_Stubborn(1.0), "rescaling by 1.7"),
        (_Restless(1.0), "rescaling by 1: it became Gaussian"),
        (_Mumbling(1.0), "repr evaluates back"),
        (_Promiscuous(1.0), "equality"),
        (_Louder(1.0), "lanes are the formula"),
        (_Boastful(1.0), r"at_itself is k\(x, x\)"),
    ],
    ids=repr,
)
def test_checks_find_broken_kernels(kernel: Kernel, broken: str) -> None:
    with pytest.raises(LawError, match=broken) as caught:
        checks.check_kernel(kernel)
    assert repr(kernel) in str(caught.value)


def test_checks_want_a_kernel() -> None:
    with pytest.raises(TypeError, match=r"kernel must be a Kernel, got 1.0"):
        checks.check_kernel(1.0)  # type: ignore[arg-type]
