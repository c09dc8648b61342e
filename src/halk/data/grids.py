"""NetCDF files as tables: one row a cell of the grid or a reading of a list."""

from importlib import import_module
from typing import Any

import numpy as np

from halk.streams.errors import DataError
from halk.streams.rows import Table

MOST = 50_000_000
"""Cells beyond which a grid is not turned into a table."""


def is_grid(data: bytes) -> bool:
    """Return whether a file begins as NetCDF files do."""
    return data.startswith((b"CDF", b"\x89HDF"))


def from_netcdf(path: str, sha256: str) -> Table:
    """Read a NetCDF file; each variable becomes a column, over all dimensions."""
    try:
        xarray = import_module("xarray")
    except ImportError:
        raise ImportError("NetCDF needs xarray: pip install 'halk[grids]'") from None
    try:
        with xarray.open_dataset(path) as dataset:
            return from_dataset(dataset.load(), path, sha256)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{path} must be a NetCDF file, got: {reason}") from None


def from_dataset(dataset: Any, path: str, sha256: str = "") -> Table:
    """Return an xarray dataset as a table, with the units of its variables."""
    n_rows = int(np.prod([dataset.sizes[name] for name in dataset.dims], dtype=float))
    if n_rows > MOST:
        raise DataError(
            f"{path} must have at most {MOST:,} cells, got {n_rows:,}; cut a part out"
        )
    flat = dataset.stack(halk_row=list(dataset.dims), create_index=False)
    names = [str(name) for name in (*dataset.coords, *dataset.data_vars)]
    # a dimension without coordinates counts from 0
    names += [str(name) for name in dataset.dims if str(name) not in names]
    columns = [_cells(flat, dataset, name) for name in names]
    units = {
        name: str(dataset[name].attrs["units"])
        for name in names
        if name in dataset and "units" in dataset[name].attrs
    }
    rows = list(range(n_rows))
    return Table(path, tuple(names), columns, rows, "cell", sha256, units)


def _cells(flat: Any, dataset: Any, name: str) -> Any:
    if name in flat.variables:
        values = np.asarray(flat[name].values)
    else:
        shape = tuple(dataset.sizes[dim] for dim in dataset.dims)
        axis = list(dataset.dims).index(name)
        values = np.indices(shape, sparse=True)[axis]
        values = np.broadcast_to(values, shape).reshape(-1)
    if values.dtype.kind in "fiu":
        return values.astype(np.float64)
    if values.dtype.kind == "M":
        return values.astype("datetime64[us]")
    if values.dtype.kind == "S":
        return [cell.decode("utf-8", "replace").strip() for cell in values.tolist()]
    return [str(cell).strip() for cell in values.tolist()]
