"""From lines of text, or rows of a sheet, to a table: header, units, comments."""

import csv
import io
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

from halk.data.files import Content, problems
from halk.data.findings import NOTE, Finding, counted
from halk.data.table import Table, Words, is_empty_word, number
from halk.data.times import is_date
from halk.errors import DataError

Record = tuple[int, list[str]]
"""A line number and the cells of that line."""

DELIMITERS = "\t;|,"
"""What may stand between cells; of two that fit alike, the first."""

HEAD = 60
"""Rows that tell where the header is."""

_FOREIGN = {
    "<!doctype": "a web page; was it downloaded whole?",
    "<html": "a web page; was it downloaded whole?",
    "<?xml": "XML; save the table as CSV",
    "{": "JSON; save the table as CSV",
    "[{": "JSON; save the table as CSV",
}
_QUOTED = re.compile(r'"[^"]*"')
_UNIT = re.compile(r"[A-Za-zµμ°%‰Å/^*·²³ .()\[\]_\-\d]{1,30}")


def read_csv(content: Content) -> Table:
    """Return the table of a text file, whatever separates its cells."""
    text, encoding = content.decode()
    for mark, kind in _FOREIGN.items():
        if text.lstrip().casefold().startswith(mark):
            raise DataError(f"{content.path} must be a table, got {kind}")
    said = []
    if encoding:
        said.append(
            Finding(
                NOTE, "encoding",
                f"{content.path}: not in UTF-8, so read as {encoding}",
                "look at names with accents; if they are wrong, save it as UTF-8",
            )
        )  # fmt: skip
    delimiter = find_delimiter(text)
    records = _records(content.path, text, delimiter)
    return read_rows(
        content.path, records, "line", content.sha256, delimiter=delimiter, said=said
    )


def find_delimiter(text: str) -> str:
    r"""Return what separates the cells of a text: what most lines have as often.

    Examples
    --------
    >>> find_delimiter("node;lat;lon")
    ';'
    >>> find_delimiter("time;t\n01:00;1,5\n02:00;2,5\n")
    ';'
    """
    lines = islice(io.StringIO(text, newline=""), 4 * HEAD)
    some = [_QUOTED.sub("", line) for line in lines if line.strip(" \r\n")]
    some = [line for line in some if not line.startswith("#")] or some
    if len(some) > HEAD:  # what is said above the table does not count
        some = some[-HEAD:]
    best, most = "", 0
    for mark in DELIMITERS:
        times, n_lines = max(
            Counter(line.count(mark) for line in some).items(),
            key=lambda one: (one[0] > 0, one[1]),
        )
        if times and n_lines > most:
            best, most = mark, n_lines
    if best:
        return best
    in_words = Counter(len(line.split()) for line in some)
    return " " if min(in_words) > 1 and len(in_words) == 1 else ","


def _records(path: str, text: str, delimiter: str) -> Iterator[Record]:
    """Yield lines with something in them, their cells stripped."""
    lines = io.StringIO(text, newline="")
    rows = csv.reader(
        lines, delimiter=delimiter, strict=True, skipinitialspace=delimiter == " "
    )
    end = 0
    while True:
        try:
            for cells in rows:
                # a quoted cell may run over lines: the row is where it begins
                begin, end = end + 1, rows.line_num
                if any(cells):
                    yield begin, [cell.strip() for cell in cells]
            return
        except csv.Error as error:
            message = f"{path}, line {end + 1}: row must be CSV, got: {error}"
            raise DataError(f"{message}; is a quote left open?") from None


def read_rows(
    path: str,
    records: Iterable[Record],
    word: str,
    sha256: str,
    *,
    delimiter: str = ",",
    said: Iterable[Finding] = (),
) -> Table:
    """Return the table in rows of cells, of which some may stand above the header."""
    remarks = _Remarks(path, word)
    rows = (record for record in records if not remarks.take(record))
    head = list(islice(rows, HEAD))
    header, head = _header(path, head, remarks)
    units: dict[str, str] = {}
    if len(head) > 1 and _are_units(head[0][1], [cells for _, cells in head[1:]]):
        units = _units(header, head[0][1])
        head = head[1:]
    columns, numbers = _columns(path, header, chain(head, rows), word)
    names = [name for name in header if name]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        listed = ", ".join(map(repr, twice))
        raise DataError(
            f"{path}: columns must have different names, got twice {listed}"
        )
    if not len(numbers):
        raise DataError(f"{path}: table must have rows, got a header only")
    return Table(
        path, tuple(header), list(columns), numbers, word, sha256, units, delimiter,
        (*said, *remarks.findings()),
    )  # fmt: skip


class _Remarks:
    """Comments, and what stands above a table."""

    def __init__(self, path: str, word: str) -> None:
        self.path, self.word = path, word
        self.last: list[str] = []  # cells of the last comment above the header
        self.above: list[Record] = []
        self.within: list[Record] = []
        self.is_within = False

    def take(self, record: Record) -> bool:
        """Return whether a row is a comment, and keep it."""
        cells = record[1]
        if not cells[0].startswith("#"):
            self.is_within = True
            return False
        (self.within if self.is_within else self.above).append(record)
        if not self.is_within:
            self.last = [cells[0].lstrip("# "), *cells[1:]]
        return True

    def findings(self) -> Iterator[Finding]:
        """Yield what is said about rows that are no part of the table."""
        above = [row for row in self.above if not row[1][0].startswith("#")]
        for code, rows, what in (
            ("preamble", above, f"{counted(len(above), self.word)} above the header"),
            ("comments", self.within, f"{counted(len(self.within), 'comment')} (#)"),
        ):
            listed = [f"{self.word} {n}: {' '.join(cells)[:60]}" for n, cells in rows]
            if rows:
                message = f"{self.path}: {what} not read"
                yield Finding(NOTE, code, message, places=listed)


def _header(
    path: str, head: list[Record], remarks: _Remarks
) -> tuple[list[str], list[Record]]:
    """Return the names of the columns, and the rows that follow."""
    if not head:
        raise DataError(f"{path} must begin with a header, got comments only")
    sizes = Counter(_length(cells) for _, cells in head)
    width = max(sizes, key=lambda size: (sizes[size], size))
    first = head[0][1]
    if any(map(_is_value, first)) and len(remarks.last) == len(first):
        return remarks.last, head  # NumPy and others comment their header out
    for k, (_, cells) in enumerate(head):
        if _length(cells) < width or not any(cells[1:]):
            continue  # a title
        below = [row[0] for _, row in head[k + 1 : k + 3]]
        if k and _is_header(cells, below):
            remarks.above += head[:k]
            return cells, head[k + 1 :]
        break
    return first, head[1:]


def _length(cells: list[str]) -> int:
    """Return how many cells there are up to the last that is filled."""
    return max(k + 1 for k, cell in enumerate(cells) if cell)


def _is_header(cells: list[str], below: list[str]) -> bool:
    """Return whether a row may name columns; of a wide table, names may be numbers."""
    if not any(map(_is_value, cells)):
        return True
    return not _is_value(cells[0]) and any(map(_is_value, below))


def _is_value(cell: str) -> bool:
    value = number(cell.replace(",", ".", 1))
    return value == value or is_date(cell)


def _are_units(cells: list[str], rows: list[list[str]]) -> bool:
    """Return whether the row below the header has the units of what follows."""
    found = False
    for k, cell in enumerate(cells):
        below = [row[k] for row in rows if k < len(row) and not is_empty_word(row[k])]
        is_measured = below and 2 * sum(map(_is_value, below)) > len(below)
        if not is_measured:  # names, remarks: no unit, or one that says so
            if not (is_empty_word(cell) or cell in ("1", "text", "name", "id")):
                return False
        elif cell == "1":  # of what has no unit
            continue
        elif _is_value(cell) or not (is_empty_word(cell) or _UNIT.fullmatch(cell)):
            return False
        else:
            found = found or not is_empty_word(cell)
    return found


def _units(header: list[str], cells: list[str]) -> dict[str, str]:
    """Return the units of columns that have one."""
    pairs = zip(header, cells, strict=False)
    return {name: cell.strip("[]() ") for name, cell in pairs if name and cell}


def _columns(
    path: str, header: list[str], rows: Iterable[Record], word: str
) -> tuple[Iterator[Words], Any]:
    """Return the cells by column, and the numbers of the rows."""
    width, numbers, ragged = len(header), array("q"), []
    known: list[dict[str, int]] = [{} for _ in header]
    codes = [array("i") for _ in header]
    for line, cells in rows:
        if (len(cells) != width and any(cells[width:])) or len(cells) < width:
            rule = f"row must have {width} cells, got {len(cells)}"
            ragged.append(f"{path}, {word} {line}: {rule}")
            continue
        numbers.append(line)
        for one, code, cell in zip(known, codes, cells, strict=False):
            code.append(one.setdefault(cell, len(one)))
    if ragged:
        raise problems(ragged, "add or remove separators, or quote cells that hold one")
    made = (
        Words(np.frombuffer(code, np.int32), list(one))
        for code, one in zip(codes, known, strict=True)
    )
    return made, numbers
