"""Tables from wherever they are: files, standard input, frames, grids, columns."""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from halk.data.frames import from_frame, is_frame
from halk.data.grids import from_dataset, from_netcdf, is_grid
from halk.streams.errors import DataError
from halk.streams.files import opened, source_of
from halk.streams.rows import Table, loaded

STDIN = "-"


def read_table(source: Any, name: str = "readings") -> Table:
    """Return a table of cells.

    Parameters
    ----------
    source : path, "-", frame, xarray dataset, or dict of columns
        A file of CSV, Parquet or NetCDF, known by its content; "-" is standard input.
    name : str
        What messages call it if it has no path.
    """
    if isinstance(source, Table):
        return source
    if is_frame(source):
        return _with_rows(from_frame(source, name))
    if type(source).__module__.partition(".")[0] == "xarray":
        return _with_rows(from_dataset(source, name))
    if isinstance(source, Mapping):
        return _with_rows(_from_columns(source, name))
    if source == STDIN:
        return loaded(source_of("standard input", sys.stdin.buffer.read()))
    if not isinstance(source, str) and not hasattr(source, "__fspath__"):
        raise TypeError(
            f"{name} must be a path, a frame, a dataset or a dict of columns, got "
            f"{type(source).__name__}"
        )
    content = opened(source)
    if is_grid(content.data):
        return _with_rows(from_netcdf(content.path, content.sha256))
    return loaded(content)


def _from_columns(source: Mapping[Any, Any], name: str) -> Table:
    columns = [_cells(cells) for cells in source.values()]
    lengths = {str(key): len(cells) for key, cells in zip(source, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        raise DataError(f"{name}: columns must be of one length, got {lengths}")
    n = next(iter(lengths.values()), 0)
    return Table(name, tuple(lengths), columns, list(range(n)), "row", "")


def _cells(values: Any) -> Any:
    array = np.asarray(values)
    if array.dtype.kind in "fiu":
        return array.astype(np.float64)
    if array.dtype.kind == "M":
        return array.astype("datetime64[us]")
    return ["" if cell is None or cell != cell else cell for cell in list(values)]


def _with_rows(table: Table) -> Table:
    if not len(table.numbers):
        raise DataError(f"{table.path}: table must have rows, got none")
    return table
