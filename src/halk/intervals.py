r"""Intervals around predictions that cover what they say, from progressive residuals.

Every reading is predicted before it is learned, so its residual is that of a reading
not seen. An agent's interval is a quantile of its own residuals (split conformal
prediction), of the last ones, since its function and its field change; the level is
moved a little after every reading so that the share covered comes out right even if
they do not stop changing (adaptive conformal inference, Gibbs and Candes 2021):

.. math:: \alpha_{t+1} = \alpha_t + \rho (\alpha - 1\{y_t \text{ not covered}\})

An agent with too few residuals for its level takes those of all agents.
"""

from bisect import bisect_left, insort
from math import inf
from typing import Any

import numpy as np

from halk._validation import Vector, integer, real, require

__all__ = ["Intervals"]


def _quantile(ranked: list[float], level: float) -> float:
    """Return the score that covers ``1 - level``, infinite if there are too few."""
    if level >= 1.0:
        return 0.0
    n = len(ranked)
    rank = (n + 1) * (1.0 - max(level, 0.0))
    if rank > n:
        return inf
    # between two scores: the next one alone would cover more than was asked for
    low = max(int(rank), 1)
    above = ranked[min(low, n - 1)]
    return ranked[low - 1] + (rank - low) * (above - ranked[low - 1])


class _Memory:
    """The last scores, in order of arrival and in order of size."""

    def __init__(self, scores: list[float], n_seen: int) -> None:
        self.scores, self.ranked, self.n_seen = scores, sorted(scores), n_seen

    def add(self, score: float, size: int) -> None:
        """Remember a score; of more than ``size``, the oldest is forgotten."""
        if len(self.scores) < size:
            self.scores.append(score)
        else:
            place = self.n_seen % size
            del self.ranked[bisect_left(self.ranked, self.scores[place])]
            self.scores[place] = score
        insort(self.ranked, score)
        self.n_seen += 1


class Intervals:
    """Half-widths of prediction intervals, one per agent.

    Parameters
    ----------
    n_agents : int
    coverage : float between 0 and 1
        Share of readings that intervals are to cover.
    memory : int
        Residuals that an agent remembers, and so do all of them together.
    rate : float between 0 and 1
        How fast the level follows what is covered; 0 for plain quantiles.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> intervals = Intervals(1, coverage=0.9)
    >>> _ = intervals.observe([0] * 2000, rng.normal(size=2000))
    >>> covered = intervals.observe([0] * 2000, rng.normal(size=2000))
    >>> bool(abs(covered.mean() - 0.9) < 0.02)
    True
    """

    def __init__(
        self, n_agents: int, coverage: float = 0.9, memory: int = 500,
        rate: float = 0.005,
    ) -> None:  # fmt: skip
        self.coverage, self.rate = real("coverage", coverage), real("rate", rate)
        require(0 < self.coverage < 1, "coverage", "be between 0 and 1", coverage)
        require(0 <= self.rate < 1, "rate", "be at least 0 and below 1", rate)
        V, self._size = integer("n_agents", n_agents, 1), integer("memory", memory, 1)
        self._memories = [_Memory([], 0) for _ in range(V + 1)]  # last: everybody's
        self._level = [1.0 - self.coverage] * V

    @property
    def n_agents(self) -> int:
        """Number of agents."""
        return len(self._level)

    def observe(self, agents: Any, residuals: Any) -> Any:
        """Take in residuals of predictions made before learning, in order.

        Returns
        -------
        array (n,) of bool
            Whether each was within the interval that was there before it.
        """
        index = np.asarray(agents, dtype=np.int64)
        values = np.asarray(residuals, dtype=np.float64)
        if index.shape != values.shape or index.ndim != 1:
            raise ValueError(
                f"agents and residuals must be of one length, got shapes "
                f"{index.shape} and {values.shape}"
            )
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ValueError(
                f"residuals must be finite, got {values[row]} in row {row}"
            )
        if len(index) and not 0 <= index.min() <= index.max() < self.n_agents:
            raise ValueError(
                f"agents must be from 0 to {self.n_agents - 1}, got {index.min()} to "
                f"{index.max()}"
            )
        covered = np.empty(len(index), np.bool_)
        for row, (i, value) in enumerate(
            zip(index.tolist(), values.tolist(), strict=True)
        ):
            covered[row] = self._observe_one(i, abs(value))
        return covered

    def _observe_one(self, i: int, score: float) -> bool:
        alpha, is_covered = 1.0 - self.coverage, score <= self._half_width(i)
        moved = self._level[i] + self.rate * (alpha - (0.0 if is_covered else 1.0))
        # kept where a quantile can follow: further out it would only take longer back
        self._level[i] = min(max(moved, 0.2 * alpha), 5.0 * alpha, 0.9)
        self._memories[i].add(score, self._size)
        self._memories[-1].add(score, self._size)
        return is_covered

    def _half_width(self, i: int) -> float:
        own = _quantile(self._memories[i].ranked, self._level[i])
        if own < inf:
            return own
        return _quantile(self._memories[-1].ranked, self._level[i])

    def state(self) -> dict[str, Any]:
        """Return the arrays that :meth:`from_state` makes the same intervals of."""
        scores = np.zeros((len(self._memories), self._size))
        for row, memory in zip(scores, self._memories, strict=True):
            row[: len(memory.scores)] = memory.scores
        seen = np.array([memory.n_seen for memory in self._memories])
        return {"scores": scores, "seen": seen, "level": np.array(self._level)}

    @classmethod
    def from_state(
        cls, coverage: float, arrays: dict[str, Any], rate: float = 0.005
    ) -> "Intervals":
        """Return intervals that go on where others stopped."""
        scores, seen, level = arrays["scores"], arrays["seen"], arrays["level"]
        made = cls(len(level), coverage, scores.shape[1], rate)
        made._level = level.tolist()
        made._memories = [
            _Memory(row[:n].tolist(), n)
            for row, n in zip(scores, seen.tolist(), strict=True)
        ]
        return made

    def half_widths(self) -> Vector:
        """Return half the width of every agent's interval, infinite if not yet known.

        It is known once all agents together have seen ``1 / (1 - coverage)`` readings.
        """
        return np.array([self._half_width(i) for i in range(self.n_agents)])
