"""Values are standardised online: by the mean and spread of all readings so far.

The learner keeps an offset and a spread beside every function. What is each sensor's
own it takes itself, with every reading (``standardize`` of :class:`halk.HALK`). What is
one for all is set here, time and again while a table is learned. Another spread changes
no prediction; another mean moves all, and what is learned then brings them back.
Tolerances, which users give in the unit of the values, keep theirs.
"""

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from halk._validation import Vector
from halk.agent import CONSTANT
from halk.learners import HALK
from halk.state import OFFSET, STD, VIOLATION

SCALINGS = {
    "common": "one mean and spread for all sensors",
    "offset": "one spread for all, each sensor's own mean",
    "own": "each sensor's own mean and spread",
}
"""What can be removed. With "own", neighbours compare what is unusual for each."""

STANDARDIZE: dict[str, bool | str] = {"common": False, "offset": "offset", "own": True}
"""What of it the learner does itself."""

STILL = 0.01
"""Share of the spread by which mean or spread must move to be set anew."""


OUTLYING = 0.02
"""Share of values on each side, at least one, that alone tell nothing of a spread."""

FAR = 10.0
"""Spreads from the mean beyond which an outlying value counts as no farther."""


def inner(values: Vector) -> Vector:
    """Return values in order, without those farthest out; maybe none."""
    k = ceil(OUTLYING * len(values))
    return np.sort(values)[k : len(values) - k]


def spread_of(y: Vector) -> float:
    """Return the spread of values; 1 if they are all the same."""
    return NOTHING.joined(y).spread


class Moments(NamedTuple):
    """Number, mean and sum of squared deviations of the values so far."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0

    @property
    def spread(self) -> float:
        """Their standard deviation; 1 if they are all the same, but for rounding."""
        spread = sqrt(self.squares / max(self.n, 1))
        return spread if spread > CONSTANT * abs(self.mean) else 1.0

    def joined(self, y: Vector) -> "Moments":
        """Return the moments of the values so far and of more."""
        if not len(y):
            return self
        n, mean = self.n + len(y), float(y.mean())
        away = mean - self.mean
        within = float(((y - mean) ** 2).sum()) + away**2 * self.n * len(y) / n
        return Moments(n, self.mean + away * len(y) / n, self.squares + within)

    def tamed(self, y: Vector) -> Vector:
        """Return more values; a few far from all others count as less far."""
        if not self.n:
            return y
        far, most = FAR * self.spread, inner(y)
        low, high = self.mean - far, self.mean + far
        if len(most):
            low, high = min(low, most[0]), max(high, most[-1])
        return np.clip(y, low, high)

    def has_moved(self, offset: float, spread: float) -> bool:
        """Return whether an offset and a spread no longer tell of the values."""
        far = STILL * self.spread
        return abs(self.mean - offset) > far or abs(self.spread - spread) > far


NOTHING = Moments()
"""Of no value."""


def unit_of_functions(learner: HALK, scaling: str) -> float:
    """Return what functions and tolerances count in now, 1 if in each one's own."""
    is_own = scaling == "own" or learner.n_features is None
    return 1.0 if is_own else float(learner.target[0, STD])


class Common:
    """Mean and spread of all sensors, as they come to be known.

    Parameters
    ----------
    learner : HALK
        Its tolerances count in squares of the unit of its functions.
    scaling : {"common", "offset", "own"}
    moments : Moments
        Of the values so far.
    """

    def __init__(self, learner: HALK, scaling: str, moments: Moments = NOTHING) -> None:
        self.learner, self.moments = learner, moments
        self._has_offset = scaling == "common"
        self._has_spread = scaling in ("common", "offset")

    def prepare(self, n_features: int) -> None:
        """Let a learner that is new have offsets and spreads to be set."""
        self.learner.prepare(n_features)
        self.see(np.zeros(0))

    def count(self, y: Vector) -> None:
        """Take in values that were learned."""
        self.moments = self.moments.joined(self.moments.tamed(y))

    def see(self, y: Vector) -> None:
        """Take in values that were learned, and let functions count in them."""
        self.count(y)
        if not self._has_spread or not self.moments.n:
            return
        target = self.learner.target
        offset = float(target[0, OFFSET]) if self._has_offset else self.moments.mean
        if self.moments.has_moved(offset, float(target[0, STD])):
            self._set()

    def _set(self) -> None:
        """Let functions count in the mean and spread of now."""
        learner, moments, state = self.learner, self.moments, self.learner.state_dict()
        agents, edges = state["agents"], state["edges"]
        factor = agents[0, STD] / moments.spread
        state["weights"] *= factor
        edges[:, VIOLATION] *= factor**2
        agents[:, STD] = moments.spread
        if self._has_offset:
            agents[:, OFFSET] = moments.mean
        n_features = state["atoms"].shape[1]
        learner.load_state_dict(learner.n_steps, n_features, state)
        learner.set_tolerance(learner.network.tolerance * factor**2)
