"""NetCDF files as tables: grids, lists of readings, and stations as CF has them."""

from importlib import import_module
from typing import Any

import numpy as np

from halk.data.files import Content
from halk.data.table import Cells, Table, to_words
from halk.errors import DataError

MOST = 50_000_000
"""Cells beyond which a grid is not turned into a table."""


def xarray_module() -> Any:
    """Return xarray, or say how to install it."""
    try:
        return import_module("xarray")
    except ImportError:
        raise ImportError("NetCDF needs xarray: pip install 'halk[grids]'") from None


def from_netcdf(content: Content) -> Table:
    """Read a NetCDF file; each variable becomes a column, over all dimensions."""
    xarray = xarray_module()
    try:
        with xarray.open_dataset(content.path) as dataset:
            return from_dataset(dataset.load(), content.path, content.sha256)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"{content.path} must be a NetCDF file, got: {reason}"
        ) from None


def from_dataset(dataset: Any, path: str, sha256: str = "") -> Table:
    """Return an xarray dataset as a table, with the units of its variables.

    Lists of readings that say which station each is of, by index or by counts (CF's
    indexed and contiguous ragged arrays), get the columns of their stations.
    """
    sensor = next(
        (
            str(name)
            for name in dataset.variables
            if dataset[name].attrs.get("cf_role") == "timeseries_id"
        ),
        "",
    )
    flat = _unragged(dataset)
    dims = _read_dims(flat)
    n_rows = int(np.prod([flat.sizes[name] for name in dims], dtype=float))
    if n_rows > MOST:
        raise DataError(
            f"{path} must have at most {MOST:,} cells, got {n_rows:,}; cut a part out"
        )
    names = [
        str(name)
        for name in (*flat.coords, *flat.data_vars)
        if set(flat[name].dims) <= set(dims)
    ]
    # a dimension without coordinates counts from 0, unless its stations have names
    unnamed = [str(d) for d in dims if str(d) not in names]
    is_named = sensor and flat[sensor].dims
    names += [d for d in unnamed if not (is_named and flat[sensor].dims == (d,))]
    columns = [_cells(flat, dims, name) for name in names]
    units = {
        name: str(dataset[name].attrs["units"])
        for name in names
        if name in dataset and "units" in dataset[name].attrs
    }
    header = [
        "sensor" if name == sensor and "sensor" not in names else name for name in names
    ]
    sizes = {str(name): int(flat.sizes[name]) for name in dims}
    return Table(
        path, tuple(header), columns, range(n_rows), "cell", sha256, units,
        dimensions=sizes,
    )  # fmt: skip


def _unragged(dataset: Any) -> Any:
    """Return the dataset with what is known of stations at each of their readings."""
    for name in list(dataset.variables):
        attributes = dataset[name].attrs
        if "instance_dimension" in attributes:
            station, rows = attributes["instance_dimension"], dataset[name].dims[0]
            index = dataset[name].values.astype(np.int64)
        elif "sample_dimension" in attributes:
            station, rows = dataset[name].dims[0], attributes["sample_dimension"]
            counts = dataset[name].values.astype(np.int64)
            index = np.repeat(np.arange(len(counts)), counts)
        else:
            continue
        if station not in dataset.dims or rows not in dataset.dims:
            continue
        dataset = dataset.drop_vars(name)
        return dataset.isel({station: xarray_module().DataArray(index, dims=rows)})
    return dataset


def _read_dims(dataset: Any) -> list[Any]:
    """Return the dimensions of what was measured: those of the largest variable."""
    spans = [dataset[name].dims for name in (*dataset.data_vars, *dataset.coords)]
    largest = max(
        spans, key=lambda dims: np.prod([dataset.sizes[d] for d in dims], dtype=float)
    )
    measured = [dims for dims in spans if set(dims) & set(largest)]
    found = {d: None for dims in measured for d in dims}
    # the order of the largest comes first: its rows are read as they are kept
    return list(dict.fromkeys((*largest, *found)))


def _cells(dataset: Any, dims: list[Any], name: str) -> Cells:
    shape = tuple(dataset.sizes[dim] for dim in dims)
    if name in dataset.variables:
        own = dataset[name]
        values = np.asarray(own.transpose(*[d for d in dims if d in own.dims]).values)
        own_shape = [dataset.sizes[d] if d in own.dims else 1 for d in dims]
        values = np.broadcast_to(values.reshape(own_shape), shape).reshape(-1)
    else:
        values = np.indices(shape, sparse=True)[dims.index(name)]
        values = np.broadcast_to(values, shape).reshape(-1)
    if values.dtype.kind in "fiu":
        return values.astype(np.float64)
    if values.dtype.kind == "M":
        return values.astype("datetime64[us]")
    if values.dtype.kind == "S":
        return to_words(cell.decode("utf-8", "replace") for cell in values.tolist())
    return to_words(values.tolist())
