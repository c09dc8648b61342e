"""A table of the readings of all sensors, as one list of rows per agent."""

from __future__ import annotations

from typing import Any

import numpy as np

from halk.data import read_table
from halk.data.findings import suggest
from halk.data.lines import Columns, Row
from halk.data.readings import read_times
from halk.data.table import labels, read_numbers
from halk.data.times import are_times
from halk.deploy.keys import Keys

Shares = dict[str, list[Row]]


def shares(keys: Keys, path: Any, sensor: str, columns: Columns) -> Shares:
    """Return the rows of every sensor, in the order of the table."""
    table = read_table(path)
    for word, name in _asked(sensor, columns):
        if name not in table.header:
            there = ", ".join(table.header)
            hint = suggest(name, table.header)
            keys.refuse(
                word, f"must be a column of {path}, got {name!r}{hint}; it has {there}"
            )
    inputs = [
        read_times(table, name)
        if are_times(table.column(name))
        else read_numbers(table, name)
        for name in columns.inputs
    ]
    value = read_numbers(table, columns.value)
    X = np.column_stack([column.values for column in inputs])
    found: Shares = {}
    for k, name in enumerate(labels(table, sensor)):
        rows = found.setdefault(name, [])
        rows.append(
            _row(len(rows) + 2, X[k], float(value.values[k]), value.is_wrong[k])
        )
    if "" in found:
        n = len(found[""])
        keys.refuse("sensor", f"must be filled in all rows of {path}: {n} are empty")
    return found


def _asked(sensor: str, columns: Columns) -> list[tuple[str, str]]:
    inputs = [("inputs", name) for name in columns.inputs]
    return [("sensor", sensor), *inputs, ("value", columns.value)]


def _row(line: int, x: Any, y: float, is_wrong: Any) -> Row:
    if np.isnan(x).any() or is_wrong:
        return Row(line, None, None, "has a cell that is no finite number")
    return Row(line, tuple(x.tolist()), None if y != y else y)


def as_csv(rows: list[Row], columns: Columns) -> str:
    """Return rows as a file, in which every number is the same bit for bit.

    A bad row stays one: in lockstep every row is a step.
    """
    names = [f'"{name}"' for name in (*columns.inputs, columns.value)]
    lines = [",".join(names)]
    for row in rows:
        x = ["?" for _ in columns.inputs] if row.x is None else map(repr, row.x)
        lines.append(",".join([*x, "" if row.y is None else repr(row.y)]))
    return "\n".join([*lines, ""])
