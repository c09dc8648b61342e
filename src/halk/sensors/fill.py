"""A table back with estimates where values are missing."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Vector
from halk.data.doctor import Examined, read_more
from halk.data.findings import NOTE, WARNING, Findings, counted
from halk.data.readings import Readings, read_readings
from halk.data.schema import TIME, Schema
from halk.data.sensors import Sensors
from halk.data.sources import add_to_frame, frame_like, is_frame
from halk.data.table import Table, plain, to_words
from halk.data.times import format_duration, to_datetimes, to_duration
from halk.data.write import add_rows, with_added
from halk.errors import DataError
from halk.sensors.batches import join
from halk.sensors.join import add_station, name_at
from halk.sensors.method import Estimates

if TYPE_CHECKING:
    from halk.sensors.model import SensorModel

READING, SUSPECT = "reading", "suspect"
"""What the column of methods says of values that were there."""

CLASSES = (0.5, 1.0)
"""Half-widths of 90 % intervals, in std of the sensor, between classes of quality."""

MOST_ROWS = 20_000_000
"""Rows a table may have after absent timestamps are added."""


class Filled(NamedTuple):
    """A table, and estimates beside its rows; NaN where there is neither.

    Attributes
    ----------
    value, std, low, high : arrays (n,)
        The reading where there is one, else the estimate.
    method : array of str (n,)
        "reading", "suspect", or what made the estimate.
    quality : array (n,)
        0 reading; 1, 2, 3: 90 % half-width below 0.5, below 1, above 1 std.
    is_gap, is_extrapolated : bool arrays (n,)
    findings : Findings
    n_added : int
        Rows that the table did not have.
    """

    table: Table
    schema: Schema
    sensors: Sensors
    value: Vector
    std: Vector
    low: Vector
    high: Vector
    method: NDArray[Any]
    quality: Vector
    is_gap: NDArray[np.bool_]
    is_extrapolated: NDArray[np.bool_]
    findings: Findings
    n_added: int = 0

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns to add, by name."""
        target = self.schema.target
        return {
            f"{target}_filled": self.value, f"{target}_std": self.std,
            f"{target}_low": self.low, f"{target}_high": self.high,
            f"{target}_method": self.method, f"{target}_fqc": self.quality,
        }  # fmt: skip

    @property
    def n_filled(self) -> int:
        """Gaps that have an estimate now."""
        return int((self.is_gap & ~np.isnan(self.value)).sum())

    def as_dict(self) -> dict[str, Any]:
        """Return numbers for JSON."""
        classes = [int((self.quality == k).sum()) for k in range(4)]
        return {
            "rows": len(self.value), "added": self.n_added,
            "gaps": int(self.is_gap.sum()), "filled": self.n_filled,
            "suspects": int((self.method == SUSPECT).sum()),
            "extrapolated": int(self.is_extrapolated.sum()), "quality": classes,
        }  # fmt: skip

    def netcdf(self) -> tuple[dict[str, NDArray[Any]], dict[str, dict[str, Any]]]:
        """Return columns and attributes as the CF conventions have flags."""
        target, columns = self.schema.target, self.columns
        methods, codes = np.unique(self.method, return_inverse=True)
        columns[f"{target}_method"] = codes.astype(np.int8)
        quality = np.where(np.isnan(self.quality), 4, self.quality)
        columns[f"{target}_fqc"] = quality.astype(np.int8)
        said = {
            "method": (methods.tolist(), f"how {target} was obtained"),
            "fqc": (QUALITIES, f"quality of {target}_filled"),
        }
        attributes: dict[str, dict[str, Any]] = {
            f"{target}_{name}": {
                "flag_values": np.arange(len(meanings), dtype=np.int8),
                "flag_meanings": " ".join(one.replace(" ", "_") for one in meanings),
                "long_name": what,
            }
            for name, (meanings, what) in said.items()
        }
        names = {
            "filled": f"{target}, readings and estimates",
            "std": f"standard deviation of {target} about its estimate",
            "low": f"lower end of the interval of {target}",
            "high": f"upper end of the interval of {target}",
        }
        attributes |= {f"{target}_{k}": {"long_name": v} for k, v in names.items()}
        return columns, attributes


QUALITIES = ["reading", "good_estimate", "fair_estimate", "poor_estimate", "nothing"]
"""Meanings of the classes of quality, in files that have meanings."""


def fill_table(
    model: SensorModel,
    readings: Any,
    *,
    every: float | str | None = None,
    max_gap: float | str | None = None,
    causal: bool = False,
    at: tuple[float, float] | None = None,
    missing: Sequence[float | str] = (),
    skip_bad: bool = False,
) -> Filled:
    """Estimate what a table lacks. Readings are never changed.

    Readings of the table that the model does not know are used, but not learned.

    Parameters
    ----------
    readings : path, "-", frame, dataset or dict of columns
        As for :meth:`SensorModel.update`; without the column of values, every row is
        a gap.
    every : str or seconds, optional
        Add rows so that there is one at least this often, such as "1h".
    max_gap : str or seconds, optional
        Leave longer gaps empty.
    causal : bool
        Use only readings up to the time of each gap.
    at : two numbers, optional
        Instead of gaps, estimate what a station at this place would have read,
        wherever the table has a row.
    missing : sequence of float or str
        Values and words that mean no reading.
    skip_bad : bool
        Leave rows that cannot be used as they are.
    """
    schema, sensors = model.schema, model.sensors
    _refuse_untimed(schema, every=every, max_gap=max_gap, causal=causal or None)
    found = read_more(readings, schema, sensors, missing, skip_bad)
    n_before = len(found.readings.y) if found.readings is not None else 0
    if every is not None:
        found = _with_rows(found, to_duration("every", every), missing, skip_bad)
    rows = found.readings
    assert rows is not None
    fresh = model.unknown(rows.with_values())
    if at is not None:
        return _station(model, found, fresh, at, causal)
    method = model.with_readings(fresh) if len(fresh.y) else model.method
    is_asked, is_suspect = rows.is_gap, model.find_suspects(rows, method)
    if max_gap is not None:
        is_asked &= _are_short(model, rows, to_duration("max_gap", max_gap))
    where = np.flatnonzero(is_asked | is_suspect)
    made = model.estimate(
        rows.sensor[where], rows.x[where], causal=causal, method=method
    )
    full = {"value": rows.y.copy()}
    for name in ("std", "low", "high", "quality"):
        full[name] = np.full(len(rows.y), np.nan)
    for name in ("std", "low", "high"):
        full[name][where] = getattr(made, name)
    is_gap, is_known = is_asked[where], ~np.isnan(made.value)
    full["value"][where[is_gap]] = made.value[is_gap]
    labels = np.where(rows.is_reading, READING, "").astype(object)
    labels[where[is_gap & is_known]] = model.comparison.chosen
    labels[is_suspect] = SUSPECT
    is_beyond = np.zeros(len(rows.y), bool)
    is_beyond[where] = model.is_beyond(rows.x[where]) & is_gap & is_known
    full["quality"][where] = find_quality(
        made, model.std_of_sensors()[rows.sensor[where]], model.coverage
    )
    full["quality"][is_beyond] = 3
    full["quality"][rows.is_reading] = 0
    _tell_beyond(found, is_beyond)
    assert found.table is not None
    return Filled(
        found.table, schema, sensors, full["value"], full["std"], full["low"],
        full["high"], labels, full["quality"], rows.is_gap, is_beyond, found.findings,
        len(rows.y) - n_before,
    )  # fmt: skip


def _refuse_untimed(schema: Schema, **asked: Any) -> None:
    if any(one.kind == TIME for one in schema.inputs):
        return
    for name, value in asked.items():
        if value is not None:
            raise DataError(
                f"{name} needs an input that is a time; inputs are "
                f"{', '.join(one.name for one in schema.inputs)}"
            )


def find_quality(made: Estimates, std: Vector, coverage: float) -> Vector:
    """Return classes of estimates by their 90 % half-widths in std of the sensor."""
    wide = NormalDist().inv_cdf((1 + coverage) / 2)
    half = (made.high - made.low) / 2 * NormalDist().inv_cdf(0.95) / wide
    relative = np.nan_to_num(half / std, nan=np.inf)
    classes = 1.0 + sum(relative >= limit for limit in CLASSES)
    return np.where(np.isnan(made.value), np.nan, classes)


def _tell_beyond(found: Examined, is_beyond: NDArray[np.bool_]) -> None:
    n = int(is_beyond.sum())
    if n:
        assert found.table is not None
        found.findings.add(
            WARNING, "extrapolated",
            f"{found.table.path}: {counted(n, 'estimate')} outside all that was ever "
            f"read",
            "trust them little; they have quality class 3",
            [found.table.where(row) for row in np.flatnonzero(is_beyond).tolist()],
        )  # fmt: skip


# absent timestamps


def _with_rows(
    found: Examined, every: float, missing: Sequence[float | str], skip_bad: bool
) -> Examined:
    """Return the table with rows for timestamps that it does not have."""
    table, schema, sensors, rows = found[:4]
    assert table is not None
    assert schema is not None
    assert sensors is not None
    assert rows is not None
    others = [one.name for one in schema.inputs if one.kind != TIME]
    if others or not rows.is_usable.any():
        raise DataError(
            f"every needs a time as the only input, got {', '.join(others)} too"
        )
    times = rows.x[:, 0][rows.is_usable]
    grid = _grid(times, every)
    who = np.unique(rows.sensor[rows.is_usable])
    if len(grid) * len(who) > MOST_ROWS:
        raise DataError(
            f"every {format_duration(every)} makes {len(grid) * len(who):,} rows; the "
            f"most is {MOST_ROWS:,}"
        )
    if table.wide:
        new = grid[_are_absent(grid, times, every)]
        names = [table.wide[0]] * len(new)
    else:
        missed = [
            grid[_are_absent(grid, rows.x[rows.sensor == i, 0], every)] for i in who
        ]
        new = np.concatenate(missed)
        lengths = zip(who.tolist(), missed, strict=True)
        names = [sensors.names[i] for i, part in lengths for _ in part]
    if not len(new):
        return found
    longer = add_rows(table, schema, names, new)
    made, _, _ = read_readings(longer, schema, sensors, Findings(), missing, skip_bad)
    n = len(new)
    found.findings.add(
        NOTE, "absent",
        f"{table.path}: {counted(n, 'row')} added for timestamps that were not there",
    )  # fmt: skip
    return found._replace(table=longer, readings=made)


def _grid(times: Vector, every: float) -> Vector:
    """Return times at equal steps, in step with most of those that are there."""
    phases, counts = np.unique(np.round(times % every, 3), return_counts=True)
    phase = phases[np.argmax(counts)]
    first = np.ceil((times.min() - phase) / every - 0.5)
    last = np.floor((times.max() - phase) / every + 0.5)
    if last - first > MOST_ROWS:
        raise DataError(
            f"every {format_duration(every)} makes {last - first:,.0f} times; the most "
            f"is {MOST_ROWS:,}"
        )
    grid: Vector = phase + every * np.arange(first, last + 1)
    return grid


def _are_absent(grid: Vector, times: Vector, every: float) -> NDArray[np.bool_]:
    """Return which times of a grid have none of the times within half a step."""
    times = np.sort(times)
    if not len(times):
        return np.ones(len(grid), bool)
    k = np.searchsorted(times, grid)
    after = np.abs(times[np.minimum(k, len(times) - 1)] - grid)
    before = np.abs(times[np.maximum(k - 1, 0)] - grid)
    is_absent: NDArray[np.bool_] = np.minimum(after, before) > every / 2 - 1e-6
    return is_absent


def _are_short(model: SensorModel, rows: Readings, max_gap: float) -> NDArray[np.bool_]:
    """Return which rows are in gaps that are not longer than ``max_gap``.

    From the last reading to the next, less a step; at an end, as far as rows go.
    """
    k = [one.kind for one in model.schema.inputs].index(TIME)
    read, is_short = rows.with_values(), np.zeros(len(rows.y), bool)
    for i in np.unique(rows.sensor[rows.is_usable]).tolist():
        mine = rows.sensor == i
        own = model.readings.sensor == i
        times = np.unique(
            np.concatenate([model.readings.x[own, k], read.x[read.sensor == i, k]])
        )
        asked = rows.x[mine, k]
        all_times = np.unique(np.concatenate([times, asked]))
        step = float(np.median(np.diff(all_times))) if len(all_times) > 1 else 0.0
        ends = [all_times[0] - step], [all_times[-1] + step]
        times = np.concatenate([ends[0], times, ends[1]])
        place = np.clip(np.searchsorted(times, asked), 1, len(times) - 1)
        length = times[place] - times[place - 1] - step
        is_short[mine] = length <= max_gap * (1 + 1e-9)
    return is_short


# a station that is not there


def _station(
    model: SensorModel,
    found: Examined,
    fresh: Readings,
    at: tuple[float, float],
    causal: bool,
) -> Filled:
    """Return estimates at a place without a sensor, wherever the table has rows."""
    rows, schema = found.readings, model.schema
    assert rows is not None
    assert found.table is not None
    site = add_station(model.site, at)
    x = np.unique(rows.x[rows.is_usable], axis=0)
    if hasattr(model.method, "estimate_at"):
        known: Any = model.with_readings(fresh) if len(fresh.y) else model.method
        made = known.estimate_at(np.tile(at, (len(x), 1)), x, causal=causal)
        half = NormalDist().inv_cdf((1 + model.coverage) / 2) * made.std
        made = made._replace(low=made.value - half, high=made.value + half)
    else:
        method = model.comparison.make(site)
        method.fit(join(model.readings, fresh))
        sensor = np.full(len(x), len(site.sensors.names) - 1)
        made = model.estimate(sensor, x, causal=causal, method=method)
    columns: list[Any] = [to_words([name_at(at)] * len(x))]
    for one, values in zip(schema.inputs, x.T, strict=True):
        columns.append(to_datetimes(values) if one.kind == TIME else values)
    names = (schema.sensor, *(one.name for one in schema.inputs))
    table = Table(found.table.path, names, columns, range(1, len(x) + 1))
    is_beyond, is_known = model.is_beyond(x), ~np.isnan(made.value)
    std = np.full(len(x), float(np.median(model.std_of_sensors())))
    quality = find_quality(made, std, model.coverage)
    quality[is_beyond & is_known] = 3
    labels = np.where(is_known, model.comparison.chosen, "").astype(object)
    return Filled(
        table, schema, site.sensors, made.value, made.std, made.low, made.high, labels,
        quality, np.ones(len(x), bool), is_beyond, found.findings,
    )  # fmt: skip


# frames


def fill(model: SensorModel, readings: Any, **options: Any) -> Any:
    """Return the table with estimates: a frame as a frame, all else as columns."""
    made = fill_table(model, readings, **options)
    pairs = with_added(made.table, model.schema, made.columns)
    columns = {
        name or f"column_{k}": plain(cells) for k, (name, cells) in enumerate(pairs)
    }
    if not is_frame(readings):
        return columns
    if made.n_added or options.get("at") is not None:
        return frame_like(readings, columns)
    n_new = len(made.columns) * max(len(made.table.wide), 1)
    return add_to_frame(readings, dict(list(columns.items())[-n_new:]))
