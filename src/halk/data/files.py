"""Files as tables: opened, unpacked, decoded, and their rows read under a header."""

import csv
import gzip
import hashlib
import io
import os
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from halk.data.findings import NOTE, Finding, counted, problems, suggest
from halk.data.table import Table, Words, is_empty_word, number
from halk.data.times import is_date
from halk.errors import DataError

PathLike = str | os.PathLike[str]

Record = tuple[int, list[str]]
"""The number of a line or row, and its cells."""

DELIMITERS = "\t;|,"
"""What may stand between cells; of two that fit alike, the first."""

HEAD = 60
"""Rows that tell where the header is."""

_FOREIGN = {"<!doctype": "a web page", "<html": "a web page", "<?xml": "XML",
            "{": "JSON", "[{": "JSON"}  # fmt: skip
_QUOTED = re.compile(r'"[^"]*"')
_UNIT = re.compile(r"[A-Za-zµμ°%‰Å/^*·²³ .()\[\]_\-\d]{1,30}")


class Content(NamedTuple):
    """A file in memory."""

    path: str
    data: bytes
    sha256: str  # of the file as it is on the disk

    @property
    def is_netcdf(self) -> bool:
        """Whether it begins as NetCDF files do, in their old or their new format."""
        return self.data.startswith((b"CDF", b"\x89HDF"))

    def decode(self) -> tuple[str, str]:
        """Return the content as text, and the encoding if it had to be guessed."""
        if self.data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return self.data.decode("utf-16", "replace"), ""
        if b"\0" in self.data:
            line = self.data[: self.data.index(b"\0")].count(b"\n") + 1
            raise DataError(f"{self.path} must be text, got a zero byte in line {line}")
        try:
            return self.data.decode("utf-8-sig"), ""
        except UnicodeDecodeError:
            return self.data.decode("cp1252", "replace"), "Latin-1"


def open_file(path: PathLike) -> Content:
    """Read a file whole, unpacked if gzip packed it."""
    try:
        packed = Path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    return unpack(os.fspath(path), packed)


def unpack(path: str, packed: bytes) -> Content:
    """Return what a file holds, unpacked if gzip packed it."""
    if not packed.strip():
        raise DataError(f"{path} must not be empty, got {len(packed)} bytes")
    data = packed
    if packed.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(packed)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path} must be a whole gzip file, got: {error}") from None
    if not data.strip():
        raise DataError(f"{path} must not be empty, got an empty file in gzip")
    return Content(path, data, hashlib.sha256(packed).hexdigest())


def unreadable(path: PathLike, error: OSError) -> DataError:
    """Return what to raise for a file that the system does not give."""
    where = Path(path)
    if where.is_dir():
        return DataError(f"{path} must be a file, got a folder")
    if not isinstance(error, FileNotFoundError):
        return DataError(f"{path} must be readable, got: {error.strerror or error}")
    if not where.parent.is_dir():
        return DataError(f"{path} must exist, got no folder {where.parent}")
    hint = suggest(where.name, sorted(file.name for file in where.parent.iterdir()))
    return DataError(f"{path} must exist, got no such file{hint}")


# text


def read_csv(content: Content) -> Table:
    """Return the table of a text file, whatever separates its cells."""
    path, (text, encoding) = content.path, content.decode()
    start = text[:1000].lstrip().casefold()
    for kind in (kind for mark, kind in _FOREIGN.items() if start.startswith(mark)):
        is_page = kind == "a web page"
        advice = "was it downloaded whole?" if is_page else "save the table as CSV"
        raise DataError(f"{path} must be a table, got {kind}; {advice}")
    notes = []
    if encoding:
        message = f"{path}: not in UTF-8, so read as {encoding}"
        advice = "look at names with accents; if they are wrong, save it as UTF-8"
        notes = [Finding(NOTE, "encoding", message, advice)]
    mark = find_delimiter(text)
    records = _records(path, text, mark)
    return read_rows(path, records, "line", content.sha256, mark, notes)


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
    some = some[-HEAD:]  # what is above the table counts in short files only
    best, most = "", 0
    for mark in DELIMITERS:
        counts = Counter(line.count(mark) for line in some)
        times, n_lines = max(counts.items(), key=lambda one: (one[0] > 0, one[1]))
        if times and n_lines > most:
            best, most = mark, n_lines
    widths = {len(line.split()) for line in some}
    return best or (" " if len(widths) == 1 and min(widths) > 1 else ",")


def _records(path: str, text: str, mark: str) -> Iterator[Record]:
    """Yield lines with something in them, their cells stripped."""
    lines = io.StringIO(text, newline="")
    rows = csv.reader(lines, delimiter=mark, strict=True, skipinitialspace=mark == " ")
    end = 0
    try:
        for cells in rows:
            # a quoted cell may run over lines: the row is where it begins
            begin, end = end + 1, rows.line_num
            if any(cells):
                yield begin, [cell.strip() for cell in cells]
    except csv.Error as error:
        message = f"{path}, line {end + 1}: row must be CSV, got: {error}"
        raise DataError(f"{message}; is a quote left open?") from None


# rows of text or of a sheet


def read_rows(
    path: str,
    records: Iterable[Record],
    word: str,
    sha256: str,
    delimiter: str = ",",
    notes: Iterable[Finding] = (),
) -> Table:
    """Return the table in rows of cells; comments and titles are no part of it.

    ``word`` is what is numbered: "line" or "row".
    """
    above: list[Record] = []
    comments: list[list[Record]] = [[], []]  # above the header, below it
    rows = _without_comments(records, comments)
    head = list(islice(rows, HEAD))
    if not head:
        raise DataError(f"{path} must begin with a header, got comments only")
    header, head = _split_header(head, above, [cells for _, cells in comments[0]])
    units: dict[str, str] = {}
    if len(head) > 1 and _are_units(head[0][1], [cells for _, cells in head[1:]]):
        pairs = zip(header, head[0][1], strict=False)
        units = {name: cell.strip("[]() ") for name, cell in pairs if name and cell}
        head = head[1:]
    columns, numbers = _columns(path, header, chain(head, rows), word)
    check_header(path, header)
    if not len(numbers):
        raise DataError(f"{path}: table must have rows, got a header only")
    notes = [*notes]
    for code, left, what in (
        ("preamble", above, f"{counted(len(above), word)} above the header"),
        ("comments", comments[1], f"{counted(len(comments[1]), 'comment')} (#)"),
    ):
        places = [f"{word} {n}: {' '.join(cells)[:60]}" for n, cells in left]
        message = f"{path}: {what} not read"
        notes += [Finding(NOTE, code, message, places=places)] if left else []
    return Table(
        path, tuple(header), columns, numbers, word, sha256, units, delimiter,
        tuple(notes),
    )  # fmt: skip


def check_header(path: str, header: Iterable[str]) -> None:
    """Refuse columns of the same name; several may have none."""
    counts = Counter(name for name in header if name)
    if twice := sorted(name for name, n in counts.items() if n > 1):
        listed = ", ".join(map(repr, twice))
        raise DataError(
            f"{path}: columns must have different names, got twice {listed}"
        )


def _without_comments(
    records: Iterable[Record], comments: list[list[Record]]
) -> Iterator[Record]:
    """Yield rows that are no comments; keep those above the first one and below."""
    is_below = False
    for record in records:
        if record[1][0].startswith("#"):
            comments[is_below].append(record)
        else:
            is_below = True
            yield record


def _split_header(
    head: list[Record], above: list[Record], comments: list[list[str]]
) -> tuple[list[str], list[Record]]:
    """Return the names of the columns, and the rows that follow."""
    sizes = Counter(_length(cells) for _, cells in head)
    width = max(sizes, key=lambda size: (sizes[size], size))
    first = head[0][1]
    if comments and any(map(_is_value, first)) and len(comments[-1]) == len(first):
        # NumPy and others comment their header out
        return [comments[-1][0].lstrip("# "), *comments[-1][1:]], head
    for k, (_, cells) in enumerate(head):
        if _length(cells) < width or not any(cells[1:]):
            continue  # a title
        below = [row[0] for _, row in head[k + 1 : k + 3]]
        # of a wide table, names may be numbers
        is_first = not _is_value(cells[0]) and any(map(_is_value, below))
        if k and (is_first or not any(map(_is_value, cells))):
            above += head[:k]
            return cells, head[k + 1 :]
        break
    return first, head[1:]


def _length(cells: list[str]) -> int:
    """Return how many cells there are up to the last that is filled."""
    return max(k + 1 for k, cell in enumerate(cells) if cell)


def _is_value(cell: str) -> bool:
    value = number(cell.replace(",", ".", 1))
    return value == value or is_date(cell)


def _are_units(cells: list[str], rows: list[list[str]]) -> bool:
    """Return whether the row below the header has the units of what follows."""
    found = False
    for k, cell in enumerate(cells):
        below = [row[k] for row in rows if k < len(row) and not is_empty_word(row[k])]
        is_measured = below and 2 * sum(map(_is_value, below)) > len(below)
        is_empty = is_empty_word(cell)
        if not is_measured:  # names, remarks: no unit, or one that says so
            if not (is_empty or cell in ("1", "text", "name", "id")):
                return False
        elif cell == "1":  # of what has no unit
            continue
        elif _is_value(cell) or not (is_empty or _UNIT.fullmatch(cell)):
            return False
        else:
            found = found or not is_empty
    return found


def _columns(
    path: str, header: list[str], rows: Iterable[Record], word: str
) -> tuple[list[Words], "array[int]"]:
    """Return the cells by column, and the numbers of the rows."""
    width, numbers, ragged = len(header), array("q"), []
    known: list[dict[str, int]] = [{} for _ in header]
    codes = [array("i") for _ in header]
    for line, cells in rows:
        if len(cells) != width and (len(cells) < width or any(cells[width:])):
            rule = f"row must have {width} cells, got {len(cells)}"
            ragged.append(f"{path}, {word} {line}: {rule}")
            continue
        numbers.append(line)
        for one, code, cell in zip(known, codes, cells, strict=False):
            code.append(one.setdefault(cell, len(one)))
    if ragged:
        raise problems(ragged, "add or remove separators, or quote cells that hold one")
    made = zip(codes, known, strict=True)
    return [Words(np.frombuffer(c, np.int32), list(one)) for c, one in made], numbers
