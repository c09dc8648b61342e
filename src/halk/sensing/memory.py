"""Readings that a model keeps: to rehearse, to show, and not to learn one twice."""

from dataclasses import dataclass

import numpy as np

from halk._validation import Indices, Matrix, Vector

KEPT = 20_000
"""Readings kept at most, as evenly from all sensors as they have any."""

MARKS = 1_000_000
"""Readings of which at least a mark is kept, to know them again."""


@dataclass(frozen=True)
class Memory:
    """Some readings, and the marks of all the last ones."""

    agent: Indices
    x: Matrix
    y: Vector
    marks: Indices  # (n,), the latest last

    @classmethod
    def empty(cls, n_inputs: int) -> "Memory":
        """Return a memory of nothing."""
        nothing = np.zeros(0, np.int64)
        return cls(nothing, np.zeros((0, n_inputs)), np.zeros(0), nothing)

    def is_known(self, agent: Indices, x: Matrix, y: Vector) -> "np.ndarray":
        """Return which readings were learned before, or are repeated here."""
        found = marks_of(agent, x, y)
        _, first = np.unique(found, return_index=True)
        is_repeated = np.ones(len(found), bool)
        is_repeated[first] = False
        return is_repeated | np.isin(found, self.marks)

    def with_readings(
        self, agent: Indices, x: Matrix, y: Vector, rng: np.random.Generator
    ) -> "Memory":
        """Return the memory after more readings, new and old alike at random."""
        marks = np.concatenate([self.marks, marks_of(agent, x, y)])[-MARKS:]
        agent = np.concatenate([self.agent, agent])
        x, y = np.concatenate([self.x, x]), np.concatenate([self.y, y])
        kept = _even(agent, rng)
        return Memory(agent[kept], x[kept], y[kept], marks)


def _even(agent: Indices, rng: np.random.Generator) -> Indices:
    """Return which readings to keep, about as many of each sensor."""
    n = len(agent)
    if n <= KEPT:
        return np.arange(n)
    order = rng.permutation(n)
    # the k-th reading of a sensor has rank k: ranks are even over sensors
    by_sensor = order[np.argsort(agent[order], kind="stable")]
    counts = np.bincount(agent)
    start = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.empty(n, np.int64)
    rank[by_sensor] = np.arange(n) - np.repeat(start, counts)
    return np.sort(np.argsort(rank, kind="stable")[:KEPT])


def marks_of(agent: Indices, x: Matrix, y: Vector) -> Indices:
    """Return a number for every reading, the same for the same reading only."""
    numbers = np.column_stack([x, y]).T + 0.0  # of zeros, only one kind
    columns = [agent.astype(np.uint64), *np.ascontiguousarray(numbers).view(np.uint64)]
    mark = np.zeros(len(agent), np.uint64)
    with np.errstate(over="ignore"):
        for column in columns:
            mark = (mark ^ column) * np.uint64(0x9E3779B97F4A7C15)
            mark ^= mark >> np.uint64(29)
            mark *= np.uint64(0xBF58476D1CE4E5B9)
            mark ^= mark >> np.uint64(32)
    return mark.view(np.int64)
