"""What sensors are expected to read, with simple guesses beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Indices, Vector
from halk.data.readings import Readings
from halk.data.schema import TIME
from halk.data.table import Table, to_words
from halk.data.times import (
    DAY,
    HOUR,
    YEAR,
    format_duration,
    format_times,
    to_datetimes,
    to_duration,
)
from halk.errors import DataError
from halk.sensors.method import Method

if TYPE_CHECKING:
    from halk.sensors.model import SensorModel

PERSISTENCE, CLIMATOLOGY = "persistence", "climatology"

ORIGINS = 12
"""Times in the last part of the table from which forecasts are tried."""

PART = 0.2
"""Share of the span of the table that is the last part."""

MOST_STEPS = 10_000

FEWEST = 20
"""Errors below which there is no interval."""


class Forecast(NamedTuple):
    """What every sensor is expected to read, at every step.

    Attributes
    ----------
    sensor : int array (n,)
    time : array (n,)
        Seconds since 1970.
    value, low, high : arrays (n,)
        By the method with the smallest error so far ahead.
    method : array of str (n,)
    guesses : dict of name to array (n,)
        What each method says: the model's, "persistence" and "climatology".
    ahead : array (number of bins,)
        Ends of the bins of ``errors``, in seconds.
    errors : dict of name to array (number of bins,)
        Root mean square errors of a backtest on the last part of the table.
    n_origins : int
        Times from which the backtest forecast.
    """

    sensor: Indices
    time: Vector
    value: Vector
    low: Vector
    high: Vector
    method: NDArray[Any]
    guesses: dict[str, Vector]
    ahead: Vector
    errors: dict[str, Vector]
    n_origins: int


class Backtest(NamedTuple):
    """Errors of forecasts that were made without the readings they are judged by."""

    ahead: Vector
    scaled: dict[str, Vector]  # misses in std of the sensor
    miss: dict[str, Vector]
    n_origins: int


def forecast(
    model: SensorModel, ahead: float | str, every: float | str | None = None
) -> Forecast:
    """Forecast all sensors; see :meth:`SensorModel.forecast`."""
    kinds = [one.kind for one in model.schema.inputs]
    if kinds != [TIME]:
        names = ", ".join(one.name for one in model.schema.inputs)
        raise DataError(f"a forecast needs a time as the only input, got {names}")
    length = to_duration("ahead", ahead)
    rows = _by_time(model.readings)
    step = _step(rows) if every is None else to_duration("every", every)
    if step > length or length / step > MOST_STEPS:
        raise DataError(
            f"ahead must be at least a step, {format_duration(step)}, and at most "
            f"{MOST_STEPS:,}, got {format_duration(length)}; name steps with every"
        )
    span = float(np.ptp(rows.x[:, 0]))
    if length > span / 2:
        raise DataError(
            f"ahead must be much shorter than the table, got {format_duration(length)} "
            f"of {format_duration(span)}"
        )
    steps: Vector = np.arange(1.0, int(length / step + 1e-6) + 1) * step
    V = len(model.sensors.names)
    bins = _bins(steps)
    tested = _backtest(model, rows, steps)
    guesses = _guess(model, model.method, rows, float(rows.x[-1, 0]), steps)
    which = np.tile(np.searchsorted(bins, steps), V)
    errors, best, wide = _compare(tested, bins, list(guesses), model.coverage)
    known = np.array(list(guesses), dtype=object)
    by = known[best[which]]
    value = np.stack(list(guesses.values()))[best[which], np.arange(len(which))]
    half = wide[which] * np.repeat(model.std_of_sensors(), len(steps))
    return Forecast(
        np.repeat(np.arange(V), len(steps)), np.tile(rows.x[-1, 0] + steps, V), value,
        value - half, value + half, by, guesses, bins, errors, tested.n_origins,
    )  # fmt: skip


def _by_time(rows: Readings) -> Readings:
    order = np.argsort(rows.x[:, 0], kind="stable")
    return Readings(rows.sensor[order], rows.x[order], rows.y[order])


def _step(rows: Readings) -> float:
    """Return the typical distance of readings of a sensor."""
    order = np.lexsort((rows.x[:, 0], rows.sensor))
    gaps = np.diff(rows.x[order, 0])[np.diff(rows.sensor[order]) == 0]
    gaps = gaps[gaps > 0]
    if not len(gaps):
        raise DataError("a forecast needs sensors with more than one reading")
    return float(np.median(gaps))


def _bins(steps: Vector) -> Vector:
    """Return ends of bins of steps, each twice as far as the one before."""
    ends = [steps[0]]
    while ends[-1] < steps[-1]:
        ends.append(min(2 * ends[-1], steps[-1]))
    return np.array(ends) * (1 + 1e-9)


def _guess(
    model: SensorModel, method: Method, past: Readings, now: float, steps: Vector
) -> dict[str, Vector]:
    """Return what every method says of all sensors, knowing the past only."""
    V = len(model.sensors.names)
    sensor, time = np.repeat(np.arange(V), len(steps)), np.tile(now + steps, V)
    found = method.estimate(sensor, time[:, None], causal=True)
    last = _last(past, V)[sensor]
    usual = climatology(past, V, sensor, time)
    guesses = {PERSISTENCE: last, CLIMATOLOGY: usual}
    return {model.comparison.chosen: np.where(np.isnan(found.value), usual, found.value)
            } | guesses  # fmt: skip


def _last(rows: Readings, V: int) -> Vector:
    """Return the last reading of every sensor; NaN for one without."""
    last = np.full(V, np.nan)
    last[rows.sensor] = rows.y  # in order of time: the latest stays
    return last


def climatology(rows: Readings, V: int, sensor: Indices, time: Vector) -> Vector:
    """Return the mean of every sensor at that hour of the day, in that season.

    Seasons are told apart by months where readings cover more than a year, hours where
    there are several readings a day; a cell nobody filled is the sensor's mean.
    """
    when = rows.x[:, 0]
    has_seasons = np.ptp(when) > 1.1 * YEAR
    has_hours = len(np.unique(np.floor(when % DAY / HOUR))) > 1

    def cell(times: Vector) -> Indices:
        month = np.floor(times % YEAR / (YEAR / 12)) if has_seasons else 0 * times
        hour = np.floor(times % DAY / HOUR) if has_hours else 0 * times
        cells: Indices = (24 * month + hour).astype(np.int64)
        return cells

    n_cells = 24 * 12 + 24
    place = rows.sensor * n_cells + cell(when)
    count = np.bincount(place, minlength=V * n_cells)
    total = np.bincount(place, rows.y, V * n_cells)
    n_own = np.bincount(rows.sensor, minlength=V)
    own = np.bincount(rows.sensor, rows.y, V) / np.maximum(n_own, 1)
    own[n_own == 0] = rows.y.mean() if len(rows.y) else np.nan
    asked = sensor * n_cells + cell(time)
    mean = total[asked] / np.maximum(count[asked], 1)
    return np.where(count[asked] > 0, mean, own[sensor])


def _backtest(model: SensorModel, rows: Readings, steps: Vector) -> Backtest:
    """Forecast from times in the last part of the table, and compare with readings."""
    when = rows.x[:, 0]
    first = when[-1] - max(PART * (when[-1] - when[0]), 2 * steps[-1])
    origins = np.linspace(first, when[-1] - steps[-1], ORIGINS)
    origins = np.unique(when[np.searchsorted(when, origins, side="right") - 1])
    origins = origins[origins > when[0]]
    spread, step = model.std_of_sensors(), steps[0]
    aheads, misses = [], []
    for past, method in _methods_at(model, rows, origins):
        now = float(past.x[-1, 0])
        asked = (when > now) & (when <= now + steps[-1] * (1 + 1e-9))
        guesses = _guess(model, method, past, now, steps)
        k = np.clip(np.round((when[asked] - now) / step), 1, len(steps)).astype(int) - 1
        who = rows.sensor[asked]
        aheads.append(np.stack([steps[k], who, rows.y[asked]]))
        misses.append([v[who * len(steps) + k] - rows.y[asked]
                       for v in guesses.values()])  # fmt: skip
    far, who, _ = np.concatenate(aheads, axis=1)
    names = [model.comparison.chosen, PERSISTENCE, CLIMATOLOGY]
    miss = dict(zip(names, np.concatenate(misses, axis=1), strict=True))
    scale = spread[who.astype(int)]
    return Backtest(far, {n: v / scale for n, v in miss.items()}, miss, len(origins))


def _methods_at(model: SensorModel, rows: Readings, origins: Vector) -> Any:
    """Yield what was known at each origin, and the method that has learned it.

    A method that goes on as a stream learns each reading once; another is fitted anew.
    """
    method: Any = None
    n_before = 0
    for now in origins.tolist():
        n = int(np.searchsorted(rows.x[:, 0], now, side="right"))
        past = Readings(rows.sensor[:n], rows.x[:n], rows.y[:n])
        if method is not None and hasattr(method, "update"):
            new = slice(n_before, n)
            method.update(Readings(rows.sensor[new], rows.x[new], rows.y[new]))
        else:
            method = model.comparison.make(model.site)
            method.fit(past)
        n_before = n
        yield past, method


def _compare(
    tested: Backtest, bins: Vector, names: list[str], coverage: float
) -> tuple[dict[str, Vector], Indices, Vector]:
    """Return errors by bin, the best method of each, and its half-width in std."""
    which = np.searchsorted(bins, tested.ahead)
    errors = {name: np.full(len(bins), np.nan) for name in names}
    best, wide = np.zeros(len(bins), np.int64), np.full(len(bins), np.nan)
    for k in range(len(bins)):
        for name in names:
            miss = tested.miss[name][which == k]
            miss = miss[~np.isnan(miss)]
            if len(miss):
                errors[name][k] = np.sqrt(np.mean(miss**2))
        known = np.array([errors[name][k] for name in names])
        best[k] = best[k - 1] if np.isnan(known).all() else np.nanargmin(known)
        scores = np.abs(tested.scaled[names[best[k]]][which == k])
        scores = scores[~np.isnan(scores)]
        if len(scores) >= FEWEST:
            level = min(coverage * (1 + 1 / len(scores)), 1.0)
            wide[k] = np.quantile(scores, level)
    return errors, best, wide


def table_of(model: SensorModel, made: Forecast) -> tuple[Table, dict[str, Any]]:
    """Return rows of sensors and times, and the columns of a forecast beside them."""
    target = model.schema.target
    names = np.array(model.sensors.names, dtype=object)
    header = (model.schema.sensor, model.schema.inputs[0].name)
    columns: list[Any] = [to_words(names[made.sensor]), to_datetimes(made.time)]
    table = Table("forecast", header, columns, range(1, len(made.time) + 1))
    return table, {
        f"{target}_forecast": made.value, f"{target}_low": made.low,
        f"{target}_high": made.high, f"{target}_method": made.method,
        **{f"{target}_{one.replace(' ', '_')}": v for one, v in made.guesses.items()},
    }  # fmt: skip


def as_dict(model: SensorModel, made: Forecast) -> dict[str, Any]:
    """Return a forecast for JSON."""

    def plain(values: Any) -> list[Any]:
        return [None if v != v else v for v in values.tolist()]

    names, times = model.sensors.names, format_times(made.time)
    columns = {
        "forecast": made.value, "low": made.low, "high": made.high,
        "method": made.method, **made.guesses,
    }  # fmt: skip
    lists = {name: plain(values) for name, values in columns.items()}
    return {
        "target": model.schema.target, "unit": model.schema.unit,
        "backtest": {
            "origins": made.n_origins, "ahead_s": np.round(made.ahead).tolist(),
            "errors": {name: plain(values) for name, values in made.errors.items()},
        },
        "forecasts": [
            {"sensor": names[i], "time": times[k]}
            | {name: values[k] for name, values in lists.items()}
            for k, i in enumerate(made.sensor.tolist())
        ],
    }  # fmt: skip
