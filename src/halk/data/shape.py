"""From a table as people keep it to one row per reading, with one column of times."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from halk.data import naming
from halk.data.files import meant
from halk.data.findings import ERROR, NOTE, WARNING, Findings, counted, listed
from halk.data.schema import Asked
from halk.data.table import (
    Cells,
    Table,
    Words,
    filled_words,
    is_empty_word,
    is_number_column,
    numeric,
    plain,
    to_words,
)
from halk.data.times import (
    DAY,
    are_times,
    as_epoch,
    format_times,
    is_clock,
    to_datetimes,
)

VALUE, SENSOR = "value", "sensor"
"""What the columns made of a table with a column per sensor are called."""

_PARTS = {
    "year": ("year", "yyyy", "yr"),
    "month": ("month", "mon", "mm", "mo"),
    "day": ("day", "dd", "dy"),
    "hour": ("hour", "hh", "hr"),
    "minute": ("minute", "min", "mi"),
    "second": ("second", "sec", "ss"),
}
_DAY_OF_YEAR = ("doy", "dayofyear", "day_of_year", "julian_day", "yday")


def shape(
    table: Table,
    asked: Asked,
    sensors: Sequence[str],
    findings: Findings,
    numbers: Sequence[str] = (),
) -> Table:
    """Return a table with one row per reading and one column of times.

    Parts of times are joined, numbers that are times become times, and a table with a
    column per sensor is turned. Where it is not clear, findings ask.

    Parameters
    ----------
    sensors : names of sensors that are known, if any
    numbers : names of columns that are numbers, whatever they are called
    """
    made = _name_times(table)
    if asked.inputs is None or not set(asked.inputs) <= set(made.header):
        made = _join_hours(_join_clock(_join_calendar(made)))
    made = _read_epochs(made, {asked.target, *numbers}, findings)
    names = _find_wide(made, asked, sensors, findings)
    if names:
        made = _turn(made, names, asked)
    return made if made is table else replace(made, origin=table)


def _name_times(table: Table) -> Table:
    """Name a first column of times that has no name, as an index has none."""
    if table.header[0] or "time" in table.header or not are_times(table.columns[0]):
        return table
    return replace(table, header=("time", *table.header[1:]))


def _joined(table: Table, words: list[str], codes: Cells, parts: list[str]) -> Table:
    """Return a table with a column of times instead of its parts."""
    kept = [k for k, name in enumerate(table.header) if name not in parts]
    name = "time" if all(table.header[k] != "time" for k in kept) else "date_time"
    return replace(
        table,
        header=(name, *(table.header[k] for k in kept)),
        columns=[
            Words(np.asarray(codes, np.int32), words),
            *(table.columns[k] for k in kept),
        ],
        parts={name: tuple(parts)},
    )


def _join_clock(table: Table) -> Table:
    """Join a column of dates and one of times of day."""
    texts = [
        (name, c)
        for name, c in zip(table.header, table.columns, strict=True)
        if isinstance(c, Words) and name
    ]
    clocks = [name for name, c in texts if _is_clock_column(c)]
    dates = [n for n, c in texts if are_times(c) and not any(":" in w for w in c.words)]
    if len(clocks) != 1 or len(dates) != 1:
        return table
    date, clock = to_words(table.cells(dates[0])), to_words(table.cells(clocks[0]))
    pairs, codes = np.unique(
        date.codes.astype(np.int64) * len(clock.words) + clock.codes,
        return_inverse=True,
    )
    words = [
        f"{date.words[k // len(clock.words)]} {clock.words[k % len(clock.words)]}"
        for k in pairs.tolist()
    ]
    return _joined(table, [word.strip() for word in words], codes, [*dates, *clocks])


def _join_hours(table: Table) -> Table:
    """Join a column of dates and one of hours, 0 to 23 or 1 to 24."""
    hour = naming.alike(table.header, _PARTS["hour"])
    if not hour or not is_number_column(table, hour):
        return table
    numbers = numeric(table, hour).values
    known = numbers[np.isfinite(numbers)]
    if not len(known) or (known % 1).any() or known.min() < 0 or known.max() > 24:
        return table
    dates = {name: _dates(table.column(name)) for name in table.header if name}
    found = [name for name, days in dates.items() if days is not None]
    if len(found) != 1:
        return table
    days = dates[found[0]]
    assert days is not None
    hours = np.where(np.isfinite(numbers), numbers, -1).astype(np.int64)
    pairs, codes = np.unique(
        days.codes.astype(np.int64) * 32 + hours + 1, return_inverse=True
    )
    words = [
        f"{days.words[k // 32]} {k % 32 - 1:02d}:00" if k % 32 and days.words[k // 32]
        else "" for k in pairs.tolist()
    ]  # fmt: skip
    return _joined(table, words, codes, [found[0], hour])


def _dates(column: Cells) -> Words | None:
    """Return days as text, 20240131 as 2024-01-31; None if a column holds no days."""
    if isinstance(column, Words) and are_times(column):
        return None if any(":" in word for word in column.words) else column
    values, what = as_epoch(column)
    if not what.startswith("dates") or (values[np.isfinite(values)] % DAY).any():
        return None
    days = [
        "" if text == "NaT" else text[:10] for text in to_datetimes(values).astype(str)
    ]
    return to_words(days)


def _is_clock_column(column: Words) -> bool:
    known = filled_words(column)
    return bool(known) and 2 * sum(map(is_clock, known)) > len(known)


def _join_calendar(table: Table) -> Table:
    """Join columns of year, month, day, perhaps hour, minute and second."""
    found = {part: naming.alike(table.header, names) for part, names in _PARTS.items()}
    by_year = naming.alike(table.header, _DAY_OF_YEAR)
    names = [name for name in found.values() if name]
    has_day = found["month"] and found["day"]
    if not found["year"] or not (has_day or by_year):
        return table
    if not has_day:
        names = [n for p, n in found.items() if n and p not in ("month", "day")]
        names.insert(1, by_year)
    if not all(is_number_column(table, name) for name in names):
        return table
    columns = [to_words(plain(table.column(name))) for name in names]
    rows = np.column_stack([column.codes for column in columns])
    different, codes = np.unique(rows, axis=0, return_inverse=True)
    cells = [
        [column.words[k] for column, k in zip(columns, row, strict=True)]
        for row in different.tolist()
    ]
    n_date = 3 if has_day else 2
    words = [_iso(row[:n_date], row[n_date:]) for row in cells]
    return _joined(table, words, codes.reshape(-1), names)


def _iso(date: list[str], clock: list[str]) -> str:
    """Return parts of a time in one; a day of the year becomes a day of a month."""
    if len(date) == 2:
        try:
            first = np.datetime64(f"{int(date[0]):04d}-01-01")
            date = str(first + int(date[1]) - 1).split("-")
        except ValueError:
            return " ".join([*date, *clock])
    if not clock:
        return "-".join(part.zfill(2) for part in date)
    hours = [part.zfill(2) for part in clock]
    return "-".join(p.zfill(2) for p in date) + " " + ":".join([*hours, "00"][:3])


def _read_epochs(table: Table, others: set[str | None], findings: Findings) -> Table:
    """Read numbers in columns that are called a time as times, if they can be."""
    for name in table.header:
        is_called = any(naming.is_about(name, word) for word in naming.TIMES)
        if not is_called or name in others or are_times(table.column(name)):
            continue
        values, what = as_epoch(table.column(name))
        if what:
            table = table.with_column(name, to_datetimes(values))
            known = values[np.isfinite(values)]
            first, last = format_times(np.array([known.min(), known.max()]))
            findings.add(
                NOTE, "epoch",
                f"{table.path}: {name} is read as {what}: {first} to {last}",
            )  # fmt: skip
    return table


def _find_wide(
    table: Table, asked: Asked, sensors: Sequence[str], findings: Findings
) -> list[str]:
    """Return the columns that are sensors; none if the table has a row per reading."""
    if asked.wide is False or (asked.sensor and not asked.wide):
        return []
    inputs, free = _inputs_and_others(table, asked)
    known = [name for name in free if name in set(sensors)]
    if len(known) >= 2 or (asked.wide and known):
        _tell_others(table, [n for n in free if n not in known], sensors, findings)
        return known
    flags = _flags_beside(free)
    free = [name for name in free if name not in flags]
    silent = [name for name in free if _is_empty(table.column(name))]
    numbers = [n for n in free if is_number_column(table, n) or n in silent]
    if asked.wide:
        _refuse_none(table, numbers, findings)
        _tell_others(table, flags, numbers, findings)
        return numbers
    is_long = naming.find_sensor(free) or len(numbers) < len(free) or not inputs
    if is_long or len(numbers) - len(silent) < 2 or asked.target in table.header:
        return []
    _tell_others(table, flags, numbers, findings)
    return _tell_wide(table, numbers, findings)


def _flags_beside(names: list[str]) -> list[str]:
    """Return columns that are called as another one and as flags: a_1, a_1_flag."""
    known = sorted(names)
    return [
        name
        for name in names
        if any(
            name.startswith(other) and naming.is_flag(name[len(other) :])
            for other in known
            if other != name
        )
    ]


def _inputs_and_others(table: Table, asked: Asked) -> tuple[list[str], list[str]]:
    """Return the columns that are inputs, and those that may be sensors."""
    names = [name for name in table.header if name]
    if asked.inputs:
        inputs = [name for name in names if name in asked.inputs]
    else:
        inputs = [n for n in names if are_times(table.column(n)) or _is_input(n)]
    free = [name for name in names if name not in inputs]
    free = [n for n in free if not (asked.flags and n.endswith(asked.flags))]
    return inputs, naming.without_added(free)


def _refuse_none(table: Table, names: list[str], findings: Findings) -> None:
    if not names:
        findings.add(
            ERROR, "no-wide",
            f"{table.path}: no column holds numbers, so none is a sensor's; its "
            f"columns are {', '.join(table.header)}",
            "leave out --wide if every row is one reading",
        )  # fmt: skip


def _tell_wide(table: Table, names: list[str], findings: Findings) -> list[str]:
    """Return columns that are alike as sensors, and say so; ask about others."""
    if _are_alike(table, names):
        findings.add(
            NOTE, "wide",
            f"{table.path}: read as a table with a column per sensor: {listed(names)}",
            "if every row is one reading, add --long",
        )  # fmt: skip
        return names
    findings.add(
        ERROR, "wide-or-long",
        f"{table.path}: no column names the sensors: {listed(names)} could be "
        f"sensors, or different things that one sensor measures",
        "add --wide if every column is a sensor; if they are different things, add a "
        "column that names the sensor, and say which of them to learn with --target",
    )  # fmt: skip
    return []


def _is_empty(column: Cells) -> bool:
    """Return whether a column holds nothing, as that of a silent sensor."""
    if isinstance(column, Words):
        return all(map(is_empty_word, column.words))
    return bool((column != column).all())


def _is_input(name: str) -> bool:
    words = (*naming.INPUTS, *naming.LATITUDE, *naming.LONGITUDE)
    return any(naming.is_about(name, word) for word in words)


def _tell_others(
    table: Table, others: list[str], sensors: Sequence[str], findings: Findings
) -> None:
    left = [name for name in others if is_number_column(table, name)]
    texts = [name for name in others if name not in left]
    for end in _find_flags(table, others, sensors):
        flags = [f"{name}{end}" for name in sensors if f"{name}{end}" in others]
        words = [to_words(plain(table.column(name))) for name in flags]
        counts = Counter(w.words[k] for w in words for k in w.codes.tolist())
        findings.add(
            NOTE, "flags",
            f"{table.path}: columns that end in {end} look like quality flags, and are "
            f"not used",
            f"to use only good readings, add --flags {end} --good with the good ones",
            [f"{flag or 'empty'}: {n:,}" for flag, n in sorted(counts.items())],
        )  # fmt: skip
        left = [name for name in left if name not in flags]
        texts = [name for name in texts if name not in flags]
    if texts:
        findings.add(NOTE, "unused", f"{table.path}: not used: {', '.join(texts)}")
    if left:
        findings.add(
            WARNING, "unknown-columns",
            f"{table.path}: {counted(len(left), 'column')} not read: not among the "
            f"known sensors",
            "add them to the table of sensors, or correct their names",
            [f"{name!r}{meant(name, sensors)}" for name in left],
        )  # fmt: skip


def _find_flags(table: Table, others: list[str], sensors: Sequence[str]) -> list[str]:
    """Return what columns beside those of sensors end in, if they look like flags."""
    ends = Counter(
        name[len(sensor) :]
        for sensor in sensors
        if sensor in table.header
        for name in others
        if name.startswith(sensor)
    )
    enough = max(2, sum(name in table.header for name in sensors) / 2)
    return [end for end, n in ends.items() if n >= enough and naming.is_flag(end)]


def _are_alike(table: Table, names: list[str]) -> bool:
    """Return whether columns look like sensors of one thing: same unit, same values."""
    units = {table.units.get(name) or naming.unit_of(name, name) for name in names}
    quantities = {naming.quantity_of(name) for name in names}
    if len(units) > 1 or len(quantities) > 1:
        return False
    values = [numeric(table, name).values for name in names]
    values = [v[np.isfinite(v)] for v in values]
    if not all(len(v) for v in values):
        values = [v for v in values if len(v)]
    if len(values) < 2:
        return False
    low, middle, high = np.array([np.quantile(v, [0.05, 0.5, 0.95]) for v in values]).T
    width = float(np.median(high - low)) or float(np.ptp(middle)) or 1.0
    return bool((np.abs(middle - np.median(middle)) <= 3 * width).all())


def _turn(table: Table, names: list[str], asked: Asked) -> Table:
    """Return a table with a row per reading of one with a column per sensor."""
    n, V = table.n_rows, len(names)
    flags = {f"{name}{asked.flags}" for name in names} if asked.flags else set()
    taken = {"", *names, *flags}
    others = [
        name
        for name in table.header
        if name not in taken
        and (
            are_times(table.column(name))
            or name in (asked.inputs or ())
            or _is_input(name)
        )
    ]
    target = asked.target or VALUE
    header = [*others, SENSOR, target]
    columns: list[Cells] = [_repeat(table.column(name), V) for name in others]
    columns.append(Words(np.tile(np.arange(V, dtype=np.int32), n), list(names)))
    columns.append(_stack([table.column(name) for name in names]))
    if asked.flags and flags <= set(table.header):
        header.append(asked.flags)
        columns.append(_stack([table.column(f"{n}{asked.flags}") for n in names]))
    units = {table.units.get(name, naming.unit_of(name, name)) for name in names}
    unit = {target: units.pop()} if len(units) == 1 else {}
    return replace(
        table, header=tuple(header), columns=columns,
        numbers=np.repeat(np.asarray(table.numbers), V).tolist(),
        units={name: u for name, u in (dict(table.units) | unit).items() if u},
        wide=tuple(names),
    )  # fmt: skip


def _repeat(column: Cells, n: int) -> Cells:
    if isinstance(column, Words):
        return Words(np.repeat(column.codes, n), column.words)
    return np.repeat(column, n)


def _stack(columns: list[Cells]) -> Cells:
    """Return the cells of several columns, row by row."""
    if all(not isinstance(column, Words) for column in columns):
        return np.column_stack([np.asarray(c, np.float64) for c in columns]).reshape(-1)
    texts = [c if isinstance(c, Words) else to_words(c.tolist()) for c in columns]
    known: dict[str, int] = {}
    codes = []
    for text in texts:
        new = [known.setdefault(word, len(known)) for word in text.words]
        codes.append(np.array(new, np.int32)[text.codes])
    return Words(np.column_stack(codes).reshape(-1), list(known))
