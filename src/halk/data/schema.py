"""Which column of a table of readings is what."""

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

import numpy as np

from halk.data import naming
from halk.data.findings import ERROR, NOTE, Findings, suggest
from halk.data.table import (
    COMMA,
    UNCLEAR,
    Table,
    Words,
    as_words,
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
    dates: str = ""  # these six as the user said, for tables to come
    decimal: str = ""
    flags: str = ""
    good: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None
    missing: tuple[float | str, ...] = ()  # what means no reading

    def as_dict(self) -> dict[str, Any]:
        """Return the schema for JSON."""
        own = {k: list(v) if isinstance(v, tuple) else v for k, v in vars(self).items()}
        return own | {"inputs": [list(astuple(one)) for one in self.inputs]}

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> "Schema":
        """Return the schema that was saved."""
        own: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in found.items()
        }
        own["inputs"] = tuple(Input(*one) for one in found["inputs"])
        return cls(**own)

    def as_asked(self, wide: bool) -> Asked:
        """Return how another table is to be read, whose columns are called the same."""
        inputs = [one.name for one in self.inputs]
        return Asked(self.sensor, self.target, inputs, wide=wide, flags=self.flags)


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
    sensor = finder.find_sensor(asked.sensor)
    inputs = finder.find_inputs(asked.inputs, sensor, asked.target)
    target = finder.find_target(asked.target, sensor, inputs)
    if not sensor or not target or not inputs:
        return None
    place = naming.place_columns(header)
    position = place if set(place) <= set(inputs) else ()
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
        Input(name, TIME if name in finder.times else NUMBER, table.unit(name))
        for name in inputs
    )
    unit = asked.unit if asked.unit is not None else table.unit(target)
    if not asked.flags:
        finder.mention_flags(asked.inputs or ())
    dates = find_dates(table, found, asked, findings)
    numbers = [target, *(one.name for one in found if one.kind == NUMBER)]
    decimal = ask_decimal(table, numbers, asked, findings)
    used = {sensor, target, *inputs, asked.flags}
    left = [name for name in header if name not in used and not naming.is_flag(name)]
    if left:
        findings.add(NOTE, "unused", f"{table.path}: not used: {', '.join(left)}")
    return Schema(
        sensor, target, unit, found, position, dates, decimal, asked.flags,
        tuple(asked.good), asked.limits,
    )  # fmt: skip


class _Finder:
    """A header that is searched."""

    def __init__(self, table: Table, header: list[str], findings: Findings) -> None:
        self.table, self.header, self.findings = table, header, findings
        self.times = [name for name in header if are_times(table.column(name))]
        self.numbers = [name for name in header if is_number_column(table, name)]

    def _add(self, code: str, what: str, advice: str) -> None:
        there = f"its columns are {', '.join(self.header)}"
        self.findings.add(ERROR, code, f"{self.table.path}: {what}; {there}", advice)

    def _check(self, name: str, option: str) -> str:
        """Return the column that an option names, or nothing."""
        found = name if name in self.header else naming.alike(self.header, [name])
        if not found:
            self._add(
                "no-such-column",
                f"there is no column {name!r}{suggest(name, self.header)}",
                f"name a column that is there with --{option}",
            )
        return found

    def find_sensor(self, asked: str | None) -> str:
        if asked is not None:
            return self._check(asked, "sensor")
        text = [n for n in self.header if n not in (*self.times, *self.numbers)]
        found = naming.find_sensor(self.header) or (text[0] if len(text) == 1 else "")
        if not found:
            self._add(
                "no-sensor-column", "no column says which sensor a row belongs to",
                "name it with --sensor, or call it 'sensor'",
            )  # fmt: skip
        return found

    def find_inputs(
        self, asked: Sequence[str] | None, sensor: str, target: str | None
    ) -> list[str]:
        if asked is not None:
            found = [self._check(name, "inputs") for name in asked]
            return found if all(found) else []
        free = [name for name in self.header if name not in (sensor, target)]
        times = [name for name in free if name in self.times]
        numbers = [name for name in free if name in self.numbers and name not in times]
        known = [name for name in numbers if naming.is_about(name, *naming.INPUTS)]
        found = times + known + list(naming.place_columns(free))
        if not found and (target is not None or len(numbers) == 2):
            found = numbers if target is not None else numbers[:-1]
        if not found:
            self._add(
                "no-input", "no column is a time, a depth or another known input",
                self._unread_time() or "name what values depend on with --inputs",
            )  # fmt: skip
        return found

    def _shown(self, name: str) -> str:
        """Return the first cell of a column of text, to be shown."""
        column = self.table.column(name)
        filled = filled_words(column) if isinstance(column, Words) else []
        return repr(filled[0]) if filled else ""

    def _unread_time(self) -> str:
        """Return what to do about a column of times that cannot be read."""
        called = [name for name in self.header if naming.is_about(name, *naming.TIMES)]
        rule = "write times as 2024-12-31T14:00, zones as +01:00"
        found = (f"{rule}: {n} has {self._shown(n)}" for n in called if self._shown(n))
        return next(found, "")

    def find_target(self, asked: str | None, sensor: str, inputs: list[str]) -> str:
        if asked is not None:
            return self._check(asked, "target")
        if not inputs:
            return ""
        others = [name for name in self.header if name not in (sensor, *inputs)]
        free = [n for n in others if n in self.numbers and not naming.is_flag(n)]
        free = naming.without_added(free)
        found = naming.alike(free, VALUES) or (free[0] if len(free) == 1 else "")
        hours = [name for name in free if _HOUR.fullmatch(name)]
        if not found and len(hours) >= MANY_HOURS:
            self._add(
                "hours-apart",
                f"{hours[0]} to {hours[-1]} look like hours of a day, each a column",
                "write one row per reading, with date and hour, or one row per time "
                "with a column per sensor",
            )  # fmt: skip
        elif not found and free:
            self._add(
                "unclear-target", f"values could be in {', '.join(free)}",
                "say which with --target",
            )  # fmt: skip
        elif not found:
            shown = [
                f", but {n} has {cell}" for n in others if (cell := self._shown(n))
            ]
            self._add(
                "no-target", "no column holds values that were measured",
                f"name it with --target; its cells must be numbers{''.join(shown[:1])}",
            )  # fmt: skip
        return found

    def mention_flags(self, inputs: Sequence[str]) -> None:
        """Add columns that look like quality flags and are not used."""
        for name in filter(naming.is_flag, self.header):
            counts = find_labels(self.table, name).counts()
            if len(counts) <= MOST_FLAGS and name not in inputs:
                self.findings.add(
                    NOTE, "flags",
                    f"{self.table.path}: {name} looks like quality flags, and is not "
                    f"used",
                    f"to use only good readings, add --flags {name} --good with the "
                    f"good ones", [f"{k or 'empty'}: {n:,}" for k, n in counts.items()],
                )  # fmt: skip


def find_dates(
    table: Table, inputs: Sequence[Input], asked: Asked, findings: Findings
) -> str:
    """Return whether the day or the month is first in dates; ask if nothing tells."""
    if asked.dates:
        return asked.dates
    known = []
    for name in (one.name for one in inputs if one.kind == TIME):
        column = table.column(name)
        if not isinstance(column, Words):
            continue
        order = find_order(column.words)
        if order == "unclear":
            word = next(word for word in column.words if find_order([word]))
            findings.add(
                ERROR, "unclear-dates",
                f"{table.path}: column {name} has dates such as {word}, and none tells "
                f"whether the day or the month is first",
                "add --dates dmy if it is the day, --dates mdy if it is the month",
            )  # fmt: skip
        elif order == "mixed":
            orders = column.map(lambda word: find_order([word]), object)
            rows = [int(np.argmax(orders == one)) for one in ("dmy", "mdy")]
            findings.add(
                ERROR, "mixed-dates",
                f"{table.path}: column {name} has dates with the day first and dates "
                f"with the month first",
                "write all dates alike, best as 2024-12-31",
                [f"{table.where(k)}: {table.cell(name, k)}" for k in sorted(rows)],
            )  # fmt: skip
        elif order:
            known.append(order)
    return known[0] if known else ""


def ask_decimal(
    table: Table, names: Sequence[str], asked: Asked, findings: Findings
) -> str:
    """Return what separates decimals if a comma may; ask if nothing tells."""
    if asked.decimal:
        return asked.decimal
    marks = {name: find_decimal(table, name) for name in names if name in table.header}
    for name in (name for name, mark in marks.items() if mark == UNCLEAR):
        words = as_words(table.column(name)).words
        word = next(word for word in words if decimal_of([word]) == UNCLEAR)
        findings.add(
            ERROR, "unclear-decimals",
            f"{table.path}: column {name} has numbers such as {word}, and none tells "
            f"whether the comma separates decimals or thousands",
            "add --decimal comma if it is decimals, --decimal point if it is thousands",
        )  # fmt: skip
    return COMMA if set(marks.values()) | {""} == {COMMA, ""} else ""
