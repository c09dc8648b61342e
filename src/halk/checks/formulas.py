"""The laws of losses and proximities: convex formulas with a slope."""

from collections.abc import Callable
from typing import Any

import numpy as np

from halk._validation import Vector
from halk.checks.law import check_value, law, law_everywhere
from halk.losses import Loss, as_loss
from halk.proximity import Proximity, as_proximity

_ROUNDING = 1e-12
_NATIVE = 1e-13
_STEP = 1e-5
_TARGETS = (-2.25, 0.0, 0.5, 30.0)
_GRID = np.concatenate([np.arange(-4.0, 4.25, 0.25), [-90.0, -1e-3, 1e-3, 90.0]])
_FAR = np.array([-1e9, 1e9])

Formula = Callable[[Vector], Vector]


def check_loss(loss: Any) -> None:
    """Check that ``loss`` is one: what the step and the theory rely on.

    Finite and not negative; its slope is the derivative (a central difference) away
    from kinks and a subgradient everywhere; convex; the slope changes by no more than
    the curvature allows, if that is above zero; element by element; the core computes
    the same; and it is a value (equality, hash, pickle, repr). Targets are -1 and +1
    if it takes labels.

    Kinks are looked for at multiples of 1/4 and at the loss's own parameters, counted
    from the target.

    Parameters
    ----------
    loss : Loss, or object with ``value`` and ``slope``
    """
    formula = as_loss(loss)
    curvature = formula.curvature
    law(0 <= curvature < np.inf, "curvature", loss, f"it is {curvature}")
    for y in (-1.0, 1.0) if formula.takes_labels else _TARGETS:
        a = np.unique(np.concatenate([y + _offsets(loss), _FAR]))
        slope = _check_formula(formula, a, y)
        _check_curvature(loss, a, slope, curvature)
        _check_native(formula, a, np.full(len(a), y))
    if isinstance(loss, Loss):
        check_value(loss)


def check_proximity(proximity: Any) -> None:
    """Check that ``proximity`` is one: what coupled agents rely on.

    Symmetric, zero at agreement, not negative, finite; its slope is the derivative
    away from kinks, a subgradient everywhere and, with arguments exchanged, that in the
    second argument; convex in both together; the slope changes by no more than the
    curvature allows on either side of agreement; element by element; the core computes
    the same; and it is a value (equality, hash, pickle, repr).

    Parameters
    ----------
    proximity : Proximity, or object with ``value`` and ``slope``
    """
    formula = as_proximity(proximity)
    curvature = formula.curvature
    law(0 < curvature < np.inf, "curvature", proximity, f"it is {curvature}")
    for b in _TARGETS:
        a = np.unique(np.concatenate([b + _offsets(proximity), _FAR]))
        slope = _check_formula(formula, a, b)
        _check_curvature(proximity, a[a > b], slope, curvature)
        _check_curvature(proximity, a[a < b], slope, curvature)
        _check_native(formula, a, np.full(len(a), b))
    _check_pair(formula)
    if isinstance(proximity, Proximity):
        check_value(proximity)


def _offsets(component: Any) -> Vector:
    """Return distances from the target to look at, its parameters among them."""
    own = [v for v in getattr(component, "__dict__", {}).values() if type(v) is float]
    return np.concatenate([_GRID, own, np.negative(own)])


def _check_formula(component: Any, a: Vector, y: float) -> Formula:
    """Check value and slope as functions of the first argument; return the slope."""

    def value(a: Vector) -> Vector:
        return _checked_shape(component, component.value(a, np.full(a.shape, y)), a)

    def slope(a: Vector) -> Vector:
        return _checked_shape(component, component.slope(a, np.full(a.shape, y)), a)

    for name, formula in (("value", value), ("slope", slope)):
        many = formula(a)
        law_everywhere(np.isfinite(many), f"finite {name}", component, a=a, got=many)
        one = np.concatenate([formula(a[k : k + 1]) for k in range(len(a))])
        near = np.abs(one - many) <= _ROUNDING * np.abs(many)
        law_everywhere(near, f"{name} element by element", component, a=a, got=many)
    v = value(a)
    law_everywhere(v >= 0, "not negative", component, a=a, value=v)
    _check_slope(component, a, value, slope)
    _check_convex(component, a, value, slope)
    return slope


def _checked_shape(component: Any, values: Any, a: Vector) -> Vector:
    result = np.asarray(values, dtype=np.float64)
    what = f"{a.shape} became {result.shape}"
    law(result.shape == a.shape, "element by element", component, what)
    return result


def _check_slope(component: Any, a: Vector, value: Formula, slope: Formula) -> None:
    """Compare with the central difference wherever both one-sided ones agree."""
    h = _STEP * np.maximum(1.0, np.abs(a))
    low, middle, high, g = value(a - h), value(a), value(a + h), slope(a)
    size = 1e-3 * (1.0 + np.abs(g))
    is_smooth = np.abs(high - 2 * middle + low) <= size * h
    central = (high - low) / (2 * h)
    near = ~is_smooth | (np.abs(g - central) <= size)
    name = "slope is the derivative"
    law_everywhere(near, name, component, a=a, slope=g, central_difference=central)


def _check_convex(component: Any, a: Vector, value: Formula, slope: Formula) -> None:
    v, g, to = value(a), slope(a), a[:, None]
    rounding = _ROUNDING * (v + v[:, None] + np.abs(g) * (np.abs(a) + np.abs(to)) + 1)
    is_above = v[:, None] - v - g * (to - a) >= -rounding
    law_everywhere(is_above, "subgradient inequality", component, a=a, to=to, slope=g)
    middle = value(((a + to) / 2).ravel()).reshape(rounding.shape)
    is_below = middle <= (v + v[:, None]) / 2 + rounding
    law_everywhere(is_below, "convex", component, a=a, to=to)


def _check_curvature(
    component: Any, a: Vector, slope: Formula, curvature: float
) -> None:
    if curvature > 0:
        g, to = slope(a), a[:, None]
        change, bound = np.abs(g - g[:, None]), curvature * np.abs(a - to)
        within = change <= bound + _ROUNDING * (1 + np.abs(g) + np.abs(g[:, None]))
        law_everywhere(
            within, "curvature", component, a=a, to=to, change=change, bound=bound
        )


def _check_native(component: Any, a: Vector, y: Vector) -> None:
    native = component.native()
    same = native.curvature == component.curvature
    law(same, "native curvature", component, f"it is {native.curvature}")
    if isinstance(component, Proximity):
        value, slope = native.compare(a, y)
        pairs = {"value": value, "slope": slope}
    else:
        pairs = {"slope": native.slope(a, y)}
        if "_native" in vars(type(component)):  # of others the core takes no value
            pairs["value"] = native.value(a, y)
    for name, got in pairs.items():
        formula = getattr(component, name)(a, y)
        near = np.abs(got - formula) <= _NATIVE * np.abs(formula) + 1e-300
        law_everywhere(
            near, f"native {name}", component, a=a, y=y, native=got, formula=formula
        )


def _check_pair(h: Proximity) -> None:
    """Check what concerns both arguments: symmetry, agreement, joint convexity."""
    line = np.concatenate([[-7.0, -1.5], np.unique(_offsets(h)[::6])])
    a, b = (np.ravel(grid) for grid in np.meshgrid(line, line))
    v, mirrored = h.value(a, b), h.value(b, a)
    near = np.abs(v - mirrored) <= _ROUNDING * v
    law_everywhere(near, "symmetric", h, a=a, b=b, h_ab=v, h_ba=mirrored)
    law_everywhere((a != b) | (v == 0), "zero at agreement", h, a=a, value=v)
    first, second = h.slope(a, b), h.slope(b, a)
    pull = first * (a[:, None] - a) + second * (b[:, None] - b)
    is_above = v[:, None] - v - pull >= -100 * _ROUNDING * (1 + v + v[:, None])
    name = "subgradient inequality in both"
    law_everywhere(is_above, name, h, a=a, b=b, slope=first)
