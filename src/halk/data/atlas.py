"""Sensors in the World Ocean Atlas: a few cells of its grid, far from each other.

As comma separated values, comment lines start with ``#``; the last of them lists the
standard depths; then there is one line per grid cell: latitude, longitude and the
value at each depth, of which the last ones are left out where the sea is shallower. As
NetCDF, there are variables on (time, depth, latitude, longitude).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import isfinite, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from halk._places import measure_distances
from halk._validation import (
    Indices,
    Matrix,
    Vector,
    array,
    choice,
    integer,
    real,
    require,
)
from halk.data.field import Field
from halk.data.files import Content, PathLike, open_file
from halk.data.findings import problems
from halk.data.sources import import_extra
from halk.data.table import number
from halk.errors import DataError

__all__ = ["GULF", "read_atlas"]

Box = tuple[float, float, float, float]
"""Southern, northern, western and eastern limit in degrees."""

GULF: Box = (18.0, 31.0, -98.0, -80.0)
"""The Gulf of Mexico, with what a box around it holds of the waters next to it."""

VARIABLES = {"temperature": "t", "salinity": "s"}
UNITS = {"temperature": "°C", "salinity": "psu"}
SEASONS = {"annual": "00", "winter": "13", "spring": "14", "summer": "15",
           "autumn": "16"}  # fmt: skip
"""What files call them."""

MARK = "COMMA SEPARATED LATITUDE, LONGITUDE, AND VALUES AT DEPTHS (M):"

AXES = ("depth", "lat", "lon")


class Grid(NamedTuple):
    """Values at some cells and depths, NaN where there are none."""

    variable: str
    positions: Matrix  # (N, 2), latitude and longitude
    depths: Vector  # (D,)
    values: Matrix  # (N, D)


def read_atlas(
    path: PathLike,
    variable: str | None = None,
    n_agents: int = 50,
    box: Box = GULF,
    start: tuple[float, float] = (25.5, -90.5),
    season: str | None = None,
    minimum_depths: int = 10,
) -> Field:
    """Read sensors from the World Ocean Atlas, as it is published.

    Sensors are grid cells: the first is the nearest to ``start``, each next as far as
    possible from those already chosen.

    Parameters
    ----------
    path : path of a CSV or NetCDF file, packed by gzip or not, or of a folder of such
        Names as published, ``woa18_decav_t13mn01.csv.gz`` or ``t13.csv``, say which
        variable and season it is.
    variable : {"temperature", "salinity"}, optional
        What to choose in a folder, or in a file whose name does not say it.
    n_agents : int, at least 2
    box : southern, northern, western and eastern limit in degrees
    start : latitude and longitude
    season : {"annual", "winter", "spring", "summer", "autumn"}, optional
        What to choose in a folder.
    minimum_depths : int, at least 1
        Cells with fewer readings are passed over.

    Returns
    -------
    Field
        By depth in metres; sensors are named after their place, "25.5N 90.5W".

    Raises
    ------
    DataError
        If the file cannot be used, with lines, or the box has too few cells.
    """
    n_agents = integer("n_agents", n_agents, minimum=2)
    minimum_depths = integer("minimum_depths", minimum_depths, minimum=1)
    for name, value, known in (
        ("variable", variable, VARIABLES), ("season", season, SEASONS),
    ):  # fmt: skip
        if value is not None:
            choice(name, value, known)
    _check_box(box)
    file = Path(path)
    file = _choose_file(file, variable, season) if file.is_dir() else file
    source, found = open_file(file), about(file)
    for name, value, own in zip(found._fields, (variable, season), found, strict=False):
        if value and own and value != own:
            raise DataError(
                f"{file}: {name} must be {own!r} by the file's name, got {value!r}"
            )
    found = About(variable or found.variable, season or found.season, found.kind)
    grid = (_read_netcdf if source.is_netcdf else _read_csv)(source, found, box)
    found = found._replace(variable=grid.variable)
    is_deep = np.isfinite(grid.values).sum(axis=1) >= minimum_depths
    places, values = grid.positions[is_deep], grid.values[is_deep]
    if len(places) < n_agents:
        raise DataError(
            f"{file}: box {box} must hold at least {n_agents} cells with "
            f"{minimum_depths} depths, got {len(places)}; choose another box, fewer "
            f"n_agents or a smaller minimum_depths"
        )
    chosen = spread(places, n_agents, start)
    places, values = places[chosen], values[chosen]
    places[:, 1] -= np.where(places[:, 1] >= 180, 360, 0)
    agent, depth = np.nonzero(np.isfinite(values))
    return Field(
        grid.variable, UNITS[grid.variable], ("depth_m",),
        tuple(_name_place(*place) for place in places.tolist()), places, True,
        agent, grid.depths[depth][:, None], values[agent, depth],
        source=f"{file.name}, {found} at {n_agents} grid cells", sha256=source.sha256,
    )  # fmt: skip


def is_atlas(content: Content) -> bool:
    """Whether a file is of the atlas: comments or variables that only it has."""
    if content.is_netcdf:
        with _variables(content) as there:
            return any(re.fullmatch("[a-zA-Z]_(mn|an)", name) for name in there)
    start = content.data[:100_000]
    return start.startswith(b"#") and MARK.encode() in start.upper()


def _check_box(box: Box) -> None:
    require(len(box) == 4, "box", "be (south, north, west, east)", box)
    south, north, west, east = (real("box", limit) for limit in box)
    is_right = -90 <= south < north <= 90
    require(is_right, "box", "have south below north, within [-90, 90]", box)
    is_right = -360 <= west < east <= 360 and east - west <= 360
    require(is_right, "box", "have west below east, within a turn", box)


def _is_inside(latitude: Any, longitude: Any, box: Box) -> Any:
    """Whether points are in a box; longitudes count from -180 or from 0 alike."""
    south, north, west, east = box
    across = (longitude - west) % 360.0 <= east - west
    return (latitude >= south) & (latitude <= north) & across


def _name_place(latitude: float, longitude: float) -> str:
    north = f"{abs(latitude):g}{'S' if latitude < 0 else 'N'}"
    return f"{north} {abs(longitude):g}{'W' if longitude < 0 else 'E'}"


# the names of files

_PATTERN = re.compile(
    r"(?:^|_)(?P<variable>[ts])(?P<season>\d\d)(?P<kind>mn|an)?_?(?:\d\d)?"
    r"\.(?:csv|csv\.gz|nc)$",
    re.IGNORECASE,
)


class About(NamedTuple):
    """A variable and a season; empty where unknown."""

    variable: str = ""
    season: str = ""
    kind: str = ""  # "mn": mean of what was measured, "an": analysed and filled up

    def __str__(self) -> str:
        return " ".join(word for word in (self.season, self.variable) if word)


def about(path: PathLike) -> About:
    """Return what a file name says.

    Examples
    --------
    >>> about("woa18_decav_t13mn01.csv.gz")
    About(variable='temperature', season='winter', kind='mn')
    >>> about("buoys.csv")
    About(variable='', season='', kind='')
    """
    found = _PATTERN.search(Path(path).name)
    if found is None:
        return About()
    variables = {code: name for name, code in VARIABLES.items()}
    seasons = {code: name for name, code in SEASONS.items()}
    season = seasons.get(found["season"], f"period {found['season']}")
    return About(variables[found[1].lower()], season, (found["kind"] or "").lower())


def _choose_file(folder: Path, variable: str | None, season: str | None) -> Path:
    """Return the file of a folder that holds a variable in a season."""
    files = {file: about(file) for file in sorted(folder.iterdir()) if file.is_file()}
    known = {file: found for file, found in files.items() if found.variable}
    fitting = {
        file: found
        for file, found in known.items()
        if variable in (None, found.variable) and season in (None, found.season)
    }
    # Means as measured before analysed ones; text before NetCDF, which needs a package.
    rank = {f: (one.kind == "an", f.suffix.lower()) for f, one in fitting.items()}
    ties = [file for file in fitting if rank[file] == min(rank.values())]
    if len(ties) == 1 and len({found[:2] for found in fitting.values()}) == 1:
        return ties[0]
    what = " ".join(word for word in (season, variable) if word) or "one variable"
    listed = ", ".join(f"{f.name} ({one})" for f, one in (fitting or known).items())
    if not fitting:
        raise DataError(
            f"{folder} must hold an atlas file of {what}, got {listed or 'none'}"
        )
    raise DataError(
        f"{folder} must hold one atlas file of {what}, got {listed}; give variable= "
        f"and season=, or the file itself"
    )


# what is in files

_UNNAMED = ("variable must be given, as the file's name does not say it: 'temperature' "
            "or 'salinity'")  # fmt: skip


def _check_depths(where: str, depths: Vector, got: str) -> None:
    if not (np.diff(depths, prepend=-np.inf) > 0).all():
        rule = "depths must be rising numbers"
        raise DataError(f"{where}: {rule}, got {got}; correct them, or fetch it again")


def _read_csv(source: Content, found: About, box: Box) -> Grid:
    """Return the cells in a box."""
    path, lines = source.path, source.decode()[0].splitlines()
    if not found.variable:
        raise DataError(f"{path}: {_UNNAMED}")
    n = next((n for n, line in enumerate(lines) if line[:1] != "#"), len(lines))
    last, where = lines[n - 1] if n else "", f"{path}, line {max(n, 1)}"
    _, mark, listed = last.upper().partition(MARK)
    if not mark:
        raise DataError(
            f"{where}: last comment must list the depths after {MARK!r}, got "
            f"{last[:60]!r}; fetch the file again"
        )
    depths = np.array([number(cell) for cell in listed.strip(" ,").split(",")])
    _check_depths(where, depths, repr(listed[:60]))
    body = [(k, line) for k, line in enumerate(lines[n:], n + 1) if line.strip()]
    if not body:
        raise DataError(f"{path} must hold grid cells, got comments only")
    first: dict[tuple[float, float], int] = {}
    rows, wrong = [], []
    for k, line in body:
        cells = [cell.strip() for cell in line.rstrip(", \t").split(",")]
        lat, lon, *_ = [number(cell) for cell in (*cells[:2], "", "")]
        rule = ""
        if not (abs(lat) <= 90 and -180 <= lon <= 360):
            rule = (
                "cell must begin with latitude within [-90, 90] and longitude within "
            )
            rule += f"[-180, 360], got {line[:40]!r}"
        elif _is_inside(lat, lon, box):
            values = [number(cell) for cell in cells[2:]]
            strange = [c for c, v in zip(cells[2:], values, strict=True)
                       if c and not isfinite(v)]  # fmt: skip
            other = first.setdefault((lat, lon % 360), k)
            if other != k:
                rule = f"cell must differ from that of line {other}, got ({lat:g}, "
                rule += f"{lon:g}) in both"
            elif strange:
                rule = f"values must be finite numbers, got {strange[0]!r}"
            elif len(values) > len(depths):
                rule = f"values must be {len(depths)} at most, got {len(values)}"
            rows.append([lat, lon, *values] + [nan] * (len(depths) - len(values)))
        if rule:
            wrong.append(f"{path}, line {k}: {rule}")
    if wrong:
        raise problems(wrong, "correct the line, or fetch the file again")
    made = np.array(rows, dtype=np.float64).reshape(len(rows), 2 + len(depths))
    return Grid(found.variable, made[:, :2], depths, made[:, 2:])


@contextmanager
def _variables(source: Content) -> Iterator[Any]:
    """Open a NetCDF file; netCDF4 may raise later too, where data are missing."""
    module = import_extra("netCDF4", "NetCDF", "grids")
    try:
        with module.Dataset(source.path, memory=source.data) as file:
            yield file.variables
    except (OSError, RuntimeError):
        rule = "must be a NetCDF file, got a damaged or incomplete one"
        raise DataError(f"{source.path} {rule}; fetch it again") from None


def _read_netcdf(source: Content, found: About, box: Box) -> Grid:
    """Return the cells in a box."""
    kinds = ("an", "mn") if found.kind == "an" else ("mn", "an")
    wanted = {
        f"{code}_{kind}": name
        for kind in kinds
        for name, code in VARIABLES.items()
        if found.variable in ("", name)
    }
    with _variables(source) as there:
        fits = {n: (v.shape[:-3], v.dimensions[-3:]) for n, v in there.items()}
        ours = [n for n in wanted if fits.get(n) in (((), AXES), ((1,), AXES))]
        if not ours or not set(AXES) <= set(there):
            rule = f"hold {' or '.join(wanted)} on (one time, {', '.join(AXES)})"
            got = ", ".join(f"{name} {v.shape}" for name, v in there.items())
            raise DataError(f"{source.path} must {rule}, got {got or 'nothing'}")
        if len({wanted[name] for name in ours}) > 1:
            raise DataError(f"{source.path}: {_UNNAMED}")
        depths, lat, lon = (_fill(there[one][:]) for one in AXES)
        # Rows and columns of the box each on their own: a grid is a product.
        rows, columns = _is_inside(lat, box[2], box), _is_inside(box[0], lon, box)
        measured = there[ours[0]]
        first = (0,) * (measured.ndim - len(AXES))
        values = _fill(measured[(*first, slice(None), rows, columns)])
    _check_depths(source.path, depths, np.array2string(depths, threshold=6))
    places = np.meshgrid(lat[rows], lon[columns], indexing="ij")
    positions = np.stack(places, axis=-1).reshape(-1, 2)
    return Grid(wanted[ours[0]], positions, depths, values.reshape(len(depths), -1).T)


def _fill(values: Any) -> Any:
    """Return an array with NaN where a value is masked."""
    return np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)


# the choice of cells


def spread(positions: ArrayLike, n_chosen: int, start: Iterable[float]) -> Indices:
    """Choose places far from each other, by number; of equals the first.

    The first is the nearest to ``start``; each next is as far as possible, along the
    Earth's surface, from those already chosen. So a smaller choice begins a larger one.

    Examples
    --------
    >>> spread([(0, 0), (0, 1), (0, 4), (0, 10)], 3, start=(0, 0))
    array([0, 3, 2])
    """
    places = array("positions", positions, (None, 2))
    rule = f"be at most the number of places ({len(places)})"
    require(n_chosen <= len(places), "n_chosen", rule, n_chosen)
    chosen = np.empty(n_chosen, dtype=np.int64)
    point = np.array([start], dtype=np.float64)
    chosen[0] = np.argmin(measure_distances(places, point, "haversine"))
    apart = np.full(len(places), np.inf)
    for k in range(1, n_chosen):
        last = places[chosen[k - 1], None]
        apart = np.minimum(apart, measure_distances(places, last, "haversine"))
        apart[chosen[k - 1]] = -1.0  # never again, even if others are at its place
        chosen[k] = np.argmax(apart)
    return chosen
