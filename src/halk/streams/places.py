"""Where the sensors of a table are, and whose each row is."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.streams.cells import numbers
from halk.streams.errors import DataError
from halk.streams.files import meant, problems
from halk.streams.naming import are_geographic
from halk.streams.rows import Table


class Places(NamedTuple):
    """A map of sensors."""

    path: str
    names: tuple[str, ...]
    positions: Matrix
    is_geographic: bool


def located(
    table: Table,
    sensors: Sequence[str],
    columns: Sequence[str],
    is_geographic: bool | None,
) -> Places:
    """Return the sensors of a table and their places, in the order they appear."""
    rows = np.arange(len(sensors))
    xy = np.column_stack([numbers(table, name, sensors, rows) for name in columns])
    if is_geographic is None:
        is_geographic = are_geographic(columns)
    if is_geographic:
        _refuse_outside(table, sensors, columns[0], xy[:, 0], (-90, 90))
        _refuse_outside(table, sensors, columns[1], xy[:, 1], (-180, 360))
    first: dict[str, int] = {}
    start = np.array([first.setdefault(name, row) for row, name in enumerate(sensors)])
    _refuse_moved(table, sensors, xy, start)
    if len(first) < 2:
        raise DataError(
            f"{table.path}: a network must have at least two sensors, "
            f"got one, {sensors[0]!r}"
        )
    return Places(table.path, tuple(first), xy[list(first.values())], is_geographic)


def placed(table: Table, sensors: Sequence[str], places: Places) -> Indices:
    """Return the number of the sensor of each row."""
    number = {name: i for i, name in enumerate(places.names)}
    found: dict[str, str] = {}
    for row, name in enumerate(sensors):
        if name not in number and name not in found:
            rule = f"sensor must be one of the map {places.path}"
            hint = meant(name, places.names)
            found[name] = f"{table.where(row)}: {rule}, got {name!r}{hint}"
    if found:
        raise problems(list(found.values()), "add it to the map, or remove its rows")
    return np.array([number[name] for name in sensors], dtype=np.int64)


def refuse_repeated(
    table: Table,
    sensors: Sequence[str],
    rows: Indices,
    agent: Indices,
    x: Matrix,
    inputs: Sequence[str],
) -> None:
    """Raise if a sensor has two readings at the same inputs."""
    order = np.lexsort((*x.T[::-1], agent))
    same = (x[order][1:] == x[order][:-1]).all(axis=1)
    same &= agent[order][1:] == agent[order][:-1]
    at = np.flatnonzero(same)
    if not len(at):
        return
    pairs = np.sort(np.column_stack((order[at], order[at + 1])))
    pairs = pairs[np.argsort(pairs[:, 1])]
    what = ", ".join(inputs)
    found = [
        f"{table.where(rows[one], sensors[rows[one]])}: {what} must differ from "
        f"{table.word} {table.numbers[rows[other]]}, got {_point(x[one])} in both"
        for other, one in pairs.tolist()
    ]
    raise problems(
        found,
        "keep one, take their mean, or add the column in which they differ to inputs=",
    )


def _refuse_moved(
    table: Table, sensors: Sequence[str], xy: Matrix, start: Indices
) -> None:
    """Raise if a row's position is not that of ``start``, its sensor's first row."""
    found = [
        f"{table.where(row, sensors[row])}: position must stay at "
        f"{_point(xy[start[row]])} of {table.word} {table.numbers[start[row]]}, "
        f"got {_point(xy[row])}"
        for row in np.flatnonzero((xy != xy[start]).any(axis=1)).tolist()
    ]
    if found:
        advice = "correct it, or give the sensor at each place its own name"
        raise problems(found, advice)


def _refuse_outside(
    table: Table,
    sensors: Sequence[str],
    column: str,
    values: Vector,
    limits: tuple[int, int],
) -> None:
    low, high = limits
    found = [
        f"{table.where(row, sensors[row])}: {column} must be within [{low}, {high}], "
        f"got {values[row]:g}"
        for row in np.flatnonzero((values < low) | (values > high)).tolist()
    ]
    if found:
        raise problems(found, "correct it; or are latitude and longitude swapped?")


def _point(values: Vector) -> str:
    text = ", ".join(f"{value:.10g}" for value in values)
    return text if len(values) == 1 else f"({text})"
