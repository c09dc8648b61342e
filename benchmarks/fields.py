"""Streams of readings: smooth fields, one an agent, alike but not the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from halk._validation import Matrix, Vector

__all__ = ["Fields"]

NOISE = 0.1
_DIFFERENCE = 0.3
_FREQUENCY = 5.0


class Fields:
    """A wave across the unit cube, shifted a little from agent to agent, with noise.

    Parameters
    ----------
    n_agents, n_features : int
    seed : int
        The same seed gives the same readings, in the same order of calls.
    has_labels : bool
        Readings are the signs -1 and +1 of the wave, for losses that take labels.

    Examples
    --------
    >>> X, Y = Fields(10, 3).drawn(5)
    >>> X.shape, Y.shape
    ((5, 10, 3), (5, 10))
    """

    def __init__(
        self, n_agents: int, n_features: int, seed: int = 0, has_labels: bool = False
    ) -> None:
        self._rng = np.random.default_rng(seed)
        self._shape = n_agents, n_features
        self._phase = _DIFFERENCE * self._rng.normal(size=n_agents)
        self._start = self._rng.uniform(size=self._shape)
        self._n_even = 0
        self._has_labels = has_labels

    def drawn(self, n_steps: int) -> tuple[NDArray[np.float64], Matrix]:
        """Return a reading of every agent a step, at uniformly random points."""
        return self._read(self._rng.uniform(size=(n_steps, *self._shape)))

    def even(self, n_steps: int) -> tuple[NDArray[np.float64], Matrix]:
        """Return readings that fill the cube evenly, so dictionaries fill at once.

        Every agent goes through an additive sequence from a start of its own.
        """
        t = np.arange(self._n_even, self._n_even + n_steps)
        self._n_even += n_steps
        steps = t[:, None, None] * _additive(self._shape[1])
        return self._read((self._start + steps) % 1.0)

    def single(self, n_readings: int) -> tuple[NDArray[np.int64], Matrix, Vector]:
        """Return readings of agents drawn at random: who, points (n, p), targets."""
        agents = self._rng.integers(self._shape[0], size=n_readings)
        X = self._rng.uniform(size=(n_readings, self._shape[1]))
        return agents, X, self._targets(X, self._phase[agents])

    def _read(self, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], Matrix]:
        return X, self._targets(X, self._phase)

    def _targets(self, X: NDArray[np.float64], phase: Vector) -> NDArray[np.float64]:
        across = (X - 0.5).sum(axis=-1) / np.sqrt(X.shape[-1])
        Y = np.sin(_FREQUENCY * across + phase)
        Y = Y + NOISE * self._rng.normal(size=Y.shape)
        return np.where(Y < 0, -1.0, 1.0) if self._has_labels else Y


def _additive(n_features: int) -> Vector:
    """Return the steps of the additive sequence that fills a cube most evenly."""
    root = 2.0
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (n_features + 1))
    steps: Vector = root ** -np.arange(1.0, n_features + 1)
    return steps
