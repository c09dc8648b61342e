"""Tables of cells as columns, and columns as numbers, names and times."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import islice
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Indices, Vector
from halk.data.findings import Finding

UNKNOWN = {
    "",
    "-",
    "--",
    "---",
    "?",
    "na",
    "n/a",
    "nan",
    "nil",
    "none",
    "null",
    "missing",
}
"""What cells without a value hold, in any case."""

COMMA, POINT, UNCLEAR = "comma", "point", "unclear"
"""What separates decimals."""

SAMPLE = 200
"""Cells of a column that tell what it holds."""


class Words(NamedTuple):
    """A column of text: every different cell once, and which of them each row holds."""

    codes: NDArray[np.int32]
    words: list[str]

    def take(self, values: Vector) -> Any:
        """Return what was computed for every word, row by row."""
        return values[self.codes]


Cells = Words | NDArray[Any]
"""A column: text, numbers (NaN: none) or times (NaT: none)."""


def to_words(cells: Iterable[Any]) -> Words:
    """Return cells of any kind as text; None and NaN are empty."""
    known: dict[str, int] = {}
    codes = [known.setdefault(_as_text(cell), len(known)) for cell in cells]
    return Words(np.array(codes, np.int32), list(known))


def _as_text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell.strip()
    if cell is None or cell != cell:
        return ""
    # whole numbers arrive as floats where a tool knew of no missing integers
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


@dataclass(frozen=True)
class Table:
    """Columns of cells.

    Parameters
    ----------
    path : str
    header : tuple of str
    columns : list of Words or arrays of numbers or times
    numbers : sequence of int
        Of the rows, as the user's program shows them.
    word : {"line", "row", "cell"}
        What is numbered.
    sha256 : str
    units : dict
        Units that the file itself names, by column.
    delimiter : str
        Between the cells of a CSV file.
    said : tuple of Finding
        What had to be decided to read it.
    dimensions : dict of name to size
        Of a NetCDF file, whose rows are its cells.
    origin : Table, optional
        The table as it is in the file, where this one was made of it.
    wide : tuple of str
        Columns of ``origin`` that are sensors; empty if it has a row per reading.
    parts : dict of name to tuple of str
        Columns that were joined to one, such as date and hour.
    """

    path: str
    header: tuple[str, ...]
    columns: list[Cells]
    numbers: Sequence[int]
    word: str = "row"
    sha256: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    delimiter: str = ","
    said: tuple[Finding, ...] = ()
    dimensions: Mapping[str, int] = field(default_factory=dict)
    origin: "Table | None" = None
    wide: tuple[str, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.numbers)

    def column(self, name: str) -> Cells:
        """Return a column as it is kept."""
        return self.columns[self.header.index(name)]

    def cells(self, name: str) -> NDArray[Any]:
        """Return a column as an array of numbers, of times or of text."""
        return plain(self.column(name))

    def cell(self, name: str, row: int) -> Any:
        """Return one cell."""
        column = self.column(name)
        if isinstance(column, Words):
            return column.words[column.codes[row]]
        return column[row].item() if column.dtype.kind == "f" else column[row]

    def where(self, row: int, sensor: str = "") -> str:
        """Return how to find a row again, to begin a message with."""
        place = f"{self.path}, {self.word} {self.numbers[row]}"
        return f"{place}, sensor {sensor!r}" if sensor else place

    def with_column(self, name: str, cells: Cells) -> "Table":
        """Return the table with a column more, or with another of that name."""
        known = dict(zip(self.header, self.columns, strict=True)) | {name: cells}
        return replace(self, header=tuple(known), columns=list(known.values()))


def plain(column: Cells) -> NDArray[Any]:
    """Return a column as an array."""
    if isinstance(column, Words):
        words = np.empty(len(column.words), object)
        words[:] = column.words
        return words[column.codes]
    return column


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


def is_empty_word(word: str) -> bool:
    """Return whether a cell stands for nothing."""
    return word.casefold() in UNKNOWN


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


def numeric(
    table: Table, name: str, missing: Collection[float | str] = (), decimal: str = ""
) -> Column:
    """Return a column of numbers; numbers and words in ``missing`` stand for none.

    ``decimal`` is what separates decimals if the cells do not tell.
    """
    column = table.column(name)
    if isinstance(column, Words):
        mark = decimal or find_decimal(table, name)
        values = column.take(word_values(column.words, mark))
        texts = {one.casefold() for one in missing if isinstance(one, str)} | UNKNOWN
        is_empty = column.take(np.array([w.casefold() in texts for w in column.words]))
    elif column.dtype.kind == "f":
        values, is_empty = column, np.isnan(column)
    else:  # times are no numbers
        values, is_empty = np.full(len(column), nan), np.zeros(len(column), bool)
    for value in missing:
        if not isinstance(value, str):
            is_empty = is_empty | (values == value)
    is_wrong = ~np.isfinite(values) & ~is_empty
    return Column(
        name, np.where(is_empty | is_wrong, np.nan, values), is_empty, is_wrong
    )


def word_values(words: list[str], decimal: str = "") -> Vector:
    """Return words as numbers, NaN where they are none."""
    mark = decimal or decimal_of(words)
    made = words
    if mark == COMMA:
        made = [_with_point(word) for word in words]
    elif mark == POINT:
        made = [w.replace(",", "") if _GROUPED.fullmatch(w) else w for w in words]
    return np.array([number(word) for word in made], dtype=np.float64)


_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?")
_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_GROUPED_BY_POINT = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")


def _with_point(word: str) -> str:
    if _COMMA.fullmatch(word) or _GROUPED_BY_POINT.fullmatch(word):
        return word.replace(".", "").replace(",", ".")
    return "" if "." in word else word  # 1.5 is no number where 1,5 is one


def decimal_of(words: list[str]) -> str:
    """Return what separates the decimals of a column, "" if no cell has a comma.

    "unclear" if all that has a comma may be decimals or thousands: 1,234.

    Examples
    --------
    >>> decimal_of(["3,5", "12"]), decimal_of(["3.5", "1,5"]), decimal_of(["1,234"])
    ('comma', '', 'unclear')
    >>> decimal_of(["1,234.5", "12"])
    'point'
    """
    found = [word for word in words if "," in word]
    if any("." in word and _GROUPED.fullmatch(word) for word in found):
        return POINT
    found = [word for word in found if _COMMA.fullmatch(word)]
    if not found or any(_POINT.fullmatch(word) for word in words):
        return ""
    return UNCLEAR if all(map(_GROUPED.fullmatch, found)) else COMMA


def find_decimal(table: Table, name: str) -> str:
    """Return what separates decimals in a column, by others if it does not tell."""
    column = table.column(name)
    found = decimal_of(column.words) if isinstance(column, Words) else ""
    if found != UNCLEAR:
        return found
    texts = [column for column in table.columns if isinstance(column, Words)]
    others = {decimal_of(text.words) for text in texts}
    if COMMA in others:
        return COMMA
    has_point = any(_POINT.fullmatch(word) for text in texts for word in text.words)
    return POINT if has_point or POINT in others else UNCLEAR


def is_number_column(table: Table, name: str) -> bool:
    """Return whether what is filled among the first cells is mostly numbers."""
    column = table.column(name)
    if not isinstance(column, Words):
        return bool(column.dtype.kind == "f")
    known = filled_words(column)
    mark = decimal_of(known)
    found = np.isfinite(word_values(known, COMMA if mark == UNCLEAR else mark)).sum()
    return bool(known) and 2 * int(found) > len(known)


def filled_words(column: Words) -> list[str]:
    """Return the first cells of a column that stand for something, some of them."""
    first = (column.words[code] for code in column.codes[: 10 * SAMPLE].tolist())
    found = list(islice((word for word in first if not is_empty_word(word)), SAMPLE))
    if found:
        return found
    return list(islice((w for w in column.words if not is_empty_word(w)), SAMPLE))


class Labels(NamedTuple):
    """The names in a column: every different one once, and which each row has."""

    codes: Indices
    names: list[str]  # empty where a row has none

    def of(self, row: int) -> str:
        """Return the name of a row."""
        return self.names[int(self.codes[row])]


def find_labels(table: Table, name: str) -> Labels:
    """Return the names in a column; empty where there is none."""
    column = table.column(name)
    if not isinstance(column, Words):
        values, codes = np.unique(column, return_inverse=True)
        column = Words(codes.astype(np.int32), [_as_text(v) for v in values.tolist()])
    known: dict[str, int] = {}
    of_word = [
        known.setdefault("" if is_empty_word(word) else word, len(known))
        for word in column.words
    ]
    return Labels(np.array(of_word, np.int64)[column.codes], list(known))


def labels(table: Table, name: str) -> list[str]:
    """Return the names in a column, row by row; empty where there is none."""
    found = find_labels(table, name)
    return [found.names[code] for code in found.codes.tolist()]
