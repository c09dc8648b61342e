"""Where the readings of the ocean experiments come from."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from halk import streams
from halk.experiments.runs import Options
from halk.network import Network
from halk.streams import DataError, Field

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


def connected(field: Field, radius: float, tolerance: Any = 0.0) -> Network:
    """Return the network of sensors within a radius; some of them must be."""
    network = field.network(radius, tolerance)
    if network.n_edges == 0:
        rule = f"so large that some of the {field.n_agents} sensors talk"
        raise DataError(f"--radius must be {rule}, got {radius:g}")
    return network


@lru_cache(maxsize=8)
def _read(path: Path | None, variable: Any, season: Any, sensors: int | None) -> Field:
    try:
        if path is None:
            field = streams.gulf(variable, season or "annual")
        else:
            field = streams.read(path, variable, season, sensors)
    except DataError:
        raise
    except ValueError as error:  # an option, not the data
        raise DataError(f"--{error}") from None
    if field.n_agents < 2:
        raise DataError(f"{path} must hold at least two sensors, got one")
    if sensors is None or sensors >= field.n_agents:
        return field
    return field.chosen(range(sensors))
