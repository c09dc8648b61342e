"""Every loss and proximity through its laws, and against the reference."""

from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from halk import checks, losses, proximity, reference
from halk.component import subclasses
from halk.errors import LawError
from halk.losses import EpsilonInsensitive, Loss, Quantile, Squared, as_loss
from halk.proximity import Proximity, as_proximity


class Family(NamedTuple):
    """What losses and proximities have in common, to be tested once."""

    base: Any
    check: Callable[[Any], None]
    make: Callable[[Any], Any]
    references: dict[Any, str]
    example: str


FAMILIES = {
    "loss": Family(
        Loss,
        checks.check_loss,
        as_loss,
        {
            losses.Squared(): "squared",
            losses.Huber(0.6): "huber",
            losses.Absolute(): "absolute",
            losses.EpsilonInsensitive(0.3): "insensitive",
            losses.Quantile(0.2): "quantile",
            losses.Logistic(): "logistic",
            losses.Hinge(): "hinge",
        },
        r"losses.Squared\(\)",
    ),
    "proximity": Family(
        Proximity,
        checks.check_proximity,
        as_proximity,
        {
            proximity.Squared(): "squared",
            proximity.Huber(0.6): "huber",
            proximity.Absolute(): "absolute",
        },
        r"proximity.Squared\(\)",
    ),
}
EXTREME = [
    losses.Huber(1e-3),
    losses.Huber(1e4),
    EpsilonInsensitive(0.0),
    Quantile(0.01),
    Quantile(0.99),
    proximity.Huber(1e-3),
    proximity.Huber(1e4),
]
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def family_of(formula: Any) -> Family:
    return FAMILIES["loss" if isinstance(formula, Loss) else "proximity"]


def instances(family: Family) -> list[Any]:
    """Return the examples of all formulas that halk ships."""
    shipped = [c for c in subclasses(family.base) if c.__module__.startswith("halk.")]
    return [formula for cls in shipped for formula in cls.examples()]


@pytest.mark.parametrize(
    "formula", sum(map(instances, FAMILIES.values()), EXTREME), ids=repr
)
def test_laws(formula: Any) -> None:
    family_of(formula).check(formula)


@every_family
def test_all_that_is_shipped_is_compared(family: Family) -> None:
    shipped = {type(formula) for formula in instances(family)}
    assert shipped == {type(formula) for formula in family.references}


@pytest.mark.parametrize(
    ("formula", "name"),
    [pair for family in FAMILIES.values() for pair in family.references.items()],
    ids=str,
)
def test_agrees_with_the_reference(formula: Any, name: str) -> None:
    is_loss, parameters = isinstance(formula, Loss), astuple(formula)
    plain = reference.LOSSES if is_loss else reference.PROXIMITIES
    other = plain[name](*parameters)
    for y in [-1.0, 1.0] if name in ("logistic", "hinge") else [-0.75, 0.0, 1.25]:
        kinks = [y, *(y + p for p in parameters), *(y - p for p in parameters)]
        a = np.concatenate([np.linspace(-3.0, 3.0, 25), kinks, [-800.0, 800.0]])
        with np.errstate(over="ignore"):
            values = [other.value(v, y) for v in a]
            slopes = [other.derivative(v, y) for v in a]
        np.testing.assert_allclose(formula(a, y), values, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(formula.slope(a, y), slopes, rtol=1e-12, atol=1e-15)
    assert formula.curvature == other.curvature
    assert getattr(formula, "takes_labels", False) == (name in ("logistic", "hinge"))


def test_shapes_broadcast() -> None:
    loss = Squared()
    assert loss([[1.0], [2.0]], [0.0, 1.0, 2.0]).shape == (2, 3)
    assert np.shape(loss(1.0, 2.0)) == ()
    assert loss.slope(np.zeros((0, 2)), 1.0).shape == (0, 2)


# A user's own -------------------------------------------------------------------------


class LogCosh:
    """No component, but with what one needs."""

    curvature = 1.0
    scale = 0.5

    def value(self, a: Any, y: Any) -> Any:
        r = np.abs(a - y) / self.scale
        return self.scale**2 * (r + np.log(0.5 + 0.5 * np.exp(-2.0 * r)))

    def slope(self, a: Any, y: Any) -> Any:
        return self.scale * np.tanh((a - y) / self.scale)


@dataclass(frozen=True)
class LogCoshLoss(LogCosh, Loss):
    scale: float = 1.0


@dataclass(frozen=True)
class LogCoshProximity(LogCosh, Proximity):
    scale: float = 1.0


@every_family
def test_a_class_is_a_component(family: Family) -> None:
    cls: Any = LogCoshLoss if family.base is Loss else LogCoshProximity
    family.check(cls(0.5))
    assert family.make(cls(0.5)) == cls(0.5) != cls()


@every_family
def test_value_and_slope_make_a_component(family: Family) -> None:
    formula = LogCosh()
    family.check(formula)
    made, a = family.make(formula), np.array([1.0, 4.0])
    assert made == family.make(formula)
    assert made.curvature == 1.0
    np.testing.assert_array_equal(made(a, 2.0), formula.value(a, 2.0))


def test_a_loss_has_no_curvature_and_no_labels_unless_it_says_so() -> None:
    del (formula := Formula("flat")).curvature
    assert (as_loss(formula).curvature, as_loss(formula).takes_labels) == (0.0, False)
    assert as_proximity(formula).curvature == 1.0


@every_family
@pytest.mark.parametrize("value", ["squared", None, 3, Squared])
def test_what_is_no_formula_is_refused(family: Family, value: Any) -> None:
    name = family.base.__name__.lower()
    for call in (family.make, family.check):
        with pytest.raises(
            TypeError, match=f"{name} must be a {name} such as {family.example}, got"
        ):
            call(value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (lambda a, y: np.full(len(a), np.nan), "must return finite numbers, got nan"),
        (lambda a, y: np.zeros(3), r"shape \(1,\), got float64 of shape \(3,\)"),
    ],
)
@pytest.mark.parametrize("name", ["value", "slope"])
def test_what_a_formula_returns_is_checked(
    name: str, values: Any, message: str
) -> None:
    formula, points = LogCosh(), (np.zeros(1), np.zeros(1))
    setattr(formula, name, values)
    with pytest.raises(ValueError, match=message):
        as_proximity(formula).native().compare(*points)
    if name == "slope":
        with pytest.raises(ValueError, match=message):
            as_loss(formula).native().slope(0.0, 0.0)


# Broken ones --------------------------------------------------------------------------


class Formula:
    """Any two formulas, by name."""

    def __init__(self, name: str, curvature: float = 0.0) -> None:
        self.name, self.curvature = name, curvature
        self.value, self.slope = FORMULAS[name]

    def __repr__(self) -> str:
        return f"Formula({self.name!r})"


def of_distance(value: Any, slope: Any) -> Any:
    return lambda a, y: value(a - y), lambda a, y: slope(a - y)


FORMULAS: dict[str, Any] = {
    "wrong slope": of_distance(lambda r: 0.5 * r * r, lambda r: -2.0 * r),
    "bad kink": of_distance(np.abs, lambda r: np.where(r == 0.0, 1.5, np.sign(r))),
    "concave": of_distance(
        lambda r: -np.expm1(-r * r), lambda r: 2 * r * np.exp(-r * r)
    ),
    "negative": of_distance(lambda r: r, np.ones_like),
    "undefined": of_distance(lambda r: np.where(r == 0, np.nan, np.abs(r)), np.sign),
    "flat": of_distance(lambda r: 0.5 * r * r, lambda r: r),
    "summed": of_distance(lambda r: np.sum(r * r), lambda r: 2.0 * r),
    "centred": of_distance(lambda r: 0.5 * r * r, lambda r: r + 1e-6 * np.mean(r)),
    "aloof": of_distance(lambda r: 1.0 + 0.5 * r * r, lambda r: r),
    "lopsided": of_distance(
        lambda r: np.maximum(r, -0.5 * r),
        lambda r: np.where(r > 0, 1.0, np.where(r < 0, -0.5, 0.0)),
    ),
}


class Astray(Squared):
    """Another formula than the squared loss, whose native one it takes."""

    _native = "squared"
    curvature = 2.0

    def value(self, a: Any, y: Any) -> Any:
        return 2.0 * super().value(a, y)

    def slope(self, a: Any, y: Any) -> Any:
        return 2.0 * super().slope(a, y)


@pytest.mark.parametrize(
    ("family", "formula", "broken"),
    [
        ("loss", Formula("wrong slope"), "slope is the derivative: .*central_differen"),
        ("loss", Formula("bad kink"), "subgradient inequality: a = "),
        ("loss", Formula("concave"), "subgradient inequality"),
        ("loss", Formula("negative"), "not negative: a = .*value = -"),
        ("loss", Formula("undefined"), "finite"),
        ("loss", Formula("flat", 0.5), "curvature: .*bound = "),
        ("loss", Formula("summed"), "element by element"),
        ("loss", Formula("centred", 1.0), "slope element by element"),
        ("loss", Astray(), "native"),
        ("proximity", Formula("lopsided", 1.0), "symmetric: a = "),
        ("proximity", Formula("aloof", 1.0), "zero at agreement"),
        ("proximity", Formula("wrong slope", 1.0), "slope is the derivative"),
        ("proximity", Formula("concave", 2.0), "subgradient inequality"),
        ("proximity", Formula("flat", 0.1), "curvature: .*bound = "),
    ],
    ids=repr,
)
def test_checks_find_broken_formulas(family: str, formula: Any, broken: str) -> None:
    with pytest.raises(LawError, match=broken) as caught:
        FAMILIES[family].check(formula)
    assert repr(formula) in str(caught.value)
