"""Online kernel regression by a network of sensors."""

from __future__ import annotations

from typing import Any

from halk.learners.search import AUTO
from halk.sklearn.regressor import KernelRegressor
from halk.sklearn.sensors import Sensors


class NetworkRegressor(Sensors, KernelRegressor):
    """Online kernel regression by sensors that learn from their neighbours.

    A column of the table says which sensor a row belongs to. Every sensor has a
    function of its own, held within a tolerance of its neighbours'.

    Parameters
    ----------
    sensor : str or int, optional
        The column of the sensors: its name in a frame, its position in an array.
        Names are strings or whole numbers (7 and 7.0 are the sensor "7"). Without it
        all rows belong to one sensor.
    network : Network, optional
        Its ``names`` are those in the column.
    edges : pairs of names, optional
        Instead of ``network``: who is whose neighbour. Without any of the three the
        sensors of the first table learn apart.
    positions : dict of name to coordinates, optional
        Instead of ``network``: sensors that are near each other are neighbours.
    radius, k, metric
        As of :meth:`halk.Network.from_positions`, for ``positions``.
    tolerance : float
        How far neighbours may differ: half the square, in units of the variance of the
        first table's targets. For ``edges`` and ``positions``; ``network`` brings its
        own, in the unit of the target.
    exchange, identity
        What neighbours tell each other; as of :class:`halk.NewtonHALK`.
    kernel, length_scale, noise, loss, forgetting, max_atoms, novelty, robust
        As of :class:`KernelRegressor`. Sensors share kernel and noise.
    standardize : {"common", True, "offset", False}
        True and ``"offset"`` for sensors whose level and range are their own.
    shuffle, random_state
        As of :class:`KernelRegressor`.

    Attributes
    ----------
    network_ : Network
    learners_, n_atoms_, n_features_in_, feature_names_in_
        As of :class:`KernelRegressor`; the column of the sensors counts.

    Notes
    -----
    A sensor of the network without rows predicts what its neighbours taught it. One
    that is not in the network is refused, in ``partial_fit`` and ``predict`` alike.

    Examples
    --------
    >>> import numpy as np
    >>> from halk.sklearn import NetworkRegressor
    >>> rng = np.random.default_rng(0)
    >>> x, sensor = rng.uniform(size=900), rng.integers(3, size=900)
    >>> X = np.column_stack([sensor, x])[(sensor != 1) | (x < 0.5)]
    >>> y = np.sin(6 * X[:, 1])
    >>> alone = NetworkRegressor(sensor=0, random_state=0).fit(X, y)
    >>> joined = NetworkRegressor(sensor=0, edges=[(0, 1), (1, 2)], random_state=0)
    >>> errors = [model.predict([[1, 0.8]]) + 1 for model in (alone, joined.fit(X, y))]
    >>> bool(abs(errors[1]) < abs(errors[0]) / 2)
    True
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
        tolerance: Any = 0.05,
        exchange: str = "predictions",
        identity: float = 0.0,
        kernel: Any = "gaussian",
        length_scale: Any = AUTO,
        noise: Any = AUTO,
        loss: Any = "squared",
        forgetting: float = 1.0,
        max_atoms: int = 120,
        novelty: float = 1e-4,
        robust: float | None = 3.0,
        standardize: bool | str = "common",
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernel, length_scale, noise, loss, forgetting, max_atoms, novelty, robust,
            standardize, shuffle, random_state,
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

    def _unit(self, y: Any) -> float:
        return float(y.var()) or 1.0
