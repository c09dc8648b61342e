"""Where the readings of the ocean experiments come from."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from halk import streams
from halk.experiments.runs import Options
from halk.streams import Field

ATLAS = Path("..", "shared", "data", "gulf_woa18_50nodes.csv")
"""A network from the World Ocean Atlas 2018, used where it lies, if it does."""


def source(data: Path | None) -> Path | None:
    """Return the file to read: the one asked for, else the atlas if it is there.

    None stands for the network that comes along.
    """
    if data is not None:
        return data
    return ATLAS if ATLAS.is_file() else None


def ocean(options: Options, variable: str) -> Field:
    """Return the readings of a variable, of as many sensors as asked for."""
    path = source(options.data)
    return _read(path, variable, options.season, options.sensors)


@lru_cache(maxsize=8)
def _read(path: Path | None, variable: Any, season: Any, sensors: int | None) -> Field:
    if path is None:
        field = streams.gulf(variable, season or "annual")
    else:
        field = streams.read(path, variable, season)
    if sensors is None or sensors >= field.n_agents:
        return field
    return field.chosen(range(sensors))
