"""The rows of a table as readings of sensors, and as gaps to be filled."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halk._validation import Indices, Matrix, Vector
from halk.data.cells import Column, labels, numeric, timed
from halk.data.findings import ERROR, WARNING, Findings, counted
from halk.data.schema import TIME, Schema
from halk.data.sensors import Sensors, refuse_outside
from halk.data.zones import warn_of_mixed_zones
from halk.streams.files import meant
from halk.streams.naming import are_geographic
from halk.streams.rows import Table

STANDING = 1e-4
"""How far a sensor may move, in the size of the network, and count as standing."""


@dataclass(frozen=True)
class Readings:
    """All rows of a table, in its order.

    Parameters
    ----------
    sensor : int array (n,)
        Index of the sensor; -1 if the row cannot be used.
    x : array (n, p)
        Inputs in their own units, times in seconds since 1970.
    y : array (n,)
        NaN where there is no reading: a gap.
    """

    sensor: Indices
    x: Matrix
    y: Vector

    @property
    def is_usable(self) -> NDArray[np.bool_]:
        """Where sensor and inputs are known."""
        return self.sensor >= 0

    @property
    def is_reading(self) -> NDArray[np.bool_]:
        """Where a value is known too."""
        return self.is_usable & ~np.isnan(self.y)

    @property
    def is_gap(self) -> NDArray[np.bool_]:
        """Where only the value is missing."""
        return self.is_usable & np.isnan(self.y)

    def with_values(self) -> "Readings":
        """Return the rows with a value."""
        kept = self.is_reading
        return Readings(self.sensor[kept], self.x[kept], self.y[kept])


def read_readings(
    table: Table,
    schema: Schema,
    sensors: Sensors | None,
    findings: Findings,
    missing: Collection[float] = (),
    skips: bool = False,
) -> tuple[Readings, Sensors, Schema]:
    """Return the rows of a table, and the sensors if they were not known before.

    What cannot be used is an error, or, with ``skips``, left out and said.
    """
    names = labels(table, schema.sensor)
    inputs = [
        timed(table, one.name) if one.kind == TIME else numeric(table, one.name)
        for one in schema.inputs
    ]
    values = _values(table, schema.target, missing)
    for column in inputs:
        if column.is_time:
            warn_of_mixed_zones(table, column, findings)
    level = WARNING if skips else ERROR
    is_bad = _bad_cells(table, names, inputs, values, level, findings)
    schema, inputs, found = _places(table, schema, names, inputs, sensors, findings)
    index = _find_sensor_index(table, names, found, level, findings)
    if skips:
        index[is_bad] = -1
    x = np.column_stack([column.values for column in inputs])
    y = np.where(values.is_known, values.values, np.nan)
    index[np.isnan(x).any(axis=1)] = -1
    return Readings(index, x, y), found, schema


def _values(table: Table, target: str, missing: Collection[float]) -> Column:
    """Return the column of values; without one, there is none anywhere."""
    if target in table.header:
        return numeric(table, target, missing)
    n = len(table.numbers)
    return Column(target, np.full(n, np.nan), np.ones(n, bool), np.zeros(n, bool))


def _bad_cells(
    table: Table,
    names: list[str],
    inputs: list[Column],
    values: Column,
    level: str,
    findings: Findings,
) -> NDArray[np.bool_]:
    """Add cells that are not what they should be; return the rows they are in."""
    is_bad = np.zeros(len(names), bool)
    kinds = [
        (column, column.is_wrong, "bad-cell", _rule(column))
        for column in (*inputs, values)
    ]
    kinds += [(one, one.is_empty, "empty-input", "be filled") for one in inputs]
    for column, is_wrong, code, rule in kinds:
        rows = np.flatnonzero(is_wrong)
        is_bad |= is_wrong
        if len(rows):
            findings.add(
                level, code,
                f"{table.path}: column {column.name} must {rule}, which fails in "
                f"{counted(len(rows), 'row')}",
                _advice(table, column.name, int(rows[0]), code, level),
                [_place(table, names, column.name, row) for row in rows.tolist()],
            )  # fmt: skip
    nameless = [row for row, name in enumerate(names) if not name]
    is_bad[nameless] = True
    if nameless:
        findings.add(
            level, "empty-sensor", f"{table.path}: every row must name a sensor",
            "fill the cell, or --skip-bad to leave such rows out",
            [table.where(row) for row in nameless],
        )  # fmt: skip
    return is_bad


def _rule(column: Column) -> str:
    if column.is_time:
        return "hold times such as 2024-05-31 or 2024-05-31T12:00"
    return "hold finite numbers"


def _place(table: Table, names: list[str], column: str, row: int) -> str:
    cell = table.cells(column)[row]
    shown = "empty" if isinstance(cell, str) and not cell else repr(cell)
    return f"{table.where(row, names[row])}: {column} is {shown}"


def _advice(table: Table, column: str, row: int, code: str, level: str) -> str:
    if level == WARNING:
        return "these rows are left out"
    cell = table.cells(column)[row]
    if isinstance(cell, str) and cell.replace(",", ".").replace(".", "", 1).isdigit():
        return "write decimals with a point and no separators of thousands"
    if code == "empty-input":
        return "fill them, or --skip-bad to leave such rows out"
    return "correct them, empty them, or --skip-bad to leave such rows out"


def _places(
    table: Table,
    schema: Schema,
    names: list[str],
    inputs: list[Column],
    sensors: Sensors | None,
    findings: Findings,
) -> tuple[Schema, list[Column], Sensors]:
    """Take places of sensors out of the inputs, if sensors stay where they are."""
    known = tuple(sorted({name for name in names if name}))
    if not schema.position:
        return schema, inputs, sensors or Sensors(known)
    place = [c for c in inputs if c.name in schema.position]
    place.sort(key=lambda column: schema.position.index(column.name))
    spots = np.column_stack([column.values for column in place])
    first: dict[str, int] = {}
    is_known = ~np.isnan(spots).any(axis=1)
    for row in np.flatnonzero(is_known).tolist():
        first.setdefault(names[row], row)
    start = np.array([first.get(name, 0) for name in names])
    apart = np.abs(spots - spots[start])
    same = (
        apart <= STANDING * np.nanmax(np.ptp(spots[is_known], axis=0), initial=0.0)
    ) | np.isnan(spots)
    others = [one for one in schema.inputs if one.name not in schema.position]
    if not same.all() or not others:
        if sensors is None and not same.all():
            findings.add(
                WARNING, "moving",
                f"{table.path}: sensors move, so {' and '.join(schema.position)} are "
                f"inputs; who is whose neighbour must be said by --sensors or --graph",
            )  # fmt: skip
        moving = replace(schema, position=())
        if sensors is None and same.all():
            sensors = _standing(table, schema, known, spots, first, findings)
        return moving, inputs, sensors or Sensors(known)
    if sensors is None:
        sensors = _standing(table, schema, known, spots, first, findings)
    kept = [column for column in inputs if column.name not in schema.position]
    return replace(schema, inputs=tuple(others), position=()), kept, sensors


def _standing(
    table: Table,
    schema: Schema,
    known: tuple[str, ...],
    spots: Matrix,
    first: dict[str, int],
    findings: Findings,
) -> Sensors:
    is_geographic = are_geographic(schema.position)
    if any(name not in first for name in known):
        return Sensors(known)
    positions = spots[[first[name] for name in known]]
    if is_geographic:
        refuse_outside(table, positions, list(known), findings)
    return Sensors(known, positions, is_geographic, {}, schema.position)


def _find_sensor_index(
    table: Table, names: list[str], sensors: Sensors, level: str, findings: Findings
) -> Any:
    number = {name: i for i, name in enumerate(sensors.names)}
    index = np.array([number.get(name, -1) for name in names], dtype=np.int64)
    first: dict[str, int] = {}
    for row in np.flatnonzero(index < 0).tolist():
        if names[row]:
            first.setdefault(names[row], row)
    if first:
        findings.add(
            level, "unknown-sensor",
            f"{table.path}: {counted(len(first), 'sensor')} not among the known ones",
            "add them to the table of sensors, or --skip-bad to leave their rows out",
            [
                f"{table.where(row)}: {name!r}{meant(name, sensors.names)}"
                for name, row in first.items()
            ],
        )  # fmt: skip
    return index
