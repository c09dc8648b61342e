"""A column that says which sensor a row belongs to, and the network of the sensors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_X_y, validate_data

from halk._validation import Indices, Matrix, require
from halk.network import Network
from halk.sklearn.base import Online


class Sensors(Online):
    """Mixin: rows of many sensors, each an agent of one network."""

    network_: Network

    def _inputs(self, X: Any) -> tuple[Any, Matrix]:
        if self.sensor is None:
            return super()._inputs(X)
        sensors, X = self._split(X, reset=False)
        return sensors, check_array(X, dtype=np.float64, estimator=self)

    def _table(self, X: Any, y: Any, reset: bool) -> tuple[Any, Matrix, Any]:
        if self.sensor is None:
            return super()._table(X, y, reset)
        sensors, X = self._split(X, reset)
        X, y = check_X_y(X, y, dtype=np.float64, estimator=self, **self._target)
        return sensors, X, y

    def _split(self, X: Any, reset: bool) -> tuple[list[str], Any]:
        validate_data(self, X, reset=reset, skip_check_array=True)
        return split(X, self.sensor)

    def _unit(self, y: Any) -> float:
        """Return what ``tolerance`` is in units of."""
        return 1.0

    def _network(self, sensors: Any, y: Any) -> Network:
        names = ["0"] if sensors is None else list(dict.fromkeys(sensors))
        made = self._given_network(names)
        if made is not self.network:
            made = replace(made, tolerance=made.tolerance * self._unit(y))
        self.network_ = made
        return made

    def _given_network(self, names: list[str]) -> Network:
        given = [
            name
            for name in ("network", "edges", "positions")
            if getattr(self, name) is not None
        ]
        if len(given) > 1:
            raise ValueError(
                f"sensors must be joined in one way, got {' and '.join(given)}"
            )
        if self.network is not None:
            if not isinstance(self.network, Network):
                raise TypeError(f"network must be a Network, got {self.network!r}")
            return self.network
        if self.positions is not None:
            places = {named(name): place for name, place in self.positions.items()}
            return Network.from_positions(
                list(places.values()), self.radius, k=self.k, metric=self.metric,
                tolerance=self.tolerance, names=list(places),
            )  # fmt: skip
        pairs = [(named(a), named(b)) for a, b in self.edges or ()]
        # Sorted, so that the order of rows does not number the sensors.
        known = sorted({*names, *(name for pair in pairs for name in pair)})
        number = {name: i for i, name in enumerate(known)}
        joined = [(number[a], number[b]) for a, b in pairs]
        return Network(len(known), joined, self.tolerance, names=known)

    def _agents(self, sensors: Any, n_rows: int) -> Indices:
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
            some = ", ".join(map(repr, unknown[:5]))
            raise ValueError(
                f"X must hold sensors of the network only ({_listed(number)}), "
                f"got {some} in column {self.sensor!r}"
            )
        return np.array([number[name] for name in sensors], np.int64)

    def _options(self) -> dict[str, Any]:
        return {"exchange": self.exchange, "identity": self.identity}


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")


def named(value: Any) -> str:
    """Return the name of a sensor: a whole number, even a float, is its digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real) and float(value).is_integer():
        return str(int(float(value)))
    raise ValueError(f"sensor must be a name or a whole number, got {value!r}")


def split(X: Any, sensor: Any) -> tuple[list[str], Any]:
    """Return the names in the column ``sensor``, and the other columns."""
    if hasattr(X, "columns"):
        columns = list(X.columns)
        column = (
            columns[_position(sensor, len(columns))] if _is_place(sensor) else sensor
        )
        require(column in columns, "sensor", f"be one of {columns!r}", sensor)
        names = [named(value) for value in np.asarray(X[column]).tolist()]
        return names, X[[name for name in columns if name != column]]
    if not _is_place(sensor):
        raise ValueError(
            f"sensor must be the position of a column where X is an array, "
            f"got {sensor!r}"
        )
    X = np.asarray(X)
    require(X.ndim == 2, "X", "be a table of two dimensions", X.shape)
    at = _position(sensor, X.shape[1])
    return [named(value) for value in X[:, at].tolist()], np.delete(X, at, axis=1)


def _is_place(sensor: Any) -> bool:
    return isinstance(sensor, Integral) and not isinstance(sensor, bool)


def _position(sensor: int, n_columns: int) -> int:
    rule = f"be within the {n_columns} columns of X"
    require(-n_columns <= sensor < n_columns, "sensor", rule, sensor)
    return int(sensor) % n_columns
