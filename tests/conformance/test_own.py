"""Kernels, losses and proximities of a user's own, wherever built-in ones are used."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halk import HALK, Network, bandwidth, checks, kernels, learners, losses
from halk import proximity as proximities
from halk.sklearn import KernelRegressor


def bump(X: Any, Y: Any) -> Any:
    return np.exp(-0.5 * ((X[:, None] - Y) ** 2).sum(axis=2) / 0.3**2)


@dataclass(frozen=True)
class Bump(kernels.Kernel):
    length_scale: float = 0.3

    def matrix(self, X: Any, Y: Any) -> Any:
        apart = (X[:, None] - Y) / self.length_scale
        return np.exp(-0.5 * (apart**2).sum(axis=2))


class Derived(kernels.Kernel):
    """A kernel that is no dataclass, and derives a number from its length scale."""

    def __init__(self, length_scale: float = 0.3) -> None:
        self.length_scale = length_scale
        self.precision = length_scale**-2

    def matrix(self, X: Any, Y: Any) -> Any:
        return np.exp(-0.5 * self.precision * ((X[:, None] - Y) ** 2).sum(axis=2))


class Residual:
    """A squared loss, or proximity, that is no subclass of anything."""

    curvature = 1.0

    def value(self, a: Any, y: Any) -> Any:
        return 0.5 * (a - y) ** 2

    def slope(self, a: Any, y: Any) -> Any:
        return a - y


@dataclass(frozen=True)
class Distance(proximities.Proximity):
    width: float = 0.5

    def value(self, a: Any, b: Any) -> Any:
        near = np.minimum(np.abs(a - b), self.width)
        return near * (np.abs(a - b) - 0.5 * near)

    def slope(self, a: Any, b: Any) -> Any:
        return np.clip(a - b, -self.width, self.width)


NATIVE = {"kernel": kernels.Gaussian(0.3)}
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "kernel function": ({"kernel": bump}, NATIVE),
    "kernel class": ({"kernel": Bump()}, NATIVE),
    "kernel in a sum": (
        {"kernel": 0.5 * kernels.Custom(bump) + 0.5 * Bump()},
        {"kernel": kernels.Gaussian(0.3)},
    ),
    "loss": (NATIVE | {"loss": Residual()}, NATIVE),
    "proximity object": (NATIVE | {"proximity": Residual()}, NATIVE),
    "proximity class": (
        NATIVE | {"proximity": Distance()},
        NATIVE | {"proximity": proximities.Huber(0.5)},
    ),
    "adapted kernel": (
        {"kernel": Bump(), "adaptation": bandwidth.LeaveOneOut(0.5, 5)},
        NATIVE | {"adaptation": bandwidth.LeaveOneOut(0.5, 5)},
    ),
    "adapted plain class": (
        {"kernel": Derived(0.3), "adaptation": bandwidth.LossFollowing(0.5, 5)},
        NATIVE | {"adaptation": bandwidth.LossFollowing(0.5, 5)},
    ),
    "all": (
        {"kernel": bump, "loss": Residual(), "proximity": Distance()},
        NATIVE | {"proximity": proximities.Huber(0.5)},
    ),
}
every_pair = pytest.mark.parametrize("name", PAIRS)


def stream(rng: np.random.Generator, n_steps: int = 80) -> tuple[Any, Any]:
    X = rng.uniform(size=(n_steps, 3, 1))
    Y = np.sin(6.0 * X[..., 0]) + 0.1 * rng.normal(size=X.shape[:2])
    Y[rng.uniform(size=Y.shape) < 0.2] = np.nan
    return X, Y


@every_pair
def test_learners_do_as_with_the_native_twin(
    name: str, rng: np.random.Generator
) -> None:
    X, Y = stream(rng)
    own, native = (
        HALK(Network.path(3, tolerance=0.01), epsilon=0.005, **changes)
        for changes in PAIRS[name]
    )
    for model in (own, native):
        model.learn_many(X, Y)
    if "adapted" in name:
        assert (native.length_scales != 0.3).all(), "the case must adapt length scales"
    assert own.model_order.tolist() == native.model_order.tolist()
    grid = np.linspace(0.0, 1.0, 20)[:, None]
    for i in range(3):
        got, expected = own.predict(i, grid), native.predict(i, grid)
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(own.multipliers, native.multipliers, rtol=1e-5)


@every_pair
def test_agents_do_as_simulated(name: str) -> None:
    checks.check_executor(partial(HALK, epsilon=0.05, **PAIRS[name][0]), n_steps=30)


@pytest.mark.parametrize("name", ["kernel function", "all"])
def test_laws_of_learners(name: str) -> None:
    factory = partial(HALK, epsilon=0.05, **PAIRS[name][0])
    checks.check_learner(factory, n_steps=20)


@pytest.mark.parametrize("learner", ["Linear", "RFFDiffusion", "RFFADMM"])
def test_fixed_features_take_them_too(learner: str, rng: np.random.Generator) -> None:
    X, Y = stream(rng, 30)
    cls, seen = getattr(learners, learner), []
    for loss in (Residual(), losses.Squared()):
        model = cls(Network.path(3), loss=loss, proximity=Distance())
        model.learn_many(X, Y)
        seen.append(model.predict_one(X[0]))
    np.testing.assert_allclose(*seen, rtol=1e-12)


@pytest.mark.parametrize("kernel", [bump, Bump()], ids=["function", "class"])
def test_estimators_take_them_too(kernel: Any, rng: np.random.Generator) -> None:
    x = rng.uniform(size=(200, 1))
    y = np.sin(6.0 * x[:, 0])
    own = KernelRegressor(kernel, random_state=0).fit(x, y)
    native = KernelRegressor(kernels.Gaussian(0.3), random_state=0).fit(x, y)
    np.testing.assert_allclose(own.predict(x), native.predict(x), atol=1e-6)


def test_an_error_of_a_formula_is_the_caller_s_and_changes_nothing(
    rng: np.random.Generator,
) -> None:
    class Fragile(Residual):
        limit = 1000

        def slope(self, a: Any, y: Any) -> Any:
            self.limit -= 1
            if self.limit < 0:
                raise ZeroDivisionError("by design")
            return a - y

    X, Y = stream(rng)
    loss = Fragile()
    model = HALK(Network.path(3), kernel=bump, loss=loss)
    model.learn_many(X[:20], Y[:20])
    before, loss.limit = model.state_dict(), 1
    with pytest.raises(ZeroDivisionError, match="by design"):
        model.learn_one(X[20], np.zeros(3))
    for name, array in model.state_dict().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)


class _Bell(kernels.Kernel):
    """A plain class whose constructor takes another argument than it keeps."""

    def __init__(self, half_width: float) -> None:
        self.length_scale = half_width / 1.17741

    def matrix(self, X: Any, Y: Any) -> Any:
        return Bump(self.length_scale).matrix(X, Y)


def test_length_scales_of_a_plain_class_adapt(rng: np.random.Generator) -> None:
    X, Y = stream(rng)
    rule = bandwidth.LeaveOneOut(warm_up=5, rate=0.5)
    own, native = (
        HALK(Network.path(3, tolerance=0.01), kernel, adaptation=rule, epsilon=0.01)
        for kernel in (_Bell(0.05 * 1.17741), kernels.Gaussian(0.05))
    )
    for model in (own, native):
        model.learn_many(X, Y)
    own_scales: Any = own.length_scales
    assert (own_scales != 0.05).all()
    np.testing.assert_allclose(own_scales, native.length_scales, rtol=1e-6)
    f: Any = own.function(0)
    assert f.kernel.length_scale == own_scales[0]
    np.testing.assert_allclose(f([[0.5]]), native.function(0)([[0.5]]), rtol=1e-6)


class _Rigid(kernels.Kernel):
    @property
    def length_scale(self) -> float:
        return 0.3

    def matrix(self, X: Any, Y: Any) -> Any:
        return bump(X, Y)


def test_a_kernel_that_cannot_be_rescaled_does_not_adapt() -> None:
    model = HALK(Network.path(2), _Rigid())
    model.learn_one([[0.0], [1.0]], [1.0, 2.0])
    assert model.functions[0].kernel == _Rigid()
    with pytest.raises(TypeError, match=r"_Rigid\(\) must keep length_scale as an"):
        HALK(Network.path(2), _Rigid(), adaptation=bandwidth.LeaveOneOut())


def test_a_kernel_with_derived_attributes_comes_back(tmp_path: Path) -> None:
    model = HALK(Network.path(2), Derived(0.5))
    model.learn_one([[0.0], [1.0]], [1.0, 2.0])
    model.save(tmp_path / "model")
    assert HALK.load(tmp_path / "model").kernel == Derived(0.5)


class Ragged:
    curvature = 1.0

    def value(self, a: Any, b: Any) -> Any:
        return [[1.0], [1.0, 2.0]]

    slope = value

    def __repr__(self) -> str:
        return "Ragged()"


@pytest.mark.parametrize("part", ["kernel", "loss", "proximity"])
def test_a_formula_that_returns_no_array_is_named(
    part: str, rng: np.random.Generator
) -> None:
    wrong: Any = Ragged().value if part == "kernel" else Ragged()
    model, (X, Y) = HALK(Network.path(3), **{part: wrong}), stream(rng)
    message = r"Ragged.* must return numbers of shape .*, got a list that NumPy can"
    with pytest.raises(ValueError, match=message):
        model.learn_many(X, Y)
    called = {
        "kernel": lambda: kernels.as_kernel(wrong)([[0.0]]),
        "loss": lambda: losses.as_loss(wrong)(1.0, 2.0),
        "proximity": lambda: proximities.as_proximity(wrong)(1.0, 2.0),
    }
    with pytest.raises(ValueError, match=message):
        called[part]()
