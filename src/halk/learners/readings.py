"""From arrays with gaps to the list of readings that the engine runs over."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.losses import Loss
from halk.simulator import Readings
from halk.step import Rules

_LARGEST = 1e40
"""Inputs and targets beyond this would leave the finite numbers when squared twice."""

_READINGS_A_CALL = 100_000
"""Long streams run in pieces, so that an interrupt is heard between them."""


def _refuse(name: str, where: Any, bad: Any, rule: str, values: Any) -> None:
    if bad.any():
        first = tuple(int(k) for k in np.argwhere(bad)[0])
        got = float(values[first])
        agent = f" (agent {first[where]})" if where is not None else ""
        raise ValueError(f"{name} must {rule}, got {got} at index {first}{agent}")


def checked(x_name: str, y_name: str, X: Any, Y: Any, loss: Loss) -> None:
    """Refuse values that no learner can use; NaN in ``Y`` means no reading."""
    agent = Y.ndim - 1 if Y.ndim else None
    has = ~np.isnan(Y)
    _refuse(x_name, agent, np.isnan(X) & has[..., None], "be finite where there is a reading", X)
    _refuse(x_name, agent, np.abs(X) > _LARGEST, "be below 1e40 in size; rescale it", X)
    _refuse(y_name, agent, np.abs(Y) > _LARGEST, "be below 1e40 in size; rescale it", Y)
    if loss.takes_labels:
        rule = f"be -1 or +1 for the {type(loss).__name__} loss"
        _refuse(y_name, agent, has & (np.abs(Y) != 1.0), rule, Y)


def pieces(X: Any, Y: Matrix, n_steps: int = 0) -> Iterator[Readings]:
    """Yield the readings of a dense stream (T, V, p), (T, V), some steps at a time."""
    length = n_steps or max(1, _READINGS_A_CALL // max(Y.shape[1], 1))
    for t in range(0, len(Y), length):
        yield _listed(X[t : t + length], Y[t : t + length])


def _listed(X: Any, Y: Matrix) -> Readings:
    has = ~np.isnan(Y)
    start = np.concatenate([[0], np.cumsum(has.sum(axis=1))]).astype(np.int64)
    agent = np.nonzero(has)[1].astype(np.int64)
    return Readings(start, agent, np.ascontiguousarray(X[has]), Y[has])


def dense(x_name: str, y_name: str, X: Any, Y: Matrix, rules: Rules) -> Readings:
    """Return the checked readings of a dense stream in one piece."""
    checked(x_name, y_name, X, Y, rules.loss)
    return _listed(X, Y)


def single(agents: Indices, X: Matrix, Y: Vector, rules: Rules) -> Readings:
    """Return single readings, each a step of its own; those without a target go."""
    checked("X", "Y", X, Y, rules.loss)
    has = ~np.isnan(Y)
    start = np.arange(int(has.sum()) + 1)
    return Readings(start, agents[has], np.ascontiguousarray(X[has]), Y[has])
