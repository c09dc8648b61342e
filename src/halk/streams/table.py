"""Readings from tidy tables: one row a reading, in CSV or Parquet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halk._validation import Indices, Matrix, Vector, choice
from halk.streams.cells import labels, numbers, taken
from halk.streams.columns import Asked, Roles, map_roles, roles
from halk.streams.errors import DataError
from halk.streams.field import Field
from halk.streams.files import PathLike
from halk.streams.naming import SEASONS, unit_of
from halk.streams.places import Places, located, placed, refuse_repeated
from halk.streams.rows import Table, load

__all__ = ["read_ocean_table", "read_table"]

OPTIONS = {"sensor", "position", "inputs", "target", "unit", "map", "is_geographic"}


def read_table(
    path: PathLike,
    sensor: str | None = None,
    position: Sequence[str] | None = None,
    inputs: Sequence[str] | str | None = None,
    target: str | None = None,
    unit: str | None = None,
    name: str | None = None,
    *,
    map: PathLike | None = None,
    is_geographic: bool | None = None,
) -> Field:
    r"""Read a table of readings.

    Parameters
    ----------
    path : path of a CSV file (comma, semicolon or tab; may be packed by gzip) or of a
        Parquet file
        One row a reading. Rows whose target is empty are readings not taken.
    sensor : str, optional
        Column of the sensors' names. By default node, sensor, station, buoy, id, site,
        agent or name, in any case.
    position : two strings, optional
        Columns of the positions. By default lat and lon (or their long forms), else x
        and y.
    inputs : str or sequence of str, optional
        Columns that the target is a function of. By default depth, else time.
    target : str, optional
        Column of what was measured. By default the one called ``name``.
    unit : str, optional
        By default what the target's name ends in: "°C" for ``temperature_C``.
    name : str, optional
        Of what was measured, by default the target's.
    map : path, optional
        A second table with the position of every sensor. Its sensors are the agents,
        in its order, also those without readings.
    is_geographic : bool, optional
        Whether positions are latitude and longitude in degrees. By default if the
        columns are called so.

    Raises
    ------
    DataError
        If the file cannot be used, with lines, sensors and columns.

    Notes
    -----
    Sensors are numbered in the order in which they appear.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "buoys.csv"
    >>> _ = path.write_text(
    ...     "buoy,lat,lon,depth_m,temperature_C\n"
    ...     "north,29,-90,0,24.5\n"
    ...     "north,29,-90,50,21.0\n"
    ...     "south,25,-90,0,26.0\n"
    ... )
    >>> read_table(path, name="temperature")
    Field(temperature in °C: 3 readings of 2 sensors by depth_m)
    """
    asked = Asked(sensor, position, inputs, target, name)
    return _read(path, asked, unit, map, is_geographic)


def read_ocean_table(
    path: PathLike, variable: str | None, season: str = "annual", **options: Any
) -> Field:
    """Read one variable in one season from a table with a column for each.

    Parameters
    ----------
    path : path
    variable : str, or None if ``target`` is given
        The target is the column that begins with ``{variable}_{season}``, else the one
        that begins with ``variable`` and names no other season.
    season : {"annual", "winter", "spring", "summer", "autumn"}
    **options
        As in :func:`read_table`, except ``name``.
    """
    choice("season", season, SEASONS)
    unknown = sorted(set(options) - OPTIONS)
    if unknown:
        listed = ", ".join(sorted(OPTIONS))
        raise TypeError(f"options of a table must be among {listed}, got {unknown[0]}")
    unit, map = options.pop("unit", None), options.pop("map", None)
    is_geographic = options.pop("is_geographic", None)
    asked = Asked(**options, name=variable, season=season)
    return _read(path, asked, unit, map, is_geographic)


def _read(
    path: PathLike,
    asked: Asked,
    unit: str | None,
    map: PathLike | None,
    is_geographic: bool | None,
) -> Field:
    table = load(path)
    columns = roles(table, asked, has_map=map is not None)
    sensors = labels(table, columns.sensor)
    if map is None:
        places = located(table, sensors, columns.position, is_geographic)
    else:
        chart = load(map)
        found = map_roles(chart, asked)
        names = labels(chart, found.sensor)
        places = located(chart, names, found.position, is_geographic)
    readings = _readings(table, columns, sensors, places)
    name = asked.name or columns.target
    return Field(
        name,
        unit_of(name, columns.target) if unit is None else unit,
        columns.inputs,
        tuple(places.names),
        places.positions,
        places.is_geographic,
        *readings,
        source=f"{Path(path).name}, column {columns.target}",
        sha256=table.sha256,
    )


class _Readings(NamedTuple):
    agent: Indices
    x: Matrix
    y: Vector


def _readings(
    table: Table, columns: Roles, sensors: list[str], places: Places
) -> _Readings:
    agent = placed(table, sensors, places)
    rows = taken(table, columns.target)
    if not len(rows):
        what = f"column {columns.target} must hold readings, got empty cells only"
        raise DataError(f"{table.path}: {what}")
    y = numbers(table, columns.target, sensors, rows)
    x = [numbers(table, name, sensors, rows) for name in columns.inputs]
    readings = _Readings(agent[rows], np.column_stack(x), y)
    refuse_repeated(table, sensors, rows, *readings[:2], columns.inputs)
    return readings
