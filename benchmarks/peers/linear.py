"""Linear filters: river, padasip and our own NLMS."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.loop import OneByOne
from halk import Network
from halk.learners import NLMS

__all__ = ["HalkNLMS", "PadasipNLMS", "RiverLinear"]


class RiverLinear(OneByOne):
    """river's LinearRegression behind its StandardScaler."""

    def __init__(self, n_features: int, rate: float) -> None:
        optimizer = import_module("river.optim").SGD(rate)
        scaler = import_module("river.preprocessing").StandardScaler()
        linear = import_module("river.linear_model").LinearRegression(optimizer)
        self._model = scaler | linear

    def native(self, X: Any) -> list[Any]:
        """Return dictionaries, which river takes."""
        return [dict(enumerate(row)) for row in X.tolist()]

    def predict(self, x: Any) -> float:
        """Return the prediction."""
        return float(self._model.predict_one(x))

    def learn(self, x: Any, y: float) -> None:
        """Scale, and make a step of gradient descent."""
        self._model.learn_one(x, y)

    @property
    def size(self) -> int:
        """Number of weights."""
        return len(self._model["LinearRegression"].weights) + 1


class PadasipNLMS(OneByOne):
    """padasip's FilterNLMS, with a constant input."""

    def __init__(self, n_features: int, rate: float) -> None:
        filters = import_module("padasip.filters")
        self._model = filters.FilterNLMS(n=n_features + 1, mu=rate, w="zeros")

    def native(self, X: Any) -> list[Any]:
        """Return rows with a one in front."""
        return list(np.column_stack((np.ones(len(X)), X)))

    def predict(self, x: Any) -> float:
        """Return the prediction."""
        return float(self._model.predict(x))

    def learn(self, x: Any, y: float) -> None:
        """Make a normalised step."""
        self._model.adapt(y, x)

    @property
    def size(self) -> int:
        """Number of weights."""
        return len(self._model.w)


class HalkNLMS(OneByOne):
    """Our NLMS, a network of one."""

    def __init__(self, n_features: int, rate: float) -> None:
        self._model = NLMS(Network(1), step_size=rate)

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
        """Number of weights."""
        return self._model.n_atoms
