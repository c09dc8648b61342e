"""Simple methods, as a competent person would write them: what models must beat.

They are used themselves where they win. Readings of other sensors are compared in
standard deviations from their sensor's mean, and brought into cells of one step of
time; where a table is no set of time series, in the inputs of the field model.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Indices, Matrix, Vector
from halk.data.readings import Readings
from halk.sensors.method import Estimates, Site
from halk.sensors.order import Track, find_far, find_line, hash_rows, sort_rows, uniform


class Simple:
    """What simple methods have in common: readings in order, and bins."""

    name = ""

    def __init__(self, site: Site) -> None:
        self.site = site

    def fit(self, rows: Readings) -> None:
        """Take in readings; what was known before is forgotten."""
        rows = sort_rows(rows)
        kept = ~find_far(rows)
        self.rows = Readings(rows.sensor[kept], rows.x[kept], rows.y[kept])
        self.track = Track(find_line(self.site.schema, self.rows), self.rows)
        self._fit()

    def _fit(self) -> None:
        """Prepare what estimates need."""

    def estimate(
        self, sensor: Indices, x: Matrix, *, causal: bool = False
    ) -> Estimates:
        """Return estimates at inputs in the units of the schema."""
        value, std = self.find_values(sensor, x, causal)
        return Estimates.of(value, std, self.track.find_bins(sensor, x, causal))

    def find_values(
        self, sensor: Indices, x: Matrix, causal: bool
    ) -> tuple[Vector, Vector | None]:
        """Return estimates, and stds if they are known."""
        raise NotImplementedError

    def _place(self, x: Matrix) -> Vector:
        return self.track.line.place(x)


class SensorMean(Simple):
    """The mean of the sensor's readings; of all, for a sensor without any."""

    name = "sensor mean"

    def _fit(self) -> None:
        n, track = len(self.site.sensors.names), self.track
        self.total = np.concatenate([[0.0], np.cumsum(track.y)])
        self.ends = np.searchsorted(track.sensor, np.arange(n + 1))
        order = np.argsort(track.place, kind="stable")
        self.times, self.all = track.place[order], np.cumsum(track.y[order])

    def find_values(
        self, sensor: Indices, x: Matrix, causal: bool
    ) -> tuple[Vector, Vector | None]:
        """Return means, without stds."""
        start, end = self.ends[sensor], self.ends[sensor + 1]
        upto = np.full(len(sensor), len(self.times))
        if causal:
            place = self._place(x)
            before, _ = self.track.find_around(sensor, place)
            end = np.where(before >= 0, before + 1, start)
            upto = np.searchsorted(self.times, place, side="right")
        with np.errstate(invalid="ignore"):
            own = (self.total[end] - self.total[start]) / (end - start)
        total = np.concatenate([[np.nan], self.all])
        return np.where(end > start, own, total[upto] / np.maximum(upto, 1)), None


class Linear(Simple):
    """Straight on between the sensor's readings before and after; causal: the last."""

    name = "linear interpolation"

    def _fit(self) -> None:
        self.mean = SensorMean(self.site)
        self.mean.fit(self.rows)

    def find_values(
        self, sensor: Indices, x: Matrix, causal: bool
    ) -> tuple[Vector, Vector | None]:
        """Return values in between, without stds."""
        value, _ = self.mean.find_values(sensor, x, causal)
        before, after = self.track.find_around(sensor, self._place(x))
        if causal:
            after = np.full(len(before), -1)
        for found in (after, before):
            value = np.where(found >= 0, self.track.y[found], value)
        both = (before >= 0) & (after >= 0)
        a, b = before[both], after[both]
        knots, y = self.track.x, self.track.y
        share = (x[both, self.track.line.column] - knots[a]) / (knots[b] - knots[a])
        value[both] = y[a] + share * (y[b] - y[a])
        return value, None


# readings in cells of one step of time


MOST_CELLS = 20_000_000
"""Cells of a table, over which steps are joined."""


class Cells:
    """Standardised readings, a row per step of time and a column per sensor.

    Attributes
    ----------
    z : array (T, V)
        NaN where there is no reading.
    mean, std : array (V,)
    running : tuple of two arrays (T, V)
        The same from the readings up to a cell.
    last, next : int array (T, V)
        The cell of the last reading up to a cell, of the first from it on; -1 if none.
    """

    def __init__(self, n_sensors: int, track: Track) -> None:
        self.low = track.low
        self.join = max(1.0, (track.high - track.low + 2) * n_sensors / MOST_CELLS)
        cell = self.find(track.place)
        self.n = int(cell.max(initial=0)) + 1
        self.shape = self.n, n_sensors
        flat = cell * n_sensors + track.sensor
        size = self.n * n_sensors
        count = np.bincount(flat, minlength=size).reshape(self.shape)
        total = np.bincount(flat, track.y, minlength=size).reshape(self.shape)
        with np.errstate(invalid="ignore"):
            self.y = total / count
        is_there = count > 0
        self.mean, self.std = _moments(self.y)
        self.z = (self.y - self.mean) / self.std
        index = np.where(is_there, np.arange(self.n)[:, None], -1)
        self.last = np.maximum.accumulate(index, axis=0).astype(np.int32)
        index = np.where(is_there, np.arange(self.n)[:, None], self.n)
        self.next = np.minimum.accumulate(index[::-1], axis=0)[::-1].astype(np.int32)
        self.next[self.next == self.n] = -1

    def find(self, place: Vector) -> Indices:
        """Return the cells of places; those outside count as at the ends."""
        cell = np.rint((place - self.low) / self.join).astype(np.int64)
        return np.clip(cell, 0, self.n - 1) if hasattr(self, "n") else cell

    @property
    def running(self) -> tuple[Matrix, Matrix]:
        """Return mean and std of every sensor from its readings up to every cell."""
        if not hasattr(self, "_running"):
            self._running = _running_moments(self.y)
        return self._running

    def scale(self, causal: bool) -> tuple[Matrix, Matrix, Matrix]:
        """Return standardised readings, and the means and stds they were counted in."""
        if not causal:
            shape = self.shape
            mean, std = (
                np.broadcast_to(self.mean, shape),
                np.broadcast_to(self.std, shape),
            )
            return self.z, mean, std
        mean, std = self.running
        return (self.y - mean) / std, mean, std


def _moments(y: Matrix) -> tuple[Vector, Vector]:
    """Return mean and std of columns; those with hardly a reading take the others'."""
    count = (~np.isnan(y)).sum(axis=0)
    mean = np.nansum(y, axis=0) / np.maximum(count, 1)
    std = np.sqrt(np.nansum((y - mean) ** 2, axis=0) / np.maximum(count, 1))
    has_few, has_any = (count < 3) | (std <= 0), count > 0
    pooled = float(np.sqrt((std[~has_few] ** 2).mean())) if (~has_few).any() else 1.0
    overall = float(mean[has_any].mean()) if has_any.any() else 0.0
    return np.where(has_any, mean, overall), np.where(has_few, pooled, std)


def _running_moments(y: Matrix) -> tuple[Matrix, Matrix]:
    """Return mean and std up to every cell, drawn towards the network's at first."""
    is_there = ~np.isnan(y)
    clean = np.where(is_there, y, 0.0)
    n, total = is_there.cumsum(axis=0), clean.cumsum(axis=0)
    n_all = np.maximum(n.sum(axis=1, keepdims=True), 1)
    overall = total.sum(axis=1, keepdims=True) / n_all
    mean = np.where(n > 0, total / np.maximum(n, 1), overall)
    first = float(y[is_there][0]) if is_there.any() else 0.0  # against cancellation
    shifted = np.where(is_there, y - first, 0.0)
    squares = (shifted**2).cumsum(axis=0)
    variance = squares / np.maximum(n, 1) - (mean - first) ** 2
    weight = squares.sum(axis=1, keepdims=True) / n_all - (overall - first) ** 2
    weight = np.maximum(weight, 1e-12 * (1 + overall**2))
    return mean, np.sqrt((n * np.maximum(variance, 0) + 3 * weight) / (n + 3))


def measure_distances(site: Site, z: Matrix) -> Matrix:
    """Return distances between sensors; without places, by how alike they read."""
    if site.sensors.positions is not None:
        plane = site.sensors.plane()
        return np.asarray(np.sqrt(((plane[:, None] - plane[None]) ** 2).sum(axis=2)))
    clean, is_there = np.nan_to_num(z), ~np.isnan(z)
    both = is_there.T.astype(float) @ is_there
    alike = clean.T @ clean / np.maximum(both, 1) * (both / (both + 10))
    found: Matrix = np.sqrt(2 * np.clip(1 - alike, 0, None))
    np.fill_diagonal(found, 0.0)
    return found


class InverseDistance(Simple):
    """What others read at the time, by a power of the distance; chosen among four.

    The power is chosen on readings of the table, each estimated from the others at its
    time. Where no other sensor reads, straight on between own readings.
    """

    name = "inverse distance"
    POWERS = (1.0, 2.0, 3.0, 4.0)
    SAMPLE = 10_000

    def _fit(self) -> None:
        self.cells = Cells(len(self.site.sensors.names), self.track)
        self.linear = Linear(self.site)
        self.linear.fit(self.rows)
        distance = measure_distances(self.site, self.cells.z)
        away = distance[distance > 0]
        self.distance = np.maximum(distance, away.min() / 10 if len(away) else 1.0)
        some = take_sample(self.site, self.rows, self.SAMPLE)
        sensor, x, y = self.rows.sensor[some], self.rows.x[some], self.rows.y[some]
        errors = []
        for power in self.POWERS:
            self.power = power
            value = self._from_others(sensor, x, False)
            errors.append(_mean_error(value, y))
        self.power = self.POWERS[int(np.argmin(errors))]

    def _from_others(self, sensor: Indices, x: Matrix, causal: bool) -> Vector:
        z, mean, std = self.cells.scale(causal)
        cell, weight = self.cells.find(self._place(x)), self.distance**-self.power
        np.fill_diagonal(weight, 0.0)
        found = np.empty(len(sensor))
        for part in cut(len(sensor), 4_000_000 // len(weight) + 1):
            rows, own = z[cell[part]], weight[sensor[part]]
            own = np.where(np.isnan(rows), 0.0, own)
            total = own.sum(axis=1)
            with np.errstate(invalid="ignore"):
                found[part] = (own * np.nan_to_num(rows)).sum(axis=1) / total
        return found * std[cell, sensor] + mean[cell, sensor]

    def find_values(
        self, sensor: Indices, x: Matrix, causal: bool
    ) -> tuple[Vector, Vector | None]:
        """Return weighted means, without stds."""
        value = self._from_others(sensor, x, causal)
        other, _ = self.linear.find_values(sensor, x, causal)
        return np.where(np.isnan(value), other, value), None


def _mean_error(value: Vector, y: Vector) -> float:
    """Return the mean absolute error where there is an estimate."""
    is_there = ~np.isnan(value)
    return float(np.abs(value - y)[is_there].mean()) if is_there.any() else 0.0


def take_sample(site: Site, rows: Readings, most: int) -> Indices:
    """Return some rows, the same ones whatever happens to others."""
    hashes = hash_rows(site.sensors.names, rows.sensor, rows.x, site.seed)
    return np.sort(np.argsort(hashes, kind="stable")[:most])


def cut(n: int, size: int) -> list[slice]:
    """Return parts of a range, to go through it without holding all."""
    return [slice(k, k + size) for k in range(0, n, size)]


class Ranges(NamedTuple):
    """Covariance of standardised readings: how they fall with distance and time.

    ``(share exp(-(d / space)^bend) + (1 - share) [same]) / (1 + (t / time)^power)``,
    where [same] is 1 for readings of one sensor, and noise of every reading.
    """

    space: float
    time: float
    bend: float = 1.0
    share: float = 0.9
    power: float = 1.0
    noise: float = 0.02


class _Context(NamedTuple):
    """Readings that points are estimated from; NaN where there is none."""

    z: Matrix  # (n, m)
    sensor: Indices
    cell: Indices
    cell_of: Indices  # of the point
    sensor_of: Indices


class Kriging(Simple):
    """Simple kriging in space and time of standardised readings.

    From own readings (two before, two after), and from what the twelve nearest sensors
    read at the time and at the times of the own nearest ones, or else last and next.
    Ranges, noise and the shape in time are those of a grid with the least error on
    readings of the table, a third of them estimated as if they were single gaps, others
    as if in longer ones, and half as if other readings were missing too.
    """

    name = "kriging"
    NEIGHBOURS = 12
    SAMPLE = 1_000

    def _fit(self) -> None:
        self.cells = Cells(len(self.site.sensors.names), self.track)
        self.distance = measure_distances(self.site, self.cells.z)
        order = np.argsort(self.distance, axis=1, kind="stable")
        itself = order == np.arange(len(order))[:, None]
        k = min(self.NEIGHBOURS, len(order) - 1)
        self.near = order[~itself].reshape(len(order), -1)[:, :k]
        self._fit_ranges()

    def _fit_ranges(self) -> None:
        some = take_sample(self.site, self.rows, self.SAMPLE)
        sensor, x = self.rows.sensor[some], self.rows.x[some]
        cell = self.cells.find(self._place(x))
        u = uniform(hash_rows(self.site.sensors.names, sensor, x, self.site.seed + 1))
        length = np.floor(48 ** np.maximum(1.5 * u - 0.5, 0)).astype(np.int64) - 1
        before = (length * ((u * 1e4) % 1)).astype(np.int64)
        context = self._find_context(sensor, cell, before, length - before)
        thin = np.random.default_rng(self.site.seed).random(context.z.shape) < 0.5
        context.z[thin & ((u * 1e6) % 2 < 1)[:, None]] = np.nan
        truth = self.cells.z[cell, sensor]
        away = self.distance[self.distance > 0]
        near = float(np.median(away)) if len(away) else 1.0
        best = Ranges(near, 12.0)
        least = self._judge(best, context, truth)
        for _ in range(2):
            for name, values in {
                "time": (0.2, 1.0, 3.0, 6.0, 12.0, 24.0, 48.0, 96.0, 200.0, 800.0),
                "space": tuple(near * f for f in (0.3, 1.0, 3.0, 10.0, 30.0)),
                "bend": (1.0, 1.8),
                "share": (0.5, 0.8, 0.95, 1.0),
                "power": (0.7, 1.0, 1.4, 1.8),
                "noise": (0.001, 0.005, 0.02, 0.1, 0.3),
            }.items():
                for value in values:
                    tried = best._replace(**{name: value})
                    error = self._judge(tried, context, truth)
                    if error < least:
                        best, least = tried, error
        self.ranges = best

    def _judge(self, ranges: Ranges, context: _Context, truth: Vector) -> float:
        value, _ = self._solve(ranges, context)
        return float(np.abs(value - truth).mean()) if len(truth) else 0.0

    def _find_context(
        self,
        sensor: Indices,
        cell: Indices,
        before: Indices | int = 0,
        after: Indices | int = 0,
        causal: bool = False,
    ) -> _Context:
        """Return what points are estimated from, leaving out own readings near them."""
        last, nxt, n = self.cells.last, self.cells.next, self.cells.n

        def look(table: NDArray[np.int32], at: Indices, who: Indices) -> Indices:
            inside = (at >= 0) & (at < n)
            return np.where(inside, table[np.clip(at, 0, n - 1), who], -1)

        own_last = look(last, cell - 1 - before, sensor)
        cells = [own_last, look(last, own_last - 1, sensor)]
        own_next = np.full(len(cell), -1)
        if not causal:
            own_next = look(nxt, cell + 1 + after, sensor)
            cells += [
                own_next,
                look(nxt, np.where(own_next < 0, n, own_next + 1), sensor),
            ]
        who = [sensor] * len(cells)
        for k in range(self.near.shape[1]):
            other = self.near[sensor, k]
            latest = last[cell, other]
            is_now = latest == cell

            def where_read(at: Indices, other: Indices = other) -> Indices:
                return np.where(look(last, at, other) == at, at, -1)

            found = [latest, np.where(is_now, where_read(own_last), -1)]
            if not causal:
                then = look(nxt, cell + 1, other)
                found[1] = np.where(is_now, found[1], then)
                found.append(np.where(is_now, where_read(own_next), -1))
            cells += found
            who += [other] * len(found)
        at, which = np.stack(cells, axis=1), np.stack(who, axis=1)
        z = self.cells.scale(True)[0] if causal else self.cells.z
        values = np.where(at >= 0, z[np.maximum(at, 0), which], np.nan)
        return _Context(values, which, at, cell, sensor)

    def _solve(self, ranges: Ranges, context: _Context) -> tuple[Vector, Vector]:
        """Return conditional means and variances of standardised readings."""
        n, m = context.z.shape
        mean, variance = np.empty(n), np.empty(n)
        for part in cut(n, 2_000_000 // max(m * m, 1) + 1):
            z, who, at, to, me = (field[part] for field in context)
            is_there = ~np.isnan(z)
            K = self._covariance(ranges, who, at, who, at)
            K *= is_there[:, :, None] & is_there[:, None, :]
            K[:, np.arange(m), np.arange(m)] = 1.0 + ranges.noise
            k = self._covariance(ranges, me[:, None], to[:, None], who, at)[:, 0]
            k *= is_there
            weights = np.linalg.solve(K, k[:, :, None])[:, :, 0]
            mean[part] = (weights * np.nan_to_num(z)).sum(axis=1)
            variance[part] = 1.0 + ranges.noise - (weights * k).sum(axis=1)
        return mean, np.maximum(variance, 1e-9)

    def _covariance(
        self, ranges: Ranges, i: Any, t: Any, j: Any, s: Any
    ) -> NDArray[np.float64]:
        space = ranges.share * np.exp(-((self.distance / ranges.space) ** ranges.bend))
        np.fill_diagonal(space, 1.0)
        lag = np.abs(t[:, :, None] - s[:, None, :]) / ranges.time
        between: NDArray[np.float64] = space[i[:, :, None], j[:, None, :]]
        return np.asarray(between / (1 + lag**ranges.power))

    def find_values(
        self, sensor: Indices, x: Matrix, causal: bool
    ) -> tuple[Vector, Vector | None]:
        """Return conditional means and stds."""
        cell = self.cells.find(self._place(x))
        _, mean, std = self.cells.scale(causal)
        value, spread = np.empty(len(cell)), np.empty(len(cell))
        for part in cut(len(cell), 20_000):
            context = self._find_context(sensor[part], cell[part], causal=causal)
            found, variance = self._solve(self.ranges, context)
            at = cell[part], sensor[part]
            value[part] = mean[at] + std[at] * found
            spread[part] = std[at] * np.sqrt(variance)
        return value, spread
