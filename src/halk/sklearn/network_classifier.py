"""Online kernel classification by a network of sensors."""

from __future__ import annotations

from typing import Any

from halk.learners.search import AUTO
from halk.sklearn.classifier import KernelClassifier
from halk.sklearn.sensors import Sensors


class NetworkClassifier(Sensors, KernelClassifier):
    """Online kernel classification by sensors that learn from their neighbours.

    Parameters
    ----------
    sensor, network, edges, positions, radius, k, metric
        As of :class:`NetworkRegressor`.
    tolerance : float
        How far neighbours may differ: half the square of their log odds.
    exchange, identity
        As of :class:`NetworkRegressor`.
    kernel, length_scale, noise, forgetting, max_atoms, novelty, shuffle, random_state
        As of :class:`KernelClassifier`.

    Attributes
    ----------
    network_ : Network
    classes_, learners_, n_atoms_, n_features_in_, feature_names_in_
        As of :class:`KernelClassifier`; the column of the sensors counts.

    Examples
    --------
    >>> import numpy as np
    >>> from halk.sklearn import NetworkClassifier
    >>> rng = np.random.default_rng(0)
    >>> x, sensor = rng.uniform(size=600), rng.integers(2, size=600)
    >>> X = np.column_stack([sensor, x])
    >>> y = x > 0.4 + 0.2 * sensor
    >>> model = NetworkClassifier(sensor=0, edges=[(0, 1)], random_state=0)
    >>> model.fit(X, y).predict([[0, 0.5], [1, 0.5]])
    array([ True, False])
    """

    def __init__(
        self,
        sensor: Any = None,
        network: Any = None,
        edges: Any = None,
        positions: Any = None,
        radius: float | None = None,
        k: int | None = None,
        metric: str = "euclidean",
        tolerance: Any = 1.0,
        exchange: str = "predictions",
        identity: float = 0.0,
        kernel: Any = "gaussian",
        length_scale: Any = AUTO,
        noise: Any = AUTO,
        forgetting: float = 1.0,
        max_atoms: int = 120,
        novelty: float = 1e-4,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernel, length_scale, noise, forgetting, max_atoms, novelty, shuffle,
            random_state,
        )  # fmt: skip
        self.sensor = sensor
        self.network = network
        self.edges = edges
        self.positions = positions
        self.radius = radius
        self.k = k
        self.metric = metric
        self.tolerance = tolerance
        self.exchange = exchange
        self.identity = identity
