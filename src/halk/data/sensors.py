"""The sensors of a network: their names, places and attributes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.data import naming
from halk.data.findings import ERROR, WARNING, Findings
from halk.data.table import (
    COMMA,
    UNCLEAR,
    Table,
    find_decimal,
    find_labels,
    is_number_column,
    labels,
    read_numbers,
)

DEGREE = 111.195
"""Kilometres of a degree of latitude."""


@dataclass(frozen=True)
class Sensors:
    """Who measures, and where."""

    names: tuple[str, ...]
    positions: Matrix | None = None  # (V, 2), latitude and longitude, or x and y
    is_geographic: bool = False
    attributes: dict[str, Vector] = field(default_factory=dict)  # known of all (V,)
    columns: tuple[str, ...] = ()  # what the positions were called

    def plane(self) -> Matrix:
        """Return places in a plane: kilometres around the middle, or x and y."""
        if self.positions is None:
            raise ValueError("positions must be known")
        if not self.is_geographic:
            return np.asarray(self.positions - self.positions.mean(axis=0))
        lat, lon = self.positions.T
        # around the mean direction: longitudes go round
        middle = np.angle(np.exp(1j * np.radians(lon)).sum(), deg=True)
        east = (lon - middle + 180) % 360 - 180
        north = lat - lat.mean()
        width = np.cos(np.radians(lat.mean()))
        return np.asarray(DEGREE * np.column_stack([east * width, north]))

    def subset(self, kept: Indices) -> "Sensors":
        """Return some of the sensors, by number."""
        return Sensors(
            tuple(self.names[i] for i in kept),
            None if self.positions is None else self.positions[kept],
            self.is_geographic,
            {name: values[kept] for name, values in self.attributes.items()},
            self.columns,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return what is not an array, for JSON."""
        return {
            "names": list(self.names), "is_geographic": self.is_geographic,
            "attributes": list(self.attributes), "columns": list(self.columns),
        }  # fmt: skip


def read_sensors(
    table: Table, sensor: str | None, findings: Findings, readings: Sequence[str] = ()
) -> Sensors | None:
    """Read a table of sensors; what is wrong with it is added to the findings.

    ``sensor`` is the column of names; else it is that which names columns of a table of
    ``readings``, or is called as one of sensors is, or as one of the readings.
    """
    header = [name for name in table.header if name]
    numbers = [name for name in header if is_number_column(table, name)]
    column = (
        naming.alike(header, [sensor] if sensor else [])
        or _find_named(table, header, readings)
        or naming.find_sensor(header)
        or naming.alike([name for name in header if name not in numbers], readings)
    )
    if not column:
        findings.add(
            ERROR, "no-sensor-column",
            f"{table.path}: no column names the sensors; its columns are "
            f"{', '.join(header)}",
            "call it as in the readings, or 'sensor'",
        )  # fmt: skip
        return None
    names = labels(table, column)
    _check_names(table, names, findings)
    if findings.of(ERROR):
        return None
    place = naming.place_columns(header)
    positions = _positions(table, names, place, findings) if place else None
    attributes = {
        name: read_numbers(table, name).values
        for name in numbers
        if name not in (column, *place)
    }
    for name, values in list(attributes.items()):
        findings.add_rows(
            np.flatnonzero(np.isnan(values)), names.__getitem__,
            WARNING, "attribute-missing",
            f"{table.path}: {name} is not used: it is not known of all sensors",
            "fill it to let it join the inputs",
        )  # fmt: skip
        if np.isnan(values).any() or np.ptp(values) == 0:
            del attributes[name]
    if findings.of(ERROR):
        return None
    is_geographic = naming.are_geographic(place)
    return Sensors(tuple(names), positions, is_geographic, attributes, place)


def _find_named(table: Table, header: list[str], readings: Sequence[str]) -> str:
    """Return the column that names the most columns of readings, if two or more."""
    known = {name.casefold() for name in readings}
    counts = {
        name: sum(label.casefold() in known for label in find_labels(table, name).names)
        for name in header
    }
    best = max(counts, key=lambda name: counts[name], default="")
    return best if counts.get(best, 0) >= 2 else ""


def _check_names(table: Table, names: list[str], findings: Findings) -> None:
    first: dict[str, int] = {}
    nameless = np.array([row for row, name in enumerate(names) if not name], np.int64)
    findings.add_rows(
        nameless, table.where,
        ERROR, "empty-sensor", f"{table.path}: every row must name a sensor",
        "fill the cell, or remove the row",
    )  # fmt: skip
    twice = [
        f"{table.where(row)}: {name!r}, as in {table.word} {table.numbers[first[name]]}"
        for row, name in enumerate(names)
        if name and first.setdefault(name, row) != row
    ]
    if twice:
        findings.add(
            ERROR, "sensor-twice", f"{table.path}: a sensor must have one row",
            "keep one of them", twice,
        )  # fmt: skip


def _positions(
    table: Table, names: list[str], place: tuple[str, ...], findings: Findings
) -> Matrix:
    columns = []
    for name in place:
        mark = find_decimal(table, name)  # 53,123 is no number of thousands
        mark = COMMA if mark == UNCLEAR else mark
        columns.append(read_numbers(table, name, decimal=mark))
    wrong = [
        f"{table.where(row, names[row])}: {column.name} is "
        f"{table.cell(column.name, row)!r}"
        for column in columns
        for row in np.flatnonzero(~column.is_known).tolist()
    ]
    positions = np.column_stack([column.values for column in columns])
    if wrong:
        findings.add(
            ERROR, "bad-position",
            f"{table.path}: places of sensors must be numbers",
            "fill or correct them; a sensor without a place needs a graph (--graph)",
            wrong,
        )  # fmt: skip
        return positions
    if naming.are_geographic(place):
        refuse_outside(table, positions, names, findings)
    same: dict[tuple[float, ...], str] = {}
    for name, spot in zip(names, positions.tolist(), strict=True):
        other = same.setdefault(tuple(spot), name)
        if other != name:
            findings.add(
                WARNING, "same-place",
                f"{table.path}: {other!r} and {name!r} are at the same place",
                "correct one, unless they really are side by side",
            )  # fmt: skip
    return positions


def refuse_outside(
    table: Table, positions: Matrix, names: Sequence[str], findings: Findings
) -> None:
    """Add what is no latitude or longitude to the findings."""
    lat, lon = positions.T
    findings.add_rows(
        np.flatnonzero((np.abs(lat) > 90) | (lon < -180) | (lon > 360)),
        lambda row: f"{names[row]!r}: {lat[row]:g}, {lon[row]:g}",
        ERROR, "outside",
        f"{table.path}: latitude must be within [-90, 90], longitude within "
        f"[-180, 360]",
        "correct it; or are latitude and longitude swapped?",
    )  # fmt: skip
