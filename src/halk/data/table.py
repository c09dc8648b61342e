"""Tables of cells as columns, and columns as numbers and names."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Indices, Vector
from halk.data.findings import Finding
from halk.data.naming import unit_of

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

    def map(self, function: Callable[[str], Any], dtype: Any = bool) -> NDArray[Any]:
        """Return a function of the words, row by row; each is computed once."""
        values = np.array([function(word) for word in self.words], dtype)
        return values[self.codes]


Cells = Words | NDArray[Any]
"""A column: text, numbers (NaN: none) or times (NaT: none)."""


def to_words(cells: Iterable[Any]) -> Words:
    """Return cells of any kind as text; None and NaN are empty."""
    known: dict[str, int] = {}
    codes = [known.setdefault(to_text(cell), len(known)) for cell in cells]
    return Words(np.array(codes, np.int32), list(known))


def to_text(cell: Any) -> str:
    """Return a cell as text."""
    if isinstance(cell, str):
        return cell.strip()
    if cell is None or cell != cell:
        return ""
    # whole numbers arrive as floats where a tool knew of no missing integers
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def to_cells(values: Any) -> Cells:
    """Return values of any kind as a column: numbers, times or text."""
    array = np.asarray(values)
    if array.dtype.kind in "fiu":
        return array.astype(np.float64)
    if array.dtype.kind == "M":
        return array.astype("datetime64[us]")
    if array.dtype.kind == "S":
        return to_words(cell.decode("utf-8", "replace") for cell in array.tolist())
    return to_words(array.tolist() if array is values else values)


def as_words(column: Cells) -> Words:
    """Return a column as text."""
    return column if isinstance(column, Words) else to_words(column.tolist())


def plain(column: Cells) -> NDArray[Any]:
    """Return a column as an array."""
    return column.map(str, object) if isinstance(column, Words) else column


def take_rows(column: Cells, rows: NDArray[Any]) -> Cells:
    """Return some rows of a column, by number or by mask."""
    if isinstance(column, Words):
        return Words(column.codes[rows], column.words)
    taken: NDArray[Any] = column[rows]
    return taken


def concatenate(columns: Sequence[Cells]) -> Cells:
    """Return columns one below the other, as text if any is text."""
    if not any(isinstance(column, Words) for column in columns):
        return np.concatenate([np.asarray(column) for column in columns])
    known: dict[str, int] = {}
    codes = [
        text.map(lambda word: known.setdefault(word, len(known)), np.int32)
        for text in map(as_words, columns)
    ]
    return Words(np.concatenate(codes), list(known))


@dataclass(frozen=True)
class Table:
    """Columns of cells, and what messages and :func:`write_table` need to know."""

    path: str
    header: tuple[str, ...]
    columns: Sequence[Cells]
    numbers: Sequence[int]  # of the rows, as the user's program shows them
    word: str = "row"  # what is numbered: "line", "row" or "cell"
    sha256: str = ""
    units: Mapping[str, str] = field(default_factory=dict)  # that the file names
    delimiter: str = ","  # between the cells of a CSV file
    notes: tuple[Finding, ...] = ()  # what had to be decided to read it
    dimensions: Mapping[str, int] = field(default_factory=dict)  # sizes, of NetCDF
    origin: "Table | None" = None  # the table as it is in the file, if it was changed
    wide: tuple[str, ...] = ()  # columns of ``origin`` that are sensors
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # joined to one

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

    def unit(self, name: str) -> str:
        """Return the unit of a column, by the file or by its name; empty if unknown."""
        return self.units.get(name) or unit_of(name)

    def where(self, row: int, sensor: str = "") -> str:
        """Return how to find a row again, to begin a message with."""
        place = f"{self.path}, {self.word} {self.numbers[row]}"
        return f"{place}, sensor {sensor!r}" if sensor else place


def is_empty_word(word: str) -> bool:
    """Return whether a cell stands for nothing."""
    return word.casefold() in UNKNOWN


def filled_words(column: Words) -> list[str]:
    """Return the first cells of a column that stand for something, some of them."""
    first = (column.words[code] for code in column.codes[: 10 * SAMPLE].tolist())
    for words in (first, column.words):
        found = list(islice((w for w in words if not is_empty_word(w)), SAMPLE))
        if found:
            return found
    return []


# numbers


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


def read_numbers(
    table: Table, name: str, missing: Collection[float | str] = (), decimal: str = ""
) -> Column:
    """Return a column of numbers; numbers and words in ``missing`` stand for none.

    ``decimal`` is what separates decimals if the cells do not tell.
    """
    column = table.column(name)
    if isinstance(column, Words):
        mark = decimal or find_decimal(table, name)
        empty = {one.casefold() for one in missing if isinstance(one, str)} | UNKNOWN
        values = word_values(column.words, mark)[column.codes]
        is_empty = column.map(lambda word: word.casefold() in empty)
    elif column.dtype.kind == "f":
        values, is_empty = column, np.isnan(column)
    else:  # times are no numbers
        values, is_empty = np.full(len(column), nan), np.zeros(len(column), bool)
    is_empty |= np.isin(values, [v for v in missing if not isinstance(v, str)])
    is_wrong = ~np.isfinite(values) & ~is_empty
    return Column(name, np.where(is_empty | is_wrong, nan, values), is_empty, is_wrong)


_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?")
_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_GROUPED_BY_POINT = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")


def word_values(words: list[str], decimal: str = "") -> Vector:
    """Return words as numbers, NaN where they are none."""
    mark = decimal or decimal_of(words)
    made = words
    if mark == COMMA:
        made = [_with_point(word) for word in words]
    elif mark == POINT:
        made = [w.replace(",", "") if _GROUPED.fullmatch(w) else w for w in words]
    return np.array([number(word) for word in made], dtype=np.float64)


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
    texts = [column.words for column in table.columns if isinstance(column, Words)]
    others = {decimal_of(words) for words in texts}
    if COMMA in others:
        return COMMA
    has_point = any(_POINT.fullmatch(word) for words in texts for word in words)
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


# names


class Labels(NamedTuple):
    """The names in a column: every different one once, and which each row has."""

    codes: Indices
    names: list[str]  # empty where a row has none

    def of(self, row: int) -> str:
        """Return the name of a row."""
        return self.names[int(self.codes[row])]

    def counts(self) -> dict[str, int]:
        """Return how many rows have each name."""
        counts = np.bincount(self.codes, minlength=len(self.names)).tolist()
        return dict(zip(self.names, counts, strict=True))


def find_labels(table: Table, name: str) -> Labels:
    """Return the names in a column; empty where there is none."""
    column = table.column(name)
    if not isinstance(column, Words):
        values, codes = np.unique(column, return_inverse=True)
        column = Words(codes.astype(np.int32), list(map(to_text, values.tolist())))
    known: dict[str, int] = {}
    codes = column.map(
        lambda word: known.setdefault("" if is_empty_word(word) else word, len(known)),
        np.int64,
    )
    return Labels(codes, list(known))


def labels(table: Table, name: str) -> list[str]:
    """Return the names in a column, row by row; empty where there is none."""
    found = find_labels(table, name)
    return [found.names[code] for code in found.codes.tolist()]
