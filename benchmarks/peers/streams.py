"""The streams that the peers learn, each with a twin to choose settings on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from halk._validation import Matrix, Vector
from halk.streams import gulf

__all__ = ["STREAMS", "Samples", "Stream"]

_NOISE = 0.1


class Samples(NamedTuple):
    """Inputs (n, p) and targets (n,), in the order they come."""

    X: Matrix
    Y: Vector

    def first(self, n: int) -> Samples:
        """Return the first ``n``."""
        return Samples(self.X[:n], self.Y[:n])


class Stream(NamedTuple):
    """A stream by its description; ``draw(n, seed)`` makes samples of it.

    An even seed and an odd one have no reading in common.
    """

    what: str
    draw: Callable[[int, int], Samples]


def _wave(n: int, seed: int) -> Samples:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 1))
    Y = np.sin(9.0 * X[:, 0]) + 0.5 * np.cos(21.0 * X[:, 0])
    return Samples(X, Y + _NOISE * rng.normal(size=n))


def _surface(n: int, seed: int) -> Samples:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    a, b, c = X.T
    Y = np.sin(5.0 * a) + 2.0 * (b - 0.5) * np.cos(4.0 * c)
    return Samples(X, Y + _NOISE * rng.normal(size=n))


def _gulf(n: int, seed: int) -> Samples:
    """Draw readings of every other sensor, each once, in random order."""
    field = gulf().with_positions()
    low, high = field.x.min(axis=0), field.x.max(axis=0)
    mine = np.flatnonzero(field.agent % 2 == seed % 2)
    chosen = np.random.default_rng(seed).permutation(mine)[:n]
    return Samples((field.x[chosen] - low) / (high - low), field.y[chosen] / 10.0)


def _autoregression(n: int, seed: int) -> Samples:
    rng = np.random.default_rng(seed)
    series = np.zeros(n + 103)
    for t in range(3, len(series)):
        back = series[t - 3 : t]
        linear = 0.2 * back[0] - 0.5 * back[1] + 0.9 * back[2]
        series[t] = linear + 0.05 * np.sin(back[2]) + 0.5 * rng.normal()
    series = series[100:]
    X = np.lib.stride_tricks.sliding_window_view(series, 3)[:-1]
    return Samples(np.ascontiguousarray(X), series[3:].copy())


STREAMS = {
    "wave": Stream("two waves of one input, noise 0.1", _wave),
    "surface": Stream("a surface over three inputs, noise 0.1", _surface),
    "gulf": Stream("Gulf temperature by depth and place, 10 °C, each once", _gulf),
    "nearly linear": Stream("the next of a series from the last three, noise 0.5",
                            _autoregression),
}  # fmt: skip
