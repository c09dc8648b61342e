"""Which column of a table of readings is what."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from halk.data.cells import is_number_column
from halk.data.findings import ERROR, Findings
from halk.data.sensors import place_columns
from halk.data.times import are_times
from halk.streams import naming
from halk.streams.cells import number
from halk.streams.files import meant
from halk.streams.rows import Table

VALUES = ("value", "reading", "measurement", "measured", "target", "y")
"""Names of a column of values, where there is more than one of numbers."""

TIME, NUMBER = "time", "number"


class Asked(NamedTuple):
    """What the user said about the columns; None is to be recognised."""

    sensor: str | None = None
    target: str | None = None
    inputs: Sequence[str] | None = None
    unit: str | None = None


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

    def as_dict(self) -> dict[str, Any]:
        """Return the schema for JSON."""
        inputs = [[one.name, one.kind, one.unit] for one in self.inputs]
        return {
            "sensor": self.sensor, "target": self.target, "unit": self.unit,
            "inputs": inputs, "position": list(self.position),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> "Schema":
        """Return the schema that was saved."""
        inputs = tuple(Input(*map(str, one)) for one in found["inputs"])
        return cls(
            str(found["sensor"]), str(found["target"]), str(found["unit"]), inputs,
            tuple(map(str, found["position"])),
        )  # fmt: skip


def find_schema(table: Table, asked: Asked, findings: Findings) -> Schema | None:
    """Find the columns; what is missing or unclear is added to the findings."""
    header = [name for name in table.header if name]
    if any(number(name) == number(name) for name in header):
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
    return Schema(sensor, target, unit, found, position)


def _kind(table: Table, name: str) -> str:
    return TIME if are_times(table.cells(name)) else NUMBER


def _unit(table: Table, name: str) -> str:
    return table.units.get(name) or naming.unit_of(name, name)


class _Finder:
    """A header that is searched."""

    def __init__(self, table: Table, header: list[str], findings: Findings) -> None:
        self.table, self.header, self.findings = table, header, findings

    def _missing(self, code: str, what: str, advice: str) -> None:
        there = ", ".join(self.header)
        advice = self._foreign() or advice
        message = f"{self.table.path}: {what}; its columns are {there}"
        self.findings.add(ERROR, code, message, advice)

    def _foreign(self) -> str:
        """Return what to do about numbers and dates of another country's writing."""
        for name in self.header:
            cells = self.table.cells(name)
            if isinstance(cells, np.ndarray):
                continue
            some = list(islice((str(cell) for cell in cells if cell != ""), 20))
            if some and all(re.fullmatch(r"-?\d+,\d+", cell) for cell in some):
                return f"write decimals with a point: {name} has {some[0]!r}"
            if some and all(re.match(r"\d{1,2}[/.]\d{1,2}[/.]\d{4}", c) for c in some):
                return f"write dates as 2024-12-31: {name} has {some[0]!r}"
        return ""

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
        known = naming.SENSOR + tuple(f"{word}_id" for word in naming.SENSOR)
        found = naming.alike(self.header, known)
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
        is_time = are_times(self.table.cells(name))
        return not is_time and not is_number_column(self.table, name)

    def inputs(
        self, asked: Sequence[str] | None, sensor: str, target: str | None
    ) -> list[str] | None:
        if asked is not None:
            found = [self.named(name, "inputs") for name in asked]
            return found if all(found) else None
        free = [name for name in self.header if name not in (sensor, target)]
        times = [name for name in free if are_times(self.table.cells(name))]
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
                "name what values depend on with --inputs",
            )  # fmt: skip
            return None
        return numbers

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
            if name not in used and is_number_column(self.table, name)
        ]
        found = naming.alike(free, VALUES)
        if not found and len(free) == 1:
            found = free[0]
        if not found and free:
            self._missing(
                "unclear-target", f"values could be in {', '.join(free)}",
                "say which with --target",
            )  # fmt: skip
        elif not found:
            self._missing(
                "no-target", "no column holds values that were measured",
                "name it with --target; its cells must be numbers",
            )  # fmt: skip
        return found
