"""Which column of a table of readings is what."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from halk.data import naming
from halk.data.files import meant
from halk.data.findings import ERROR, NOTE, Findings
from halk.data.sensors import place_columns
from halk.data.table import (
    COMMA,
    UNCLEAR,
    Table,
    Words,
    decimal_of,
    filled_words,
    find_decimal,
    find_labels,
    is_number_column,
    number,
)
from halk.data.times import are_times, find_order, is_date

VALUES = ("value", "reading", "measurement", "measured", "target", "y")
"""Names of a column of values, where there is more than one of numbers."""

TIME, NUMBER = "time", "number"

_HOUR = re.compile(r"[A-Za-z]{0,5}[ _]?\d{1,2}(?::00|h)?")
MANY_HOURS = 23
"""Columns called like hours that look like a day."""

MOST_FLAGS = 20
"""Different values beyond which a column does not hold flags."""


class Asked(NamedTuple):
    """What the user said about a table; what is None or empty is to be recognised."""

    sensor: str | None = None
    target: str | None = None
    inputs: Sequence[str] | None = None
    unit: str | None = None
    wide: bool | None = None  # a column per sensor, or a row per reading
    dates: str = ""  # "dmy" or "mdy": 1/2/2024
    decimal: str = ""  # "comma" or "point": 1,234
    flags: str = ""  # column of quality flags; of a wide table, what its name ends in
    good: tuple[str, ...] = ()  # flags of readings to be used
    limits: tuple[float, float] | None = None  # readings outside are none


@dataclass(frozen=True)
class Input:
    """A column that values depend on."""

    name: str
    kind: str  # TIME or NUMBER
    unit: str = ""


@dataclass(frozen=True)
class Schema:
    """The columns of a table of readings."""

    sensor: str
    target: str
    unit: str
    inputs: tuple[Input, ...]
    position: tuple[str, ...] = ()  # columns of readings that say where a sensor is
    dates: str = ""  # these five as in Asked, for tables to come
    decimal: str = ""
    flags: str = ""
    good: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the schema for JSON."""
        inputs = [[one.name, one.kind, one.unit] for one in self.inputs]
        return {
            "sensor": self.sensor, "target": self.target, "unit": self.unit,
            "inputs": inputs, "position": list(self.position),
            "dates": self.dates, "decimal": self.decimal, "flags": self.flags,
            "good": list(self.good),
            "limits": None if self.limits is None else list(self.limits),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> "Schema":
        """Return the schema that was saved."""
        inputs = tuple(Input(*map(str, one)) for one in found["inputs"])
        return cls(
            str(found["sensor"]), str(found["target"]), str(found["unit"]), inputs,
            tuple(map(str, found["position"])), str(found["dates"]),
            str(found["decimal"]), str(found["flags"]), tuple(found["good"]),
            None if found["limits"] is None else tuple(found["limits"]),
        )  # fmt: skip


def find_schema(table: Table, asked: Asked, findings: Findings) -> Schema | None:
    """Find the columns; what is missing or unclear is added to the findings."""
    header = [name for name in table.header if name]
    if any(number(name) == number(name) or is_date(name) for name in header):
        findings.add(
            ERROR, "no-header",
            f"{table.path}: first line must name the columns, got {', '.join(header)}",
            "put a line with the names of the columns above the readings",
        )  # fmt: skip
        return None
    finder = _Finder(table, header, findings)
    sensor = finder.sensor(asked.sensor)
    inputs = finder.inputs(asked.inputs, sensor, asked.target)
    target = finder.target(asked.target, sensor, inputs)
    if not sensor or not target or inputs is None:
        return None
    position = finder.position(inputs)
    if asked.inputs is None:
        inputs = [name for name in inputs if name != target]
    if target in inputs:
        findings.add(
            ERROR, "target-is-input",
            f"{table.path}: {target!r} must not be input and value at once",
            "name another column with --inputs or --target",
        )  # fmt: skip
        return None
    found = tuple(
        Input(name, _kind(table, name), _unit(table, name)) for name in inputs
    )
    unit = asked.unit if asked.unit is not None else _unit(table, target)
    finder.tell_of_flags(asked)
    dates = find_dates(table, found, asked, findings)
    numbers = [target, *(one.name for one in found if one.kind == NUMBER)]
    decimal = ask_decimal(table, numbers, asked, findings)
    finder.tell_of_unused({sensor, *numbers, *inputs, asked.flags})
    return Schema(
        sensor, target, unit, found, position, dates, decimal, asked.flags,
        tuple(asked.good), asked.limits,
    )  # fmt: skip


def _kind(table: Table, name: str) -> str:
    return TIME if are_times(table.column(name)) else NUMBER


def _unit(table: Table, name: str) -> str:
    return table.units.get(name) or naming.unit_of(name, name)


class _Finder:
    """A header that is searched."""

    def __init__(self, table: Table, header: list[str], findings: Findings) -> None:
        self.table, self.header, self.findings = table, header, findings

    def _missing(self, code: str, what: str, advice: str) -> None:
        there = ", ".join(self.header)
        message = f"{self.table.path}: {what}; its columns are {there}"
        self.findings.add(ERROR, code, message, advice)

    def named(self, name: str, option: str) -> str:
        if name in self.header:
            return name
        found = naming.alike(self.header, [name])
        if not found:
            hint = meant(name, self.header)
            self._missing(
                "no-such-column", f"there is no column {name!r}{hint}",
                f"name a column that is there with --{option}",
            )  # fmt: skip
        return found

    def sensor(self, asked: str | None) -> str:
        if asked is not None:
            return self.named(asked, "sensor")
        found = naming.find_sensor(self.header)
        text = [name for name in self.header if self._is_text(name)]
        if not found and len(text) == 1:
            found = text[0]
        if not found:
            self._missing(
                "no-sensor-column", "no column says which sensor a row belongs to",
                "name it with --sensor, or call it 'sensor'",
            )  # fmt: skip
        return found

    def _is_text(self, name: str) -> bool:
        is_time = are_times(self.table.column(name))
        return not is_time and not is_number_column(self.table, name)

    def inputs(
        self, asked: Sequence[str] | None, sensor: str, target: str | None
    ) -> list[str] | None:
        if asked is not None:
            found = [self.named(name, "inputs") for name in asked]
            return found if all(found) else None
        free = [name for name in self.header if name not in (sensor, target)]
        times = [name for name in free if are_times(self.table.column(name))]
        known = [
            name
            for name in free
            if name not in times
            and is_number_column(self.table, name)
            and any(naming.is_about(name, word) for word in naming.INPUTS)
        ]
        place = list(place_columns(free))
        if times or known or place:
            return times + known + place
        numbers = [name for name in free if is_number_column(self.table, name)]
        if target is None:
            numbers = numbers[:-1] if len(numbers) == 2 else []
        if not numbers:
            self._missing(
                "no-input", "no column is a time, a depth or another known input",
                self._unread_time() or "name what values depend on with --inputs",
            )  # fmt: skip
            return None
        return numbers

    def _unread_time(self) -> str:
        """Return what to do about a column of times that cannot be read."""
        for name in self.header:
            column = self.table.column(name)
            is_called = any(naming.is_about(name, word) for word in naming.TIMES)
            if is_called and isinstance(column, Words) and filled_words(column):
                shown = filled_words(column)[0]
                return (
                    f"write times as 2024-12-31T14:00, zones as +01:00: {name} has "
                    f"{shown!r}"
                )
        return ""

    def _text(self, used: set[str]) -> str:
        """Return a cell that is no number, of a column that is nothing else."""
        for name in self.header:
            column = self.table.column(name)
            if name not in used and isinstance(column, Words) and filled_words(column):
                return f", but {name} has {filled_words(column)[0]!r}"
        return ""

    def position(self, inputs: list[str]) -> tuple[str, ...]:
        place = place_columns(self.header)
        return place if all(name in inputs for name in place) else ()

    def target(self, asked: str | None, sensor: str, inputs: list[str] | None) -> str:
        if asked is not None:
            return self.named(asked, "target")
        if inputs is None:
            return ""
        used = {sensor, *inputs}
        free = [
            name
            for name in self.header
            if name not in used
            and is_number_column(self.table, name)
            and not naming.is_flag(name)
        ]
        free = naming.without_added(free)
        found = naming.alike(free, VALUES)
        if not found and len(free) == 1:
            found = free[0]
        hours = [name for name in free if _HOUR.fullmatch(name)]
        if not found and len(hours) >= MANY_HOURS:
            self._missing(
                "hours-apart",
                f"{hours[0]} to {hours[-1]} look like hours of a day, each a column",
                "write one row per reading, with date and hour, or one row per time "
                "with a column per sensor",
            )  # fmt: skip
        elif not found and free:
            self._missing(
                "unclear-target", f"values could be in {', '.join(free)}",
                "say which with --target",
            )  # fmt: skip
        elif not found:
            self._missing(
                "no-target", "no column holds values that were measured",
                f"name it with --target; its cells must be numbers{self._text(used)}",
            )  # fmt: skip
        return found

    def tell_of_flags(self, asked: Asked) -> None:
        """Add columns that look like quality flags and are not used."""
        for name in () if asked.flags else filter(naming.is_flag, self.header):
            found = find_labels(self.table, name)
            if len(found.names) > MOST_FLAGS or name in (asked.inputs or ()):
                continue
            counts = np.bincount(found.codes, minlength=len(found.names)).tolist()
            held = zip(found.names, counts, strict=True)
            self.findings.add(
                NOTE, "flags",
                f"{self.table.path}: {name} looks like quality flags, and is not used",
                f"to use only good readings, add --flags {name} --good with the good "
                f"ones", [f"{flag or 'empty'}: {n:,}" for flag, n in held],
            )  # fmt: skip

    def tell_of_unused(self, used: set[str]) -> None:
        """Add columns that nothing is learned from."""
        left = [n for n in self.header if n not in used and not naming.is_flag(n)]
        if left:
            self.findings.add(
                NOTE, "unused", f"{self.table.path}: not used: {', '.join(left)}"
            )


def find_dates(
    table: Table, inputs: Sequence[Input], asked: Asked, findings: Findings
) -> str:
    """Return whether the day or the month is first in dates; ask if nothing tells."""
    names = [one.name for one in inputs if one.kind == TIME]
    found = {}
    for name in () if asked.dates else names:
        column = table.column(name)
        if isinstance(column, Words):
            found[name] = find_order(column.words)
    for name, order in found.items():
        column = table.column(name)
        if order == "unclear" and isinstance(column, Words):
            word = next(word for word in column.words if find_order([word]))
            findings.add(
                ERROR, "unclear-dates",
                f"{table.path}: column {name} has dates such as {word}, and none tells "
                f"whether the day or the month is first",
                "add --dates dmy if it is the day, --dates mdy if it is the month",
            )  # fmt: skip
        elif order == "mixed" and isinstance(column, Words):
            findings.add(
                ERROR, "mixed-dates",
                f"{table.path}: column {name} has dates with the day first and dates "
                f"with the month first",
                "write all dates alike, best as 2024-12-31", _one_of_each(table, name),
            )  # fmt: skip
    known = [order for order in found.values() if order in ("dmy", "mdy")]
    return asked.dates or (known[0] if known else "")


def _one_of_each(table: Table, name: str) -> list[str]:
    """Return where dates with the day first, and with the month first, are."""
    column = table.column(name)
    assert isinstance(column, Words)
    orders = [find_order([word]) for word in column.words]
    codes = [orders.index(order) for order in ("dmy", "mdy")]
    rows = sorted(int(np.flatnonzero(column.codes == code)[0]) for code in codes)
    return [f"{table.where(row)}: {table.cell(name, row)}" for row in rows]


def ask_decimal(
    table: Table, names: Sequence[str], asked: Asked, findings: Findings
) -> str:
    """Return what separates decimals if a comma may; ask if nothing tells."""
    if asked.decimal:
        return asked.decimal
    marks = {name: find_decimal(table, name) for name in names if name in table.header}
    for name, mark in marks.items():
        column = table.column(name)
        if mark != UNCLEAR or not isinstance(column, Words):
            continue
        word = next(word for word in column.words if decimal_of([word]) == UNCLEAR)
        findings.add(
            ERROR, "unclear-decimals",
            f"{table.path}: column {name} has numbers such as {word}, and none tells "
            f"whether the comma separates decimals or thousands",
            "add --decimal comma if it is decimals, --decimal point if it is thousands",
        )  # fmt: skip
    known = set(marks.values())
    return COMMA if known <= {COMMA, ""} and COMMA in known else ""
