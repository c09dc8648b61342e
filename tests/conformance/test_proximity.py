"""Every proximity through its laws, against the reference, and by hand."""

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import pytest

from halk import checks, reference
from halk.component import subclasses
from halk.errors import LawError
from halk.proximity import Absolute, Huber, Proximity, Squared, as_proximity

INSTANCES: list[Any] = [
    h
    for cls in subclasses(Proximity)
    if cls.__module__.startswith("halk.")
    for h in cls.examples()
]
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
def test_agrees_with_the_reference(proximity: Any, name: str) -> None:
    other = reference.PROXIMITIES[name](*astuple(proximity))
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
    arrays, native = (np.array([a]), np.array([b])), proximity.native()
    assert proximity(a, b) == proximity.value(a, b) == value
    assert proximity.slope(a, b) == slope
    assert native.compare(*arrays) == (value, slope)


@every_proximity
def test_curvature_is_one(proximity: Proximity) -> None:
    assert proximity.curvature == 1.0


@every_proximity
def test_native_is_numpy(proximity: Proximity, rng: np.random.Generator) -> None:
    a, b = rng.normal(size=(2, 60))
    a[:10], a[10:20], a[20:30] = b[:10], b[10:20] + 1.0, b[20:30] - 1.0  # kinks
    a[30:32] = 1e9, -1e9
    native = proximity.native()
    expected = proximity.value(a, b), proximity.slope(a, b)
    np.testing.assert_allclose(native.compare(a, b), expected, rtol=1e-13)


# A user's own -------------------------------------------------------------------------


@dataclass(frozen=True)
class LogCosh(Proximity):
    scale: float = 1.0

    def value(self, a: Any, b: Any) -> Any:
        r = np.abs(a - b) / self.scale
        return self.scale**2 * (r + np.log(0.5 + 0.5 * np.exp(-2.0 * r)))

    def slope(self, a: Any, b: Any) -> Any:
        return self.scale * np.tanh((a - b) / self.scale)


class Doubled:
    """No Proximity, but with what one needs."""

    curvature = 2.0

    def value(self, a: Any, b: Any) -> Any:
        return (a - b) ** 2

    def slope(self, a: Any, b: Any) -> Any:
        return 2.0 * (a - b)


def test_a_class_is_a_proximity() -> None:
    checks.check_proximity(LogCosh(0.5))
    assert as_proximity(LogCosh(0.5)) == LogCosh(0.5) != LogCosh()


def test_value_and_slope_make_a_proximity() -> None:
    formula = Doubled()
    checks.check_proximity(formula)
    proximity = as_proximity(formula)
    assert proximity == as_proximity(formula)
    assert proximity.curvature == 2.0
    assert proximity([1.0, 4.0], 2.0).tolist() == [1.0, 4.0]


@pytest.mark.parametrize("value", ["squared", None, 3, Squared])
def test_what_is_no_proximity_is_refused(value: Any) -> None:
    message = r"proximity must be a proximity such as proximity.Squared\(\), got"
    for call in (as_proximity, checks.check_proximity):
        with pytest.raises(TypeError, match=message):
            call(value)


def test_what_a_proximity_returns_is_checked() -> None:
    formula = Doubled()
    formula.value = lambda a, b: a / 0.0 * b  # type: ignore[method-assign]
    native = as_proximity(formula).native()
    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match="must return finite numbers, got nan"),
    ):
        native.compare(np.zeros(2), np.ones(2))


# Broken ones --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Broken(Proximity):
    """A proximity from any two formulas."""

    name: str
    curvature: float = 1.0

    def value(self, a: Any, b: Any) -> Any:
        return _VALUES[self.name][0](a, b)

    def slope(self, a: Any, b: Any) -> Any:
        return _VALUES[self.name][1](a, b)


_VALUES: dict[str, Any] = {
    "lopsided": (
        lambda a, b: np.maximum(a - b, 0.5 * (b - a)),
        lambda a, b: np.where(a > b, 1.0, np.where(a < b, -0.5, 0.0)),
    ),
    "aloof": (lambda a, b: 1.0 + 0.5 * (a - b) ** 2, lambda a, b: a - b),
    "wrong slope": (lambda a, b: 0.5 * (a - b) ** 2, lambda a, b: b - a),
    "concave": (
        lambda a, b: (a - b) ** 2 / (1.0 + (a - b) ** 2),
        lambda a, b: 2.0 * (a - b) / (1.0 + (a - b) ** 2) ** 2,
    ),
    "flat": (lambda a, b: 0.5 * (a - b) ** 2, lambda a, b: a - b),
}


@pytest.mark.parametrize(
    ("proximity", "broken"),
    [
        (_Broken("lopsided"), "symmetric: a = "),
        (_Broken("aloof"), "zero at agreement"),
        (_Broken("wrong slope"), "slope is the derivative"),
        (_Broken("concave", 2.0), "subgradient inequality"),
        (_Broken("flat", 0.1), "curvature: .*bound = "),
    ],
    ids=repr,
)
def test_checks_find_broken_proximities(proximity: Proximity, broken: str) -> None:
    with pytest.raises(LawError, match=broken) as caught:
        checks.check_proximity(proximity)
    assert repr(proximity) in str(caught.value)
