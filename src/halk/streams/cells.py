"""From the cells of a table to numbers, or to messages that say which cell is wrong."""

from collections.abc import Sequence
from decimal import Decimal
from math import inf, isfinite, nan
from typing import Any

import numpy as np

from halk._validation import Indices, Vector
from halk.streams.files import problems
from halk.streams.rows import Table

_UNKNOWN = {"", "-", "--", "?", "na", "n/a", "nan", "nil", "none", "null"}


def number(cell: Any) -> float:
    """Return a cell as a number, NaN if it is none.

    Examples
    --------
    >>> number("1e3"), number("1_000"), number("deep")
    (1000.0, nan, nan)
    """
    if isinstance(cell, str):
        try:
            return nan if "_" in cell else float(cell)
        except ValueError:
            return nan
    is_number = isinstance(cell, int | float | Decimal) and not isinstance(cell, bool)
    try:
        return float(cell) if is_number else nan
    except OverflowError:  # a whole number of hundreds of digits
        return inf


def numbers(table: Table, column: str, sensors: Sequence[str], rows: Indices) -> Vector:
    """Return some rows of a column, which must all be finite numbers."""
    cells = table.cells(column)
    values = np.array([number(cells[row]) for row in rows.tolist()], dtype=np.float64)
    wrong = rows[~np.isfinite(values)]
    if len(wrong):
        found = [
            f"{table.where(row, sensors[row])}: {column} must be a finite number, "
            f"got {shown(cells[row])}"
            for row in wrong.tolist()
        ]
        raise problems(found, _advice(cells[wrong[0]]))
    return values


def labels(table: Table, column: str) -> list[str]:
    """Return the names of the sensors, row by row."""
    names = [_label(cell) for cell in table.cells(column)]
    found = [
        f"{table.where(row)}: {column} must name a sensor, got an empty cell"
        for row, name in enumerate(names)
        if not name
    ]
    if found:
        raise problems(found, "fill it, or remove the row")
    return names


def taken(table: Table, column: str) -> Indices:
    """Return the rows in which a target was measured: empty cells are no readings."""
    cells = table.cells(column)
    return np.array([k for k, cell in enumerate(cells) if cell != ""], dtype=np.int64)


def shown(cell: Any) -> str:
    """Return a cell as a message shows it."""
    return "an empty cell" if cell == "" else repr(cell)


def _label(cell: Any) -> str:
    # Whole numbers arrive as floats where a tool knew of no missing integers.
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def _advice(cell: Any) -> str:
    if isinstance(cell, str) and isfinite(number(cell.replace(",", "."))):
        return "write decimals with a point, and no separators of thousands"
    is_date = isinstance(cell, str) and cell[:4].isdigit() and cell.count("-") == 2
    if is_date or hasattr(cell, "isoformat"):
        return "write times as numbers, such as hours since the first reading"
    if str(cell).casefold() in _UNKNOWN:
        return "leave the target empty where no reading was taken, fill all else"
    return "correct it, or remove the row"
