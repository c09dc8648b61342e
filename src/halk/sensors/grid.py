"""Irregular readings on a regular grid of times, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halk._validation import Indices, Matrix, Vector

MOST_CELLS = 50_000_000
"""Steps times sensors beyond which a grid is refused."""

CLOSE = 1e-3
"""Relative difference within which a typical spacing is taken as it is."""


@dataclass(frozen=True, eq=False)
class Grid:
    """A regular grid of times of which long silences are cut out.

    Where no sensor reads for more than ``longest`` steps, the grid has ``longest``
    rows: one time that is far off costs a few rows, not memory for all between.

    Parameters
    ----------
    start, step : float
        Of the first row, and between rows, in the units of the times.
    longest : int
        Rows of a silence of all sensors, at most.
    taken : int array, ascending
        Steps since ``start`` at which any sensor reads; the first is 0.
    """

    start: float
    step: float
    longest: int
    taken: Indices

    @property
    def rows(self) -> Indices:
        """Row of each of ``taken``."""
        return _squeeze(self.taken, self.longest)

    @property
    def n_rows(self) -> int:
        """Rows from the first reading to the last."""
        return int(self.rows[-1]) + 1

    def count_steps(self, time: Vector) -> Indices:
        """Return the step whose cell a time falls into: the nearest."""
        with np.errstate(over="ignore"):
            steps = np.floor((time - self.start) / self.step + 0.5)
        return np.clip(steps, -(2.0**53), 2.0**53).astype(np.int64)

    def find_rows(self, time: Vector) -> Indices:
        """Return the row of each time.

        It is below 0 before the first reading, and ``n_rows`` or above past the last.
        A time within what was cut out gets the row in the middle of the silence.
        """
        steps, rows = self.count_steps(time), self.rows
        before = np.clip(
            np.searchsorted(self.taken, steps, "right") - 1, 0, len(rows) - 1
        )
        after = np.minimum(before + 1, len(rows) - 1)
        since, until = steps - self.taken[before], self.taken[after] - steps
        half = self.longest // 2
        forth = rows[before] + np.where(after > before, np.minimum(since, half), since)
        return np.where((after > before) & (until <= half), rows[after] - until, forth)

    def find_times(self) -> Vector:
        """Return the time of every row."""
        rows = np.arange(self.n_rows)
        last = np.searchsorted(self.rows, rows, "right") - 1
        # the later half of a silence that was cut counts back from the next reading
        following = np.minimum(last + 1, len(self.taken) - 1)
        back = self.rows[following] - rows
        is_late = (following > last) & (back <= self.longest // 2)
        steps = np.where(
            is_late,
            self.taken[following] - back,
            self.taken[last] + rows - self.rows[last],
        )
        return np.asarray(self.start + self.step * steps)

    def extend(self, time: Vector) -> Grid:
        """Return the grid with rows up to the last of ``time``; earlier rows stay."""
        steps = np.unique(self.count_steps(time))
        later = steps[steps > self.taken[-1]]
        return Grid(
            self.start, self.step, self.longest, np.concatenate([self.taken, later])
        )


def _squeeze(taken: Indices, longest: int) -> Indices:
    apart = np.diff(taken)
    cut = np.concatenate([[0], np.cumsum(np.maximum(apart - longest, 0))])
    return np.asarray(taken - cut)


def find_spacing(sensor: Indices, time: Vector) -> float:
    """Return the typical spacing of readings: the median over sensors of their median.

    It is refined so that the grid does not drift away from clocks that are not exact.
    Zero if no sensor has readings at two times.
    """
    order = np.lexsort((time, sensor))
    apart = np.diff(time[order])
    owner = sensor[order][1:]
    kept = (owner == sensor[order][:-1]) & (apart > 0)
    apart, owner = apart[kept], owner[kept]
    if not len(apart):
        return 0.0
    edges = np.flatnonzero(np.diff(owner)) + 1
    step = float(np.median([np.median(part) for part in np.split(apart, edges)]))
    count = np.round(apart / step)
    is_near = (count > 0) & (count < 1000)
    if not is_near.any():
        return step
    refined = float(apart[is_near].sum() / count[is_near].sum())
    # clocks that are exact but for a few readings
    drift = np.median(np.abs(apart[is_near] - step * count[is_near]))
    return step if drift <= CLOSE * step else refined


def make_grid(sensor: Indices, time: Vector, longest: int = 144) -> Grid:
    """Return the grid that readings at these times fall on.

    Raises
    ------
    ValueError
        If there are no readings.
    """
    if not len(time):
        raise ValueError("readings must not be empty: there is nothing to learn from")
    first = float(time.min())
    step = find_spacing(sensor, time) or max(float(np.ptp(time)), 1.0)
    phase = np.angle(np.exp(2j * np.pi * ((time - first) / step % 1.0)).mean())
    shift = float(phase) / (2 * np.pi)
    start = first + (shift if abs(shift) > CLOSE else 0.0) * step
    grid = Grid(start, step, longest, np.zeros(1, np.int64))
    taken = np.unique(grid.count_steps(time))
    return Grid(start + step * float(taken[0]), step, longest, taken - taken[0])


def average_cells(
    row: Indices, sensor: Indices, value: Vector, shape: tuple[int, int]
) -> tuple[Matrix, NDArray[np.int32]]:
    """Return the mean of the readings of each cell, NaN without one, and their number.

    Raises
    ------
    ValueError
        If the grid would be larger than memory allows.
    """
    n_rows, n_sensors = shape
    if n_rows * n_sensors > MOST_CELLS:
        raise ValueError(
            f"readings must fit on a grid of {MOST_CELLS:,} cells, got {n_rows:,} "
            f"steps of {n_sensors:,} sensors: look at their times, or give fewer"
        )
    known = np.isfinite(value)
    at = row[known] * n_sensors + sensor[known]
    count = np.bincount(at, minlength=n_rows * n_sensors).astype(np.int32)
    total = np.bincount(at, value[known], n_rows * n_sensors)
    with np.errstate(invalid="ignore"):
        mean = np.where(count == 1, total, total / count)
    return mean.reshape(shape), count.reshape(shape)
