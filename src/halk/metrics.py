"""What is measured while a network learns, as plain numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from halk._validation import array, without_nan
from halk.learners.base import Learner

Row = dict[str, float]


def inside(model: Learner) -> Row:
    """Return the measures of the model as it stands.

    Violations are the running means of ``h - tolerance`` over the model's whole life,
    with 0 for an edge never asked. Measures of edges are left out for a network without
    any, measures of bandwidths for a model without any.
    """
    order = model.model_order
    row: Row = {
        "order_mean": float(order.mean()),
        "order_max": int(order.max()),
        "order_total": model.n_atoms,
    }
    if model.network.n_edges:
        violations, multipliers = model.violations, model.multipliers
        row |= {
            "violation_worst": float(violations.max()),
            "violation_mean": float(violations.mean()),
            "violation_excess": float(np.maximum(violations, 0.0).mean()),
            "violation_share": float((violations > 0).mean()),
            "multiplier_mean": float(multipliers.mean()),
            "multiplier_max": float(multipliers.max()),
        }
    widths = model.bandwidths
    if widths is not None:
        row |= {
            "bandwidth_median": float(np.median(widths)),
            "bandwidth_min": float(widths.min()),
            "bandwidth_max": float(widths.max()),
        }
    return row


def error_at(model: Learner, test: Any, n_features: int) -> Callable[[], float]:
    """Return a function that gives the root-mean-square error at some points.

    Parameters
    ----------
    model : Learner
    test : (agents, X, Y)
        Who predicts at each point, n indices or names; inputs (n, n_features); finite
        targets (n,). At least one point.
    n_features : int
    """
    if not isinstance(test, tuple | list) or len(test) != 3:
        raise TypeError(f"test must be (agents, X, Y), got {type(test).__name__}")
    agents, X, Y = test
    if np.ndim(agents) != 1 or len(agents) == 0:
        raise ValueError(f"test agents must be a sequence, not empty, got {agents!r}")
    index = np.array([model.network.index(agent) for agent in agents], np.int64)
    X = without_nan("test X", array("test X", X, (len(index), n_features)))
    Y = without_nan("test Y", array("test Y", Y, (len(index),)))
    names = index.tolist()

    def error() -> float:
        miss = model.predict_readings(names, X) - Y
        return float(np.sqrt((miss**2).mean()))

    return error
