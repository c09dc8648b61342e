"""Tables of cells, from CSV and Parquet files."""

import csv
import io
from array import array
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from halk.streams.errors import DataError
from halk.streams.files import PathLike, Source, opened, problems

Record = tuple[int, list[str]]
"""A line number and the cells of that line."""


class Table(NamedTuple):
    """Columns of cells: text from CSV, what Arrow gives from Parquet."""

    path: str
    header: tuple[str, ...]
    columns: list[Any]
    numbers: Sequence[int]  # of the rows, as the user's program shows them
    word: str  # what is numbered: "line" or "row"
    sha256: str
    units: Mapping[str, str] = MappingProxyType({})  # that the file itself names
    delimiter: str = ","  # between the cells of a CSV file

    def cells(self, column: str) -> Any:
        """Return a column by its name: a list, or an array of numbers or times."""
        return self.columns[self.header.index(column)]

    def where(self, row: int, sensor: str = "") -> str:
        """Return how to find a row again, to begin a message with."""
        place = f"{self.path}, {self.word} {self.numbers[row]}"
        return f"{place}, sensor {sensor!r}" if sensor else place


def load(path: PathLike) -> Table:
    """Read a table, after its content: CSV, packed by gzip or not, or Parquet."""
    return loaded(opened(path))


def loaded(source: Source) -> Table:
    """Return the table of a file that is in memory."""
    is_parquet = source.data.startswith(b"PAR1")
    table = _from_parquet(source) if is_parquet else _from_csv(source)
    names = [name for name in table.header if name]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        listed = ", ".join(map(repr, twice))
        raise DataError(
            f"{source.path}: columns must have different names, got twice {listed}"
        )
    if not len(table.numbers):
        raise DataError(f"{source.path}: table must have rows, got a header only")
    return table


def _from_csv(source: Source) -> Table:
    lines, first, delimiter = _body(source)
    records = _records(source, lines, first, delimiter)
    _, header = next(records)
    columns: list[list[Any]] = [[] for _ in header]
    numbers, ragged = array("q"), []
    same: dict[str, str] = {}  # names of sensors, times: one object for all their cells
    for line, cells in records:
        if len(cells) != len(header):
            rule = f"row must have {len(header)} cells, got {len(cells)}"
            ragged.append(f"{source.path}, line {line}: {rule}")
            continue
        numbers.append(line)
        for column, cell in zip(columns, cells, strict=True):
            column.append(same.setdefault(cell, cell))
    if ragged:
        raise problems(ragged, "add or remove separators, or quote cells that hold one")
    return Table(
        source.path, tuple(header), columns, numbers, "line", source.sha256,
        delimiter=delimiter,
    )  # fmt: skip


def _body(source: Source) -> tuple[io.StringIO, int, str]:
    """Return what follows leading ``#`` comments, their number, and what separates."""
    lines = io.StringIO(source.text(), newline="")
    first, start = 0, 0
    for line in lines:
        if line.strip() and not line.startswith("#"):
            break
        first, start = first + 1, lines.tell()
    else:
        raise DataError(f"{source.path} must begin with a header, got comments only")
    lines.seek(start)
    return lines, first, _delimiter(line)


def _records(
    source: Source, lines: io.StringIO, first: int, delimiter: str
) -> Iterator[Record]:
    """Yield lines with something in them, stripped; ``first`` came before."""
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    end = 0
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            where = f"{source.path}, line {first + end + 1}"
            message = f"{where}: row must be CSV, got: {error}; is a quote left open?"
            raise DataError(message) from None
        if cells is None:
            return
        # A quoted cell may run over several lines: the row is found where it begins.
        begin, end = end + 1, rows.line_num
        cells = [cell.strip() for cell in cells]
        if any(cells):
            yield first + begin, cells


def _delimiter(line: str) -> str:
    """Return what separates the cells of a header.

    Examples
    --------
    >>> _delimiter("node;lat;lon")
    ';'
    """
    return max(",;\t", key=line.count)


def _from_parquet(source: Source) -> Table:
    arrow, parquet = arrow_modules()
    try:
        made = parquet.ParquetFile(arrow.BufferReader(source.data)).read()
    except (arrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"{source.path} must be a Parquet file, got: {reason}"
        ) from None
    columns = [_plain(column) for column in made.columns]
    header = tuple(str(name).strip() for name in made.column_names)
    rows = list(range(1, made.num_rows + 1))
    return Table(source.path, header, columns, rows, "row", source.sha256)


def _plain(column: Any) -> list[Any]:
    try:
        cells = column.to_pylist()
    except ValueError:  # nanoseconds, for which Python has no type
        cells = column.cast("string").to_pylist()
    return ["" if cell is None else cell for cell in cells]


def arrow_modules() -> tuple[Any, Any]:
    """Return pyarrow and its Parquet module, or say how to install them."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError(
            "Parquet files need pyarrow: pip install 'halk[io]'"
        ) from None
