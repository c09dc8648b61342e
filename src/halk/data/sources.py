"""Tables from wherever they are: files, standard input, frames, grids, columns."""

import io
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from halk.data.files import Content, open_file, unpack
from halk.data.findings import NOTE, Finding
from halk.data.grids import from_dataset, from_netcdf
from halk.data.rows import Record, read_csv, read_rows
from halk.data.table import Cells, Table, Words, plain, to_words
from halk.errors import DataError

STDIN = "-"


def read_table(source: Any, name: str = "readings") -> Table:
    """Return a table of cells, as it is in the file.

    Parameters
    ----------
    source : path, "-", frame, xarray dataset, or dict of columns
        A file of text, Excel, Parquet or NetCDF, known by its content, packed by gzip
        or not; "-" is standard input.
    name : str
        What messages call it if it has no path.

    Examples
    --------
    >>> read_table({"buoy": ["n", "s"], "t_C": [20.0, 22.0]}).cells("t_C")
    array([20., 22.])
    """
    if isinstance(source, Table):
        return source
    if is_frame(source):
        return _with_rows(_from_frame(source, name))
    if type(source).__module__.partition(".")[0] == "xarray":
        return _with_rows(from_dataset(source, name))
    if isinstance(source, Mapping):
        return _with_rows(_from_columns(source, name))
    if source == STDIN:
        return read_content(unpack("standard input", sys.stdin.buffer.read()))
    if not isinstance(source, str) and not hasattr(source, "__fspath__"):
        raise TypeError(
            f"{name} must be a path, a frame, a dataset or a dict of columns, got "
            f"{type(source).__name__}"
        )
    return read_content(open_file(source))


def read_content(content: Content) -> Table:
    """Return the table of a file that is in memory."""
    if content.is_netcdf:
        return _with_rows(from_netcdf(content))
    if content.data.startswith(b"PAR1"):
        return _with_rows(_from_parquet(content))
    if content.data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        return _from_excel(content)
    return read_csv(content)


def _with_rows(table: Table) -> Table:
    if not table.n_rows:
        raise DataError(f"{table.path}: table must have rows, got none")
    return table


def _from_columns(source: Mapping[Any, Any], name: str) -> Table:
    lengths = {str(key): len(cells) for key, cells in source.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"{name}: columns must be of one length, got {lengths}")
    n = next(iter(lengths.values()), 0)
    columns = [_as_cells(values) for values in source.values()]
    return Table(name, tuple(lengths), columns, range(n))


def _as_cells(values: Any) -> Cells:
    array = np.asarray(values)
    if array.dtype.kind in "fiu":
        return array.astype(np.float64)
    if array.dtype.kind == "M":
        return array.astype("datetime64[us]")
    if array.dtype.kind == "S":
        return to_words(cell.decode("utf-8", "replace") for cell in array.tolist())
    return to_words(values)


def is_frame(source: Any) -> bool:
    """Return whether something is a frame of a known library; imports none."""
    module = type(source).__module__.partition(".")[0]
    return module in {"pandas", "polars", "pyarrow", "modin", "cudf", "narwhals"}


def _narwhals() -> Any:
    try:
        return import_module("narwhals.stable.v2")
    except ImportError:
        raise ImportError("frames need narwhals: pip install 'halk[io]'") from None


def _native(frame: Any, name: str) -> Any:
    nw = _narwhals()
    try:
        native = nw.from_native(frame)
    except TypeError as error:
        raise DataError(f"{name} must be a frame, got: {error}") from None
    return native.collect() if isinstance(native, nw.LazyFrame) else native


def _from_frame(frame: Any, name: str, first: int = 0) -> Table:
    """Return a frame as a table; its rows are numbered from 0, as frames do."""
    index = getattr(frame, "index", None)
    if index is not None and np.asarray(index).dtype.kind == "M":  # pandas: when
        frame = frame.rename_axis(index.name or "time").reset_index()
    native = _native(frame, name)
    header = tuple(str(column).strip() for column in native.columns)
    columns = [_frame_cells(native.get_column(column)) for column in native.columns]
    return Table(name, header, columns, range(first, first + len(native)))


def _frame_cells(column: Any) -> Cells:
    nw = _narwhals()
    if column.dtype.is_numeric():
        return np.array(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if column.dtype == nw.Datetime:
        if column.dtype.time_zone is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return np.array(column.to_numpy()).astype("datetime64[us]")
    if column.dtype == nw.Categorical or column.dtype == nw.Enum:
        column = column.cast(nw.String)
    return to_words(column.to_list())


def add_to_frame(frame: Any, columns: dict[str, Any]) -> Any:
    """Return ``frame`` with columns added or replaced, of the same library."""
    nw = _narwhals()
    native = _native(frame, "frame")
    space = nw.get_native_namespace(native)
    added = [
        nw.new_series(name, _plain(values), backend=space)
        for name, values in columns.items()
    ]
    if hasattr(frame, "index"):  # pandas lines series up by their index
        added = [
            nw.from_native(nw.to_native(series).set_axis(frame.index), series_only=True)
            for series in added
        ]
    return nw.to_native(native.with_columns(*added))


def frame_like(frame: Any, columns: dict[str, Any]) -> Any:
    """Return columns as a frame of the library that ``frame`` is of."""
    nw = _narwhals()
    space = nw.get_native_namespace(_native(frame, "frame"))
    return nw.to_native(
        nw.from_dict(
            {name: _plain(values) for name, values in columns.items()}, backend=space
        )
    )


def _plain(values: Any) -> Any:
    array = plain(values) if isinstance(values, Words) else np.asarray(values)
    return array if array.dtype.kind in "fiubM" else array.tolist()


def _from_parquet(content: Content) -> Table:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError(
            "Parquet files need pyarrow: pip install 'halk[io]'"
        ) from None
    try:
        made = parquet.ParquetFile(arrow.BufferReader(content.data)).read()
    except (arrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"{content.path} must be a Parquet file, got: {reason}"
        ) from None
    names = [str(name).strip() for name in made.column_names]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        listed = ", ".join(map(repr, twice))
        raise DataError(
            f"{content.path}: columns must have different names, got twice {listed}"
        )
    table = _from_frame(made, content.path, first=1)
    return replace(table, sha256=content.sha256)


def _from_excel(content: Content) -> Table:
    """Return the first sheet of a workbook that has rows."""
    try:
        calamine = import_module("python_calamine")
    except ImportError:
        raise ImportError(
            "spreadsheets need python-calamine: pip install 'halk[io]', or save the "
            "sheet as CSV"
        ) from None
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content.data))
        sheets = {
            name: book.get_sheet_by_name(name).to_python(skip_empty_area=False)
            for name in book.sheet_names
        }
    except Exception as error:  # of whatever kind the parser has
        raise DataError(
            f"{content.path} must be a table, got a damaged spreadsheet or an archive "
            f"({error}); save the table as CSV"
        ) from None
    filled = [name for name, rows in sheets.items() if any(map(any, rows))]
    if not filled:
        raise DataError(f"{content.path} must have rows, got empty sheets")
    said = []
    if len(filled) > 1:
        others = ", ".join(map(repr, filled[1:]))
        said.append(
            Finding(
                NOTE, "sheets",
                f"{content.path}: sheet {filled[0]!r} is read, not {others}",
                "to read another, move it to the front or save it as CSV",
            )
        )  # fmt: skip
    records = _sheet_records(sheets[filled[0]])
    return read_rows(content.path, records, "row", content.sha256, said=said)


def _sheet_records(rows: list[list[Any]]) -> Iterator[Record]:
    width = max(
        k + 1 for row in rows for k, cell in enumerate(row) if cell not in ("", None)
    )
    for n, row in enumerate(rows, 1):
        cells = [_sheet_text(cell) for cell in row[:width]]
        if any(cells):
            yield n, cells


def _sheet_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    return str(cell).strip()
