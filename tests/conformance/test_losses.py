"""Every loss through its laws, against the reference, and by hand."""

from math import exp, log, nan
from typing import Any, NamedTuple

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
    _fill,
    loss_curvature,
    loss_slope,
    loss_value,
)

INSTANCES = [loss for cls in subclasses(Loss) for loss in cls.examples()]
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
def test_agrees_with_the_reference(loss: Loss, name: str) -> None:
    other = reference.LOSSES[name](*loss)  # type: ignore[misc]
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
    for got in (loss(a, y), loss_value(loss, a, y)):
        assert got == pytest.approx(value, rel=1e-14, abs=1e-300)
    for got in (loss.slope(a, y), loss_slope(loss, a, y)):
        assert got == pytest.approx(slope, rel=1e-14, abs=1e-300)


@every_loss
def test_curvatures(loss: Loss) -> None:
    expected = {"Squared": 1.0, "Huber": 1.0, "Logistic": 0.25}
    assert loss.curvature == expected.get(type(loss).__name__, 0.0)


@pytest.mark.compiled
@every_loss
def test_compiled_is_interpreted(loss: Loss, rng: np.random.Generator) -> None:
    a, y = 3.0 * rng.normal(size=(2, 50))
    y = np.sign(y) if loss.takes_labels else y
    plain = np.empty((2, 50))
    _fill.py_func(loss, a, y, *plain)
    np.testing.assert_allclose([loss(a, y), loss.slope(a, y)], plain, rtol=1e-12)


def test_shapes_broadcast() -> None:
    loss = Squared()
    assert loss([[1.0], [2.0]], [0.0, 1.0, 2.0]).shape == (2, 3)
    assert np.shape(loss(1.0, 2.0)) == ()
    assert loss.slope(np.zeros((0, 2)), 1.0).shape == (0, 2)


def test_labels_are_taken_by_classifiers_only() -> None:
    assert {type(x) for x in INSTANCES if x.takes_labels} == {Logistic, Hinge}


# Broken ones --------------------------------------------------------------------------


class _Empty(NamedTuple):
    pass


class _WrongSlope(Loss, _Empty):
    pass


class _BadKink(Loss, _Empty):
    pass


class _Concave(Loss, _Empty):
    pass


class _Negative(Loss, _Empty):
    pass


class _Undefined(Loss, _Empty):
    pass


class _Flat(Loss, _Empty):
    """A squared loss that claims less curvature than it has."""


class _Astray(Loss, _Empty):
    """A squared loss whose arrays are not its formula."""

    def _both(self, prediction: Any, target: Any) -> Any:
        return 0.6 * (prediction - target) ** 2, prediction - target


def _register(cls: Any, value: Any, slope: Any, curvature: float = 0.0) -> None:
    loss_value.register(cls, lambda loss, a, y: value(a - y))
    loss_slope.register(cls, lambda loss, a, y: slope(a - y))
    loss_curvature.register(cls, lambda loss: curvature)


_register(_WrongSlope, lambda r: 0.5 * r * r, lambda r: 2.0 * r)
_register(_BadKink, abs, lambda r: float(np.sign(r)) if r else 1.5)
_register(_Concave, lambda r: 1.0 - exp(-r * r), lambda r: 2.0 * r * exp(-r * r))
_register(_Negative, lambda r: r, lambda r: 1.0)
_register(_Undefined, lambda r: abs(r) if r else nan, lambda r: float(np.sign(r)))
_register(_Flat, lambda r: 0.5 * r * r, lambda r: r, 0.5)
_register(_Astray, lambda r: 0.5 * r * r, lambda r: r, 1.0)


@pytest.mark.parametrize(
    ("loss", "broken"),
    [
        (_WrongSlope(), "slope is the derivative: a = .*central_difference = "),
        (_BadKink(), "subgradient inequality: a = "),
        (_Concave(), "subgradient inequality"),
        (_Negative(), "not negative: a = .*value = -"),
        (_Undefined(), "finite"),
        (_Flat(), "curvature: .*bound = "),
        (_Astray(), "compiled value"),
    ],
    ids=repr,
)
def test_checks_find_broken_losses(loss: Loss, broken: str) -> None:
    with pytest.raises(LawError, match=broken) as caught:
        checks.check_loss(loss)
    assert repr(loss) in str(caught.value)


def test_checks_want_a_loss() -> None:
    with pytest.raises(TypeError, match="loss must be a Loss, got 'squared'"):
        checks.check_loss("squared")  # type: ignore[arg-type]
