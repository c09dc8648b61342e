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
    is_number_column,
    labels,
    numeric,
)

DEGREE = 111.195
"""Kilometres of a degree of latitude."""


@dataclass(frozen=True)
class Sensors:
    """Who measures, and where.

    Parameters
    ----------
    names : tuple of V strings
    positions : array (V, 2) or None
        Latitude and longitude if ``is_geographic``, else x and y.
    is_geographic : bool
    attributes : dict of name to array (V,)
        What else is known of every sensor, in numbers.
    columns : tuple of two strings
        What the positions were called.
    """

    names: tuple[str, ...]
    positions: Matrix | None = None
    is_geographic: bool = False
    attributes: dict[str, Vector] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    def plane(self) -> Matrix:
        """Return places in a plane: kilometres around the middle, or x and y."""
        if self.positions is None:
            raise ValueError("positions must be known")
        if not self.is_geographic:
            centred: Matrix = self.positions - self.positions.mean(axis=0)
            return centred
        lat, lon = self.positions.T
        # around the mean direction: longitudes go round
        middle = np.angle(np.exp(1j * np.radians(lon)).sum(), deg=True)
        east = (lon - middle + 180) % 360 - 180
        north = lat - lat.mean()
        width = np.cos(np.radians(lat.mean()))
        plane: Matrix = DEGREE * np.column_stack([east * width, north])
        return plane

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
    text = [name for name in header if not is_number_column(table, name)]
    column = (
        naming.alike(header, [sensor] if sensor else [])
        or _find_named(table, header, readings)
        or naming.find_sensor(header)
        or naming.alike(text, readings)
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
    if not _are_distinct(table, names, findings):
        return None
    place = place_columns(header)
    positions = _positions(table, names, place, findings)
    attributes = _attributes(table, names, {column, *place}, findings)
    if findings.of(ERROR):
        return None
    is_geographic = bool(place) and naming.are_geographic(place)
    return Sensors(tuple(names), positions, is_geographic, attributes, place)


def _find_named(table: Table, header: list[str], readings: Sequence[str]) -> str:
    """Return the column that names the most columns of readings, if two or more."""
    known = {name.casefold() for name in readings}
    counts = {
        name: sum(label.casefold() in known for label in set(labels(table, name)))
        for name in header
    }
    best = max(counts, key=lambda name: counts[name], default="")
    return best if best and counts[best] >= 2 else ""


def _attributes(
    table: Table, names: list[str], used: set[str], findings: Findings
) -> dict[str, Vector]:
    """Return the columns of numbers that are known of all sensors, and differ."""
    attributes = {
        name: numeric(table, name).values
        for name in table.header
        if name and name not in used and is_number_column(table, name)
    }
    incomplete = [name for name, values in attributes.items() if np.isnan(values).any()]
    for name in incomplete:
        lacking = [names[i] for i in np.flatnonzero(np.isnan(attributes.pop(name)))]
        findings.add(
            WARNING, "attribute-missing",
            f"{table.path}: {name} is not used: it is not known of all sensors",
            "fill it to let it join the inputs", lacking,
        )  # fmt: skip
    return {name: v for name, v in attributes.items() if np.ptp(v) != 0}


def place_columns(header: list[str]) -> tuple[str, ...]:
    """Return the columns of latitude and longitude, or of x and y; none if neither."""
    for pair in ((naming.LATITUDE, naming.LONGITUDE), (("x",), ("y",))):
        found = tuple(naming.alike(header, known) for known in pair)
        if all(found):
            return found
    return ()


def _are_distinct(table: Table, names: list[str], findings: Findings) -> bool:
    nameless = [table.where(row) for row, name in enumerate(names) if not name]
    if nameless:
        findings.add(
            ERROR, "empty-sensor", f"{table.path}: every row must name a sensor",
            "fill the cell, or remove the row", nameless,
        )  # fmt: skip
    first: dict[str, int] = {}
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
    return not nameless and not twice


def _positions(
    table: Table, names: list[str], place: tuple[str, ...], findings: Findings
) -> Matrix | None:
    if not place:
        return None
    columns = [numeric(table, name, decimal=_decimal(table, name)) for name in place]
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
    elif naming.are_geographic(place):
        refuse_outside(table, positions, names, findings)
    same: dict[tuple[float, ...], str] = {}
    for name, spot in zip(names, positions.tolist(), strict=True):
        other = same.setdefault(tuple(spot), name)
        if other != name and not wrong:
            findings.add(
                WARNING, "same-place",
                f"{table.path}: {other!r} and {name!r} are at the same place",
                "correct one, unless they really are side by side",
            )  # fmt: skip
    return positions


def _decimal(table: Table, name: str) -> str:
    """Return what separates decimals of places: 53,123 is no number of thousands."""
    found = find_decimal(table, name)
    return COMMA if found == UNCLEAR else found


def refuse_outside(
    table: Table, positions: Matrix, names: list[str], findings: Findings
) -> None:
    """Add what is no latitude or longitude to the findings."""
    lat, lon = positions.T
    is_outside = (np.abs(lat) > 90) | (lon < -180) | (lon > 360)
    if is_outside.any():
        findings.add(
            ERROR, "outside",
            f"{table.path}: latitude must be within [-90, 90], longitude within "
            f"[-180, 360]",
            "correct it; or are latitude and longitude swapped?",
            [
                f"{names[row]!r}: {lat[row]:g}, {lon[row]:g}"
                for row in np.flatnonzero(is_outside).tolist()
            ],
        )  # fmt: skip
