"""Readings one line at a time, of CSV or of JSON; a bad line is a row too."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from halk.data.files import find_delimiter
from halk.data.findings import suggest
from halk.data.table import is_empty_word, number, word_values
from halk.data.times import seconds
from halk.errors import DataError


class Row(NamedTuple):
    """A row: a reading; a gap, if ``y`` is None; or, with ``wrong``, neither."""

    number: int  # of its line, from 1
    x: tuple[float, ...] | None
    y: float | None
    wrong: str = ""


class Columns(NamedTuple):
    """Which columns are inputs, and which is the value."""

    inputs: tuple[str, ...]
    value: str

    def lacking(self, names: Sequence[str]) -> list[str]:
        """Return the columns that are not among some names."""
        return [name for name in (*self.inputs, self.value) if name not in names]

    def row(self, line: int, cells: Mapping[str, Any]) -> Row:
        """Return the row that cells are, by column."""
        try:
            x = tuple(_known(name, cells.get(name)) for name in self.inputs)
            y = cells.get(self.value)
            return Row(line, x, None if _is_empty(y) else _known(self.value, y))
        except ValueError as error:
            return Row(line, None, None, str(error))

    def from_json(self, line: int, data: bytes) -> Row:
        """Return the row of an object in JSON."""
        try:
            found = json.loads(data)
        except (ValueError, RecursionError) as error:
            return Row(line, None, None, f"is not JSON: {error}")
        if not isinstance(found, dict):
            return Row(line, None, None, "is not a JSON object")
        return self.row(line, found)


def _is_empty(cell: Any) -> bool:
    if isinstance(cell, str):
        return is_empty_word(cell.strip())
    return cell is None or cell != cell


def _known(name: str, cell: Any) -> float:
    """Return a cell as a number; times are seconds since 1970."""
    text = cell.strip() if isinstance(cell, str) else cell
    value = number(text)
    if value != value and isinstance(text, str):
        value = float(word_values([text])[0])  # 3,5
    value = seconds(text) if value != value else value
    if not isfinite(value):
        shown = "nothing" if _is_empty(cell) else repr(cell)[:40]
        raise ValueError(f"{name} must be a finite number, got {shown}")
    return value


def cells_of(line: bytes, delimiter: str) -> list[str] | None:
    """Return the cells of a line of CSV, None if it has no cells."""
    try:
        text = line.decode("utf-8-sig")
        found = next(csv.reader([text], delimiter=delimiter, strict=True), [])
    except (UnicodeDecodeError, csv.Error):
        return None
    return [cell.strip() for cell in found]


class CsvLines:
    """Lines of CSV under a header; the numbers of lines count from 1.

    A file that goes on without a header has that of the one before.
    """

    def __init__(self, columns: Columns, where: str) -> None:
        self.columns, self.where = columns, where
        self.header: list[str] = []
        self.delimiter = ","

    def row(self, n: int, line: bytes) -> Row | None:
        """Return the row of a line; None for a header and for an empty line.

        Raises
        ------
        DataError
            If a header is needed and this is none.
        """
        if not line.strip(b" \t\r\n\xef\xbb\xbf"):
            return None
        if n == 1 or not self.header:
            mark = find_delimiter(line.decode("utf-8", "replace"))
            names = cells_of(line, mark) or []
            missing = self.columns.lacking(names)
            if not missing:
                self.header, self.delimiter = names, mark
                return None
            if not self.header:
                hint = suggest(missing[0], names)
                listed = ", ".join(names)[:200] or "no text"
                raise DataError(
                    f"{self.where}: there is no column {missing[0]!r}{hint}; its "
                    f"first line is {listed}"
                )
        cells = cells_of(line, self.delimiter)
        if cells is None:
            return Row(n, None, None, "is not a line of CSV in UTF-8")
        if len(cells) != len(self.header):
            wrong = f"has {len(cells)} cells, not {len(self.header)}"
            return Row(n, None, None, wrong)
        return self.columns.row(n, dict(zip(self.header, cells, strict=True)))
