"""The order in which a model learns a table: every reading new once, and rehearsed.

A new reading is predicted before it is learned (progressive validation), so its miss
is that of a reading never seen. After it come some of the readings before, drawn at
random: what was learned is not forgotten, and one table is enough to settle on.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.sensing.scales import Common
from halk.simulator import Readings

PORTION = 1_000
"""Readings between two moments at which progress is told and an interrupt heard."""

FIRST = 20
"""Readings that tell of mean and spread before any was learned."""

STRETCHES = 0.5
"""Share of sensors that miss a stretch when choices are tried."""

Tell = Callable[[float], object]
"""Told which share is done; what it raises ends the course."""


class Course(NamedTuple):
    """Which readings to learn, in order."""

    reading: Indices  # (n,)
    is_new: Any  # (n,) of bool: whether it was not learned before


def course(
    n: int,
    n_rehearsed: int,
    rng: np.random.Generator,
    n_settling: int = 0,
    n_old: int = 0,
    arrival: Indices | None = None,
) -> Course:
    """Return an order of ``n`` readings, ``n_rehearsed`` earlier ones after each.

    Parameters
    ----------
    n_settling : int
        How often everything is learned once more at the end.
    n_old : int
        The first readings are not new: they are rehearsed only.
    arrival : int array (n - n_old,), optional
        The order in which new ones come, counted from ``n_old``; by default random.
    """
    new = rng.permutation(n - n_old) if arrival is None else arrival
    order = np.concatenate([np.arange(n_old), n_old + new])
    n_new = n - n_old
    block = np.empty((n_new, 1 + n_rehearsed), np.int64)
    block[:, 0] = order[n_old:]
    known = n_old + 1 + np.arange(n_new)[:, None]
    block[:, 1:] = order[(rng.random((n_new, n_rehearsed)) * known).astype(np.int64)]
    is_new = np.zeros(block.shape, bool)
    is_new[:, 0] = True
    again = [rng.permutation(n) for _ in range(n_settling)]
    reading = np.concatenate([block.reshape(-1), *again])
    padding = np.zeros(n_settling * n, bool)
    return Course(reading, np.concatenate([is_new.reshape(-1), padding]))


def with_gaps(agent: Indices, x: Matrix, rng: np.random.Generator) -> Indices:
    """Return an order of readings whose second half fills gaps of all lengths.

    Half of the sensors miss single readings, the others whole stretches along an input:
    they tell how well neighbours stand in for what a sensor never measured.
    """
    is_late = np.zeros(len(agent), bool)
    for i in np.unique(agent).tolist():
        mine = np.flatnonzero(agent == i)
        n_late = len(mine) // 2
        if rng.random() < STRETCHES:
            mine = mine[np.argsort(x[mine, rng.integers(x.shape[1])], kind="stable")]
            first = int(rng.integers(len(mine) - n_late + 1))
            is_late[mine[first : first + n_late]] = True
        else:
            is_late[rng.permutation(mine)[:n_late]] = True
    early, late = np.flatnonzero(~is_late), np.flatnonzero(is_late)
    return np.concatenate([rng.permutation(early), rng.permutation(late)])


def taught(
    common: Common, steps: Course, agent: Indices, Z: Matrix, y: Vector, tell: Tell
) -> Vector:
    """Let a learner take a course; return predictions before learning, (n,).

    NaN for readings that are not new in it. Mean and spread of all follow what was
    learned, portion by portion: but for the first ones, of which they begin, a
    prediction knows nothing of later values.
    """
    learner, values = common.learner, y[steps.reading[steps.is_new]]
    n_seen, n_learned = 0, 0
    if not common.moments.n:
        n_seen = len(values[:FIRST])
        common.see(values[:n_seen])
    predictions = np.full(len(y), np.nan)
    n = len(steps.reading)
    for first in range(0, n, PORTION):
        if n_learned > n_seen:
            common.see(values[n_seen:n_learned])
            n_seen = n_learned
        part = slice(first, first + PORTION)
        chosen = steps.reading[part]
        start = np.arange(len(chosen) + 1)
        record = learner.observe(Readings(start, agent[chosen], Z[chosen], y[chosen]))
        new = steps.is_new[part]
        predictions[chosen[new]] = record.prediction[new]
        n_learned += int(new.sum())
        tell(min(first + PORTION, n) / n)
    common.count(values[n_seen:])  # nothing is learned now that could follow
    return predictions
