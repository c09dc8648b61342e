"""How a learner goes through a stream: it predicts each sample, then learns it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from benchmarks.peers.streams import Samples
from halk._validation import Vector

__all__ = ["OneByOne", "Peer", "error"]


class Peer(ABC):
    """A learner with its settings, untaught."""

    @abstractmethod
    def prepared(self, samples: Samples) -> Any:
        """Return the samples as it takes them; outside the clock."""

    @abstractmethod
    def run(self, prepared: Any) -> Any:
        """Predict and learn every sample; return the predictions."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of weights that it predicts with."""


class OneByOne(Peer):
    """A learner that is called for every sample from Python."""

    def native(self, X: Any) -> list[Any]:
        """Return the inputs as it takes them; rows of an array by default."""
        return list(X)

    @abstractmethod
    def predict(self, x: Any) -> float:
        """Return the prediction."""

    @abstractmethod
    def learn(self, x: Any, y: float) -> None:
        """Learn the sample just predicted."""

    def prepared(self, samples: Samples) -> Any:
        """Return pairs of an input and a target."""
        return list(zip(self.native(samples.X), samples.Y.tolist(), strict=True))

    def run(self, prepared: Any) -> Any:
        """Predict, then learn, one after another."""
        predictions = []
        for x, y in prepared:
            predictions.append(self.predict(x))
            self.learn(x, y)
        return predictions


def error(predictions: Any, Y: Vector) -> float:
    """Return the root-mean-square error; infinite if it ran away."""
    with np.errstate(all="ignore"):
        found = float(np.sqrt(np.mean((np.asarray(predictions) - Y) ** 2)))
    return found if np.isfinite(found) else float("inf")
