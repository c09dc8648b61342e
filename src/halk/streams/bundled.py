"""Readings that come with halk."""

from importlib.resources import as_file, files
from typing import Literal

from halk._validation import choice, require
from halk.streams.field import Field
from halk.streams.table import read_ocean_table

__all__ = ["gulf"]


def gulf(
    variable: Literal["temperature", "salinity"] = "temperature",
    season: Literal["annual", "winter"] = "annual",
) -> Field:
    """Return temperature or salinity at 50 places in the Gulf of Mexico, by depth.

    A climatology at 11 to 18 depths a place; ``data/PROVENANCE.md`` says where it comes
    from. Winter is there for temperature only, and is an estimate.

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
    table = files("halk.streams") / "data" / "gulf_levitus_50nodes.csv"
    with as_file(table) as path:
        return read_ocean_table(path, variable, season)
