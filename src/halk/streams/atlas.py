"""Sensors in the World Ocean Atlas: a few cells of its grid, far from each other."""

from pathlib import Path

import numpy as np

from halk._validation import Indices, choice, integer
from halk.streams.atlas_csv import grid_from_csv
from halk.streams.atlas_name import SEASONS, VARIABLES, About, about, chosen_file
from halk.streams.atlas_netcdf import grid_from_netcdf, is_netcdf, variables_of
from halk.streams.choose import spread
from halk.streams.errors import DataError
from halk.streams.field import Field
from halk.streams.files import PathLike, Source, opened
from halk.streams.grid import GULF, Box, Grid, around_greenwich, checked_box

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
    source = opened(file)
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


def _known(source: Source, variable: str | None, season: str | None) -> About:
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


def _only_variable(source: Source) -> str:
    if not is_netcdf(source.data):
        return ""
    there = variables_of(source)
    held = [
        name
        for name, code in VARIABLES.items()
        if f"{code}_mn" in there or f"{code}_an" in there
    ]
    return held[0] if len(held) == 1 else ""


def _grid(source: Source, known: About, box: Box) -> Grid:
    if not is_netcdf(source.data):
        return grid_from_csv(source, box)
    code = VARIABLES[known.variable]
    kinds = ("an", "mn") if known.kind == "an" else ("mn", "an")
    return grid_from_netcdf(source, [f"{code}_{kind}" for kind in kinds], box)


def _with_depths(grid: Grid, minimum: int) -> Grid:
    kept = np.isfinite(grid.values).sum(axis=1) >= minimum
    return Grid(grid.positions[kept], grid.depths, grid.values[kept])


def _field(source: Source, known: About, grid: Grid, chosen: Indices) -> Field:
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
