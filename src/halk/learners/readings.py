"""From arrays with gaps to the list of readings that the engine runs over."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from halk._jit import compiled
from halk._validation import Indices, Matrix, Vector
from halk.losses import Loss
from halk.simulator import Readings, Record

_LARGEST = 1e40
"""Inputs and targets beyond this would leave the finite numbers when squared twice."""

_READINGS_A_CALL = 100_000
"""Long streams run in pieces, so that an interrupt is heard between them."""


def checked(names: str, X: Any, Y: Any, loss: Loss, has_agents: bool = True) -> None:
    """Refuse values that no learner can use; NaN in ``Y`` means no reading.

    ``names`` are those of ``X`` and ``Y`` for the message; the last axis of ``Y`` is
    the agents' if ``has_agents``.
    """
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


@compiled
def _list_step(
    X: Matrix, Y: Vector, takes_labels: bool, start: Indices, agent: Indices,
    x: Matrix, y: Vector,
) -> int:  # fmt: skip
    """List the readings of a step; return their number, -1 if one is not fit."""
    n = 0
    for i in range(len(Y)):
        if Y[i] == Y[i]:
            if not abs(Y[i]) <= _LARGEST or (takes_labels and abs(Y[i]) != 1.0):
                return -1
            for f in range(X.shape[1]):
                if not abs(X[i, f]) <= _LARGEST:
                    return -1
                x[n, f] = X[i, f]
            agent[n], y[n] = i, Y[i]
            n += 1
    start[1] = n
    return n


class StepLister:
    """Lists the readings of single steps in arrays that are used again.

    For arrays and lists of numbers; None for all others, and for what is not fit: those
    take the way that explains itself.
    """

    def __init__(self, n_agents: int, n_features: int, loss: Loss) -> None:
        self._shape = n_agents, n_features
        self.everybody = np.arange(n_agents)
        self._takes_labels = loss.takes_labels
        V, p = n_agents, n_features
        self._all = Readings(
            np.zeros(2, np.int64), np.zeros(V, np.int64), np.zeros((V, p)), np.zeros(V)
        )
        self._record = Record(np.zeros(V), np.zeros(1), np.zeros(1, np.int64))

    def inputs(self, X: Any) -> Matrix | None:
        """Return inputs of all agents as an array, if they are fit."""
        X = _plain(X, self._shape)
        return X if X is not None and np.isfinite(X).all() else None

    def listed(self, X: Any, Y: Any) -> tuple[Readings, Record] | None:
        """Return the readings of a step, and room for what is seen, until the next."""
        X, Y = _plain(X, self._shape), _plain(Y, self._shape[:1])
        if X is None or Y is None:
            return None
        n = _list_step(X, Y, self._takes_labels, *self._all)
        if n < 0:
            return None
        if n == len(Y):
            return self._all, self._record
        start, agent, x, y = self._all
        return Readings(start, agent[:n], x[:n], y[:n]), self._record


def _plain(value: Any, shape: tuple[int, ...]) -> Any:
    """Return an array of numbers of this shape, or a list as one; None for others."""
    if type(value) is list:
        try:
            value = np.array(value)
        except ValueError:  # rows of different lengths
            return None
    is_array = type(value) is np.ndarray and value.dtype == np.float64
    is_fit = is_array and value.shape == shape and value.flags.carray
    return value if is_fit else None


def pieces(X: Any, Y: Matrix, n_steps: int = 0) -> Iterator[Readings]:
    """Yield the readings of a dense stream (T, V, p), (T, V), some steps at a time."""
    length = n_steps or max(1, _READINGS_A_CALL // max(Y.shape[1], 1))
    for t in range(0, len(Y), length):
        yield _listed(X[t : t + length], Y[t : t + length])


def _listed(X: Any, Y: Matrix) -> Readings:
    has = ~np.isnan(Y)
    if has.all():
        (T, V), p = Y.shape, X.shape[-1]
        agent = np.tile(np.arange(V), T)
        return Readings(np.arange(T + 1) * V, agent, X.reshape(T * V, p), Y.ravel())
    start = np.concatenate([[0], np.cumsum(has.sum(axis=1))]).astype(np.int64)
    agent = np.nonzero(has)[1].astype(np.int64)
    return Readings(start, agent, np.ascontiguousarray(X[has]), Y[has])


def one_step(x: Matrix, y: Vector, loss: Loss) -> Readings:
    """Return the checked readings of one step of all agents."""
    checked("x y", x, y, loss)
    return _listed(x[None], y[None])


def single(agents: Indices, X: Matrix, Y: Vector, loss: Loss) -> Readings:
    """Return single readings, each a step of its own; those without a target go."""
    checked("X Y", X, Y, loss, has_agents=False)
    has = ~np.isnan(Y)
    start = np.arange(int(has.sum()) + 1)
    return Readings(start, agents[has], np.ascontiguousarray(X[has]), Y[has])
