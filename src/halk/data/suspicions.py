"""What is strange about readings: values, sensors and inputs that look like faults."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from halk._validation import Matrix, Vector
from halk.data.findings import ERROR, NOTE, WARNING, Findings, counted
from halk.data.naming import quantity_of
from halk.data.readings import Readings
from halk.data.schema import TIME, Schema
from halk.data.sensors import Sensors
from halk.data.times import format_times

SENTINELS = (
    -9999.0, -999.0, -99.0, -999.9, -99.9, 999.0, 9999.0, 99999.0, -99999.0, -9999.9,
    -32768.0, 32767.0, 65535.0, -999.99, 999.9, 9999.9, -888.0, -8888.0, -777.0,
)  # fmt: skip
"""Numbers that loggers write where they have none."""

AGAIN = 3
"""Readings with the same value at the very end that may stand for none."""

RARE = 0.3
"""Share of readings up to which an extreme may be a code."""

HUGE = 1e30
"""Values beyond which squares leave what numbers can hold."""

FEW = 5
"""Readings below which a sensor hardly says anything."""

FAR_OUT = 10.0
"""Spreads between the quartiles from the median at which a value is suspicious."""

NONE: Vector = np.zeros(0)

MOST_TWICE = 12
"""Times at which most sensors read twice that look like clocks set back."""

STUCK = 30
"""Same values of a sensor, one after the other, that look like a fault."""


UNUSUAL = 4.0
"""Spreads from the other sensors at which a sensor's unit or place is asked about."""

ALIKE = 5.0
"""Ratio of sensors' medians up to which another factor is asked about."""

IN_UNIT = 24
"""Readings that agree in another unit, after which it is asked about."""

SOUTH = -60.0
"""Latitude beyond which hardly anybody measures."""

SEVERAL = 4
"""Sensors below which there is nothing usual about them."""


def examine_values(
    path: str, schema: Schema, rows: Readings, sensors: Sensors, findings: Findings
) -> None:
    """Look for what is strange about values, sensors and inputs."""
    read = rows.with_values()
    if not len(read.y) and not findings.of(ERROR):
        findings.add(
            ERROR, "no-readings", f"{path}: column {schema.target} holds no readings",
            "name the column of the values with --target",
        )  # fmt: skip
    if not len(read.y):
        return
    if len(read.y) < 2 and not findings.of(ERROR):
        findings.add(
            ERROR, "one-reading", f"{path}: one reading is too little to learn from",
            "add readings; a handful of each sensor is a beginning",
        )  # fmt: skip
    examine_sizes(path, schema, read.y, findings)
    examine_far_out(path, schema, read, sensors, findings)
    _units(path, schema, read, sensors, findings)
    _swapped(path, sensors, findings)
    _few(path, read, sensors, findings)
    _repeated(path, schema, read, len(sensors.names), findings)
    _stuck(path, read, sensors, findings)
    _constant(path, schema, read.x, findings)
    n_gaps = int(rows.is_gap.sum())
    if n_gaps:
        message = f"{path}: {counted(n_gaps, 'reading')} missing"
        findings.add(NOTE, "gaps", f"{message}; `halk fill` fills them")
    if len(sensors.names) == 1:
        findings.add(
            WARNING, "one-sensor",
            f"{path}: there is one sensor, {sensors.names[0]!r}, and nobody to learn "
            f"from", "name the column of the sensors with --sensor",
        )  # fmt: skip


def examine_sizes(
    path: str,
    schema: Schema,
    y: Vector,
    findings: Findings,
    known: Vector | None = None,
) -> None:
    """Look for values that are none, or that no numbers can hold.

    ``known`` are values of before, which say what is usual.
    """
    if not len(y):
        return
    usual = np.concatenate([y, y if known is None else known])
    ends = {float(v) for v in (y.min(), y.max()) if (y == v).sum() >= AGAIN and v != 0}
    candidates = {*SENTINELS, *ends}
    rest = usual[~np.isin(usual, list(candidates))]
    low, high = schema.limits or (np.inf, -np.inf)
    for value in sorted(candidates):
        n, is_code = int((y == value).sum()), value in SENTINELS
        is_usual = low <= value <= high or not _is_far(value, rest, 1 if is_code else 3)
        if not n or is_usual or (not is_code and n > RARE * len(y)):
            continue
        findings.add(
            ERROR if is_code else WARNING, "sentinel",
            f"{path}: {schema.target} is {value:g} in {counted(n, 'row')}, far "
            f"from all other values",
            f"if it means no reading, add --missing {value:g}; if it was measured, "
            f"say what can be with --range LOW,HIGH",
        )  # fmt: skip
    largest = float(np.abs(y).max())
    if largest > HUGE or 0 < largest < 1 / HUGE:
        findings.add(
            ERROR, "size",
            f"{path}: values of {schema.target} are as large as {largest:g}",
            "write them in a unit that makes them neither huge nor tiny",
        )  # fmt: skip
    elif (y == y[0]).all() and len(y) >= FEW:
        findings.add(
            WARNING, "constant",
            f"{path}: all values of {schema.target} are {y[0]:g}",
            "name another column with --target, if this is not the one",
        )  # fmt: skip


def _is_far(value: float, rest: Vector, times: float) -> bool:
    """Return whether a value is far from all others, in the range that these have."""
    if not len(rest):
        return True
    low, high = float(rest.min()), float(rest.max())
    width = times * (high - low)
    return not low - width <= value <= high + width


def examine_far_out(
    path: str,
    schema: Schema,
    read: Readings,
    sensors: Sensors,
    findings: Findings,
    known: Vector = NONE,
) -> None:
    """Look for a few values far from all others, those of before among them."""
    usual = np.concatenate([read.y, known])
    low, middle, high = np.quantile(usual, [0.25, 0.5, 0.75])
    limit = FAR_OUT * (high - low)
    rows = np.flatnonzero(np.abs(read.y - middle) > limit)
    if limit and len(rows) and len(rows) < 0.01 * len(usual):
        unit = f" {schema.unit}" if schema.unit else ""
        findings.add(
            WARNING, "far-out",
            f"{path}: {counted(len(rows), 'value')} of {schema.target} far from the "
            f"others (median {middle:g}{unit}, half of them within {low:g} and "
            f"{high:g})",
            "correct or empty them if they are faults",
            [
                f"{_place(schema, sensors, read, row)} is {read.y[row]:g}{unit}"
                for row in rows.tolist()
            ],
        )  # fmt: skip


def _place(schema: Schema, sensors: Sensors, read: Readings, row: int) -> str:
    """Return which reading it is, in words that are found in the table."""
    inputs = [
        format_times(read.x[[row], k])[0] if one.kind == TIME
        else f"{one.name} {read.x[row, k]:g}"
        for k, one in enumerate(schema.inputs)
    ]  # fmt: skip
    return f"{sensors.names[read.sensor[row]]!r} at {', '.join(inputs)}"


def conversions(unit: str) -> dict[str, Callable[[Vector], Vector]]:
    """Return what readings may be in by mistake, and how to put them right."""
    found: dict[str, Callable[[Vector], Vector]] = {}
    if unit in ("°C", "C", "degC", ""):
        found["Fahrenheit"] = lambda y: (y - 32.0) / 1.8
        found["Kelvin"] = lambda y: y - 273.15
    if unit in ("°F", "F", "degF"):
        found["Celsius"] = lambda y: 1.8 * y + 32.0
    for factor in (100.0, 1000.0):
        found[f"a unit {factor:g} times as large"] = partial(np.multiply, factor)
        found[f"a unit {factor:g} times as small"] = partial(np.multiply, 1 / factor)
    return found


def _units(
    path: str, schema: Schema, read: Readings, sensors: Sensors, findings: Findings
) -> None:
    """Ask about sensors that read as others would in another unit."""
    found = _find_units_at_times(schema, read, sensors)
    known = {name for places in found.values() for name in places}
    for unit, texts in _find_units_of_all(schema, read, sensors).items():
        new = {name: text for name, text in texts.items() if name not in known}
        found.setdefault(unit, {}).update(new)
    for unit, places in found.items():
        if places:
            findings.add(
                WARNING, "unit",
                f"{path}: {counted(len(places), 'sensor')} whose {schema.target} looks "
                f"like {unit}",
                "if so, convert these columns or rows to the unit of the others",
                [f"{name!r}: {text}" for name, text in places.items()],
            )  # fmt: skip


def _find_units_at_times(
    schema: Schema, read: Readings, sensors: Sensors
) -> dict[str, dict[str, str]]:
    """Return sensors that agree with the others of the same time in another unit."""
    found: dict[str, dict[str, str]] = {}
    is_other = quantity_of(schema.target) not in ("", "temp")
    if is_other or [one.kind for one in schema.inputs] != [TIME]:
        return found
    times, at = np.unique(read.x[:, 0], return_inverse=True)
    order = np.lexsort((read.y, at))
    counts = np.bincount(at, minlength=len(times))
    first = np.cumsum(counts) - counts
    middle = read.y[order][first + (counts - 1) // 2][at]
    is_judged = counts[at] >= SEVERAL
    off = np.abs(read.y - middle)
    if not is_judged.any():
        return found
    usual = float(np.median(off[is_judged]))
    for unit, convert in conversions(schema.unit).items():
        if "times" in unit:
            continue
        is_one = is_judged & (off > 2 * UNUSUAL * usual) & (off > 0)
        is_one &= np.abs(convert(read.y) - middle) <= UNUSUAL * usual
        per_sensor = np.bincount(read.sensor[is_one], minlength=len(sensors.names))
        for i in np.flatnonzero(per_sensor >= IN_UNIT).tolist():
            own = np.sort(read.x[is_one & (read.sensor == i), 0])
            inside = is_judged & (read.sensor == i)
            inside &= (read.x[:, 0] >= own[0]) & (read.x[:, 0] <= own[-1])
            if per_sensor[i] >= 0.9 * inside.sum():
                begin, end = format_times(own[[0, -1]])
                text = f"{per_sensor[i]:,} readings from {begin} to {end}"
                found.setdefault(unit, {})[sensors.names[i]] = text
    return found


def _find_units_of_all(
    schema: Schema, read: Readings, sensors: Sensors
) -> dict[str, dict[str, str]]:
    """Return sensors that, all in all, read as others would in another unit."""
    V = len(sensors.names)
    parts = np.split(
        read.y[np.argsort(read.sensor, kind="stable")],
        np.cumsum(np.bincount(read.sensor, minlength=V))[:-1],
    )
    shown = [i for i in range(V) if len(parts[i]) >= FEW]
    if len(shown) < SEVERAL:
        return {}
    low, middle, high = np.array(
        [np.quantile(parts[i], [0.25, 0.5, 0.75]) for i in shown]
    ).T
    usual, width = float(np.median(middle)), float(np.median(high - low))
    width = max(width, 1.5 * float(np.subtract(*np.quantile(middle, [0.75, 0.25]))))
    if not width:
        return {}
    found: dict[str, dict[str, str]] = {}
    small, large = np.quantile(middle, [0.2, 0.8])
    are_alike = 0 < large < ALIKE * small  # else factors are nothing strange
    for k in np.flatnonzero(np.abs(middle - usual) > UNUSUAL * width).tolist():
        for unit, convert in conversions(schema.unit).items():
            if "times" in unit and not are_alike:
                continue
            at = convert(np.array([low[k], middle[k], high[k]]))
            is_as_wide = 0.4 * width <= at[2] - at[0] <= 2.5 * width
            if is_as_wide and abs(at[1] - usual) <= width:
                name = sensors.names[shown[k]]
                text = f"{middle[k]:.4g} in the middle, others {usual:.4g}"
                found.setdefault(unit, {})[name] = text
                break
    return found


def _swapped(path: str, sensors: Sensors, findings: Findings) -> None:
    """Ask about sensors that would be among the others with lat and lon swapped."""
    spots = sensors.positions
    if spots is None or not sensors.is_geographic or len(spots) < SEVERAL:
        return
    if np.median(spots[:, 0]) < SOUTH and (np.abs(spots[:, 1]) <= 90).all():
        findings.add(
            WARNING, "swapped",
            f"{path}: {sensors.columns[0]} of the sensors is that of Antarctica; are "
            f"{' and '.join(sensors.columns)} swapped?",
            "swap the names of the two columns, if so",
        )  # fmt: skip
    middle = np.median(spots, axis=0)
    width = np.maximum(np.median(np.abs(spots - middle), axis=0) / 0.6745, 0.05)
    away = (np.abs(spots - middle) / width).max(axis=1)
    both = " and ".join(sensors.columns)
    for other, what, advice in (
        (spots[:, ::-1], f"{both} swapped", "swap them, if that is so"),
        (spots * [1, -1], "the wrong sign of longitude", "west is negative"),
        (spots * [-1, 1], "the wrong sign of latitude", "south is negative"),
    ):
        right = (np.abs(other - middle) / width).max(axis=1)
        found = np.flatnonzero((away > 2 * UNUSUAL) & (right < UNUSUAL)).tolist()
        if found:
            findings.add(
                WARNING, "swapped",
                f"{path}: {counted(len(found), 'sensor')} far from all others, as if "
                f"with {what}",
                advice,
                [
                    f"{sensors.names[i]!r}: {spots[i, 0]:g}, {spots[i, 1]:g}"
                    for i in found
                ],
            )  # fmt: skip


def _few(path: str, read: Readings, sensors: Sensors, findings: Findings) -> None:
    counts = np.bincount(read.sensor, minlength=len(sensors.names))
    silent = [sensors.names[i] for i in np.flatnonzero(counts == 0)]
    if silent:
        findings.add(
            NOTE, "silent", f"{path}: {counted(len(silent), 'sensor')} without a "
            f"reading; neighbours speak for them", places=silent,
        )  # fmt: skip
    few = np.flatnonzero((counts > 0) & (counts < FEW))
    if len(few):
        findings.add(
            WARNING, "few",
            f"{path}: {counted(len(few), 'sensor')} with fewer than {FEW} readings",
            "their predictions rest on their neighbours",
            [f"{sensors.names[i]!r}: {counts[i]}" for i in few],
        )  # fmt: skip


def sort_readings(read: Readings) -> Readings:
    """Return readings in an order that is not the table's.

    In bursts, late or one sensor at a time: how they came makes no difference.
    """
    order = np.lexsort((read.y, *read.x.T[::-1], read.sensor))
    return Readings(read.sensor[order], read.x[order], read.y[order])


def find_copies(read: Readings) -> NDArray[np.bool_]:
    """Return which readings are exact copies of earlier ones."""
    columns = [read.sensor, *read.x.T, read.y]
    order = np.lexsort(columns[::-1])  # stable: of copies the first stays the first
    is_same = np.ones(len(order) - 1, bool)
    for column in columns:
        is_same &= column[order][1:] == column[order][:-1]
    is_copy = np.zeros(len(order), bool)
    is_copy[order[1:]] = is_same
    return is_copy


def _repeated(
    path: str, schema: Schema, read: Readings, V: int, findings: Findings
) -> None:
    is_copy = find_copies(read)
    n = int(is_copy.sum())
    if n:
        findings.add(
            WARNING, "repeated",
            f"{path}: {counted(n, 'exact copy', 'exact copies')} of other readings, "
            f"learned once",
        )  # fmt: skip
    places = Readings(read.sensor, read.x, np.zeros(len(read.y)))
    is_twice = find_copies(places) & ~is_copy
    n_twice = int(is_twice.sum())
    if n_twice:
        hours = _find_hours_twice(schema, read.x[is_twice], V)
        findings.add(
            NOTE, "same-inputs",
            f"{path}: {counted(n_twice, 'reading')} with sensor and inputs of another, "
            f"but another value; all are learned",
            "if clocks were set back then, write times in UTC or with their zone, such "
            "as 2024-05-31T12:00+02:00" if hours else "", hours,
        )  # fmt: skip


def _find_hours_twice(schema: Schema, x: Matrix, V: int) -> list[str]:
    """Return the few times at which most sensors read twice, if there is no more."""
    kinds = [one.kind for one in schema.inputs]
    if kinds != [TIME]:
        return []
    times, counts = np.unique(x[:, 0], return_counts=True)
    is_few = len(times) <= MOST_TWICE and (counts >= max(2, V / 2)).all()
    return format_times(times) if is_few else []


def _stuck(path: str, read: Readings, sensors: Sensors, findings: Findings) -> None:
    order = np.argsort(read.sensor, kind="stable")
    sensor, y = read.sensor[order], read.y[order]
    is_start = np.diff(y, prepend=np.nan) != 0
    is_start |= np.diff(sensor, prepend=-1) != 0
    starts = np.flatnonzero(is_start)
    lengths = np.diff(starts, append=len(y))
    usual = (float(np.median(y)), 0.0)
    runs = np.flatnonzero((lengths >= STUCK) & ~np.isin(y[starts], usual))
    runs = runs[np.argsort(-lengths[runs], kind="stable")]
    of_sensor, first = np.unique(sensor[starts[runs]], return_index=True)
    found = [
        f"{sensors.names[i]!r}: {y[starts[run]]:g}, {lengths[run]} times"
        for i, run in zip(of_sensor, runs[first], strict=True)
    ]
    if found:
        findings.add(
            WARNING, "stuck",
            f"{path}: {counted(len(found), 'sensor')} with one value {STUCK} times in "
            f"a row or more",
            "empty these cells if the sensor was stuck", found,
        )  # fmt: skip


def _constant(path: str, schema: Schema, x: Matrix, findings: Findings) -> None:
    for one, column in zip(schema.inputs, x.T, strict=True):
        if np.ptp(column) == 0:
            kind = "time" if one.kind == TIME else "number"
            findings.add(
                WARNING, "constant-input",
                f"{path}: input {one.name} is the same {kind} everywhere",
                "leave it out with --inputs",
            )  # fmt: skip
