"""From arrays with gaps to the list of readings that the engine runs over."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.losses import Loss, as_loss
from halk.simulator import Readings

_LARGEST = 1e40
"""Inputs and targets beyond this would leave the finite numbers when squared twice."""

_READINGS_PER_CALL = 100_000
"""Long streams run in pieces, so that an interrupt is heard between them."""


def check_readings(
    names: str, X: Any, Y: Any, loss: Loss, has_agents: bool = True
) -> None:
    """Refuse values that no learner can use; NaN in ``Y`` means no reading.

    ``names`` are those of ``X`` and ``Y`` for the message; the last axis of ``Y`` is
    the agents' if ``has_agents``.
    """
    loss = as_loss(loss)
    if not loss.takes_labels and _are_fit(X) and _are_fit(Y):
        return
    x_name, y_name = names.split()
    agent = Y.ndim - 1 if has_agents else None
    has = ~np.isnan(Y)
    unknown, known = np.isnan(X) & has[..., None], "be finite where there is a reading"
    _refuse(x_name, agent, unknown, known, X)
    rule = "be below 1e40 in size; rescale it"
    _refuse(x_name, agent, (np.abs(X) > _LARGEST) & has[..., None], rule, X)
    _refuse(y_name, agent, np.abs(Y) > _LARGEST, rule, Y)
    if loss.takes_labels:
        rule = f"be -1 or +1 for the {type(loss).__name__} loss"
        _refuse(y_name, agent, has & (np.abs(Y) != 1.0), rule, Y)


def _are_fit(values: Any) -> bool:
    """Return whether there is nothing to refuse, in two passes over the values."""
    return values.size == 0 or bool(max(values.max(), -values.min()) <= _LARGEST)


def _refuse(name: str, agent: int | None, bad: Any, rule: str, values: Any) -> None:
    if bad.any():
        first = tuple(int(k) for k in np.argwhere(bad)[0])
        where = f" (agent {first[agent]})" if agent is not None else ""
        got = float(values[first])
        raise ValueError(f"{name} must {rule}, got {got} at index {first}{where}")


def split_stream(X: Any, Y: Matrix, n_steps: int = 0) -> Iterator[Readings]:
    """Yield the readings of a dense stream (T, V, p), (T, V), some steps at a time."""
    length = n_steps or max(1, _READINGS_PER_CALL // max(Y.shape[1], 1))
    for t in range(0, len(Y), length):
        yield _list_readings(X[t : t + length], Y[t : t + length])


def _list_readings(X: Any, Y: Matrix) -> Readings:
    has = ~np.isnan(Y)
    if has.all():
        (T, V), p = Y.shape, X.shape[-1]
        agent = np.tile(np.arange(V), T)
        return Readings(np.arange(T + 1) * V, agent, X.reshape(T * V, p), Y.ravel())
    start = np.concatenate([[0], np.cumsum(has.sum(axis=1))]).astype(np.int64)
    agent = np.nonzero(has)[1].astype(np.int64)
    return Readings(start, agent, np.ascontiguousarray(X[has]), Y[has])


def list_step(x: Matrix, y: Vector, loss: Loss) -> Readings:
    """Return the checked readings of one step of all agents."""
    check_readings("x y", x, y, loss)
    return _list_readings(x[None], y[None])


def list_single(agents: Indices, X: Matrix, Y: Vector, loss: Loss) -> Readings:
    """Return single readings, each in a step of its own; those without a target go."""
    check_readings("X Y", X, Y, loss, has_agents=False)
    has = ~np.isnan(Y)
    start = np.arange(int(has.sum()) + 1)
    return Readings(start, agents[has], np.ascontiguousarray(X[has]), Y[has])
