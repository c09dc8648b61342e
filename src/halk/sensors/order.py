"""Readings in order: along time or depth, and at random but always the same way."""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from halk._validation import Indices, Matrix, Vector
from halk.data.readings import Readings
from halk.data.schema import TIME, Schema
from halk.sensors.method import BINS

EDGES = (1.5, 3.5, 11.5)
"""Steps to the nearest own reading beyond which the next bin begins."""


def sort_rows(rows: Readings) -> Readings:
    """Return the rows with a value in an order that does not depend on the table's."""
    rows = rows.with_values()
    order = np.lexsort((rows.y, *rows.x.T[::-1], rows.sensor))
    return Readings(rows.sensor[order], rows.x[order], rows.y[order])


FEW, FAR = 20, 10.0
"""Readings below which a sensor's range is that of all; and ranges beyond it that no
reading is: codes for missing values, and worse."""

INNER = (0.05, 0.95)
"""Shares of a sensor's readings between which its range is measured."""


def find_far(rows: Readings) -> NDArray[np.bool_]:
    """Return values that no simple method should take in, nor judge anything.

    They are ten times the range of nearly all readings of the sensor, the inner 90 %,
    away from it. What is milder is for models to doubt.
    """
    found = np.zeros(len(rows.y), bool)
    if len(rows.y) < FEW:
        return found
    starts = np.flatnonzero(np.diff(rows.sensor, prepend=-1))
    of_all = np.quantile(rows.y, INNER)
    for part in np.split(np.arange(len(rows.y)), starts[1:]):
        y = rows.y[part]
        low, high = np.quantile(y, INNER) if len(part) >= FEW else of_all
        room = FAR * (high - low) or np.inf
        found[part] = (y < low - room) | (y > high + room)
    return found


class Line(NamedTuple):
    """What readings are ordered along, counted in typical steps between them.

    Attributes
    ----------
    column : int
        The input: the time if there is one, else the first that varies.
    is_time : bool
    is_only : bool
        Whether no other input varies within a sensor.
    knots, places : array
        Values of the input, and how many steps they are from the first.
    """

    column: int
    is_time: bool
    is_only: bool
    knots: Vector
    places: Vector

    def place(self, x: Matrix) -> Vector:
        """Return positions in steps, (n,); straight on beyond the ends."""
        values, knots, places = x[:, self.column], self.knots, self.places
        found = np.interp(values, knots, places)
        for end, slope in ((0, self._slope(0)), (-1, self._slope(-2))):
            is_beyond = values < knots[0] if end == 0 else values > knots[-1]
            found[is_beyond] = places[end] + (values[is_beyond] - knots[end]) * slope
        return found

    def _slope(self, k: int) -> float:
        rise = float(self.knots[k + 1] - self.knots[k])
        return float(self.places[k + 1] - self.places[k]) / rise

    @property
    def step(self) -> float:
        """Typical distance between readings of a sensor, of a line in time."""
        return 1 / self._slope(0)


def find_line(schema: Schema, rows: Readings) -> Line:
    """Return what readings are ordered along."""
    kinds = [one.kind for one in schema.inputs]
    varies = [_varies(rows.sensor, column) for column in rows.x.T]
    times = [k for k, kind in enumerate(kinds) if kind == TIME]
    numbers = [k for k, is_varying in enumerate(varies) if is_varying]
    column = (times or numbers or [0])[0]
    is_only = not any(k != column for k in numbers)
    values = rows.x[:, column]
    if times:
        step = _find_step(rows.sensor, values)
        start = float(values.min()) if len(values) else 0.0
        knots = np.array([start, start + step])
        return Line(column, True, is_only, knots, np.arange(2.0))
    return Line(column, False, is_only, *_find_knots(rows.sensor, values))


def _varies(sensor: Indices, column: Vector) -> bool:
    """Return whether an input differs between readings of a sensor."""
    order = np.lexsort((column, sensor))
    is_same = np.diff(sensor[order]) == 0
    return bool((np.diff(column[order])[is_same] > 0).any())


def _find_step(sensor: Indices, times: Vector) -> float:
    """Return the typical spacing: median over sensors of the median, without drift."""
    order = np.lexsort((times, sensor))
    gaps, who = np.diff(times[order]), sensor[order][1:]
    kept = (np.diff(sensor[order]) == 0) & (gaps > 0)
    gaps, who = gaps[kept], who[kept]
    if not len(gaps):
        return float(np.ptp(times)) or 1.0
    starts = np.flatnonzero(np.diff(who, prepend=-1))
    step = float(np.median([np.median(part) for part in np.split(gaps, starts[1:])]))
    count = np.rint(gaps / step)
    is_near = (count >= 1) & (count <= 3) & (np.abs(gaps / step - count) < 0.2)
    if is_near.any():
        step = float(gaps[is_near].sum() / count[is_near].sum())
    return step


def _find_knots(sensor: Indices, values: Vector) -> tuple[Vector, Vector]:
    """Return values of an input, and their places in typical steps of a sensor."""
    knots, counts = np.unique(values, return_counts=True)
    if len(knots) < 2:
        first = float(knots[0]) if len(knots) else 0.0
        return np.array([first, first + 1.0]), np.arange(2.0)
    each = np.bincount(sensor)
    if len(knots) <= 2 * each.max():  # common depths
        return knots, np.arange(float(len(knots)))
    typical = float(np.median(each[each > 0]))
    return knots, (np.cumsum(counts) - counts / 2) / len(values) * typical


class Track:
    """Readings by sensor, then along the line; finds the nearest own ones.

    Parameters
    ----------
    line : Line
    rows : Readings
        Sorted by :func:`sort_rows`.
    """

    def __init__(self, line: Line, rows: Readings) -> None:
        self.line, place = line, line.place(rows.x)
        self.low, self.high = (
            (float(place.min()), float(place.max())) if len(place) else (0.0, 0.0)
        )
        self.width = self.high - self.low + 4.0
        keys = self._keys(rows.sensor, place)
        order = np.argsort(keys, kind="stable")
        self.keys, self.place = keys[order], place[order]
        self.sensor, self.y = rows.sensor[order], rows.y[order]
        self.x = rows.x[order, line.column]

    def _keys(self, sensor: Indices, place: Vector) -> Vector:
        inside = np.clip(place, self.low - 1, self.high + 1) - self.low
        return sensor * self.width + inside

    def find_around(self, sensor: Indices, place: Vector) -> tuple[Indices, Indices]:
        """Return the last reading up to a place and the first after it; -1 if none."""
        n = len(self.keys)
        if not n:
            return np.full(len(sensor), -1), np.full(len(sensor), -1)
        after = np.searchsorted(self.keys, self._keys(sensor, place), side="right")
        before = after - 1
        is_own = self.sensor[np.maximum(before, 0)] == sensor
        before = np.where((before >= 0) & is_own, before, -1)
        is_own = self.sensor[np.minimum(after, n - 1)] == sensor
        return before, np.where((after < n) & is_own, after, -1)

    def find_bins(self, sensor: Indices, x: Matrix, causal: bool) -> Indices:
        """Return how far the nearest own reading is, 0 to BINS - 1."""
        place = self.line.place(x)
        before, after = self.find_around(sensor, place)
        distance = np.full(len(place), np.inf)
        for found in (before,) if causal else (before, after):
            away = np.abs(self.place[found] - place) if len(self.place) else distance
            distance = np.where(found >= 0, np.minimum(distance, away), distance)
        bins: Indices = np.searchsorted(np.array(EDGES), distance).astype(np.int64)
        return np.minimum(bins, BINS - 1)


def hash_rows(
    names: tuple[str, ...], sensor: Indices, x: Matrix, seed: int
) -> NDArray[np.uint64]:
    """Return a random number per reading that depends on nothing but itself.

    What is drawn by it stays the same when other rows come, go or change places.
    """
    codes = np.array([crc32(name.encode()) for name in names], np.uint64)
    found = _mix(codes[sensor] + np.uint64(seed * 0x9E3779B97F4A7C15 % 2**64))
    for column in x.T:
        bits = np.ascontiguousarray(column + 0.0, np.float64).view(np.uint64)
        found = _mix(found ^ bits)
    return found


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return splitmix64 of integers."""
    with np.errstate(over="ignore"):
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def uniform(hashes: NDArray[np.uint64]) -> Vector:
    """Return numbers in [0, 1) from hashes."""
    return (hashes >> np.uint64(11)).astype(np.float64) / 2.0**53
