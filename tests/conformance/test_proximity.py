"""Every proximity through its laws, against the reference, and by hand."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from halk import checks, reference
from halk.component import subclasses
from halk.errors import LawError
from halk.proximity import (
    Absolute,
    Huber,
    Proximity,
    Squared,
    _fill,
    proximity_curvature,
    proximity_slope,
    proximity_value,
)

INSTANCES = [h for cls in subclasses(Proximity) for h in cls.examples()]
every_proximity = pytest.mark.parametrize("proximity", INSTANCES, ids=repr)


@every_proximity
def test_laws(proximity: Proximity) -> None:
    checks.check_proximity(proximity)


@pytest.mark.parametrize("width", [1e-3, 0.3, 1e4])
def test_laws_of_huber_at_any_width(width: float) -> None:
    checks.check_proximity(Huber(width))


def test_discovery_finds_all() -> None:
    found = {cls.__name__ for cls in subclasses(Proximity)}
    assert found >= {"Absolute", "Huber", "Squared"}


@pytest.mark.parametrize(
    ("proximity", "name"),
    [(Squared(), "squared"), (Absolute(), "absolute"), (Huber(0.6), "huber")],
    ids=str,
)
def test_agrees_with_the_reference(proximity: Proximity, name: str) -> None:
    other = reference.PROXIMITIES[name](*proximity)  # type: ignore[misc]
    a, b = np.meshgrid(np.linspace(-2.0, 2.0, 9), [-0.5, 0.0, 1.3])
    pairs = list(zip(a.ravel(), b.ravel(), strict=True))
    values = np.reshape([other.value(*pair) for pair in pairs], a.shape)
    slopes = np.reshape([other.derivative(*pair) for pair in pairs], a.shape)
    np.testing.assert_allclose(proximity(a, b), values, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(proximity.slope(a, b), slopes, rtol=1e-12, atol=1e-15)
    assert proximity.curvature == other.curvature


@pytest.mark.parametrize(
    ("proximity", "a", "b", "value", "slope"),
    [
        (Squared(), 3.0, 1.0, 2.0, 2.0),
        (Squared(), 1.0, 3.0, 2.0, -2.0),
        (Squared(), 3.0, 3.0, 0.0, 0.0),
        (Absolute(), 3.0, 1.0, 2.0, 1.0),
        (Absolute(), 1.0, 3.0, 2.0, -1.0),
        (Absolute(), 3.0, 3.0, 0.0, 0.0),  # kink
        (Huber(0.5), 1.0, 0.75, 0.03125, 0.25),
        (Huber(0.5), 1.0, 0.5, 0.125, 0.5),  # where it becomes linear
        (Huber(0.5), 0.5, 1.0, 0.125, -0.5),
        (Huber(0.5), 2.0, 0.0, 0.875, 0.5),
        (Huber(0.5), 0.0, 2.0, 0.875, -0.5),
    ],
    ids=str,
)
def test_by_hand(
    proximity: Proximity, a: float, b: float, value: float, slope: float
) -> None:
    assert proximity(a, b) == proximity_value(proximity, a, b) == value
    assert proximity.slope(a, b) == proximity_slope(proximity, a, b) == slope


@every_proximity
def test_curvature_is_one(proximity: Proximity) -> None:
    assert proximity.curvature == 1.0


@pytest.mark.compiled
@every_proximity
def test_compiled_is_interpreted(
    proximity: Proximity, rng: np.random.Generator
) -> None:
    a, b = rng.normal(size=(2, 50))
    plain = np.empty((2, 50))
    _fill.py_func(proximity, a, b, *plain)
    both = [proximity(a, b), proximity.slope(a, b)]
    np.testing.assert_allclose(both, plain, rtol=1e-12)


# Broken ones --------------------------------------------------------------------------


class _Empty(NamedTuple):
    pass


class _Lopsided(Proximity, _Empty):
    pass


class _Aloof(Proximity, _Empty):
    pass


class _WrongSlope(Proximity, _Empty):
    pass


class _Concave(Proximity, _Empty):
    pass


class _Flat(Proximity, _Empty):
    pass


def _register(cls: Any, value: Any, slope: Any, curvature: float = 1.0) -> None:
    proximity_value.register(cls, lambda h, a, b: value(a, b))
    proximity_slope.register(cls, lambda h, a, b: slope(a, b))
    proximity_curvature.register(cls, lambda h: curvature)


_register(
    _Lopsided,
    lambda a, b: max(a - b, 0.5 * (b - a)),
    lambda a, b: 1.0 if a > b else (-0.5 if a < b else 0.0),
)
_register(_Aloof, lambda a, b: 1.0 + 0.5 * (a - b) ** 2, lambda a, b: a - b)
_register(_WrongSlope, lambda a, b: 0.5 * (a - b) ** 2, lambda a, b: b - a)
_register(
    _Concave,
    lambda a, b: (a - b) ** 2 / (1.0 + (a - b) ** 2),
    lambda a, b: 2.0 * (a - b) / (1.0 + (a - b) ** 2) ** 2,
    2.0,
)
_register(_Flat, lambda a, b: 0.5 * (a - b) ** 2, lambda a, b: a - b, 0.1)


@pytest.mark.parametrize(
    ("proximity", "broken"),
    [
        (_Lopsided(), "symmetric: a = "),
        (_Aloof(), "zero at agreement"),
        (_WrongSlope(), "slope is the derivative"),
        (_Concave(), "subgradient inequality"),
        (_Flat(), "curvature: .*bound = "),
    ],
    ids=repr,
)
def test_checks_find_broken_proximities(
    proximity: Proximity, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # compiling broken formulas would leave them in the cache
    monkeypatch.setattr(Proximity, "_both", _interpreted)
    with pytest.raises(LawError, match=broken) as caught:
        checks.check_proximity(proximity)
    assert repr(proximity) in str(caught.value)


def _interpreted(proximity: Proximity, first: Any, second: Any) -> Any:
    pairs = list(zip(first, second, strict=True))
    values = [proximity_value(proximity, float(a), float(b)) for a, b in pairs]
    slopes = [proximity_slope(proximity, float(a), float(b)) for a, b in pairs]
    return np.array(values), np.array(slopes)


def test_checks_want_a_proximity() -> None:
    with pytest.raises(TypeError, match="proximity must be a Proximity, got None"):
        checks.check_proximity(None)  # type: ignore[arg-type]
