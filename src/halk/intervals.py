r"""Intervals around predictions that cover what they say, from progressive residuals.

Every reading is predicted before it is learned, so its residual is that of a reading
not seen. An agent's interval is a quantile of its own residuals (split conformal
prediction), of the last ones, since its function and its field change; the level is
moved a little after every reading so that the share covered comes out right even if
they do not stop changing (adaptive conformal inference, Gibbs and Candes 2021):

.. math:: \alpha_{t+1} = \alpha_t + \rho (\alpha - 1\{y_t \text{ not covered}\})

An agent with too few residuals for its level takes those of all agents.
"""

from math import inf
from typing import Any

import numpy as np

from halk._jit import compiled
from halk._validation import Indices, Vector, integer, real, require

__all__ = ["Intervals"]


@compiled
def _insert(scores: Vector, ranked: Vector, n: int, place: int, score: float) -> None:
    """Write a score to ``place``, and ``ranked`` in order; a full memory forgets."""
    end = n
    if n == len(scores):
        old, k = scores[place], 0
        while ranked[k] != old:
            k += 1
        end = n - 1
        for a in range(k, end):
            ranked[a] = ranked[a + 1]
    k = end
    while k > 0 and ranked[k - 1] > score:
        ranked[k] = ranked[k - 1]
        k -= 1
    ranked[k] = score
    scores[place] = score


@compiled
def _quantile(ranked: Vector, n: int, level: float) -> float:
    """Return the score that covers ``1 - level``, infinite if there are too few."""
    if level >= 1.0:
        return 0.0
    rank = (n + 1) * (1.0 - max(level, 0.0))
    if rank > n:
        return inf
    # between two scores: the next one alone would cover more than was asked for
    low = max(int(rank), 1)
    above = ranked[min(low, n - 1)]
    return float(ranked[low - 1] + (rank - low) * (above - ranked[low - 1]))


@compiled
def _half_width(ranked: Any, seen: Indices, level: Vector, i: int) -> float:
    own = _quantile(ranked[i], min(seen[i], ranked.shape[1]), level[i])
    if own < inf:
        return own
    last = len(ranked) - 1  # the scores of everybody
    return _quantile(ranked[last], min(seen[last], ranked.shape[1]), level[i])


@compiled
def _observe(
    scores: Any, ranked: Any, seen: Indices, level: Vector, alpha: float, rate: float,
    agents: Indices, residuals: Vector, covered: Any,
) -> None:  # fmt: skip
    everybody, memory = len(ranked) - 1, ranked.shape[1]
    for r in range(len(agents)):
        i, score = agents[r], abs(residuals[r])
        is_covered = score <= _half_width(ranked, seen, level, i)
        covered[r] = is_covered
        moved = level[i] + rate * (alpha - (0.0 if is_covered else 1.0))
        # kept where a quantile can follow: further out it would only take longer back
        level[i] = min(max(moved, 0.2 * alpha), 5.0 * alpha, 0.9)
        for who in (i, everybody):
            n = min(seen[who], memory)
            _insert(scores[who], ranked[who], n, seen[who] % memory, score)
            seen[who] += 1


class Intervals:
    """Half-widths of prediction intervals, an agent at a time.

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
        V, M = integer("n_agents", n_agents, 1), integer("memory", memory, 1)
        self._scores, self._ranked = np.zeros((2, V + 1, M))
        self._seen = np.zeros(V + 1, np.int64)
        self._level = np.full(V, 1.0 - self.coverage)

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
        _observe(
            self._scores, self._ranked, self._seen, self._level, 1.0 - self.coverage,
            self.rate, index, values, covered,
        )  # fmt: skip
        return covered

    def state(self) -> dict[str, Any]:
        """Return the arrays that :meth:`from_state` makes the same intervals of."""
        return {"scores": self._scores, "seen": self._seen, "level": self._level}

    @classmethod
    def from_state(
        cls, coverage: float, arrays: dict[str, Any], rate: float = 0.005
    ) -> "Intervals":
        """Return intervals that go on where others stopped."""
        scores, seen, level = arrays["scores"], arrays["seen"], arrays["level"]
        made = cls(len(level), coverage, scores.shape[1], rate)
        made._scores[:], made._seen[:], made._level[:] = scores, seen, level
        for who, n in enumerate(np.minimum(seen, scores.shape[1]).tolist()):
            made._ranked[who, :n] = np.sort(scores[who, :n])
        return made

    def half_widths(self) -> Vector:
        """Return half the width of every agent's interval, infinite if not yet known.

        It is known once all agents together have seen ``1 / (1 - coverage)`` readings.
        """
        widths = [
            _half_width(self._ranked, self._seen, self._level, i)
            for i in range(self.n_agents)
        ]
        return np.array(widths)
