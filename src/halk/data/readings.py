"""The rows of a table as readings of sensors, and as gaps to be filled."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from halk._validation import Indices, Matrix, Vector
from halk.data.files import meant
from halk.data.findings import ERROR, NOTE, WARNING, Findings, counted, listed
from halk.data.naming import are_geographic
from halk.data.schema import TIME, Input, Schema
from halk.data.sensors import Sensors, refuse_outside
from halk.data.table import (
    Column,
    Labels,
    Table,
    Words,
    find_labels,
    is_empty_word,
    numeric,
)
from halk.data.times import has_zone, to_seconds

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
    missing: Collection[float | str] = (),
    skips: bool = False,
) -> tuple[Readings, Sensors, Schema]:
    """Return the readings of a table that has a row for each; find sensors if unknown.

    What cannot be used is an error, or, with ``skips``, left out and said.
    """
    names = find_labels(table, schema.sensor)
    inputs = [_input(table, one, schema) for one in schema.inputs]
    values = _values(table, schema, missing)
    for column in inputs:
        if column.is_time:
            warn_of_mixed_zones(table, column, findings)
    level = WARNING if skips else ERROR
    is_bad = _bad_cells(table, names, inputs, values, level, findings)
    schema, inputs, found = _places(table, schema, names, inputs, sensors, findings)
    index = _indices(table, names, found, level, findings)
    if skips:
        index[is_bad] = -1
    x = np.column_stack([column.values for column in inputs])
    y = np.where(values.is_known, values.values, np.nan)
    y = _without_flagged(table, schema, y, findings)
    y = _within_limits(table, schema, y, findings)
    index[np.isnan(x).any(axis=1)] = -1
    return Readings(index, x, y), found, schema


def _input(table: Table, one: Input, schema: Schema) -> Column:
    if one.kind == TIME:
        return timed(table, one.name, schema.dates)
    return numeric(table, one.name, decimal=schema.decimal)


def timed(table: Table, name: str, order: str = "") -> Column:
    """Return a column of times, in seconds since 1970."""
    column = table.column(name)
    values = to_seconds(column, order)
    if isinstance(column, Words):
        is_empty = column.take(np.array([is_empty_word(w) for w in column.words], bool))
    else:
        is_empty = np.isnat(column) if column.dtype.kind == "M" else np.isnan(column)
    return Column(name, values, is_empty, np.isnan(values) & ~is_empty, True)


def _values(table: Table, schema: Schema, missing: Collection[float | str]) -> Column:
    """Return the column of values; without one, there is none anywhere."""
    if schema.target in table.header:
        return numeric(table, schema.target, missing, schema.decimal)
    n = table.n_rows
    return Column(
        schema.target, np.full(n, np.nan), np.ones(n, bool), np.zeros(n, bool)
    )


def _without_flagged(
    table: Table, schema: Schema, y: Vector, findings: Findings
) -> Vector:
    """Return values without those whose quality flag is not good."""
    if not schema.flags or schema.target not in table.header:
        return y
    if schema.flags not in table.header:
        findings.add(
            ERROR, "no-such-column",
            f"{table.path}: there is no column {schema.flags!r}"
            f"{meant(schema.flags, table.header)}",
            "name the column of quality flags with --flags",
        )  # fmt: skip
        return y
    found = find_labels(table, schema.flags)
    counts = np.bincount(found.codes, minlength=len(found.names)).tolist()
    held = zip(found.names, counts, strict=True)
    listed = [f"{name or 'empty'}: {counted(n, 'row')}" for name, n in held]
    if not schema.good:
        findings.add(
            ERROR, "no-good",
            f"{table.path}: which flags of column {schema.flags} are good must be said",
            "name them with --good, such as --good 1,2", listed,
        )  # fmt: skip
        return y
    is_good = np.array([name in schema.good for name in found.names])[found.codes]
    n_out = int((~is_good & ~np.isnan(y)).sum())
    if n_out:
        findings.add(
            NOTE, "flagged",
            f"{table.path}: {counted(n_out, 'value')} left out: {schema.flags} is not "
            f"{' or '.join(schema.good)}",
            places=listed,
        )  # fmt: skip
    return np.where(is_good, y, np.nan)


def _within_limits(
    table: Table, schema: Schema, y: Vector, findings: Findings
) -> Vector:
    """Return values without those that cannot be."""
    if schema.limits is None:
        return y
    low, high = schema.limits
    is_out = (y < low) | (y > high)
    if is_out.any():
        rows = np.flatnonzero(is_out).tolist()
        findings.add(
            NOTE, "outside-range",
            f"{table.path}: {counted(len(rows), 'value')} of {schema.target} left out: "
            f"not within {low:g} and {high:g}",
            places=[f"{table.where(row)}: {y[row]:g}" for row in rows],
        )  # fmt: skip
    return np.where(is_out, np.nan, y)


def _bad_cells(
    table: Table,
    names: Labels,
    inputs: list[Column],
    values: Column,
    level: str,
    findings: Findings,
) -> NDArray[np.bool_]:
    """Add cells that are not what they should be; return the rows they are in."""
    is_bad = np.zeros(table.n_rows, bool)
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
                _advice(table, column, int(rows[0]), code, level),
                [_place(table, names, column.name, row) for row in rows.tolist()],
            )  # fmt: skip
    is_nameless = np.array([not name for name in names.names])[names.codes]
    is_bad |= is_nameless
    if is_nameless.any():
        findings.add(
            level, "empty-sensor", f"{table.path}: every row must name a sensor",
            "fill the cell, or --skip-bad to leave such rows out",
            [table.where(row) for row in np.flatnonzero(is_nameless).tolist()],
        )  # fmt: skip
    return is_bad


def _rule(column: Column) -> str:
    if column.is_time:
        return "hold times such as 2024-05-31 or 2024-05-31T12:00"
    return "hold finite numbers"


def _place(table: Table, names: Labels, column: str, row: int) -> str:
    cell = table.cell(column, row)
    shown = "empty" if isinstance(cell, str) and not cell else repr(cell)
    return f"{table.where(row, names.of(row))}: {column} is {shown}"


def _advice(table: Table, column: Column, row: int, code: str, level: str) -> str:
    if level == WARNING:
        return "these rows are left out"
    cell, cells = table.cell(column.name, row), table.column(column.name)
    if isinstance(cell, str) and cell.replace(",", ".").replace(".", "", 1).isdigit():
        return "write decimals with a point and no separators of thousands"
    if isinstance(cells, Words) and code == "bad-cell" and not column.is_time:
        n_again = int((cells.codes == cells.codes[row]).sum())
        if n_again > 1 and cell.replace("_", "").isalpha():
            return (
                f"if {cell} means no reading, add --missing {cell}; else correct them, "
                f"or --skip-bad to leave such rows out"
            )
    if code == "empty-input":
        return "fill them, or --skip-bad to leave such rows out"
    return "correct them, empty them, or --skip-bad to leave such rows out"


def warn_of_mixed_zones(table: Table, column: Column, findings: Findings) -> None:
    """Warn of times of which only some say their zone: the others count as UTC."""
    cells = table.column(column.name)
    if not isinstance(cells, Words):
        return  # all are of one type
    zoned = cells.take(np.array([has_zone(word) for word in cells.words], bool))
    without = np.flatnonzero(column.is_known & ~zoned).tolist()
    if not without or not (column.is_known & zoned).any():
        return
    findings.add(
        WARNING, "mixed-zones",
        f"{table.path}: column {column.name} has times with a zone and "
        f"{counted(len(without), 'row')} without, which count as UTC",
        "write all times with their zone, such as 2024-05-31T12:00+02:00",
        [f"{table.where(row)}: {table.cell(column.name, row)}" for row in without],
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
    known = tuple(sorted(name for name in names.names if name))
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
        sensors = _standing(table, schema, names, spots, first, findings)
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


def _standing(
    table: Table,
    schema: Schema,
    names: Labels,
    spots: Matrix,
    first: Indices,
    findings: Findings,
) -> Sensors:
    is_geographic = are_geographic(schema.position)
    order = sorted((name, first[k]) for k, name in enumerate(names.names) if name)
    known = tuple(name for name, _ in order)
    if any(row < 0 for _, row in order):
        return Sensors(known)
    positions = spots[[row for _, row in order]]
    if is_geographic:
        refuse_outside(table, positions, list(known), findings)
    return Sensors(known, positions, is_geographic, {}, schema.position)


def _indices(
    table: Table, names: Labels, sensors: Sensors, level: str, findings: Findings
) -> Indices:
    """Return the sensor of every row, by number; -1 for those that are unknown."""
    number = {name: i for i, name in enumerate(sensors.names)}
    of_name = np.array([number.get(name, -1) for name in names.names], dtype=np.int64)
    unknown = [k for k, name in enumerate(names.names) if name and of_name[k] < 0]
    if unknown:
        codes, rows = np.unique(names.codes, return_index=True)
        first = dict(zip(codes.tolist(), rows.tolist(), strict=True))
        unknown.sort(key=lambda k: first[k])
        findings.add(
            level, "unknown-sensor",
            f"{table.path}: {counted(len(unknown), 'sensor')} not among the known ones",
            f"the table of sensors has {listed(sensors.names)}: write names alike, or "
            f"add them there, or --skip-bad to leave their rows out",
            [
                f"{table.where(first[k])}: {names.names[k]!r}"
                f"{meant(names.names[k], sensors.names)}"
                for k in unknown
            ],
        )  # fmt: skip
    return of_name[names.codes]
