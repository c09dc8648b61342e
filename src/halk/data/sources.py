"""Tables from wherever they are: files, standard input, frames, grids, columns."""

import io
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from halk.data.files import (
    Content,
    check_header,
    open_file,
    read_csv,
    read_rows,
    unpack,
)
from halk.data.findings import NOTE, Finding
from halk.data.table import Cells, Table, Words, plain, to_cells, to_text, to_words
from halk.errors import DataError

STDIN = "-"

MOST = 50_000_000
"""Cells beyond which a grid is not turned into a table."""


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
        table = _from_frame(source, name)
    elif type(source).__module__.partition(".")[0] == "xarray":
        table = _from_dataset(source, name)
    elif isinstance(source, Mapping):
        table = _from_columns(source, name)
    elif source == STDIN:
        return read_content(unpack("standard input", sys.stdin.buffer.read()))
    elif isinstance(source, str) or hasattr(source, "__fspath__"):
        return read_content(open_file(source))
    else:
        raise TypeError(
            f"{name} must be a path, a frame, a dataset or a dict of columns, got "
            f"{type(source).__name__}"
        )
    return _with_rows(table)


def read_content(content: Content) -> Table:
    """Return the table of a file that is in memory."""
    if content.is_netcdf:
        return _with_rows(_from_netcdf(content))
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
    return Table(name, tuple(lengths), list(map(to_cells, source.values())), range(n))


def import_extra(name: str, what: str, extra: str) -> Any:
    """Return a module, or say how to install it."""
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0].replace("_", "-")
        raise ImportError(
            f"{what} needs {package}: pip install 'halk[{extra}]'"
        ) from None


# frames


def is_frame(source: Any) -> bool:
    """Return whether something is a frame of a known library; imports none."""
    module = type(source).__module__.partition(".")[0]
    return module in {"pandas", "polars", "pyarrow", "modin", "cudf", "narwhals"}


def _narwhals() -> Any:
    return import_extra("narwhals.stable.v2", "A frame", "io")


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
    arrow = import_extra("pyarrow", "Parquet", "io")
    parquet = import_extra("pyarrow.parquet", "Parquet", "io")
    try:
        made = parquet.ParquetFile(arrow.BufferReader(content.data)).read()
    except (arrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"{content.path} must be a Parquet file, got: {reason}"
        ) from None
    check_header(content.path, [str(name).strip() for name in made.column_names])
    table = _from_frame(made, content.path, first=1)
    return replace(table, sha256=content.sha256)


# sheets


def _from_excel(content: Content) -> Table:
    """Return the first sheet of a workbook that has rows."""
    calamine = import_extra("python_calamine", "A spreadsheet", "io")
    path = content.path
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content.data))
        sheets = {
            name: book.get_sheet_by_name(name).to_python(skip_empty_area=False)
            for name in book.sheet_names
        }
    except Exception as error:  # of whatever kind the parser has
        raise DataError(
            f"{path} must be a table, got a damaged spreadsheet or an archive "
            f"({error}); save the table as CSV"
        ) from None
    filled = [name for name, rows in sheets.items() if any(map(any, rows))]
    if not filled:
        raise DataError(f"{path} must have rows, got empty sheets")
    message = f"{path}: sheet {filled[0]!r} is read, not "
    message += ", ".join(map(repr, filled[1:]))
    advice = "to read another, move it to the front or save it as CSV"
    notes = [Finding(NOTE, "sheets", message, advice)] if len(filled) > 1 else []
    rows = [[to_text(cell) for cell in row] for row in sheets[filled[0]]]
    width = max(k + 1 for row in rows for k, cell in enumerate(row) if cell)
    records = ((n, row[:width]) for n, row in enumerate(rows, 1) if any(row))
    return read_rows(path, records, "row", content.sha256, notes=notes)


# NetCDF: grids, lists of readings, and stations as CF has them


def _from_netcdf(content: Content) -> Table:
    xarray = import_extra("xarray", "NetCDF", "grids")
    try:
        dataset = xarray.load_dataset(content.path)
        return _from_dataset(dataset, content.path, content.sha256)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"{content.path} must be a NetCDF file, got: {reason}"
        ) from None


def _from_dataset(dataset: Any, path: str, sha256: str = "") -> Table:
    """Return a dataset as a table: each variable is a column, over all dimensions.

    Lists of readings that say which station each is of, by index or by counts (CF's
    indexed and contiguous ragged arrays), get the columns of their stations.
    """
    flat = _without_ragged(dataset)
    dims = _dims_of_readings(flat)
    shape = [int(flat.sizes[dim]) for dim in dims]
    n_rows = int(np.prod(shape, dtype=float))
    if n_rows > MOST:
        raise DataError(
            f"{path} must have at most {MOST:,} cells, got {n_rows:,}; cut a part out"
        )
    columns, units = {}, {}
    sensor = ""
    for name in (*flat.coords, *flat.data_vars):
        own, attributes = flat[name], dataset[name].attrs
        if not set(own.dims) <= set(dims):
            continue
        values = own.transpose(*[dim for dim in dims if dim in own.dims]).values
        own_shape = [flat.sizes[dim] if dim in own.dims else 1 for dim in dims]
        columns[str(name)] = _spread(values.reshape(own_shape), shape)
        if "units" in attributes:
            units[str(name)] = str(attributes["units"])
        if attributes.get("cf_role") == "timeseries_id":
            sensor = str(name)
    for k, dim in enumerate(dims):
        # a dimension without coordinates counts from 0, unless its stations have names
        if str(dim) not in columns and not (sensor and flat[sensor].dims == (dim,)):
            columns[str(dim)] = _spread(np.indices(shape, sparse=True)[k], shape)
    header = tuple(
        "sensor" if name == sensor and "sensor" not in columns else name
        for name in columns
    )
    sizes = dict(zip(map(str, dims), shape, strict=True))
    return Table(path, header, list(columns.values()), range(n_rows), "cell", sha256,
                 units, dimensions=sizes)  # fmt: skip


def _spread(values: Any, shape: list[int]) -> Cells:
    return to_cells(np.broadcast_to(values, shape).reshape(-1))


def _without_ragged(dataset: Any) -> Any:
    """Return the dataset with what is known of stations at each of their readings."""
    for name in list(dataset.variables):
        found = dataset[name]
        dim = next(iter(found.dims), "")
        if "instance_dimension" in found.attrs:
            station, rows = found.attrs["instance_dimension"], dim
            index = found.values.astype(np.int64)
        elif "sample_dimension" in found.attrs:
            station, rows = dim, found.attrs["sample_dimension"]
            index = np.repeat(np.arange(found.size), found.values.astype(np.int64))
        else:
            continue
        if station in dataset.dims and rows in dataset.dims:
            return dataset.drop_vars(name).isel({station: (rows, index)})
    return dataset


def _dims_of_readings(dataset: Any) -> list[Any]:
    """Return the dimensions of what was measured: those of the largest variable."""
    spans = [dataset[name].dims for name in (*dataset.data_vars, *dataset.coords)]
    largest = max(
        spans, key=lambda dims: np.prod([dataset.sizes[d] for d in dims], dtype=float)
    )
    # the order of the largest comes first: its rows are read as they are kept
    others = [dim for dims in spans if set(dims) & set(largest) for dim in dims]
    return list(dict.fromkeys((*largest, *others)))
