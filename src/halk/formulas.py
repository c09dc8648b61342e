"""The components of a learner as compiled code takes them: pointers and numbers."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from halk._jit import filled, is_ours, parameters, pointer, skeleton
from halk._validation import Vector
from halk.adaptation import Adapter, adapter_of
from halk.compression import Procedures, procedures
from halk.compression.rows import Rows, rows_of
from halk.losses import loss_curvature, loss_slope
from halk.proximity import proximity_curvature, proximity_slope, proximity_value


class Rules(NamedTuple):
    """The components that make a learner."""

    kernel: Any
    loss: Any
    proximity: Any
    adaptation: Any


class Formulas(NamedTuple):
    """Rules behind pointers: compiled loops are the same for all of them."""

    rows: Rows
    adapter: Adapter
    procedures: Procedures  # of compression
    slope: Any  # slope(loss, a, y)
    loss: Vector  # parameters of the loss
    loss_curvature: float
    compare: Any  # compare(proximity, a, b, n, values, slopes)
    proximity: Vector  # parameters of the proximity
    proximity_curvature: float


def formulas_of(
    rules: Rules,
    can_decide: bool = True,
    can_rescue: bool = True,
    can_project: bool = True,
) -> Formulas:
    """Return the rules for compiled code; compiles what is new among them.

    For the options see :func:`halk.compression.procedures`.
    """
    return Formulas(
        rows=rows_of(rules.kernel),
        adapter=adapter_of(rules.adaptation, rules.kernel),
        procedures=procedures(can_decide, can_rescue, can_project),
        slope=_slope(skeleton(rules.loss)),
        loss=parameters(rules.loss),
        loss_curvature=float(loss_curvature(rules.loss)),
        compare=_comparison(skeleton(rules.proximity)),
        proximity=parameters(rules.proximity),
        proximity_curvature=float(proximity_curvature(rules.proximity)),
    )


@cache
def _slope(loss: Any) -> Any:
    def slope(theta: Vector, a: float, y: float) -> float:
        return loss_slope(filled(loss, theta), a, y)

    vector = np.zeros(1)
    return pointer(1.0, vector, 1.0, 1.0, cache=is_ours(loss), is_hot=True)(slope)


@cache
def _comparison(proximity: Any) -> Any:
    def compare(
        theta: Vector, a: Vector, b: Vector, n: int, values: Vector, slopes: Vector
    ) -> None:
        h = filled(proximity, theta)
        for k in range(n):
            values[k] = proximity_value(h, a[k], b[k])
            slopes[k] = proximity_slope(h, a[k], b[k])

    v = np.zeros(1)
    return pointer(None, v, v, v, 1, v, v, cache=is_ours(proximity), is_hot=True)(
        compare
    )
