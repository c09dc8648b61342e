"""Sensors in the World Ocean Atlas: a few cells of its grid, far from each other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

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
    require,
)
from halk.data.atlas_files import (
    GULF,
    Box,
    Grid,
    around_greenwich,
    checked_box,
    grid_from_csv,
    grid_from_netcdf,
    variables_of,
)
from halk.data.field import Field
from halk.data.files import Content, PathLike, open_file
from halk.errors import DataError

__all__ = ["GULF", "read_atlas"]

UNITS = {"temperature": "°C", "salinity": "psu"}


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
    path : path of a CSV file, packed by gzip or not, of a NetCDF file, or of a folder
        of such
        Names as published, ``woa18_decav_t13mn01.csv.gz`` or ``t13.csv``, say which
        variable and season it is.
    variable : {"temperature", "salinity"}, optional
        What to choose in a folder, or in a file whose name does not say it.
    n_agents : int, at least 2
    box : four floats
        Southern, northern, western and eastern limit in degrees.
    start : two floats
        Latitude and longitude.
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
    _check_choices(variable, season)
    box = checked_box(box)
    file = Path(path)
    file = chosen_file(file, variable, season) if file.is_dir() else file
    source = open_file(file)
    known = _known(source, variable, season)
    grid = _with_depths(_grid(source, known, box), minimum_depths)
    if len(grid.positions) < n_agents:
        raise DataError(
            f"{file}: box {box} must hold at least {n_agents} cells with "
            f"{minimum_depths} depths, got {len(grid.positions)}; choose another box, "
            "fewer n_agents or a smaller minimum_depths"
        )
    return _field(source, known, grid, spread(grid.positions, n_agents, start))


def _check_choices(variable: str | None, season: str | None) -> None:
    if variable is not None:
        choice("variable", variable, VARIABLES)
    if season is not None:
        choice("season", season, SEASONS)


def _known(source: Content, variable: str | None, season: str | None) -> About:
    """Return what a file holds, from its name and what the user says."""
    named = about(source.path)
    for what, asked, found in (
        ("variable", variable, named.variable),
        ("season", season, named.season),
    ):
        if asked and found and asked != found:
            raise DataError(
                f"{source.path}: {what} must be {found!r} by the file's name, "
                f"got {asked!r}"
            )
    found = variable or named.variable or _only_variable(source)
    if not found:
        raise DataError(
            f"{source.path}: variable must be given, as the file's name does not say "
            "it: 'temperature' or 'salinity'"
        )
    return About(found, season or named.season, named.kind)


def _only_variable(source: Content) -> str:
    if not source.is_netcdf:
        return ""
    there = variables_of(source)
    held = [
        name
        for name, code in VARIABLES.items()
        if f"{code}_mn" in there or f"{code}_an" in there
    ]
    return held[0] if len(held) == 1 else ""


def _grid(source: Content, known: About, box: Box) -> Grid:
    if not source.is_netcdf:
        return grid_from_csv(source, box)
    code = VARIABLES[known.variable]
    kinds = ("an", "mn") if known.kind == "an" else ("mn", "an")
    return grid_from_netcdf(source, [f"{code}_{kind}" for kind in kinds], box)


def _with_depths(grid: Grid, minimum: int) -> Grid:
    kept = np.isfinite(grid.values).sum(axis=1) >= minimum
    return Grid(grid.positions[kept], grid.depths, grid.values[kept])


def _field(source: Content, known: About, grid: Grid, chosen: Indices) -> Field:
    latitude, longitude = grid.positions[chosen].T
    positions = np.column_stack((latitude, around_greenwich(longitude)))
    values = grid.values[chosen]
    agent, depth = np.nonzero(np.isfinite(values))
    return Field(
        known.variable,
        UNITS[known.variable],
        ("depth_m",),
        tuple(_place(*point) for point in positions.tolist()),
        positions,
        True,
        agent,
        grid.depths[depth][:, None],
        values[agent, depth],
        source=f"{Path(source.path).name}, {known} at {len(chosen)} grid cells",
        sha256=source.sha256,
    )


def _place(latitude: float, longitude: float) -> str:
    """Return the name of a place.

    Examples
    --------
    >>> _place(25.5, -90.5)
    '25.5N 90.5W'
    """
    north = f"{abs(latitude):g}{'S' if latitude < 0 else 'N'}"
    return f"{north} {abs(longitude):g}{'W' if longitude < 0 else 'E'}"


# the names of files

VARIABLES = {"temperature": "t", "salinity": "s"}
SEASONS = {
    "annual": "00",
    "winter": "13",
    "spring": "14",
    "summer": "15",
    "autumn": "16",
}

_PATTERN = re.compile(
    r"(?:^|_)(?P<variable>[ts])(?P<season>\d\d)(?P<kind>mn|an)?_?(?P<grid>\d\d)?"
    r"\.(?P<end>csv|csv\.gz|nc)$",
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
    variable = variables[found["variable"].lower()]
    season = seasons.get(found["season"], f"period {found['season']}")
    return About(variable, season, (found["kind"] or "").lower())


def chosen_file(folder: Path, variable: str | None, season: str | None) -> Path:
    """Return the file of a folder that holds a variable in a season."""
    try:
        files = sorted(file for file in folder.iterdir() if file.is_file())
    except OSError as error:
        raise DataError(f"{folder} must be readable, got: {error.strerror}") from None
    known = {file: about(file) for file in files if about(file).variable}
    fitting = {
        file: found
        for file, found in known.items()
        if variable in (None, found.variable) and season in (None, found.season)
    }
    # Means as measured before analysed ones; text before NetCDF, which needs a package.
    best = sorted(fitting, key=lambda file: _rank(file, fitting[file]))
    ties = [f for f in best if _rank(f, fitting[f]) == _rank(best[0], fitting[best[0]])]
    if len(ties) == 1 and len({found[:2] for found in fitting.values()}) == 1:
        return ties[0]
    asked = " ".join(word for word in (season, variable) if word) or "one variable"
    if not fitting:
        there = _listed(known) if known else f"no atlas among {_names(files)}"
        raise DataError(f"{folder} must hold an atlas file of {asked}, got {there}")
    rule = f"must hold one atlas file of {asked}, got {_listed(fitting)}"
    raise DataError(f"{folder} {rule}; give variable= and season=, or the file itself")


def _rank(file: Path, found: About) -> tuple[bool, bool]:
    return found.kind == "an", file.suffix.lower() == ".nc"


def _listed(files: dict[Path, About]) -> str:
    return ", ".join(f"{file.name} ({found})" for file, found in files.items())


def _names(files: Iterable[Path]) -> str:
    names = [file.name for file in files]
    return ", ".join(names[:5] + ["..."] * (len(names) > 5)) or "no files"


# the choice of cells


def spread(positions: ArrayLike, n_chosen: int, start: tuple[float, float]) -> Indices:
    """Choose places far from each other.

    The first is the nearest to ``start``; each next is as far as possible, along the
    Earth's surface, from those already chosen. So a smaller choice begins a larger one.

    Parameters
    ----------
    positions : array (N, 2) of latitude and longitude in degrees
    n_chosen : int, at least 1 and at most N
    start : latitude and longitude

    Returns
    -------
    int array (n_chosen,)
        Of places at the same distance the first in ``positions`` is chosen.

    Notes
    -----
    O(N n_chosen) time.

    Examples
    --------
    >>> spread([(0, 0), (0, 1), (0, 4), (0, 10)], 3, start=(0, 0))
    array([0, 3, 2])
    """
    places = array("positions", positions, (None, 2))
    n_chosen = integer("n_chosen", n_chosen, minimum=1)
    rule = f"be at most the number of places ({len(places)})"
    require(n_chosen <= len(places), "n_chosen", rule, n_chosen)
    chosen = np.empty(n_chosen, dtype=np.int64)
    chosen[0] = np.argmin(_distance(places, np.array(start, dtype=np.float64)))
    apart = np.full(len(places), np.inf)
    for k in range(1, n_chosen):
        apart = np.minimum(apart, _distance(places, places[chosen[k - 1]]))
        apart[chosen[k - 1]] = -1.0  # never again, even if others are at its place
        chosen[k] = np.argmax(apart)
    return chosen


def _distance(places: Matrix, point: Vector) -> Vector:
    return measure_distances(places, point[None], "haversine")
