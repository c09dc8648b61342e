"""What is removed from values before learning, and put back in predictions."""

from typing import NamedTuple

import numpy as np

from halk._validation import Indices, Vector
from halk.tables.sensors import Sensors

SCALINGS = {
    "common": "one mean and spread for all sensors",
    "offset": "one spread for all, each sensor's own mean",
    "own": "each sensor's own mean and spread",
}
"""What can be removed. With "own", neighbours compare what is unusual for each."""

PRIOR = 2.0
"""Readings that the mean and spread of all sensors count for, beside a sensor's own."""

NEAREST = 3
"""Sensors whose scales one without readings takes."""


class Scale(NamedTuple):
    """Mean and spread of every sensor's values, and the spread of all."""

    offset: Vector  # (V,)
    spread: Vector  # (V,)
    common: float

    def removed(self, agent: Indices, y: Vector) -> Vector:
        """Return values as learners see them."""
        return (y - self.offset[agent]) / self.spread[agent]

    def restored(self, agent: Indices, z: Vector) -> Vector:
        """Return what learners predict in the unit of the values."""
        return z * self.spread[agent] + self.offset[agent]


def scale_of(
    scaling: str,
    agent: Indices,
    y: Vector,
    sensors: Sensors,
    spread: float | None = None,
) -> Scale:
    """Return the scale of values, from readings that no error is judged by.

    ``spread`` of all values, if tolerances are told in it.
    """
    V = len(sensors.names)
    mean, common = float(y.mean()), spread or _positive(float(y.std()), 1.0)
    if scaling != "own":
        return Scale(np.full(V, mean), np.full(V, common), common)
    counts = np.bincount(agent, minlength=V)
    own = np.bincount(agent, y, V) / np.maximum(counts, 1)
    squares = np.bincount(agent, (y - own[agent]) ** 2, V)
    within = float(squares.sum()) / len(y)
    offset = (counts * own + PRIOR * mean) / (counts + PRIOR)
    variance = (squares + PRIOR * within) / (counts + PRIOR)
    silent = np.flatnonzero(counts == 0)
    for i in silent.tolist():
        near = _nearest(sensors, i, counts)
        offset[i], variance[i] = offset[near].mean(), variance[near].mean()
    tiny = _positive(1e-6 * common, 1.0)
    return Scale(offset, np.maximum(np.sqrt(variance), tiny), common)


def _nearest(sensors: Sensors, i: int, counts: Indices) -> Indices:
    """Return the sensors with readings nearest to one without."""
    known = np.flatnonzero(counts > 0)
    if sensors.positions is None:
        return known
    flat = sensors.flat()
    away = ((flat[known] - flat[i]) ** 2).sum(axis=1)
    return known[np.argsort(away, kind="stable")[:NEAREST]]


def _positive(value: float, otherwise: float) -> float:
    return value if value > 0 else otherwise
