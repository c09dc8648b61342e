"""Readings as a field: from a file, from the ocean atlas, or those that come along."""

from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

import numpy as np

from halk._validation import choice, integer, require
from halk.data import naming
from halk.data.atlas import is_atlas, read_atlas
from halk.data.doctor import Examined, examine
from halk.data.field import Field
from halk.data.files import PathLike, open_file
from halk.data.findings import suggest
from halk.data.schema import Asked
from halk.data.sources import read_content
from halk.data.suspicions import find_copies
from halk.data.table import Table
from halk.errors import DataError

__all__ = ["field_of", "gulf", "read"]


def gulf(
    variable: Literal["temperature", "salinity"] = "temperature",
    season: Literal["annual", "winter"] = "annual",
) -> Field:
    """Return temperature or salinity at 50 places in the Gulf of Mexico, by depth.

    A climatology at 11 to 18 depths per place; ``bundle/PROVENANCE.md`` says where it
    comes from. Winter is there for temperature only, and is an estimate.

    Examples
    --------
    >>> gulf()
    Field(temperature in °C: 774 readings of 50 sensors by depth_m)
    >>> gulf("salinity").unit
    'psu'
    """
    choice("variable", variable, ("temperature", "salinity"))
    choice("season", season, ("annual", "winter"))
    is_there = variable == "temperature" or season == "annual"
    require(is_there, "season", "be 'annual' for salinity", season)
    with as_file(files("halk.data") / "bundle" / "gulf_levitus_50nodes.csv") as path:
        return read(path, variable, season)


def read(
    path: PathLike,
    variable: str | None = None,
    season: str | None = None,
    n_agents: int | None = None,
    sensors: Any = None,
    **options: Any,
) -> Field:
    """Read a field from a file, whatever it is, or from a folder.

    Parameters
    ----------
    path : path
        Decided by content: any table that :func:`examine` reads, or the World Ocean
        Atlas (:func:`read_atlas`).
    variable, season : str, optional
        What was measured: the column called so, unless ``target`` is given; of columns
        for several seasons the annual one by default.
    n_agents : int, optional
        How many sensors: out of the atlas 50 by default, out of a table all. Fewer are
        the first ones.
    sensors : path, frame or dict of columns, optional
        The places of a table's sensors, if the table has none.
    **options
        Those of :class:`Asked`, or of :func:`read_atlas`.

    Raises
    ------
    DataError
        If the file cannot be used.
    """
    if n_agents is not None:
        integer("n_agents", n_agents, minimum=2)
    content = None if Path(path).is_dir() else open_file(path)
    if content is None or is_atlas(content):
        if n_agents is not None:
            options["n_agents"] = n_agents
        return read_atlas(path, variable, season=season, **options)
    table = read_content(content)
    target = options.pop("target", None) or _find_column(table, variable, season)
    field = field_of(examine(table, sensors, Asked(target=target, **options)), variable)
    return field.choose(range(min(n_agents or field.n_agents, field.n_agents)))


def _find_column(table: Table, variable: str | None, season: str | None) -> str | None:
    """Return the column of a variable in a season, or say which there are."""
    season = choice("season", season or "annual", naming.SEASONS)
    if variable is None:
        return None
    found = naming.of_variable(table.header, variable, season)
    if len(found) == 1:
        return found[0]
    there, what = ", ".join(table.header), f"{season} {variable}"
    rule = f"a column of {what} (or give target={suggest(variable, table.header)})"
    if found:
        rule = f"one column of {what}, not {', '.join(found)} (give target=)"
    raise DataError(f"{table.path}: header must hold {rule}; got {there}")


def field_of(found: Examined, name: str | None = None) -> Field:
    """Return readings that were examined as a field, sensors as they first appear.

    ``name`` is that of what was measured, by default the column's. Errors, sensors
    without a place and fewer than two sensors are refused.
    """
    found.findings.refuse()
    table, schema, sensors, rows = found[:4]
    if table is None or schema is None or sensors is None or rows is None:
        raise ValueError("a table with errors is no field")
    if sensors.positions is None:
        moved = [one.text for one in found.findings.found if one.code == "moving"]
        why = moved[0] if moved else f"its columns are {', '.join(table.header)}"
        raise DataError(
            f"{table.path}: positions of sensors must be known: lat and lon, or x and "
            f"y; {why}"
        )
    if len(sensors.names) < 2:
        raise DataError(
            f"{table.path}: a network must have at least two sensors, got one, "
            f"{sensors.names[0]!r}"
        )
    seen, first = np.unique(rows.sensor[rows.is_usable], return_index=True)
    silent = np.setdiff1d(np.arange(len(sensors.names)), seen)
    order = np.concatenate([seen[np.argsort(first)], silent])
    read = rows.with_values()
    read = read.take(~find_copies(read))
    name = name or schema.target
    return Field(
        name, schema.unit or naming.unit_of(schema.target, name),
        tuple(one.name for one in schema.inputs),
        tuple(sensors.names[i] for i in order), sensors.positions[order],
        sensors.is_geographic, np.argsort(order)[read.sensor], read.x, read.y,
        source=f"{Path(table.path).name}, column {schema.target}", sha256=table.sha256,
    )  # fmt: skip
