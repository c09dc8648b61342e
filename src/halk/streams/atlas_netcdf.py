"""The World Ocean Atlas as NetCDF: variables on (time, depth, latitude, longitude)."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from halk._validation import Vector
from halk.streams.errors import DataError
from halk.streams.files import Source
from halk.streams.grid import Box, Grid, is_inside

COORDINATES = ("depth", "lat", "lon")


def is_netcdf(data: bytes) -> bool:
    """Whether a file begins as NetCDF does, in its old or its new format."""
    return data.startswith((b"CDF", b"\x89HDF"))


def variables_of(source: Source) -> tuple[str, ...]:
    """Return the names of the variables in a file."""
    with _dataset(source) as file:
        return tuple(file.variables)


def grid_from_netcdf(source: Source, names: Sequence[str], box: Box) -> Grid:
    """Return the cells in a box of the first of the variables ``names`` there is."""
    with _dataset(source) as file:
        try:
            return _grid(source.path, file.variables, names, box)
        except (OSError, RuntimeError):  # what netCDF4 raises where data are missing
            raise _damaged(source.path) from None


def _dataset(source: Source) -> Any:
    try:
        module = import_module("netCDF4")
    except ImportError:
        raise ImportError(
            "NetCDF files need netCDF4: pip install 'halk[grids]'"
        ) from None
    try:
        return module.Dataset(source.path, memory=source.data)
    except (OSError, RuntimeError):
        raise _damaged(source.path) from None


def _damaged(path: str) -> DataError:
    got = "a damaged or incomplete one"
    return DataError(f"{path} must be a NetCDF file, got {got}; fetch it again")


def _grid(path: str, there: Mapping[str, Any], names: Sequence[str], box: Box) -> Grid:
    variable = _variable(path, there, names)
    depths, latitude, longitude = (_filled(there[name][:]) for name in COORDINATES)
    _refuse_depths(path, depths)
    # Rows and columns of the box each on their own: a grid is a product.
    south, north = box[:2]
    rows = (latitude >= south) & (latitude <= north)
    columns = is_inside(np.full(len(longitude), south), longitude, box)
    first = () if variable.ndim == len(COORDINATES) else (0,)
    values = _filled(variable[(*first, slice(None), rows, columns)])
    if np.isinf(values).any():
        raise DataError(f"{path}: {variable.name} must be finite, got infinity")
    places = np.meshgrid(latitude[rows], longitude[columns], indexing="ij")
    positions = np.stack(places, axis=-1).reshape(-1, 2)
    return Grid(positions, depths, values.reshape(len(depths), -1).T)


def _variable(path: str, there: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first of ``names``, on the coordinates of a grid."""
    missing = [name for name in COORDINATES if name not in there]
    found = [name for name in names if name in there]
    missing += [] if found else [" or ".join(names)]
    if missing:
        listed, known = ", ".join(missing), ", ".join(there) or "none"
        raise DataError(f"{path} must hold the variables {listed}; got {known}")
    variable = there[found[0]]
    depth_lat_lon = variable.dimensions[-3:]
    is_grid = depth_lat_lon == COORDINATES and (
        variable.ndim == 3 or (variable.ndim == 4 and variable.shape[0] == 1)
    )
    if not is_grid:
        sizes = zip(variable.dimensions, variable.shape, strict=True)
        shape = ", ".join(f"{name} {size}" for name, size in sizes)
        rule = f"{found[0]} must be on (one time, depth, lat, lon)"
        raise DataError(f"{path}: {rule}, got ({shape})")
    return variable


def _refuse_depths(path: str, depths: Vector) -> None:
    is_rising = np.isfinite(depths).all() and (np.diff(depths) > 0).all()
    if not is_rising:
        got = np.array2string(depths, threshold=6)
        raise DataError(f"{path}: depth must be rising numbers, got {got}")


def _filled(values: Any) -> Any:
    """Return an array with NaN where a value is masked."""
    return np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)
