"""halk by itself: a network of one agent, in three ways."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers.loop import OneByOne, Peer
from benchmarks.peers.streams import Samples
from halk import HALK, Network, reference
from halk.kernels import Gaussian

__all__ = ["HalkByBlock", "HalkBySample", "Reference"]


def _model(bandwidth: float, rate: float, epsilon: float) -> HALK:
    kernel = Gaussian(bandwidth)
    return HALK(Network(1), kernel=kernel, step_size=rate, epsilon=epsilon)


class HalkBySample(OneByOne):
    """``predict_one`` and ``learn_one`` for every sample."""

    def __init__(
        self, n_features: int, bandwidth: float, rate: float, epsilon: float
    ) -> None:
        self._model = _model(bandwidth, rate, epsilon)

    def native(self, X: Any) -> list[Any]:
        """Return inputs of a network of one agent."""
        return list(X[:, None, :])

    def predict(self, x: Any) -> float:
        """Return the prediction."""
        return float(self._model.predict_one(x)[0])

    def learn(self, x: Any, y: float) -> None:
        """Make a step of the network."""
        self._model.learn_one(x, [y])

    @property
    def size(self) -> int:
        """Number of atoms."""
        return self._model.n_atoms


class HalkByBlock(Peer):
    """The whole stream in one call, which predicts before it learns."""

    def __init__(
        self, n_features: int, bandwidth: float, rate: float, epsilon: float
    ) -> None:
        self._model = _model(bandwidth, rate, epsilon)

    def prepared(self, samples: Samples) -> Any:
        """Return the arrays of a network of one agent."""
        return samples.X[:, None, :], samples.Y[:, None]

    def run(self, prepared: Any) -> Any:
        """Learn like ``learn_many``, which forgets the predictions."""
        pieces = self._model.dense_pieces(*prepared)
        return np.concatenate(
            [self._model.observe(piece).prediction for piece in pieces]
        )

    @property
    def size(self) -> int:
        """Number of atoms."""
        return self._model.n_atoms


class Reference(OneByOne):
    """``halk.reference``, plain and dense; a step predicts too."""

    def __init__(
        self, n_features: int, bandwidth: float, rate: float, epsilon: float
    ) -> None:
        self._model = reference.HALK(
            1, [], 0.0, n_features,
            lambda A, B: reference.gaussian(A, B, bandwidth),
            reference.LOSSES["squared"](), reference.PROXIMITIES["squared"](),
            step_size=rate, regularization=1e-5, epsilon=epsilon,
        )  # fmt: skip

    def native(self, X: Any) -> list[Any]:
        """Return inputs of a network of one agent."""
        return list(X[:, None, :])

    def predict(self, x: Any) -> float:
        """Return the prediction."""
        return float(self._model.predict(0, x)[0])

    def learn(self, x: Any, y: float) -> None:
        """Make a step of the network."""
        self._model.step(x, [y])

    @property
    def size(self) -> int:
        """Number of atoms."""
        return len(self._model.weights[0])
