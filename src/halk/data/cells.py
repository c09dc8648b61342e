"""Columns of cells as numbers, with what is missing and what is none told apart."""

from collections.abc import Collection
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Vector
from halk.data.times import to_seconds
from halk.streams.cells import number
from halk.streams.rows import Table

UNKNOWN = {"", "-", "--", "?", "na", "n/a", "nan", "nil", "none", "null", "missing"}
"""What cells without a value hold, in any case."""


class Column(NamedTuple):
    """A column as numbers."""

    name: str
    values: Vector  # NaN where there is none
    is_empty: NDArray[np.bool_]
    is_wrong: NDArray[np.bool_]  # something is there, but no finite number
    is_time: bool = False

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Where there is a number."""
        return ~(self.is_empty | self.is_wrong)


def numeric(table: Table, name: str, missing: Collection[float] = ()) -> Column:
    """Return a column of numbers; those among ``missing`` stand for none."""
    cells = table.cells(name)
    values = cells if isinstance(cells, np.ndarray) else _floats(cells)
    if isinstance(cells, np.ndarray) and cells.dtype.kind != "f":
        return _all_wrong(name, len(cells))
    is_empty = _empty(cells, values)
    for value in missing:
        is_empty |= values == value
    is_wrong = ~np.isfinite(values) & ~is_empty
    return Column(
        name, np.where(is_empty | is_wrong, np.nan, values), is_empty, is_wrong
    )


def timed(table: Table, name: str) -> Column:
    """Return a column of times, in seconds since 1970."""
    cells = table.cells(name)
    values = to_seconds(cells)
    if isinstance(cells, np.ndarray):
        is_time = cells.dtype.kind == "M"
        is_empty = np.isnan(values) if is_time else np.isnan(cells)
    else:
        is_empty = _empty(cells, values)
    return Column(name, values, is_empty, np.isnan(values) & ~is_empty, True)


def is_number_column(table: Table, name: str) -> bool:
    """Return whether what is filled among the first cells is mostly numbers."""
    cells = table.cells(name)
    if isinstance(cells, np.ndarray):
        return bool(cells.dtype.kind == "f")
    filled = (cell for cell in cells if str(cell).casefold() not in UNKNOWN)
    known = list(islice(filled, 200))
    found = sum(np.isfinite(number(cell)) for cell in known)
    return bool(known) and 2 * found > len(known)


def labels(table: Table, name: str) -> list[str]:
    """Return the names in a column; empty where there is none."""
    cells = table.cells(name)
    if isinstance(cells, np.ndarray):
        cells = ["" if cell != cell else cell for cell in cells.tolist()]
    known: dict[Any, str] = {}
    return [known.get(cell) or known.setdefault(cell, _label(cell)) for cell in cells]


def _label(cell: Any) -> str:
    # whole numbers arrive as floats where a tool knew of no missing integers
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    text = str(cell).strip()
    return "" if text.casefold() in UNKNOWN else text


def _floats(cells: list[Any]) -> Vector:
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
        if not any("_" in cell for cell in cells if isinstance(cell, str)):
            return values
    except (TypeError, ValueError):
        pass
    return np.array([number(cell) for cell in cells], dtype=np.float64)


def _empty(cells: Any, values: Vector) -> NDArray[np.bool_]:
    is_empty = np.isnan(values)
    if not isinstance(cells, np.ndarray):
        for row in np.flatnonzero(is_empty).tolist():
            is_empty[row] = str(cells[row]).strip().casefold() in UNKNOWN
    return is_empty


def _all_wrong(name: str, n: int) -> Column:
    return Column(name, np.full(n, np.nan), np.zeros(n, bool), np.ones(n, bool))
