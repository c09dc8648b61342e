"""From a table as people keep it to one row per reading, with one column of times."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from halk.data import naming
from halk.data.findings import ERROR, NOTE, WARNING, Findings, counted, shorten, suggest
from halk.data.schema import Asked
from halk.data.table import (
    Cells,
    Table,
    Words,
    as_words,
    concatenate,
    filled_words,
    is_empty_word,
    is_number_column,
    read_numbers,
    take_rows,
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
    made, (first, *rest) = table, table.header
    if not first and "time" not in rest and are_times(table.columns[0]):
        made = replace(table, header=("time", *rest))  # an index
    if asked.inputs is None or not set(asked.inputs) <= set(made.header):
        made = _join_hours(_join_clock(_join_calendar(made)))
    made = _read_epochs(made, {asked.target, *numbers}, findings)
    names = _find_wide(made, asked, sensors, findings)
    if names:
        made = _turn(made, names, asked)
    return replace(made, origin=table)


# times in parts


def _join(table: Table, parts: list[str], write: Callable[[list[str]], str]) -> Table:
    """Return a table with a column of times instead of its parts."""
    columns = [as_words(table.column(name)) for name in parts]
    key = np.zeros(table.n_rows, np.int64)
    for column in columns:
        key = key * len(column.words) + column.codes
    _, first, codes = np.unique(key, return_index=True, return_inverse=True)
    words = [write([c.words[c.codes[row]] for c in columns]) for row in first.tolist()]
    kept = {n: table.column(n) for n in table.header if n not in parts}
    name = "date_time" if "time" in kept else "time"
    made = {name: Words(codes.astype(np.int32), words)} | kept
    return replace(
        table, header=tuple(made), columns=list(made.values()),
        parts={name: tuple(parts)},
    )  # fmt: skip


def _join_clock(table: Table) -> Table:
    """Join a column of dates and one of times of day."""
    dates, clocks = [], []
    for name, column in zip(table.header, table.columns, strict=True):
        if not isinstance(column, Words) or not name:
            continue
        known = filled_words(column)
        if known and 2 * sum(map(is_clock, known)) > len(known):
            clocks.append(name)
        elif are_times(column) and not any(":" in word for word in column.words):
            dates.append(name)
    if len(clocks) != 1 or len(dates) != 1:
        return table
    return _join(table, dates + clocks, lambda cells: " ".join(cells).strip())


def _join_hours(table: Table) -> Table:
    """Join a column of days and one of hours, 0 to 23 or 1 to 24."""
    hour = naming.alike(table.header, naming.CALENDAR["%H"])
    if not hour or not is_number_column(table, hour):
        return table
    hours = read_numbers(table, hour).values
    hours = hours[np.isfinite(hours)]
    if not len(hours) or (hours % 1).any() or hours.min() < 0 or hours.max() > 24:
        return table
    days = {
        name: made
        for name, column in zip(table.header, table.columns, strict=True)
        if name and (made := _days(column)) is not None
    }
    if len(days) != 1:
        return table
    name, column = days.popitem()
    k = table.header.index(name)
    columns = [*table.columns[:k], column, *table.columns[k + 1 :]]
    return _join(
        replace(table, columns=columns), [name, hour],
        lambda cells: f"{cells[0]} {cells[1].zfill(2)}:00" if all(cells) else "",
    )  # fmt: skip


def _days(column: Cells) -> Words | None:
    """Return days as text, 20240131 as 2024-01-31; None if a column holds no days."""
    if isinstance(column, Words) and are_times(column):
        return None if any(":" in word for word in column.words) else column
    values, what = as_epoch(column)
    if not what.startswith("dates") or (values[np.isfinite(values)] % DAY).any():
        return None
    days = np.datetime_as_string(to_datetimes(values), unit="D").tolist()
    return to_words("" if day == "NaT" else day for day in days)


def _join_calendar(table: Table) -> Table:
    """Join columns of year, month, day, perhaps hour, minute and second."""
    found = {
        code: naming.alike(table.header, names)
        for code, names in naming.CALENDAR.items()
    }
    date = ["%Y", "%m", "%d"] if found["%m"] and found["%d"] else ["%Y", "%j"]
    names = [found[code] for code in date]
    n_date = len(names)
    names += [found[code] for code in ("%H", "%M", "%S") if found[code]]
    if not all(name and is_number_column(table, name) for name in names):
        return table
    return _join(table, names, lambda cells: _iso(cells[:n_date], cells[n_date:]))


def _iso(date: list[str], clock: list[str]) -> str:
    """Return parts of a time in one; a day of the year becomes a day of a month."""
    if len(date) == 2:
        try:
            first = np.datetime64(f"{int(date[0]):04d}-01-01")
            date = str(first + int(date[1]) - 1).split("-")
        except ValueError:
            return " ".join([*date, *clock])
    day = "-".join(part.zfill(2) for part in date)
    hours = [part.zfill(2) for part in clock]
    return f"{day} {':'.join([*hours, '00'][:3])}" if clock else day


def _read_epochs(table: Table, others: set[str | None], findings: Findings) -> Table:
    """Read numbers in columns that are called a time as times, if they can be."""
    columns = list(table.columns)
    for k, name in enumerate(table.header):
        is_called = naming.is_about(name, *naming.TIMES) and name not in others
        if not is_called or are_times(columns[k]):
            continue
        values, what = as_epoch(columns[k])
        if what:
            columns[k] = to_datetimes(values)
            first, last = format_times(np.array([np.nanmin(values), np.nanmax(values)]))
            findings.add(
                NOTE, "epoch",
                f"{table.path}: {name} is read as {what}: {first} to {last}",
            )  # fmt: skip
    return replace(table, columns=columns)


# a column per sensor


def _find_wide(
    table: Table, asked: Asked, sensors: Sequence[str], findings: Findings
) -> list[str]:
    """Return the columns that are sensors; none if the table has a row per reading."""
    if asked.wide is False or (asked.sensor and not asked.wide):
        return []
    inputs, free = _split_inputs(table, asked)
    known = [name for name in free if name in set(sensors)]
    if len(known) >= 2 or (asked.wide and known):
        left = [name for name in free if name not in known]
        _mention_others(table, left, known, sensors, findings)
        return known
    ends = _find_ends(free, free)
    flags = [name for name in free if naming.is_flag(ends.get(name, ""))]
    free = [name for name in free if name not in flags]
    silent = [name for name in free if _is_silent(table.column(name))]
    numbers = [n for n in free if is_number_column(table, n) or n in silent]
    if asked.wide:
        if not numbers:
            findings.add(
                ERROR, "no-wide",
                f"{table.path}: no column holds numbers, so none is a sensor's; its "
                f"columns are {', '.join(table.header)}",
                "leave out --wide if every row is one reading",
            )  # fmt: skip
        _mention_others(table, flags, numbers, numbers, findings)
        return numbers
    is_long = naming.find_sensor(free) or len(numbers) < len(free) or not inputs
    if is_long or len(numbers) - len(silent) < 2 or asked.target in table.header:
        return []
    shown = shorten(numbers)
    if _are_alike(table, numbers):
        _mention_others(table, flags, numbers, numbers, findings)
        findings.add(
            NOTE, "wide",
            f"{table.path}: read as a table with a column per sensor: {shown}",
            "if every row is one reading, add --long",
        )  # fmt: skip
        return numbers
    findings.add(
        ERROR, "wide-or-long",
        f"{table.path}: no column names the sensors: {shown} could be "
        f"sensors, or different things that one sensor measures",
        "add --wide if every column is a sensor; if they are different things, add a "
        "column that names the sensor, and say which of them to learn with --target",
    )  # fmt: skip
    return []


def _find_ends(names: Sequence[str], sensors: Sequence[str]) -> dict[str, str]:
    """Return what names add to those of sensors, for names that do."""
    return {
        n: n[len(s) :] for s in sensors for n in names if n.startswith(s) and n != s
    }


def _mention_others(
    table: Table,
    others: list[str],
    names: list[str],
    sensors: Sequence[str],
    findings: Findings,
) -> None:
    """Add columns beside those of sensors: flags, sensors that are unknown, texts."""
    ends = _find_ends(others, names)
    for end in sorted({end for end in ends.values() if naming.is_flag(end)}):
        flags = [name for name in others if ends.get(name) == end]
        words = [as_words(table.column(name)) for name in flags]
        counts = Counter(w.words[k] for w in words for k in w.codes.tolist())
        findings.add(
            NOTE, "flags",
            f"{table.path}: columns that end in {end} look like quality flags, and are "
            f"not used",
            f"to use only good readings, add --flags {end} --good with the good ones",
            [f"{flag or 'empty'}: {n:,}" for flag, n in sorted(counts.items())],
        )  # fmt: skip
        others = [name for name in others if name not in flags]
    left = [name for name in others if is_number_column(table, name)]
    if left:
        findings.add(
            WARNING, "unknown-columns",
            f"{table.path}: {counted(len(left), 'column')} not read: not among the "
            f"known sensors",
            "add them to the table of sensors, or correct their names",
            [f"{name!r}{suggest(name, sensors)}" for name in left],
        )  # fmt: skip
    texts = [name for name in others if name not in left]
    if texts:
        findings.add(NOTE, "unused", f"{table.path}: not used: {', '.join(texts)}")


def _split_inputs(table: Table, asked: Asked) -> tuple[list[str], list[str]]:
    """Return the columns that are inputs, and those that may be sensors."""
    names = [name for name in table.header if name]
    if asked.inputs:
        inputs = [name for name in names if name in asked.inputs]
    else:
        inputs = [n for n in names if are_times(table.column(n)) or naming.is_input(n)]
    free = [name for name in names if name not in inputs]
    free = [n for n in free if not (asked.flags and n.endswith(asked.flags))]
    return inputs, naming.without_added(free)


def _is_silent(column: Cells) -> bool:
    """Return whether a column holds nothing, as that of a sensor without readings."""
    if isinstance(column, Words):
        return all(map(is_empty_word, column.words))
    return bool((column != column).all())


def _are_alike(table: Table, names: list[str]) -> bool:
    """Return whether columns look like sensors of one thing: same unit, same values."""
    units = {table.unit(name) for name in names}
    if len(units) > 1 or len(set(map(naming.quantity_of, names))) > 1:
        return False
    values = [read_numbers(table, name).values for name in names]
    values = [known for v in values if len(known := v[np.isfinite(v)])]
    if len(values) < 2:
        return False
    low, middle, high = np.array([np.quantile(v, [0.05, 0.5, 0.95]) for v in values]).T
    width = float(np.median(high - low)) or float(np.ptp(middle)) or 1.0
    return bool((np.abs(middle - np.median(middle)) <= 3 * width).all())


def _turn(table: Table, names: list[str], asked: Asked) -> Table:
    """Return a table with a row per reading of one with a column per sensor."""
    n, V = table.n_rows, len(names)
    each = np.repeat(np.arange(n), V)
    flags = [f"{name}{asked.flags}" for name in names] if asked.flags else []
    target = asked.target or VALUE
    made: dict[str, Cells] = {}
    for name, column in zip(table.header, table.columns, strict=True):
        is_input = are_times(column) or naming.is_input(name)
        is_free = name not in ("", *names, *flags)
        if is_free and (is_input or name in (asked.inputs or ())):
            made[name] = take_rows(column, each)
    made[SENSOR] = Words(np.tile(np.arange(V, dtype=np.int32), n), list(names))
    made[target] = _interleave(table, names)
    if flags and set(flags) <= set(table.header):
        made[asked.flags] = _interleave(table, flags)
    units = {table.unit(name) for name in names}
    unit = {target: units.pop()} if len(units) == 1 else {}
    return replace(
        table, header=tuple(made), columns=list(made.values()),
        numbers=np.asarray(table.numbers)[each].tolist(),
        units={name: u for name, u in {**table.units, **unit}.items() if u},
        wide=tuple(names),
    )  # fmt: skip


def _interleave(table: Table, names: list[str]) -> Cells:
    """Return the cells of several columns, row by row."""
    below = concatenate([table.column(name) for name in names])
    order = np.arange(len(names) * table.n_rows).reshape(len(names), -1).T
    return take_rows(below, order.reshape(-1))
