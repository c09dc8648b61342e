"""The model of a network of sensors: estimates, updates, and the way to a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Indices, Matrix, Vector
from halk.data.doctor import read_more
from halk.data.findings import Findings
from halk.data.readings import Readings
from halk.data.schema import Schema
from halk.data.sensors import Sensors
from halk.data.suspicions import (
    examine_far_out,
    examine_sizes,
    find_copies,
    sort_readings,
)
from halk.errors import DataError
from halk.sensors import curves, files, fill, page
from halk.sensors import forecast as horizon
from halk.sensors.batches import (
    Batch,
    advance,
    join,
    parts,
    replay,
    restore,
    state_of,
    take,
    without_first,
)
from halk.sensors.calibrate import Calibration
from halk.sensors.comparison import Comparison
from halk.sensors.join import add_sensors
from halk.sensors.method import Estimates, Method, Site
from halk.sensors.neighbours import STUCK, SUSPECT
from halk.sensors.notices import Notice, find_notices

KEPT = 10_000_000
"""Readings kept at most, the latest: 24 bytes each, and 8 for each further input."""

BEYOND = 0.02
"""Share of the range of an input by which a point may lie outside all readings."""

FEW = 10
"""Readings of a sensor below which its standard deviation says little."""


class Prediction(NamedTuple):
    """What a sensor would read, and between which values with which certainty.

    Attributes
    ----------
    value, std, low, high : arrays (n,)
        In the unit of the values; NaN where nothing can be said.
    is_extrapolated : bool array (n,)
        Where the inputs are outside all that was ever read.
    """

    value: Vector
    std: Vector
    low: Vector
    high: Vector
    is_extrapolated: NDArray[np.bool_]


class Update(NamedTuple):
    """What came of more readings."""

    n_new: int
    n_known: int  # that the model had already
    new_sensors: tuple[str, ...]
    error: float  # of the new readings, estimated before they were learned
    cover: float  # share of them within their intervals
    findings: Findings


class SensorModel:
    """A model of every sensor of a network, learned from a table.

    Made by :func:`halk.fit` and by :meth:`load`.

    Attributes
    ----------
    site : Site
        Schema of the table, sensors, who is whose neighbour, seed.
    comparison : Comparison
        All methods on artificial gaps, and the one that was chosen.
    method : Method
        The chosen one, which has learned everything.
    readings : Readings
        All that it learned, up to :data:`KEPT`, the latest last.
    batches : tuple of Batch
        How many of these were fitted, and how many came with each update since.
    coverage : float
        Share of readings that intervals are to cover.
    findings : Findings
        What was said about the table.
    """

    def __init__(
        self,
        site: Site,
        comparison: Comparison,
        method: Method,
        readings: Readings,
        coverage: float,
    ) -> None:
        self.site, self.comparison, self.method = site, comparison, method
        self.readings, self.coverage = readings, coverage
        first = Batch(len(readings.y), len(site.sensors.names))
        self.batches: tuple[Batch, ...] = (first,)
        self.findings = Findings()

    @property
    def schema(self) -> Schema:
        """Which columns of tables are what."""
        return self.site.schema

    @property
    def sensors(self) -> Sensors:
        """Names and places of the sensors."""
        return self.site.sensors

    def __repr__(self) -> str:
        n, V = len(self.readings.y), len(self.sensors.names)
        what = f"{self.schema.target} of {V} sensors, {n} readings"
        return f"SensorModel({what}, method {self.method.name!r})"

    def shown(self, value: float) -> str:
        """Return a value with its unit, as users read it."""
        shown = f"{value:.3g}" if np.isfinite(value) else "-"
        return f"{shown} {self.schema.unit}".strip()

    # estimates

    def estimate(
        self,
        sensor: Indices,
        x: Matrix,
        *,
        causal: bool = False,
        method: Method | None = None,
    ) -> Estimates:
        """Return estimates with intervals, of sensors by number.

        Parameters
        ----------
        sensor : int array (n,)
        x : array (n, number of inputs)
            In the units of the schema, times in seconds since 1970.
        causal : bool
            Use only readings up to the time of the point.
        method : Method, optional
            That knows more than the model's own.
        """
        found = (method or self.method).estimate(sensor, x, causal=causal)
        known = self.comparison.calibration
        n_new = int(sensor.max(initial=-1)) + 1 - len(known.scale)
        if n_new > 0:  # sensors that were not there yet when intervals were made
            known = extend(known, n_new)
        made = known.apply(found, sensor, causal)
        is_read = found.std == 0  # the value is a reading of that very cell
        exact = [np.where(is_read, found.value, part) for part in (made.low, made.high)]
        std = np.where(is_read, 0.0, made.std)
        return made._replace(std=std, low=exact[0], high=exact[1])

    def is_beyond(self, x: Matrix) -> NDArray[np.bool_]:
        """Return which points have inputs outside those of all readings."""
        if not len(self.readings.y):
            return np.ones(len(x), bool)
        low, high = self.readings.x.min(axis=0), self.readings.x.max(axis=0)
        room = BEYOND * (high - low)
        is_out: NDArray[np.bool_] = ((x < low - room) | (x > high + room)).any(axis=1)
        return is_out

    def predict(
        self, sensor: str, at: Mapping[str, Any], *, causal: bool = False
    ) -> Prediction:
        """Return what a sensor would read.

        A time that belongs to the step of one of the sensor's readings is answered by
        that reading, if the model works in steps of time.

        Parameters
        ----------
        sensor : str
        at : dict
            Every input by name: a value or several.
        causal : bool
            Use only readings up to the time of the point.

        Examples
        --------
        >>> import halk
        >>> model = halk.fit({
        ...     "buoy": ["n"] * 4 + ["s"] * 4, "depth_m": [0, 3, 6, 9] * 2,
        ...     "t_C": [20.0, 16.0, 12.0, 8.0, 22.0, 18.0, 14.0, 10.0],
        ... }, method="linear")
        >>> model.predict("n", {"depth_m": [0, 4.5]}).value
        array([20., 14.])
        """
        names = [one.name for one in self.schema.inputs]
        if set(at) != set(names):
            raise ValueError(
                f"at must give {', '.join(names)}, got {', '.join(map(str, at))}"
            )
        columns = {name: np.atleast_1d(np.asarray(at[name])) for name in names}
        for name, column in columns.items():
            if column.dtype.kind == "M":  # finer than Python has times
                columns[name] = column.astype("datetime64[us]")
        longest = max(len(column) for column in columns.values())
        full = {
            name: list(np.broadcast_to(column, longest).tolist())
            for name, column in columns.items()
        }
        table = {self.schema.sensor: [str(sensor)] * longest} | full
        rows = read_more(table, self.schema, self.sensors).readings
        assert rows is not None
        found = self.estimate(rows.sensor, rows.x, causal=causal)
        return Prediction(*found[:4], self.is_beyond(rows.x))

    def std_of_sensors(self) -> Vector:
        """Return the standard deviation of every sensor's readings.

        That of all readings for a sensor with fewer than :data:`FEW`.
        """
        V, (sensor, _, y) = len(self.sensors.names), parts(self.readings)
        count = np.maximum(np.bincount(sensor, minlength=V), 1)
        mean = np.bincount(sensor, y, V) / count
        square = np.bincount(sensor, (y - mean[sensor]) ** 2, V) / count
        own: Vector = np.sqrt(square)
        of_all = float(y.std()) if len(y) else 1.0
        return np.where((count >= FEW) & (own > 0), own, of_all or 1.0)

    # readings to come

    def update(
        self,
        readings: Any,
        sensors: Any = None,
        *,
        missing: Sequence[float | str] = (),
        skip_bad: bool = False,
    ) -> Update:
        """Go on learning from more readings; :meth:`undo` takes it back.

        Readings that the model has already are recognised and left out.

        Parameters
        ----------
        readings : path, "-", frame, dataset or dict of columns
            With the columns that the first table had.
        sensors : the same, optional
            A table with rows of sensors that are new: they join without a new fit.

        Raises
        ------
        DataError
            If the table cannot be used; the model stays as it is.
        """
        site = self.site
        if sensors is not None:
            site = add_sensors(site, sensors)
        found = read_more(
            readings, self.schema, site.sensors, missing, skip_bad, has_values=True
        )
        table, findings = found.table, found.findings
        assert table is not None
        assert found.readings is not None
        read = sort_readings(found.readings.with_values())
        examine_sizes(table.path, self.schema, read.y, findings, self.readings.y)
        findings.refuse()
        if len(read.y):
            examine_far_out(
                table.path, self.schema, read, site.sensors, findings, self.readings.y
            )
        fresh = self.unknown(read)
        new = site.sensors.names[len(self.sensors.names) :]
        error, cover = self._judge(fresh)
        if len(fresh.y) or new:
            self._go_on(site, fresh)
        return Update(
            len(fresh.y), len(read.y) - len(fresh.y), new, error, cover, findings
        )

    def _judge(self, fresh: Readings) -> tuple[float, float]:
        """Return the error at readings not learned yet, and the share covered."""
        is_old = fresh.sensor < len(self.sensors.names)
        if not is_old.any():
            return float("nan"), float("nan")
        found = self.estimate(fresh.sensor[is_old], fresh.x[is_old], causal=True)
        miss, is_known = found.value - fresh.y[is_old], ~np.isnan(found.low)
        is_in = (found.low <= fresh.y[is_old]) & (fresh.y[is_old] <= found.high)
        miss = miss[~np.isnan(miss)]
        error = float(np.sqrt(np.mean(miss**2))) if len(miss) else float("nan")
        return error, float(is_in[is_known].mean()) if is_known.any() else float("nan")

    def _go_on(self, site: Site, fresh: Readings) -> None:
        """Learn readings; a sensor that is new joins."""
        self.method = self.with_readings(fresh, site)
        readings = join(self.readings, fresh)
        n_dropped = max(len(readings.y) - KEPT, 0)
        new = Batch(len(fresh.y), len(site.sensors.names))
        self.batches = without_first((*self.batches, new), n_dropped)
        self.readings = take(readings, slice(n_dropped, None))
        self.site = site

    def undo(self) -> None:
        """Go back to what the model was before the last update, bit for bit.

        What is left is learned again, in the batches in which it came.

        Raises
        ------
        DataError
            If there was none, or all were undone already.
        """
        left = self.batches[:-1]
        n_left = sum(batch.n_readings for batch in left)
        if not n_left:
            raise DataError("there is no update to undo: the model is as it was fitted")
        rows = take(self.readings, slice(n_left))
        sensors = self.sensors.subset(np.arange(left[-1].n_sensors))
        site = self.site._replace(sensors=sensors)
        self.method = replay(self.comparison, site, rows, left)
        self.site, self.readings, self.batches = site, rows, left

    def unknown(self, rows: Readings) -> Readings:
        """Return readings that the model does not have, each once."""
        both = join(self.readings, rows)
        is_new = ~find_copies(both)[len(self.readings.y) :]
        return Readings(*(part[is_new] for part in parts(rows)))

    def with_readings(self, fresh: Readings, site: Site | None = None) -> Method:
        """Return a method that knows more readings; the model's own stays as it is."""
        known: Method = self.method
        if hasattr(known, "update"):
            known = restore(
                self.comparison, self.site, self.readings, self.batches,
                state_of(self.method),
            )  # fmt: skip
        return advance(known, self.comparison, site or self.site, self.readings, fresh)

    # tables

    @property
    def notices(self) -> list[Notice]:
        """Suspect readings, stuck and drifting sensors, new levels."""
        return find_notices(self.method, self.sensors.names)

    def find_suspects(
        self, rows: Readings, method: Method | None = None
    ) -> NDArray[np.bool_]:
        """Return which readings were held for faults, and not learned."""
        flags = getattr(method or self.method, "flags", None)
        is_suspect = np.zeros(len(rows.y), bool)
        if flags is not None:
            where = np.flatnonzero(rows.is_reading)
            found = flags(rows.sensor[where], rows.x[where])
            is_suspect[where] = np.isin(found, (SUSPECT, STUCK))
        return is_suspect

    def fill(self, readings: Any, **options: Any) -> Any:
        """Return a table with estimates where values are missing.

        Parameters
        ----------
        readings : path, "-", frame, dataset or dict of columns
            Like the first table; without the column of values every row is a gap.
        **options
            Those of :func:`halk.sensors.fill_table`: ``every``, ``max_gap``,
            ``causal``, ``at``, ``missing`` and ``skip_bad``.

        Returns
        -------
        frame of the same library, or dict of columns
            With columns more: the value's name and ``_filled``, ``_std``, ``_low``,
            ``_high``, ``_method``, ``_fqc``.
        """
        return fill.fill(self, readings, **options)

    def forecast(
        self, ahead: float | str, every: float | str | None = None
    ) -> horizon.Forecast:
        """Return what every sensor is expected to read, and simple guesses beside it.

        Parameters
        ----------
        ahead : str or seconds
            How far, such as "24h".
        every : str or seconds, optional
            At which steps; by default the table's own.
        """
        return horizon.forecast(self, ahead, every)

    # files

    def save(self, path: str | PathLike[str]) -> None:
        """Save the model; an earlier file is replaced whole, or not at all."""
        files.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SensorModel:
        """Return a model that was saved; it goes on as if it had never stopped."""
        return files.load(path, cls)

    # to look at

    def report(self, path: str | PathLike[str]) -> None:
        """Write a page about the model: one HTML file that needs nothing else."""
        page.write_page(self, path)

    def plot(self, sensor: str, start: Any = None, end: Any = None) -> Any:
        """Return a Matplotlib figure of a sensor: readings, estimates, intervals.

        Parameters
        ----------
        sensor : str
        start, end : str or datetime, optional
            Between which times, such as "2024-01-31"; all by default.
        """
        return curves.plot_sensor(self, sensor, start, end)

    def _repr_html_(self) -> str:
        """Return a small table, for notebooks."""
        return page.make_table(self)


def extend(known: Calibration, n_new: int) -> Calibration:
    """Return a calibration for more sensors, of which nothing was hidden yet."""
    usual = np.median(known.factor, axis=1, keepdims=True)
    factor = np.concatenate([known.factor, np.repeat(usual, n_new, axis=1)], axis=1)
    scale = np.append(known.scale, np.full(n_new, np.median(known.scale)))
    return Calibration(scale, factor, known.cover)
