"""Kernel learners: scikit-learn on approximate features, and a plain KLMS."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.loop import OneByOne

__all__ = ["KLMS", "SGDOnNystroem", "SGDOnRandomFeatures"]

_FEATURES = 100
_CAPACITY = 4096


class _SGD(OneByOne):
    """SGDRegressor, one sample at a time, on features that a transformer makes."""

    def __init__(self, transformer: Any, rate: float) -> None:
        self._transformer = transformer
        self._model = import_module("sklearn.linear_model").SGDRegressor(
            learning_rate="constant", eta0=rate, penalty=None
        )
        self._is_fresh = True
        self._features: Any = None

    def native(self, X: Any) -> list[Any]:
        """Return batches of one sample."""
        return list(X[:, None, :])

    def predict(self, x: Any) -> float:
        """Return the prediction, and keep the features for learning."""
        self._features = self._transformer.transform(x)
        return 0.0 if self._is_fresh else float(self._model.predict(self._features)[0])

    def learn(self, x: Any, y: float) -> None:
        """Make a step of gradient descent."""
        self._model.partial_fit(self._features, [y])
        self._is_fresh = False

    @property
    def size(self) -> int:
        """Number of features."""
        return len(self._model.coef_)


class SGDOnRandomFeatures(_SGD):
    """scikit-learn's SGDRegressor on RBFSampler features."""

    def __init__(self, n_features: int, bandwidth: float, rate: float) -> None:
        approximation = import_module("sklearn.kernel_approximation")
        sampler = approximation.RBFSampler(
            gamma=0.5 / bandwidth**2, n_components=_FEATURES, random_state=0
        )
        super().__init__(sampler.fit(np.zeros((1, n_features))), rate)


class SGDOnNystroem(_SGD):
    """scikit-learn's SGDRegressor on Nystroem features, of points seen before."""

    def __init__(
        self, n_features: int, bandwidth: float, rate: float, points: Any
    ) -> None:
        approximation = import_module("sklearn.kernel_approximation")
        nystroem = approximation.Nystroem(
            gamma=0.5 / bandwidth**2,
            n_components=min(_FEATURES, len(points)),
            random_state=0,
        )
        super().__init__(nystroem.fit(points), rate)


class KLMS(OneByOne):
    """Quantised kernel least mean squares, in NumPy, with arrays made beforehand.

    One vectorised evaluation of the kernel a sample, kept from predicting to learning.
    A sample closer to a centre than ``quantum`` bandwidths moves that centre's weight;
    any other becomes a centre.
    """

    def __init__(
        self, n_features: int, bandwidth: float, rate: float, quantum: float
    ) -> None:
        self._factor = -0.5 / bandwidth**2
        self._nearest_square = (quantum * bandwidth) ** 2
        self._rate = rate
        self._centres = np.empty((_CAPACITY, n_features))
        self._weights = np.zeros(_CAPACITY)
        self._n_centres = 0
        self._squares = np.empty(0)
        self._prediction = 0.0

    def predict(self, x: Any) -> float:
        """Return the prediction."""
        m = self._n_centres
        difference = self._centres[:m] - x
        self._squares = np.einsum("kp,kp->k", difference, difference)
        kernel = np.exp(self._factor * self._squares)
        self._prediction = float(self._weights[:m] @ kernel)
        return self._prediction

    def learn(self, x: Any, y: float) -> None:
        """Move the weight of the nearest centre, or add one."""
        m, change = self._n_centres, self._rate * (y - self._prediction)
        nearest = int(self._squares.argmin()) if m else 0
        if (m and self._squares[nearest] <= self._nearest_square) or m == _CAPACITY:
            self._weights[nearest] += change
        else:
            self._centres[m], self._weights[m] = x, change
            self._n_centres += 1

    @property
    def size(self) -> int:
        """Number of centres."""
        return self._n_centres
