"""The rows of a table as readings of sensors, and as gaps to be filled."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halk._validation import Indices, Matrix, Vector
from halk.data.findings import ERROR, NOTE, WARNING, Findings, counted, shorten, suggest
from halk.data.naming import are_geographic
from halk.data.schema import TIME, Schema
from halk.data.sensors import Sensors, refuse_outside
from halk.data.table import (
    Column,
    Labels,
    Table,
    Words,
    find_labels,
    is_empty_word,
    read_numbers,
)
from halk.data.times import has_zone, to_seconds

STANDING = 1e-4
"""How far a sensor may move, in the size of the network, and count as standing."""


@dataclass(frozen=True)
class Readings:
    """All rows of a table, in its order."""

    sensor: Indices  # (n,), by number; -1 if the row cannot be used
    x: Matrix  # (n, p), inputs in their own units, times in seconds since 1970
    y: Vector  # (n,), NaN where there is no reading: a gap

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
        return self.take(self.is_reading)

    def take(self, rows: NDArray[Any]) -> "Readings":
        """Return some of the rows, by mask or by number."""
        return Readings(self.sensor[rows], self.x[rows], self.y[rows])


def read_readings(
    table: Table,
    schema: Schema,
    sensors: Sensors | None,
    findings: Findings,
    missing: Collection[float | str] = (),
    skips: bool = False,
) -> tuple[Readings, Sensors, Schema]:
    """Return the readings of a table that has a row for each; find sensors if unknown.

    What cannot be used is an error, or, with ``skips``, left out and said.
    """
    names = find_labels(table, schema.sensor)
    inputs = [
        read_times(table, one.name, schema.dates)
        if one.kind == TIME
        else read_numbers(table, one.name, decimal=schema.decimal)
        for one in schema.inputs
    ]
    if schema.target in table.header:
        codes = {*schema.missing, *missing}
        values = read_numbers(table, schema.target, codes, schema.decimal)
    else:
        none = np.full(table.n_rows, np.nan)
        values = Column(schema.target, none, np.isnan(none), np.isfinite(none))
    for column in inputs:
        if column.is_time:
            _warn_of_mixed_zones(table, column, findings)
    level = WARNING if skips else ERROR
    is_bad = _find_bad_rows(table, names, inputs, values, level, findings)
    schema, inputs, found = _places(table, schema, names, inputs, sensors, findings)
    index = _indices(table, names, found, level, findings)
    x = np.column_stack([column.values for column in inputs])
    y = _only_good(table, schema, values.values, findings)
    y = _within_limits(table, schema, y, findings)
    index[np.isnan(x).any(axis=1) | (is_bad & skips)] = -1
    return Readings(index, x, y), found, schema


def read_times(table: Table, name: str, order: str = "") -> Column:
    """Return a column of times, in seconds since 1970."""
    column = table.column(name)
    values = to_seconds(column, order)
    if isinstance(column, Words):
        is_empty = column.map(is_empty_word)
    else:
        is_empty = np.isnat(column) if column.dtype.kind == "M" else np.isnan(column)
    return Column(name, values, is_empty, np.isnan(values) & ~is_empty, True)


def _only_good(table: Table, schema: Schema, y: Vector, findings: Findings) -> Vector:
    """Return values without those whose quality flag is not good."""
    flags = schema.flags
    if not flags or schema.target not in table.header:
        return y
    if flags not in table.header:
        findings.add(
            ERROR, "no-such-column",
            f"{table.path}: there is no column {flags!r}{suggest(flags, table.header)}",
            "name the column of quality flags with --flags",
        )  # fmt: skip
        return y
    found = find_labels(table, flags)
    listed = [
        f"{name or 'empty'}: {counted(n, 'row')}" for name, n in found.counts().items()
    ]
    if not schema.good:
        findings.add(
            ERROR, "no-good",
            f"{table.path}: which flags of column {flags} are good must be said",
            "name them with --good, such as --good 1,2", listed,
        )  # fmt: skip
        return y
    is_good = np.array([name in schema.good for name in found.names])[found.codes]
    n_out = int((~is_good & ~np.isnan(y)).sum())
    if n_out:
        findings.add(
            NOTE, "flagged",
            f"{table.path}: {counted(n_out, 'value')} left out: {flags} is not "
            f"{' or '.join(schema.good)}", places=listed,
        )  # fmt: skip
    return np.where(is_good, y, np.nan)


def _within_limits(
    table: Table, schema: Schema, y: Vector, findings: Findings
) -> Vector:
    """Return values without those that cannot be."""
    low, high = schema.limits or (-np.inf, np.inf)
    is_out = (y < low) | (y > high)
    rows = np.flatnonzero(is_out)
    findings.add_rows(
        rows, lambda row: f"{table.where(row)}: {y[row]:g}",
        NOTE, "outside-range",
        f"{table.path}: {counted(len(rows), 'value')} of {schema.target} left out: "
        f"not within {low:g} and {high:g}",
    )  # fmt: skip
    return np.where(is_out, np.nan, y)


def _find_bad_rows(
    table: Table,
    names: Labels,
    inputs: list[Column],
    values: Column,
    level: str,
    findings: Findings,
) -> NDArray[np.bool_]:
    """Add cells that are not what they should be; return the rows they are in."""
    is_bad: NDArray[np.bool_] = np.zeros(table.n_rows, bool)
    times = "hold times such as 2024-05-31 or 2024-05-31T12:00"
    rules = {True: times, False: "hold finite numbers"}
    columns = (*inputs, values)
    kinds = [(one, one.is_wrong, "bad-cell", rules[one.is_time]) for one in columns]
    kinds += [(one, one.is_empty, "empty-input", "be filled") for one in inputs]
    for column, is_wrong, code, rule in kinds:
        rows = np.flatnonzero(is_wrong)
        is_bad |= is_wrong

        def show(row: int, name: str = column.name) -> str:
            cell = repr(table.cell(name, row))
            shown = "empty" if cell == "''" else cell
            return f"{table.where(row, names.of(row))}: {name} is {shown}"

        findings.add_rows(
            rows, show,
            level, code,
            f"{table.path}: column {column.name} must {rule}, which fails in "
            f"{counted(len(rows), 'row')}",
            _advice(table, column, rows, code, level),
        )  # fmt: skip
    is_nameless = np.array([not name for name in names.names], bool)[names.codes]
    findings.add_rows(
        np.flatnonzero(is_nameless), table.where,
        level, "empty-sensor", f"{table.path}: every row must name a sensor",
        "fill the cell, or --skip-bad to leave such rows out",
    )  # fmt: skip
    is_bad |= is_nameless
    return is_bad


def _advice(table: Table, column: Column, rows: Indices, code: str, level: str) -> str:
    if level == WARNING or not len(rows):
        return "these rows are left out"
    skip = "--skip-bad to leave such rows out"
    if code == "empty-input":
        return f"fill them, or {skip}"
    cells = table.column(column.name)
    if isinstance(cells, Words) and not column.is_time:
        cell = table.cell(column.name, int(rows[0]))
        if cell.replace(",", ".").replace(".", "", 1).isdigit():
            return "write decimals with a point and no separators of thousands"
        n_again = int((cells.codes == cells.codes[rows[0]]).sum())
        if n_again > 1 and cell.replace("_", "").isalpha():
            return (
                f"if {cell} means no reading, add --missing {cell}; else correct them, "
                f"or {skip}"
            )
    return f"correct them, empty them, or {skip}"


def _warn_of_mixed_zones(table: Table, column: Column, findings: Findings) -> None:
    """Warn of times of which only some say their zone: the others count as UTC."""
    cells = table.column(column.name)
    if not isinstance(cells, Words):
        return  # all are of one type
    zoned = cells.map(has_zone)
    without = np.flatnonzero(column.is_known & ~zoned)
    if (column.is_known & zoned).any():
        findings.add_rows(
            without,
            lambda row: f"{table.where(row)}: {table.cell(column.name, row)}",
            WARNING, "mixed-zones",
            f"{table.path}: column {column.name} has times with a zone and "
            f"{counted(len(without), 'row')} without, which count as UTC",
            "write all times with their zone, such as 2024-05-31T12:00+02:00",
        )  # fmt: skip


def _places(
    table: Table,
    schema: Schema,
    names: Labels,
    inputs: list[Column],
    sensors: Sensors | None,
    findings: Findings,
) -> tuple[Schema, list[Column], Sensors]:
    """Take places of sensors out of the inputs, if sensors stay where they are."""
    number = {name: k for k, name in enumerate(names.names) if name}
    known = tuple(sorted(number))
    if not schema.position:
        return schema, inputs, sensors or Sensors(known)
    by_name = {column.name: column.values for column in inputs}
    spots = np.column_stack([by_name[name] for name in schema.position])
    is_known = ~np.isnan(spots).any(axis=1)
    codes, rows = np.unique(names.codes[is_known], return_index=True)
    first = np.full(len(names.names), -1)  # row in which each is first somewhere
    first[codes] = np.flatnonzero(is_known)[rows]
    apart = np.abs(spots - spots[np.maximum(first, 0)[names.codes]])
    size = np.nanmax(np.ptp(spots[is_known], axis=0), initial=0.0)
    is_standing = bool(((apart <= STANDING * size) | np.isnan(spots)).all())
    if sensors is None and is_standing:
        at, sensors = first[[number[name] for name in known]], Sensors(known)
        if (at >= 0).all():
            is_geographic = are_geographic(schema.position)
            if is_geographic:
                refuse_outside(table, spots[at], known, findings)
            sensors = Sensors(known, spots[at], is_geographic, {}, schema.position)
    elif sensors is None:
        findings.add(
            WARNING, "moving",
            f"{table.path}: sensors move, so {' and '.join(schema.position)} are "
            f"inputs; who is whose neighbour must be said by --sensors or --graph",
        )  # fmt: skip
    others = [one for one in schema.inputs if one.name not in schema.position]
    if is_standing and others:
        inputs = [column for column in inputs if column.name not in schema.position]
        schema = replace(schema, inputs=tuple(others))
    return replace(schema, position=()), inputs, sensors or Sensors(known)


def _indices(
    table: Table, names: Labels, sensors: Sensors, level: str, findings: Findings
) -> Indices:
    """Return the sensor of every row, by number; -1 for those that are unknown."""
    number = {name: i for i, name in enumerate(sensors.names)}
    of_name = np.array([number.get(name, -1) for name in names.names], dtype=np.int64)
    codes, rows = np.unique(names.codes, return_index=True)
    is_unknown = np.array([bool(names.names[code]) for code in codes])
    first = np.sort(rows[is_unknown & (of_name[codes] < 0)])
    findings.add_rows(
        first,
        lambda row: f"{table.where(row)}: {names.of(row)!r}"
        f"{suggest(names.of(row), sensors.names)}",
        level, "unknown-sensor",
        f"{table.path}: {counted(len(first), 'sensor')} not among the known ones",
        f"the table of sensors has {shorten(sensors.names)}: write names alike, or add "
        f"them there, or --skip-bad to leave their rows out",
    )  # fmt: skip
    return of_name[names.codes]
