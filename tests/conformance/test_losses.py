"""Every loss through its laws, against the reference, and by hand."""

from dataclasses import astuple, dataclass
from math import log
from typing import Any

import numpy as np
import pytest

from halk import checks, reference
from halk.component import subclasses
from halk.errors import LawError
from halk.losses import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Quantile,
    Squared,
    as_loss,
)

INSTANCES: list[Any] = [
    loss
    for cls in subclasses(Loss)
    if cls.__module__.startswith("halk.")
    for loss in cls.examples()
]
every_loss = pytest.mark.parametrize("loss", INSTANCES, ids=repr)

REFERENCES = [
    (Squared(), "squared"),
    (Huber(0.6), "huber"),
    (Absolute(), "absolute"),
    (EpsilonInsensitive(0.3), "insensitive"),
    (Quantile(0.2), "quantile"),
    (Logistic(), "logistic"),
    (Hinge(), "hinge"),
]


@every_loss
def test_laws(loss: Loss) -> None:
    checks.check_loss(loss)


@pytest.mark.parametrize(
    "loss",
    [Huber(1e-3), Huber(1e4), EpsilonInsensitive(0.0), Quantile(0.01), Quantile(0.99)],
    ids=repr,
)
def test_laws_at_extreme_parameters(loss: Loss) -> None:
    checks.check_loss(loss)


def test_discovery_finds_all() -> None:
    found = {cls.__name__ for cls in subclasses(Loss)}
    assert found >= {type(loss).__name__ for loss, _ in REFERENCES}


@pytest.mark.parametrize(("loss", "name"), REFERENCES, ids=str)
def test_agrees_with_the_reference(loss: Any, name: str) -> None:
    other = reference.LOSSES[name](*astuple(loss))
    targets = [-1.0, 1.0] if loss.takes_labels else [-0.7, 0.0, 1.3]
    for y in targets:
        a = np.concatenate([np.linspace(-3.0, 3.0, 25), [y]])
        values = [other.value(v, y) for v in a]
        slopes = [other.derivative(v, y) for v in a]
        np.testing.assert_allclose(loss(a, y), values, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(loss.slope(a, y), slopes, rtol=1e-12, atol=1e-15)
    assert loss.curvature == other.curvature


# loss, prediction, target, value, slope; the rows marked by a kink are exact ones
BY_HAND = [
    (Squared(), 3.0, 1.0, 2.0, 2.0),
    (Squared(), 1.0, 1.0, 0.0, 0.0),
    (Huber(1.5), 1.0, 0.0, 0.5, 1.0),
    (Huber(1.5), 1.5, 0.0, 1.125, 1.5),  # where it becomes linear
    (Huber(1.5), -1.5, 0.0, 1.125, -1.5),
    (Huber(1.5), 4.0, 1.0, 3.375, 1.5),
    (Huber(1.5), -4.0, 1.0, 6.375, -1.5),
    (Absolute(), 3.0, 1.0, 2.0, 1.0),
    (Absolute(), -3.0, 1.0, 4.0, -1.0),
    (Absolute(), 1.0, 1.0, 0.0, 0.0),  # kink
    (EpsilonInsensitive(0.5), 2.0, 1.0, 0.5, 1.0),
    (EpsilonInsensitive(0.5), 0.0, 1.0, 0.5, -1.0),
    (EpsilonInsensitive(0.5), 1.5, 1.0, 0.0, 0.0),  # kink
    (EpsilonInsensitive(0.5), 0.5, 1.0, 0.0, 0.0),  # kink
    (EpsilonInsensitive(0.5), 1.25, 1.0, 0.0, 0.0),
    (EpsilonInsensitive(0.0), 1.0, 1.0, 0.0, 0.0),  # kink
    (Quantile(0.75), 1.0, 3.0, 1.5, -0.75),
    (Quantile(0.75), 3.0, 1.0, 0.5, 0.25),
    (Quantile(0.75), 1.0, 1.0, 0.0, 0.0),  # kink
    (Logistic(), 0.0, 1.0, log(2), -0.5),
    (Logistic(), 0.0, -1.0, log(2), 0.5),
    (Logistic(), log(3), 1.0, log(4 / 3), -0.25),
    (Logistic(), -log(3), 1.0, log(4), -0.75),
    (Logistic(), 800.0, -1.0, 800.0, 1.0),  # exp(800) overflows
    (Logistic(), 800.0, 1.0, 0.0, 0.0),
    (Hinge(), 0.0, 1.0, 1.0, -1.0),
    (Hinge(), 0.0, -1.0, 1.0, 1.0),
    (Hinge(), 1.0, 1.0, 0.0, 0.0),  # kink
    (Hinge(), -1.0, -1.0, 0.0, 0.0),  # kink
    (Hinge(), -2.0, 1.0, 3.0, -1.0),
    (Hinge(), 2.0, 1.0, 0.0, 0.0),
]


@pytest.mark.parametrize(("loss", "a", "y", "value", "slope"), BY_HAND, ids=str)
def test_by_hand(loss: Loss, a: float, y: float, value: float, slope: float) -> None:
    arrays, native = (np.array([a]), np.array([y])), loss.native()
    for got in (loss(a, y), loss.value(a, y)):
        assert got == pytest.approx(value, rel=1e-14, abs=1e-300)
    for got in (loss.slope(a, y), native.slope(*arrays)[0]):
        assert got == pytest.approx(slope, rel=1e-14, abs=1e-300)


@every_loss
def test_curvatures(loss: Loss) -> None:
    expected = {"Squared": 1.0, "Huber": 1.0, "Logistic": 0.25}
    assert loss.curvature == expected.get(type(loss).__name__, 0.0)


@every_loss
def test_native_is_numpy(loss: Loss, rng: np.random.Generator) -> None:
    a, y = 3.0 * rng.normal(size=(2, 80))
    y = np.sign(y) if loss.takes_labels else y
    kinks = [v for v in vars(loss).values() if isinstance(v, float)] + [0.0, 1.0]
    a[:40] = y[:40] + np.resize([*kinks, *np.negative(kinks)], 40)
    a[40:44] = [-1e9, -800.0, 800.0, 1e9]
    got, expected = loss.native().slope(a, y), loss.slope(a, y)
    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-300)


def test_shapes_broadcast() -> None:
    loss = Squared()
    assert loss([[1.0], [2.0]], [0.0, 1.0, 2.0]).shape == (2, 3)
    assert np.shape(loss(1.0, 2.0)) == ()
    assert loss.slope(np.zeros((0, 2)), 1.0).shape == (0, 2)


def test_labels_are_taken_by_classifiers_only() -> None:
    assert {type(x) for x in INSTANCES if x.takes_labels} == {Logistic, Hinge}


# A user's own -------------------------------------------------------------------------


@dataclass(frozen=True)
class LogCosh(Loss):
    scale: float = 1.0
    curvature = 1.0

    def value(self, a: Any, y: Any) -> Any:
        r = np.abs(a - y) / self.scale
        return self.scale**2 * (r + np.log(0.5 + 0.5 * np.exp(-2.0 * r)))

    def slope(self, a: Any, y: Any) -> Any:
        return self.scale * np.tanh((a - y) / self.scale)


class Halved:
    """No Loss, but with what one needs."""

    def value(self, a: Any, y: Any) -> Any:
        return 0.5 * np.abs(a - y)

    def slope(self, a: Any, y: Any) -> Any:
        return 0.5 * np.sign(a - y)


def test_a_class_is_a_loss() -> None:
    checks.check_loss(LogCosh(0.5))
    assert as_loss(LogCosh(0.5)) == LogCosh(0.5) != LogCosh()


def test_value_and_slope_make_a_loss() -> None:
    formula = Halved()
    checks.check_loss(formula)
    loss = as_loss(formula)
    assert loss == as_loss(formula)
    assert (loss.curvature, loss.takes_labels) == (0.0, False)
    assert loss([1.0, 4.0], 2.0).tolist() == [0.5, 1.0]
    assert loss.native().slope(np.array([1.0]), np.array([2.0])) == -0.5


@pytest.mark.parametrize("value", ["squared", None, 3, Squared])
def test_what_is_no_loss_is_refused(value: Any) -> None:
    message = r"loss must be a loss such as losses.Squared\(\), got"
    for call in (as_loss, checks.check_loss):
        with pytest.raises(TypeError, match=message):
            call(value)


@pytest.mark.parametrize(
    ("slope", "message"),
    [
        (lambda a, y: np.full(len(a), np.nan), "must return finite numbers, got nan"),
        (lambda a, y: np.zeros(3), r"shape \(1,\), got float64 of shape \(3,\)"),
    ],
)
def test_what_a_slope_returns_is_checked(slope: Any, message: str) -> None:
    formula = Halved()
    formula.slope = slope  # type: ignore[method-assign]
    native = as_loss(formula).native()
    with pytest.raises(ValueError, match=message):
        native.slope(np.zeros(1), np.zeros(1))


# Broken ones --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Broken(Loss):
    """A loss of the residual, from any two formulas."""

    name: str
    curvature: float = 0.0

    def value(self, a: Any, y: Any) -> Any:
        return _VALUES[self.name][0](a - y)

    def slope(self, a: Any, y: Any) -> Any:
        return _VALUES[self.name][1](a - y)


_VALUES: dict[str, Any] = {
    "wrong slope": (lambda r: 0.5 * r * r, lambda r: 2.0 * r),
    "bad kink": (np.abs, lambda r: np.where(r == 0.0, 1.5, np.sign(r))),
    "concave": (lambda r: -np.expm1(-r * r), lambda r: 2.0 * r * np.exp(-r * r)),
    "negative": (lambda r: r, np.ones_like),
    "undefined": (lambda r: np.where(r == 0.0, np.nan, np.abs(r)), np.sign),
    "flat": (lambda r: 0.5 * r * r, lambda r: r),
    "summed": (lambda r: np.sum(r * r), lambda r: 2.0 * r),
    "centred": (lambda r: 0.5 * r * r, lambda r: r + 1e-6 * np.mean(r)),
}


class _Astray(Squared):
    """Another formula than the squared loss, whose native one it takes."""

    _native = "squared"

    def value(self, a: Any, y: Any) -> Any:
        return 2.0 * super().value(a, y)

    def slope(self, a: Any, y: Any) -> Any:
        return 2.0 * super().slope(a, y)

    curvature = 2.0


@pytest.mark.parametrize(
    ("loss", "broken"),
    [
        (_Broken("wrong slope"), "slope is the derivative: a = .*central_difference"),
        (_Broken("bad kink"), "subgradient inequality: a = "),
        (_Broken("concave"), "subgradient inequality"),
        (_Broken("negative"), "not negative: a = .*value = -"),
        (_Broken("undefined"), "finite"),
        (_Broken("flat", 0.5), "curvature: .*bound = "),
        (_Broken("summed"), "element by element"),
        (_Broken("centred", 1.0), "slope element by element"),
        (_Astray(), "native"),
    ],
    ids=repr,
)
def test_checks_find_broken_losses(loss: Loss, broken: str) -> None:
    with pytest.raises(LawError, match=broken) as caught:
        checks.check_loss(loss)
    assert repr(loss) in str(caught.value)
