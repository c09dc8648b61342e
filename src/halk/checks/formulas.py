"""The laws of losses and proximities: convex formulas with a slope."""

from collections.abc import Callable
from typing import Any

import numpy as np

from halk._validation import Matrix, Vector
from halk.checks.law import check_value, law, law_everywhere
from halk.losses import Loss, loss_slope, loss_value
from halk.proximity import Proximity, proximity_slope, proximity_value

_ROUNDING = 1e-12
_STEP = 1e-5
_TARGETS = (-2.25, 0.0, 0.5, 30.0)
_GRID = np.concatenate([np.arange(-4.0, 4.25, 0.25), [-90.0, -1e-3, 1e-3, 90.0]])
_FAR = np.array([-1e9, 1e9])


def check_loss(loss: Loss) -> None:
    """Check that ``loss`` is one: what the step and the theory rely on.

    Finite and not negative; its slope is the derivative (a central difference) away
    from kinks and a subgradient everywhere; convex; the slope changes by no more than
    the curvature allows, if that is above zero; compiled as interpreted; and it is a
    value (equality, hash, pickle, repr). Targets are -1 and +1 if it takes labels.

    Kinks are looked for at multiples of 1/4 and at the loss's own parameters, counted
    from the target.

    Raises
    ------
    LawError
        With the law, the loss and a counterexample.
    """
    if not isinstance(loss, Loss):
        raise TypeError(f"loss must be a Loss, got {loss!r}")
    law(0 <= loss.curvature < np.inf, "curvature", loss, f"it is {loss.curvature}")
    for y in (-1.0, 1.0) if loss.takes_labels else _TARGETS:
        a = np.unique(np.concatenate([y + _offsets(loss), _FAR]))
        value, slope = _formulas(loss_value, loss_slope, loss, y)
        _check_value(loss, a, value)
        _check_slope(loss, a, value, slope)
        _check_convex(loss, a, value, slope)
        _check_curvature(loss, a, slope, loss.curvature)
        _check_compiled(loss, a, np.full(len(a), y), value(a), slope(a))
    check_value(loss)


def check_proximity(proximity: Proximity) -> None:
    """Check that ``proximity`` is one: what coupled agents rely on.

    Symmetric, zero at agreement, not negative, finite; its slope is the derivative
    away from kinks, a subgradient everywhere and, with arguments exchanged, that in the
    second argument; convex in both together; the slope changes by no more than the
    curvature allows on either side of agreement; compiled as interpreted; and it is a
    value (equality, hash, pickle, repr).

    Raises
    ------
    LawError
        With the law, the proximity and a counterexample.
    """
    if not isinstance(proximity, Proximity):
        raise TypeError(f"proximity must be a Proximity, got {proximity!r}")
    curvature = proximity.curvature
    law(0 < curvature < np.inf, "curvature", proximity, f"it is {curvature}")
    for b in _TARGETS:
        a = np.unique(np.concatenate([b + _offsets(proximity), _FAR]))
        value, slope = _formulas(proximity_value, proximity_slope, proximity, b)
        _check_value(proximity, a, value)
        _check_slope(proximity, a, value, slope)
        _check_convex(proximity, a, value, slope)
        _check_curvature(proximity, a[a > b], slope, curvature)
        _check_curvature(proximity, a[a < b], slope, curvature)
        _check_compiled(proximity, a, np.full(len(a), b), value(a), slope(a))
    _check_pair(proximity)
    check_value(proximity)


Formula = Callable[[Vector], Vector]


def _formulas(
    value: Callable[..., float], slope: Callable[..., float], component: Any, y: float
) -> tuple[Formula, Formula]:
    """Return value and slope as interpreted functions of an array of predictions."""
    return (
        lambda a: np.array([value(component, float(v), y) for v in a], dtype=float),
        lambda a: np.array([slope(component, float(v), y) for v in a], dtype=float),
    )


def _offsets(component: Any) -> Vector:
    """Return distances from the target to look at, its parameters among them."""
    own = np.array([v for v in component if isinstance(v, float)], dtype=float)
    return np.concatenate([_GRID, own, -own])


def _check_value(component: Any, a: Vector, value: Formula) -> None:
    v = value(a)
    law_everywhere(np.isfinite(v), "finite", component, a=a, value=v)
    law_everywhere(v >= 0, "not negative", component, a=a, value=v)


def _check_slope(component: Any, a: Vector, value: Formula, slope: Formula) -> None:
    """Compare with the central difference wherever both one-sided ones agree."""
    h = _STEP * np.maximum(1.0, np.abs(a))
    low, middle, high, g = value(a - h), value(a), value(a + h), slope(a)
    law_everywhere(np.isfinite(g), "finite slope", component, a=a, slope=g)
    size = 1e-3 * (1.0 + np.abs(g))
    is_smooth = np.abs(high - 2 * middle + low) <= size * h
    central = (high - low) / (2 * h)
    law_everywhere(
        ~is_smooth | (np.abs(g - central) <= size),
        "slope is the derivative",
        component,
        a=a,
        slope=g,
        central_difference=central,
    )


def _check_convex(component: Any, a: Vector, value: Formula, slope: Formula) -> None:
    v, g, to = value(a), slope(a), a[:, None]
    rounding = _ROUNDING * (v + v[:, None] + np.abs(g) * (np.abs(a) + np.abs(to)) + 1)
    gap = v[:, None] - v - g * (to - a)
    law_everywhere(
        gap >= -rounding, "subgradient inequality", component, a=a, to=to, slope=g
    )
    middle = value(((a + to) / 2).ravel()).reshape(gap.shape)
    law_everywhere(
        middle <= (v + v[:, None]) / 2 + rounding, "convex", component, a=a, to=to
    )


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


def _check_compiled(component: Any, a: Vector, y: Vector, v: Vector, g: Vector) -> None:
    for name, array, formula in (
        ("value", component(a, y), v),
        ("slope", component.slope(a, y), g),
    ):
        near = np.abs(array - formula) <= _ROUNDING * np.abs(formula)
        law_everywhere(
            near, f"compiled {name}", component, a=a, y=y, compiled=array, plain=formula
        )


def _check_pair(h: Proximity) -> None:
    """Check what concerns both arguments: symmetry, agreement, joint convexity."""
    line = np.concatenate([[-7.0, -1.5], np.unique(_offsets(h)[::6])])
    a, b = (np.ravel(grid) for grid in np.meshgrid(line, line))
    v, mirrored, first, second = (
        np.array([f(h, float(s), float(t)) for s, t in pairs], dtype=float)
        for f, pairs in (
            (proximity_value, list(zip(a, b, strict=True))),
            (proximity_value, list(zip(b, a, strict=True))),
            (proximity_slope, list(zip(a, b, strict=True))),
            (proximity_slope, list(zip(b, a, strict=True))),
        )
    )
    near = np.abs(v - mirrored) <= _ROUNDING * v
    law_everywhere(near, "symmetric", h, a=a, b=b, h_ab=v, h_ba=mirrored)
    law_everywhere((a != b) | (v == 0), "zero at agreement", h, a=a, value=v)
    gap = _joint_gap(a, b, v, first, second)
    rounding = _ROUNDING * (1 + v + v[:, None]) * 100
    law_everywhere(
        gap >= -rounding, "subgradient inequality in both", h, a=a, b=b, slope=first
    )


def _joint_gap(
    a: Vector, b: Vector, v: Vector, first: Vector, second: Vector
) -> Matrix:
    """Return ``h(to) - h(at) - <slopes, to - at>``, not negative if h is convex."""
    pull = first * (a[:, None] - a) + second * (b[:, None] - b)
    return np.asarray(v[:, None] - v - pull)
