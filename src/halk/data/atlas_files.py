"""Files of the World Ocean Atlas: the cells of its grid that lie in a box.

As comma separated values, comment lines start with ``#``; the last of them lists the
standard depths; then there is one line per grid cell: latitude, longitude and the
value at each depth, of which the last ones are left out where the sea is shallower. As
NetCDF, there are variables on (time, depth, latitude, longitude).
"""

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Matrix, Vector, real, require
from halk.data.files import Content, problems
from halk.data.table import number
from halk.errors import DataError

Box = tuple[float, float, float, float]
"""Southern, northern, western and eastern limit in degrees."""

GULF: Box = (18.0, 31.0, -98.0, -80.0)
"""The Gulf of Mexico, with what a box around it holds of the waters next to it."""


class Grid(NamedTuple):
    """Values at some cells and depths, NaN where there are none."""

    positions: Matrix  # (N, 2), latitude and longitude
    depths: Vector  # (D,)
    values: Matrix  # (N, D)


def checked_box(box: Box) -> Box:
    """Return a box whose limits make sense."""
    require(len(box) == 4, "box", "be (south, north, west, east)", box)
    south, north, west, east = (real("box", limit) for limit in box)
    is_right = -90 <= south < north <= 90
    require(is_right, "box", "have south below north, within [-90, 90]", box)
    is_right = -360 <= west < east <= 360 and east - west <= 360
    require(is_right, "box", "have west below east, within a turn", box)
    return south, north, west, east


def is_inside(latitude: Vector, longitude: Vector, box: Box) -> NDArray[np.bool_]:
    """Whether points are in a box; longitudes count from -180 or from 0 alike.

    Examples
    --------
    >>> is_inside(np.array([25.0, 25.0]), np.array([-90.0, 270.0]), GULF)
    array([ True,  True])
    """
    south, north, west, east = box
    across = np.remainder(longitude - west, 360.0) <= east - west
    return np.asarray((latitude >= south) & (latitude <= north) & across)


def around_greenwich(longitude: Vector) -> Vector:
    """Return longitudes counted from -180 to 180."""
    return np.where(longitude >= 180, longitude - 360, longitude)


# comma separated values

MARK = "COMMA SEPARATED LATITUDE, LONGITUDE, AND VALUES AT DEPTHS (M):"

Line = tuple[str, str]
"""Where a line is, to begin a message with, and the line."""

_ADVICE = "correct the line, or fetch the file again"


def is_atlas(content: Content) -> bool:
    """Whether a file is of the atlas: comments or variables that only it has."""
    if content.is_netcdf:
        return any(re.fullmatch("[a-zA-Z]_(mn|an)", v) for v in variables_of(content))
    start = content.data[:100_000]
    return start.startswith(b"#") and MARK.encode() in start.upper()


def grid_from_csv(source: Content, box: Box) -> Grid:
    """Return the cells of an atlas file that lie in a box."""
    lines = source.text().splitlines()
    n_comments = next(
        (n for n, line in enumerate(lines) if not line.startswith("#")), len(lines)
    )
    depths = _depths(source.path, lines[:n_comments])
    body = [
        (f"{source.path}, line {n}", line)
        for n, line in enumerate(lines[n_comments:], n_comments + 1)
        if line.strip()
    ]
    if not body:
        raise DataError(f"{source.path} must hold grid cells, got comments only")
    positions = _positions(body)
    inside = np.flatnonzero(is_inside(positions[:, 0], positions[:, 1], box))
    body, positions = [body[k] for k in inside.tolist()], positions[inside]
    _refuse_repeated(body, positions)
    return Grid(positions, depths, _values(body, len(depths)))


def _depths(path: str, comments: list[str]) -> Vector:
    """Return the standard depths, which the last comment lists."""
    last = comments[-1] if comments else ""
    where = f"{path}, line {max(len(comments), 1)}"
    _, mark, listed = last.upper().partition(MARK)
    if not mark:
        raise DataError(
            f"{where}: last comment must list the depths after {MARK!r}, "
            f"got {last[:60]!r}; fetch the file again"
        )
    depths = np.array([number(cell) for cell in listed.strip(" ,").split(",")])
    if not (np.isfinite(depths).all() and (np.diff(depths) > 0).all()):
        got = f"{listed[:60]!r}; {_ADVICE}"
        raise DataError(f"{where}: depths must be rising numbers, got {got}")
    return depths


def _positions(body: list[Line]) -> Matrix:
    """Return latitude and longitude of every line."""
    places = [[number(cell) for cell in line.split(",", 2)[:2]] for _, line in body]
    found = [
        f"{where}: cell must begin with latitude within [-90, 90] and longitude within "
        f"[-180, 360], got {line[:40]!r}"
        for (where, line), place in zip(body, places, strict=True)
        if len(place) < 2 or not (abs(place[0]) <= 90 and -180 <= place[1] <= 360)
    ]
    if found:
        raise problems(found, _ADVICE)
    return np.array(places)


def _refuse_repeated(body: list[Line], positions: Matrix) -> None:
    first: dict[tuple[float, float], str] = {}
    found = []
    for (where, _), (latitude, longitude) in zip(body, positions.tolist(), strict=True):
        other = first.setdefault((latitude, longitude % 360), where)
        if other != where:
            rule = f"cell must differ from that of {other.rpartition(', ')[2]}"
            found.append(f"{where}: {rule}, got ({latitude:g}, {longitude:g}) in both")
    if found:
        raise problems(found, "remove one of them")


def _values(body: list[Line], n_depths: int) -> Matrix:
    """Return the values (N, D), NaN where a cell is empty or left out."""
    values = np.full((len(body), n_depths), np.nan)
    found = []
    for k, (where, line) in enumerate(body):
        cells = [cell.strip() for cell in line.rstrip(", \t").split(",")[2:]]
        row = [number(cell) for cell in cells]
        wrong = [c for c, v in zip(cells, row, strict=True) if c and not isfinite(v)]
        if wrong:
            found.append(f"{where}: values must be finite numbers, got {wrong[0]!r}")
        elif len(row) > n_depths:
            found.append(f"{where}: values must be {n_depths} at most, got {len(row)}")
        else:
            values[k, : len(row)] = row
    if found:
        raise problems(found, _ADVICE)
    return values


# NetCDF

COORDINATES = ("depth", "lat", "lon")


def variables_of(source: Content) -> tuple[str, ...]:
    """Return the names of the variables in a file."""
    with _dataset(source) as file:
        return tuple(file.variables)


def grid_from_netcdf(source: Content, names: Sequence[str], box: Box) -> Grid:
    """Return the cells in a box of the first of the variables ``names`` there is."""
    with _dataset(source) as file:
        try:
            return _grid(source.path, file.variables, names, box)
        except (OSError, RuntimeError):  # what netCDF4 raises where data are missing
            raise _damaged(source.path) from None


def _dataset(source: Content) -> Any:
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
