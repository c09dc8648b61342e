"""Estimators of many sensors: a column says whose row it is, a network who talks."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_X_y, validate_data

from halk._validation import Indices, Matrix, require
from halk.learners.search import AUTO
from halk.network import Network
from halk.sklearn.estimators import KernelClassifier, KernelRegressor, OnlineEstimator


def name_sensor(value: Any) -> str:
    """Return the name of a sensor: a whole number, even a float, is its digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, Integral):  # exact, however large
        return str(int(value))
    if isinstance(value, Real) and float(value).is_integer():
        return str(int(float(value)))
    raise ValueError(f"sensor must be a name or a whole number, got {value!r}")


def split_column(X: Any, sensor: Any) -> tuple[list[str], Any]:
    """Return the names in the column ``sensor``, and the other columns."""
    is_frame = hasattr(X, "columns")
    is_position = isinstance(sensor, Integral) and not isinstance(sensor, bool)
    if not is_frame:
        rule = "be the position of a column where X is an array"
        require(is_position, "sensor", rule, sensor)
        X = np.asarray(X)
        require(X.ndim == 2, "X", "be a table of two dimensions", X.shape)
    columns = list(X.columns if is_frame else range(X.shape[1]))
    if is_position:
        rule = f"be within the {len(columns)} columns of X"
        require(-len(columns) <= sensor < len(columns), "sensor", rule, sensor)
        sensor = columns[sensor]
    require(sensor in columns, "sensor", f"be one of {columns!r}", sensor)
    column = np.asarray(X[sensor]) if is_frame else X[:, sensor]
    others = [name for name in columns if name != sensor]
    names = [name_sensor(value) for value in column.tolist()]
    return names, X[others] if is_frame else X[:, others]


class SensorColumn(OnlineEstimator):
    """Mixin: rows of many sensors, each an agent of one network."""

    network_: Network

    def _check_inputs(self, X: Any) -> tuple[Any, Matrix]:
        if self.sensor is None:
            return super()._check_inputs(X)
        sensors, X = self._take_sensors(X, reset=False)
        return sensors, check_array(X, dtype=np.float64, estimator=self)

    def _check_table(self, X: Any, y: Any, reset: bool) -> tuple[Any, Matrix, Any]:
        if self.sensor is None:
            return super()._check_table(X, y, reset)
        sensors, X = self._take_sensors(X, reset)
        X, y = check_X_y(X, y, dtype=np.float64, estimator=self, **self._target)
        return sensors, X, y

    def _take_sensors(self, X: Any, reset: bool) -> tuple[list[str], Any]:
        validate_data(self, X, reset=reset, skip_check_array=True)
        return split_column(X, self.sensor)

    def _unit(self, y: Any) -> float:
        """Return what ``tolerance`` is in units of."""
        return 1.0

    def _make_network(self, sensors: Any, y: Any) -> Network:
        names = ["0"] if sensors is None else list(dict.fromkeys(sensors))
        made = self._join_sensors(names)
        if made is not self.network:
            made = replace(made, tolerance=made.tolerance * self._unit(y))
        self.network_ = made
        return made

    def _join_sensors(self, names: list[str]) -> Network:
        ways = ("network", "edges", "positions")
        given = [name for name in ways if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(
                f"sensors must be joined in one way, got {' and '.join(given)}"
            )
        if self.network is not None:
            if not isinstance(self.network, Network):
                raise TypeError(f"network must be a Network, got {self.network!r}")
            return self.network
        if self.positions is not None:
            return Network.from_positions(
                list(self.positions.values()), self.radius, k=self.k,
                metric=self.metric, tolerance=self.tolerance,
                names=list(map(name_sensor, self.positions)),
            )  # fmt: skip
        pairs = [(name_sensor(a), name_sensor(b)) for a, b in self.edges or ()]
        # Sorted, so that the order of rows does not number the sensors.
        known = sorted({*names, *(name for pair in pairs for name in pair)})
        number = {name: i for i, name in enumerate(known)}
        joined = [(number[a], number[b]) for a, b in pairs]
        return Network(len(known), joined, self.tolerance, names=known)

    def _find_agents(self, sensors: Any, n_rows: int) -> Indices:
        if sensors is None:
            require(
                self.network_.n_agents == 1,
                "sensor",
                "name the column of the sensors, of which there are several",
                None,
            )
            return np.zeros(n_rows, np.int64)
        number = {name: i for i, name in enumerate(self.network_.names)}
        unknown = list(dict.fromkeys(name for name in sensors if name not in number))
        if unknown:
            known = ", ".join(map(repr, self.network_.names[:5]))
            known += ", ..." if len(number) > 5 else ""
            got = ", ".join(map(repr, unknown[:5]))
            raise ValueError(
                f"X must hold sensors of the network only ({known}), "
                f"got {got} in column {self.sensor!r}"
            )
        return np.array([number[name] for name in sensors], np.int64)


class NetworkRegressor(SensorColumn, KernelRegressor):
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
        sensors of the first table learn independently.
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
    n_atoms_, length_scale_, noise_, learners_, n_features_in_, feature_names_in_
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
        self._store(locals())

    def _unit(self, y: Any) -> float:
        return float(y.var()) or 1.0


class NetworkClassifier(SensorColumn, KernelClassifier):
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
    classes_, n_atoms_, length_scale_, noise_, learners_
        As of :class:`KernelClassifier`.
    n_features_in_, feature_names_in_
        The column of the sensors counts.

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
        self._store(locals())
