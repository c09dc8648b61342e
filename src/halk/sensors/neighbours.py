"""The neighbour model: what the neighbours read now, and the sensor itself lately.

Readings are put on a regular grid of times (:mod:`halk.sensors.grid`). Every sensor
hears its nearest sensors, learns their lagged covariances online and predicts what it
did not read by the conditional Gaussian on what it heard; it hides its own readings
behind gaps like its own, and so chooses its settings and calibrates its intervals. The
steps are those of ``core/neighbours.hpp``.

An archive is heard twice: estimates from past readings only are those of the first
hearing, all others those of the second. More readings (:meth:`NeighbourModel.update`)
are heard once, as a stream.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from hashlib import blake2b
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from halk import _core
from halk._places import embed, measure_distances
from halk._validation import Indices, Matrix, Vector
from halk.data.readings import Readings
from halk.data.schema import TIME
from halk.data.sensors import Sensors
from halk.sensors.grid import Grid, average_cells, make_grid
from halk.sensors.method import BINS, Estimates, Site

NO_READING, ACCEPTED, SUSPECT, STUCK, SHIFT = range(5)
"""What became of a reading: :meth:`NeighbourModel.flags`."""

_SHIFTED, _RETURNED, _STUCK, _OUTLIER, _DRIFT = range(5)  # of events of the core
_CHUNK = 256  # steps between two reports of progress
_DAY = 86400.0


class Suspect(NamedTuple):
    """A reading that was not believed, ``deviation`` stds from what was expected."""

    sensor: int
    time: float
    value: float
    expected: float
    deviation: float


class Shift(NamedTuple):
    """A level that changed for good."""

    sensor: int
    time: float
    before: float
    after: float


class Stuck(NamedTuple):
    """A spell of equal readings, longer than this sensor's history explains."""

    sensor: int
    start: float
    end: float
    value: float


class Drift(NamedTuple):
    """A sensor that slowly leaves what its neighbours alone predict.

    ``size`` is its mean deviation when it was found, in stds of the sensor.
    """

    sensor: int
    start: float
    found: float
    size: float


class NeighbourModel:
    """Estimates readings from what neighbours read now and the sensor itself lately.

    Parameters
    ----------
    site : Site
        Its schema must have one input, the time. Without places, and without a graph,
        neighbours are sensors whose readings go together.
    neighbours : int
        Sensors that each hears (K).
    memory : float
        Steps after which what was learned is half-forgotten, nearly (H).
    window : int
        Steps looked at on each side (W).
    coverage : float
        Of intervals.
    hearings : int
        How often an archive is heard: 2, or 1 for estimates like a stream's.
    n_threads : int, optional
        By default as many as there are processors.
    report : callable, optional
        Called with the share that is done, from 0 to 1.

    Notes
    -----
    The result does not depend on ``n_threads``, nor on the order of sensors: what is
    drawn at random depends on the seed and on a sensor's name.
    """

    name = "neighbours"

    def __init__(
        self,
        site: Site,
        *,
        neighbours: int = 12,
        memory: float = 700.0,
        window: int = 24,
        coverage: float = 0.9,
        hearings: int = 2,
        n_threads: int | None = None,
        report: Callable[[float], None] | None = None,
    ) -> None:
        if len(site.schema.inputs) != 1:
            names = ", ".join(one.name for one in site.schema.inputs)
            raise ValueError(
                f"neighbours must get readings by time alone, got inputs {names}: use "
                "the field model"
            )
        self.site = site
        self.neighbours, self.memory, self.window = neighbours, memory, window
        self.coverage, self.hearings = coverage, hearings
        self.n_threads = n_threads or os.cpu_count() or 1
        self.report = report

    # ------------------------------------------------------------------- learning

    def fit(self, rows: Readings) -> None:
        """Take in readings, in any order; what was known before is forgotten."""
        rows = rows.with_values()
        time = rows.x[:, 0]
        self.grid = make_grid(rows.sensor, time, 6 * self.window)
        shape = (self.grid.n_rows, self.n_sensors)
        self.values, self.counts = average_cells(
            self.grid.find_rows(time), rows.sensor, rows.y, shape
        )
        self._near, self._apart = self._find_neighbours()
        self._core = self._make_core()
        self._now, self._fill = _Published(shape), _Published(shape)
        self.flag = np.zeros(shape, np.int8)
        self._judged: dict[tuple[int, int], tuple[float, float]] = {}
        self._events = np.zeros((0, 6))
        heard = self.values
        for hearing in range(self.hearings):
            is_last = hearing == self.hearings - 1
            part = (hearing / self.hearings, (hearing + 1) / self.hearings)
            self._hear(heard, 0, hearing == 0, is_last, part)
            if not is_last:
                lasting = [e for e in self._events if self._has_lasted(e)]
                heard = self._leave_out_spells()
                self._core.rewind(np.array(lasting).reshape(-1, 6))

    def update(self, rows: Readings) -> None:
        """Hear more readings, as a stream; earlier steps count at the next fit."""
        rows = rows.with_values()
        time = rows.x[:, 0]
        known = self.grid.n_rows
        self.grid = self.grid.extend(time)
        at = self.grid.find_rows(time)
        kept = at >= 0
        shape = (self.grid.n_rows, self.n_sensors)
        mean, count = average_cells(at[kept], rows.sensor[kept], rows.y[kept], shape)
        new = shape[0] - known
        self._grow_rows(new)
        total = self.counts + count
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(self.counts > 0, count / total, 1.0)
            old = np.where(self.counts > 0, self.values, 0.0)
            self.values = np.where(count > 0, old + share * (mean - old), self.values)
        is_late = (count > 0) & (self.flag == NO_READING)
        is_late[known:] = False
        self.flag[is_late] = ACCEPTED
        self.counts = total
        if new:
            self._hear(self.values, known, True, True, (0.0, 1.0))

    def join(self, sensors: Sensors) -> None:
        """Let more sensors join: ``sensors`` has those there are, then the new ones.

        The others do not hear them until the next fit.

        Raises
        ------
        ValueError
            If the sensors there are do not come first, or places are not known.
        """
        known = self.site.sensors.names
        if sensors.names[: len(known)] != known:
            raise ValueError(
                "sensors must begin with those the model has, in their order, got "
                + ", ".join(sensors.names)
            )
        if sensors.positions is None:
            raise ValueError("sensors must have places: who is near is not known")
        self.site = self.site._replace(sensors=sensors)
        near, apart = self._find_neighbours()
        for i in range(len(known), len(sensors.names)):
            # the new ones hear those before only
            kept = np.flatnonzero(near[i] <= i)
            self._near.append(near[i][kept])
            self._apart.append(np.ascontiguousarray(apart[i][np.ix_(kept, kept)]))
            self._add_agent(self._core, i)
        more = len(sensors.names) - len(known)
        self.values = _widen(self.values, more, np.nan)
        self.counts = _widen(self.counts, more, 0)
        self.flag = _widen(self.flag, more, NO_READING)
        self._now.widen(more)
        self._fill.widen(more)

    def _grow_rows(self, n: int) -> None:
        self.values = _grow(self.values, n, np.nan)
        self.counts = _grow(self.counts, n, 0)
        self.flag = _grow(self.flag, n, NO_READING)
        self._now.grow(n)
        self._fill.grow(n)

    def _hear(
        self,
        values: Matrix,
        first: int,
        keeps_now: bool,
        keeps_fill: bool,
        part: tuple[float, float],
    ) -> None:
        """Hear rows from the first on, and store what is found."""
        n, width, W = len(values), values.shape[1], self.window
        for start in range(first, n, _CHUNK):
            stop = min(start + _CHUNK, n)
            shape = (stop - start, width)
            now, fill = _Buffer.of(shape), _Buffer.of(shape)
            flag = np.zeros(shape, np.int8)
            predicted, z = np.empty(shape), np.empty(shape)
            events = self._core.hear(
                np.ascontiguousarray(values[start:stop]),
                now.value if keeps_now else None,
                now.bin if keeps_now else None,
                fill.value if keeps_fill else None,
                fill.bin if keeps_fill else None,
                flag, predicted, z, self.n_threads,
            )  # fmt: skip
            if keeps_now:
                self._now.put(start, now)
            if keeps_fill:
                self._fill.put(start - W, fill)
            # what an earlier hearing left out keeps its flag
            is_heard = np.isfinite(values[start:stop])
            self.flag[start:stop] = np.where(is_heard, flag, self.flag[start:stop])
            for r, i in np.argwhere(flag == SUSPECT).tolist():
                self._judged[start + r, i] = float(predicted[r, i]), float(z[r, i])
            self._take_in(events)
            if self.report is not None:
                done = (stop - first) / (n - first)
                self.report(part[0] + done * (part[1] - part[0]))
        if keeps_fill:
            last = _Buffer.of((W, width))
            self._core.flush(last.value, last.bin)
            self._fill.put(n - W, last)

    def _take_in(self, events: Matrix) -> None:
        """Keep events; flag the readings before, which they show in another light."""
        self._events = np.concatenate([self._events, events])
        for row in events:
            step, sensor, what, start = (int(v) for v in row[:4])
            flag = self.flag[start : step + 1, sensor]
            if what == _SHIFTED:
                flag[flag == SUSPECT] = SHIFT
            elif what == _STUCK:
                flag[flag == ACCEPTED] = STUCK
            elif what == _OUTLIER:
                flag[:] = SUSPECT
            elif what == _RETURNED:  # the shift before was none
                own = (self._events[:, 1] == sensor) & (self._events[:, 2] == _SHIFTED)
                self._events = np.delete(self._events, np.flatnonzero(own)[-1], axis=0)
                self._flag_spell(SUSPECT, sensor, start, step)

    def _flag_spell(self, flag: int, sensor: int, start: int, stop: int) -> None:
        column = self.flag[start:stop, sensor]
        column[np.isfinite(self.values[start:stop, sensor])] = flag

    def _leave_out_spells(self) -> Matrix:
        """Return what to hear the second time: without stuck spells and false levels.

        What else was found is forgotten.
        """
        stuck = self._events[self._events[:, 2] == _STUCK]
        false = self._events[self._events[:, 2] == _RETURNED]
        self._events = np.concatenate([stuck, false])
        self._judged.clear()
        self.flag[:] = NO_READING
        for row in false:
            self._flag_spell(SUSPECT, int(row[1]), int(row[3]), int(row[0]))
        for row in stuck:
            sensor, start = int(row[1]), int(row[3])
            self._flag_spell(STUCK, sensor, start, self._end_run(sensor, start))
        return np.where(self.flag == NO_READING, self.values, np.nan)

    def _has_lasted(self, event: Vector) -> bool:
        """Return whether it is a shift after which the sensor differs from others."""
        if event[2] != _SHIFTED:
            return False
        at, sensor, long = int(event[3]), int(event[1]), 10 * self.window
        rows = slice(max(at - long, 0), at + long)
        own, others = (
            self.values[rows, sensor],
            self.values[rows, self._near[sensor][1:]],
        )
        n = np.isfinite(others).sum(axis=1)
        around = np.nansum(others, axis=1) / np.maximum(n, 1)
        differs = own - np.where((n > 0) | (others.shape[1] == 0), around, np.nan)
        early, late = differs[: at - rows.start], differs[at - rows.start :]
        if not np.isfinite(early).any() or not np.isfinite(late).any():
            return False
        jump = np.nanmedian(late) - np.nanmedian(early)
        return bool(jump / (event[5] - event[4]) > 0.5)

    def _end_run(self, sensor: int, start: int) -> int:
        """Return the row after a run of equal readings."""
        column = self.values[start:, sensor]
        moved = np.flatnonzero((column != column[0]) & np.isfinite(column))
        return start + (int(moved[0]) if len(moved) else len(column))

    # --------------------------------------------------------------------- asking

    def estimate(
        self, sensor: Indices, x: Matrix, *, causal: bool = False
    ) -> Estimates:
        """Return what sensors read, or would have read, at times ``x``.

        A time is answered by its cell of the grid: the mean of the sensor's own
        readings there, if there are any that were believed, else the estimate. Times
        past the last reading are forecasts; of times before the first nothing is known.
        """
        sensor = np.asarray(sensor, np.int64)
        time = np.asarray(x, float)[:, 0]
        row = self.grid.find_rows(time)
        n = self.grid.n_rows
        inside = (row >= 0) & (row < n)
        out = np.full((len(row), 4), np.nan)
        bins = np.full(len(row), BINS - 1)
        r, i = row[inside], sensor[inside]
        source = self._now if causal else self._fill
        value, bin_ = source.at(r, i), source.bin[r, i]
        is_read = np.isin(self.flag[r, i], (ACCEPTED, SHIFT)) | (bin_ < 0)
        value[is_read] = self.values[r, i][is_read, None] * [1, 0, 1, 1]
        out[inside], bins[inside] = value, np.where(bin_ < 0, 0, bin_)
        ahead = row >= n
        if ahead.any():
            steps = row[ahead] - n + 1
            out[ahead], bins[ahead] = self._core.forecast(sensor[ahead], steps)
        value, std, low, high = out.T.copy()
        return Estimates(value, std, low, high, bins)

    def flags(self, sensor: Indices, x: Matrix) -> NDArray[np.int8]:
        """Return what became of readings: ACCEPTED, SUSPECT, STUCK or SHIFT."""
        row = self.grid.find_rows(np.asarray(x, float)[:, 0])
        inside = (row >= 0) & (row < self.grid.n_rows)
        out = np.zeros(len(row), np.int8)
        out[inside] = self.flag[row[inside], np.asarray(sensor)[inside]]
        return out

    # ------------------------------------------------------------------ neighbours

    @property
    def n_sensors(self) -> int:
        """Number of sensors."""
        return len(self.site.sensors.names)

    def _find_neighbours(self) -> tuple[list[Indices], list[Matrix]]:
        """Return whom each sensor hears, itself first, and how far they are apart."""
        sensors, graph = self.site.sensors, self.site.graph
        metric = "haversine" if sensors.is_geographic else "euclidean"
        if sensors.positions is not None and graph is None:
            return find_nearest(
                sensors.positions, metric, self.neighbours, sensors.names
            )
        if sensors.positions is not None:
            apart = _measure_all(sensors.positions, metric)
        else:
            apart = _correlation_distances(self.values)
        far = (
            apart if graph is None else np.where(_join_all(graph, apart), apart, np.inf)
        )
        near = []
        for i, row in enumerate(far):
            order = np.argsort(row, kind="stable")
            others = order[(order != i) & np.isfinite(row[order])][: self.neighbours]
            near.append(np.concatenate([[i], others]).astype(np.int64))
        return near, [np.ascontiguousarray(apart[np.ix_(who, who)]) for who in near]

    def _make_core(self) -> _core.NeighbourNetwork:
        core = _core.NeighbourNetwork(
            self.window, 12, self._period(), self.memory, self.coverage, True
        )
        for i in range(self.n_sensors):
            self._add_agent(core, i)
        return core

    def _add_agent(self, core: _core.NeighbourNetwork, i: int) -> None:
        who = self._near[i]
        n = len(self._near)
        blind = [j >= n or i not in self._near[j] for j in who.tolist()]
        key = _key(self.site.seed, self.site.sensors.names[i])
        core.add(who, np.array(blind, np.int8), self._apart[i], key)

    def _period(self) -> int:
        """Return the steps of a day, 0 if there is no telling."""
        steps = _DAY / self.grid.step
        is_whole = abs(steps - round(steps)) < 0.02 * steps
        is_time = self.site.schema.inputs[0].kind == TIME
        return round(steps) if is_time and is_whole and steps >= 2 else 0

    # ----------------------------------------------------------- virtual stations

    def estimate_at(
        self, places: Matrix, x: Matrix, *, causal: bool = False
    ) -> Estimates:
        """Return what sensors would have read at places that have none.

        Simple kriging of the standardized readings, or estimates, of the nearest
        sensors at that time, with the prior these sensors fitted; mean and std are
        interpolated between them.

        Parameters
        ----------
        places : array (n, 2)
            As the positions of the sensors.
        x : array (n, 1)
        """
        sensors = self.site.sensors
        if sensors.positions is None:
            raise ValueError(
                "sensors must have places for an estimate at another place"
            )
        metric = "haversine" if sensors.is_geographic else "euclidean"
        places = np.asarray(places, float)
        found = np.full((len(places), 4), np.nan)
        bins = np.full(len(places), BINS - 1)
        spots, which = np.unique(places, axis=0, return_inverse=True)
        for k, spot in enumerate(spots):
            rows = np.flatnonzero(which.reshape(-1) == k)
            found[rows] = self._krige(spot, np.asarray(x)[rows], metric, causal)
        value, std, low, high = found.T.copy()
        return Estimates(value, std, low, high, bins)

    def _krige(self, place: Matrix, x: Matrix, metric: str, causal: bool) -> Matrix:
        """Return (n, 4): value, std, low and high at a place."""
        positions = self.site.sensors.positions
        assert positions is not None
        n = len(positions)
        far = measure_distances(np.repeat(place[None], n, axis=0), positions, metric)
        near = np.argsort(far, kind="stable")[: self.neighbours]
        far, K = far[near], len(near)
        a, b = np.repeat(near, K), np.tile(near, K)
        among = measure_distances(positions[a], positions[b], metric).reshape(K, K)
        prior = self._core.prior()
        weight = 1 / np.maximum(far, 1e-3 * among.mean() + 1e-12) ** 2
        weight /= weight.sum()
        sill, reach = float(weight @ prior["sill"][near]), weight @ prior["range"][near]
        centre, std = prior["mean"][near], prior["std"][near]
        R = sill * np.exp(-among / reach)
        np.fill_diagonal(R, 1.0)
        c = sill * np.exp(-far / reach)
        each = self.estimate(
            np.tile(near, len(x)), np.repeat(x, K, axis=0), causal=causal
        )
        value, noise = each.value.reshape(-1, K), each.std.reshape(-1, K) / std
        z = np.nan_to_num((value - centre) / std)
        noise = np.where(np.isnan(value), 1e6, np.nan_to_num(noise))
        C = R + np.einsum("nk,kj->nkj", noise**2, np.eye(K)) + 0.01 * np.eye(K)
        w = np.linalg.solve(C, np.broadcast_to(c, (len(x), K))[..., None])[..., 0]
        own = float(weight @ std)
        # the level: as far off as that of a sensor would be by the others
        pull = 1 / np.maximum(among, 1e-3 * among.mean() + 1e-12) ** 2
        np.fill_diagonal(pull, 0.0)
        level = centre - pull @ centre / np.maximum(pull.sum(axis=1), 1e-300)
        var = own**2 * np.maximum(1 - w @ c, 1e-3) + float(np.mean(level**2))
        mean = weight @ centre + own * (w * z).sum(axis=1)
        half = NormalDist().inv_cdf(0.5 + 0.5 * self.coverage) * np.sqrt(var)
        return np.column_stack([mean, np.sqrt(var), mean - half, mean + half])

    # ---------------------------------------------------------------- checkpoints

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Return all that was learned, as arrays."""
        judged = [[*at, *found] for at, found in self._judged.items()]
        state = {
            "grid": np.array([self.grid.start, self.grid.step, self.grid.longest]),
            "taken": self.grid.taken, "values": self.values, "counts": self.counts,
            "flag": self.flag, "events": self._events,
            "judged": np.array(judged, float).reshape(-1, 4),
            "heard": np.array([len(who) for who in self._near]),
            "near": np.concatenate(self._near),
            "apart": np.concatenate([d.ravel() for d in self._apart]),
        }  # fmt: skip
        for name, found in (("now", self._now), ("fill", self._fill)):
            state |= {f"{name}.{key}": values for key, values in vars(found).items()}
        return state | {f"core.{k}": v for k, v in self._core.state().items()}

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take up what :meth:`state_dict` returned."""
        start, step, longest = state["grid"].tolist()
        self.grid = Grid(start, step, int(longest), state["taken"].copy())
        self.values, self.counts = state["values"].copy(), state["counts"].copy()
        self.flag, self._events = state["flag"].copy(), state["events"].copy()
        self._judged = {
            (int(row), int(sensor)): (expected, deviation)
            for row, sensor, expected, deviation in state["judged"].tolist()
        }
        sizes = state["heard"].astype(int)
        self._near = np.split(state["near"].astype(np.int64), np.cumsum(sizes)[:-1])
        apart = np.split(state["apart"], np.cumsum(sizes**2)[:-1])
        self._apart = [
            np.ascontiguousarray(d.reshape(n, n))
            for d, n in zip(apart, sizes, strict=True)
        ]
        self._now, self._fill = _Published((0, 0)), _Published((0, 0))
        for name, found in (("now", self._now), ("fill", self._fill)):
            for key in vars(found):
                setattr(found, key, state[f"{name}.{key}"].copy())
        self._core = self._make_core()
        core = {k.removeprefix("core."): v for k, v in state.items() if "core." in k}
        self._core.load(core)

    # -------------------------------------------------------------------- findings

    @property
    def suspects(self) -> tuple[Suspect, ...]:
        """Readings that were not believed, in the order of times."""
        time = self.grid.find_times()
        found = []
        for r, i in np.argwhere(self.flag == SUSPECT).tolist():
            value = float(self.values[r, i])
            if (r, i) in self._judged:
                expected, deviation = self._judged[r, i]
            else:  # seen to be wrong only later
                expected, std, _, _ = self._fill.at(np.array([r]), np.array([i]))[0]
                deviation = (value - expected) / std
            found.append(Suspect(i, float(time[r]), value, expected, deviation))
        return tuple(found)

    @property
    def shifts(self) -> tuple[Shift, ...]:
        """Levels that changed for good."""
        time = self.grid.find_times()
        return tuple(
            Shift(int(e[1]), float(time[int(e[3])]), float(e[4]), float(e[5]))
            for e in self._events[self._events[:, 2] == _SHIFTED]
        )

    @property
    def stuck(self) -> tuple[Stuck, ...]:
        """Spells of equal readings."""
        time = self.grid.find_times()
        found = []
        for e in self._events[self._events[:, 2] == _STUCK]:
            sensor, start = int(e[1]), int(e[3])
            column = self.values[start : self._end_run(sensor, start), sensor]
            last = start + int(np.flatnonzero(np.isfinite(column))[-1])
            found.append(
                Stuck(sensor, float(time[start]), float(time[last]), float(e[4]))
            )
        return tuple(found)

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """Sensors that slowly leave what their neighbours predict."""
        time = self.grid.find_times()
        return tuple(
            Drift(
                int(e[1]), float(time[int(e[3])]), float(time[int(e[0])]), float(e[4])
            )
            for e in self._events[self._events[:, 2] == _DRIFT]
        )


class _Buffer(NamedTuple):
    """Estimates of a chunk of steps, as the core writes them."""

    value: NDArray[np.float64]
    bin: NDArray[np.int8]

    @classmethod
    def of(cls, shape: tuple[int, int]) -> _Buffer:
        return cls(np.full((*shape, 4), np.nan), np.full(shape, -1, np.int8))


class _Published:
    """Estimates of all cells; single precision but for the value."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.value = np.full(shape, np.nan)
        self.around = np.full((*shape, 3), np.nan, np.float32)
        self.bin = np.full(shape, -1, np.int8)

    def grow(self, n: int) -> None:
        """Add rows at the end."""
        self.value = _grow(self.value, n, np.nan)
        self.around = _grow(self.around, n, np.nan)
        self.bin = _grow(self.bin, n, -1)

    def widen(self, n: int) -> None:
        """Add sensors at the end."""
        self.value = _widen(self.value, n, np.nan)
        self.around = _widen(self.around, n, np.nan)
        self.bin = _widen(self.bin, n, -1)

    def put(self, start: int, found: _Buffer) -> None:
        """Store rows from ``start`` on, except those before the first."""
        skipped = min(max(-start, 0), len(found.bin))
        kept = slice(max(start, 0), max(start + len(found.bin), 0))
        self.value[kept] = found.value[skipped:, :, 0]
        self.around[kept] = found.value[skipped:, :, 1:]
        self.bin[kept] = found.bin[skipped:]

    def at(self, row: Indices, sensor: Indices) -> Matrix:
        """Return (n, 4): value, std, low, high."""
        return np.column_stack([self.value[row, sensor], self.around[row, sensor]])


def _grow(values: NDArray[Any], n: int, fill: float) -> NDArray[Any]:
    more = np.full((n, *values.shape[1:]), fill, values.dtype)
    return np.concatenate([values, more])


def _widen(values: NDArray[Any], n: int, fill: float) -> NDArray[Any]:
    more = np.full((len(values), n, *values.shape[2:]), fill, values.dtype)
    return np.concatenate([values, more], axis=1)


def find_nearest(
    places: Matrix, metric: str, k: int, names: tuple[str, ...]
) -> tuple[list[Indices], list[Matrix]]:
    """Return each place and its ``k`` nearest, and the distances among them.

    Among places equally far the first by name is taken: the order of places does not
    matter.
    """
    n, k = len(places), min(k, len(places) - 1)
    points = embed(places, metric)
    tree = cKDTree(points)
    rank = np.argsort(np.argsort(np.array(names)))
    some = tree.query(points, np.arange(1, min(n, 2 * k + 2) + 1))[1]
    near, apart = [], []
    for i in range(n):
        others = some[i][some[i] != i]
        here = np.repeat(places[i : i + 1], len(others), axis=0)
        far = measure_distances(here, places[others], metric)
        order = np.lexsort((rank[others], np.round(far, 9)))[:k]
        who = np.concatenate([[i], others[order]]).astype(np.int64)
        a, b = np.repeat(who, len(who)), np.tile(who, len(who))
        square = measure_distances(places[a], places[b], metric)
        near.append(who)
        apart.append(square.reshape(len(who), len(who)))
    return near, apart


def _measure_all(places: Matrix, metric: str) -> Matrix:
    n = len(places)
    a, b = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
    return measure_distances(places[a], places[b], metric).reshape(n, n)


def _join_all(graph: Any, apart: Matrix) -> NDArray[np.bool_]:
    """Return which pairs of sensors the user's graph joins."""
    joined = np.zeros(apart.shape, bool)
    a, b = np.asarray(graph.pairs).T
    joined[a, b] = joined[b, a] = True
    return joined


def _correlation_distances(values: Matrix) -> Matrix:
    """Return -log of the correlations of readings at the same steps."""
    known = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        w = known.astype(float)
        mean = np.nansum(values, axis=0) / np.maximum(w.sum(axis=0), 1)
        z = np.where(known, values - mean, 0.0)
        common = w.T @ w
        cross, square = z.T @ z, (z * z).T @ w
        # ten pseudo-pairs without correlation: few common readings tell little
        r = cross / np.sqrt(square * square.T) * common / (common + 10)
    r = np.clip(np.nan_to_num(r), 0.01, 0.999)
    apart: Matrix = -np.log(0.5 * (r + r.T))
    np.fill_diagonal(apart, 0.0)
    return apart


def _key(seed: int, name: str) -> int:
    """Return what a sensor draws its random numbers from."""
    digest = blake2b(f"{seed}:{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
