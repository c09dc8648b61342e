"""The arrays of one agent that runs by itself, and what is compiled to work on them."""

from typing import Any, NamedTuple

import numpy as np

from halk._jit import compiled, internal
from halk._validation import Indices, Vector
from halk.adaptation import N_STATE
from halk.compression import Dictionary, dictionary
from halk.compression.panels import products
from halk.formulas import Formulas
from halk.step import (
    Desk,
    Pace,
    Settings,
    adapted,
    desk,
    dual_pace,
    evaluate,
    fresh_targets,
    own_slope,
    update_multipliers,
)


class Body(NamedTuple):
    """The numbers and arrays of one agent."""

    settings: Settings
    pace: Pace
    dictionary: Dictionary
    desk: Desk
    order: Indices  # (1,)
    scale: Vector  # (1,)           of the bandwidth
    target: Vector  # (6,)          running statistics of the target
    trust: Vector  # (2,)
    adaptation: Vector  # (4,)
    tolerance: Vector  # (degree,)
    multipliers: Vector  # (degree,)
    violation: Vector  # (degree,)  sum of h - gamma over the steps that asked
    asked: Indices  # (degree,)     number of those steps


class Whole(NamedTuple):
    """An agent with its formulas."""

    formulas: Formulas
    move: Any  # update_function
    body: Body


def fresh_body(
    settings: Settings, pace: Pace, tolerance: Vector, n_features: int
) -> Body:
    """Return an agent that has learned nothing."""
    degree = len(tolerance)
    return Body(
        settings=settings,
        pace=pace,
        dictionary=dictionary(4, n_features),
        desk=desk(16, degree + 1, degree, n_features),
        order=np.zeros(1, dtype=np.int64),
        scale=np.ones(1),
        target=fresh_targets(1)[0],
        trust=np.array([np.inf, 0.0]),
        adaptation=np.zeros(N_STATE),
        tolerance=tolerance,
        multipliers=np.zeros(degree),
        violation=np.zeros(degree),
        asked=np.zeros(degree, dtype=np.int64),
    )


@internal
def look(formulas: Formulas, body: Body, b: int) -> None:
    """Fill kernel values and predictions at the first ``b`` points of the block."""
    evaluate(
        formulas, body.scale[0], body.dictionary, body.order[0], body.target,
        body.desk, b,
    )  # fmt: skip


@compiled
def predict(whole: Whole) -> float:
    """Return the prediction at the first point of the block."""
    formulas, body = whole.formulas, whole.body
    look(formulas, body, 1)
    return float(body.desk.inbox.mine[0])


@compiled
def move(whole: Whole, b: int, has_reading: bool, y: float) -> int:
    """Move the function; return the number of atoms, or minus that to make room for."""
    formulas, body = whole.formulas, whole.body
    look(formulas, body, b)
    place, D = body.desk, body.dictionary
    points = place.block
    products(D.inverse, body.order[0], points.cross, b, points.solved)
    m: int = whole.move(
        formulas, body.settings, body.pace, D, body.order[0], body.scale[0],
        body.target, body.trust, points, place.workspace, place.inbox, b, has_reading,
        y, body.multipliers,
    )  # fmt: skip
    if m >= 0:
        body.order[0] = m
    return m


@compiled
def conclude(whole: Whole, own: float, y: float, around: float) -> None:
    """Adapt the bandwidth and move the multipliers, after a reading.

    Its point is in the first column of the block; the answers are in the inbox, and so
    is how far they are from its own value, as :func:`move` left it.
    """
    formulas, body = whole.formulas, whole.body
    place, settings = body.desk, body.settings
    if not formulas.adapter.is_fixed:
        slope = own_slope(formulas, own, y, body.target)
        body.order[0] = adapted(
            formulas, body.dictionary, body.order[0], place.block, place.workspace,
            body.adaptation, body.scale, slope, around, body.trust,
            settings.norm_bound,
        )  # fmt: skip
    eta = dual_pace(body.target, body.pace.dual_step_size, settings)
    update_multipliers(
        settings, eta, place.inbox.answer, place.inbox.h, body.tolerance,
        body.multipliers, body.violation, body.asked,
    )  # fmt: skip
