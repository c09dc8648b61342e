"""The laws of losses and proximities: convex formulas with a slope."""

from functools import partial
from typing import Any

import numpy as np

from halk._validation import Vector
from halk.checks.law import check_value, law, near
from halk.losses import Loss, as_loss
from halk.proximity import Proximity, as_proximity

_ROUNDING = 1e-12
_NATIVE = 1e-13
_STEP = 1e-5
_TARGETS = (-2.25, 0.0, 0.5, 30.0)
_GRID = np.concatenate([np.arange(-4.0, 4.125, 0.125), [-90.0, -1e-3, 1e-3, 90.0]])
_FAR = np.array([-1e9, 1e9])


def check_loss(loss: Any) -> None:
    """Check that ``loss`` is one: what the step and the theory rely on.

    Finite and not negative; its slope is the derivative (a central difference) away
    from kinks and a subgradient everywhere, hence it is convex; the slope changes by no
    more than the curvature allows, if that is above zero; element by element; the core
    computes the same; and it is a value (equality, hash, pickle, repr). Targets are -1
    and +1 if it takes labels. Kinks are looked for at multiples of 1/8 and at the
    loss's own parameters, counted from the target.

    Parameters
    ----------
    loss : Loss, or object with ``value`` and ``slope``
    """
    formula = as_loss(loss)
    curvature = formula.curvature
    law(0 <= curvature < np.inf, "curvature", loss, f"it is {curvature}")
    for y in (-1.0, 1.0) if formula.takes_labels else _TARGETS:
        _check_formula(formula, _offsets(loss), y)
    if isinstance(loss, Loss):
        check_value(loss)


def check_proximity(proximity: Any) -> None:
    """Check that ``proximity`` is one: what coupled agents rely on.

    Symmetric and zero at agreement; its slope is, with arguments exchanged, that in the
    second argument; convex in both together; the slope changes by no more than the
    curvature allows on either side of agreement; and all else as for a loss.

    Parameters
    ----------
    proximity : Proximity, or object with ``value`` and ``slope``
    """
    formula, offsets = as_proximity(proximity), _offsets(proximity)
    curvature = formula.curvature
    law(0 < curvature < np.inf, "curvature", proximity, f"it is {curvature}")
    for b in _TARGETS:
        _check_formula(formula, offsets, b)
    _check_pair(formula, np.concatenate([[-7.0, -1.5], np.unique(offsets[::6])]))
    if isinstance(proximity, Proximity):
        check_value(proximity)


def _offsets(component: Any) -> Vector:
    """Return distances from the target to look at, its parameters among them."""
    own = [v for v in getattr(component, "__dict__", {}).values() if type(v) is float]
    return np.concatenate([_GRID, own, np.negative(own)])


def _evaluate(formula: Any, name: str, y: float, a: Vector) -> Vector:
    """Return ``value`` or ``slope`` at ``(a, y)``, many at once as one by one."""
    evaluate = getattr(formula, name)
    many = np.asarray(evaluate(a, np.full(a.shape, y)), dtype=np.float64)
    where = f"{a.shape} became {many.shape}"
    law(many.shape == a.shape, "element by element", formula, where)
    law(np.isfinite(many), f"finite {name}", formula, a=a, got=many)
    one = np.array([np.ravel(evaluate(each, np.array([y])))[0] for each in a[:, None]])
    is_same = near(one, many, _ROUNDING)
    law(is_same, f"{name} element by element", formula, a=a, many=many, one=one)
    return many


def _check_formula(formula: Any, offsets: Vector, y: float) -> None:
    """Check value and slope as functions of the first argument."""
    a = np.unique(np.concatenate([y + offsets, _FAR]))
    value, slope = (partial(_evaluate, formula, name, y) for name in ("value", "slope"))
    v, g = value(a), slope(a)
    law(v >= 0, "not negative", formula, a=a, value=v)
    h, size = _STEP * np.maximum(1.0, np.abs(a)), 1e-3 * (1.0 + np.abs(g))
    low, high = value(a - h), value(a + h)
    has_kink = np.abs(high - 2 * v + low) > size * h
    central, name = (high - low) / (2 * h), "slope is the derivative"
    is_derivative = has_kink | (np.abs(g - central) <= size)
    law(is_derivative, name, formula, a=a, slope=g, central_difference=central)
    to, v_to, g_to = a[:, None], v[:, None], g[:, None]
    rounding = _ROUNDING * (v + v_to + np.abs(g) * (np.abs(a) + np.abs(to)) + 1)
    is_above = v_to - v - g * (to - a) >= -rounding
    law(is_above, "subgradient inequality", formula, a=a, to=to, slope=g)
    change, bound = np.abs(g_to - g), formula.curvature * np.abs(to - a)
    within = change <= bound + _ROUNDING * (1 + np.abs(g) + np.abs(g_to))
    # A curvature of 0 promises nothing; a proximity may have its kink at agreement.
    may_jump = formula.curvature == 0.0
    if isinstance(formula, Proximity):
        may_jump = (a - y) * (to - y) <= 0
    name = "curvature"
    law(may_jump | within, name, formula, a=a, to=to, change=change, bound=bound)
    _check_native(formula, a, np.full(len(a), y))


def _check_native(formula: Any, a: Vector, y: Vector) -> None:
    """Compare with what the core computes."""
    native = formula.native()
    if isinstance(formula, Proximity):
        found = dict(zip(("value", "slope"), native.compare(a, y), strict=True))
    else:
        pairs = zip(a.tolist(), y.tolist(), strict=True)
        found = {"slope": np.array([native.slope(*pair) for pair in pairs])}
    for name, got in found.items():
        wanted = getattr(formula, name)(a, y)
        is_same = near(got, wanted, _NATIVE, 1e-300)
        law(is_same, f"native {name}", formula, a=a, y=y, native=got, formula=wanted)


def _check_pair(h: Proximity, line: Vector) -> None:
    """Check what concerns both arguments: symmetry, agreement, joint convexity."""
    a, b = (np.ravel(grid) for grid in np.meshgrid(line, line))
    v, mirrored = h.value(a, b), h.value(b, a)
    law(near(mirrored, v, _ROUNDING), "symmetric", h, a=a, b=b, h_ab=v, h_ba=mirrored)
    law((a != b) | (v == 0), "zero at agreement", h, a=a, value=v)
    first, second = h.slope(a, b), h.slope(b, a)
    pull = first * (a[:, None] - a) + second * (b[:, None] - b)
    is_above = v[:, None] - v - pull >= -100 * _ROUNDING * (1 + v + v[:, None])
    law(is_above, "subgradient inequality in both", h, a=a, b=b, slope=first)
