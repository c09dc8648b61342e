"""Where the readings of the ocean experiments come from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from halk import data
from halk.data import DataError, Field
from halk.experiments.runs import Options
from halk.network import Network

ATLAS = Path("..", "shared", "data", "gulf_woa18_50nodes.csv")
"""A network from the World Ocean Atlas 2018, used where it lies, if it does."""


_UNITS = {"temperature": "°C", "salinity": "psu"}
_CODES = re.compile(r"[ts]1[3-6]", re.IGNORECASE)
"""Of seasons, in the names of atlas files; the reader compares them itself."""

_RANGES = {"temperature": (-5, 60), "salinity": (0, 60)}


def source(data: Path | None) -> Path | None:
    """Return the file to read: the one asked for, else the atlas if it is there.

    None stands for the network that comes along.
    """
    if data is not None:
        return data
    return ATLAS if ATLAS.is_file() else None


def ocean(options: Options, variable: str) -> Field:
    """Return the readings of a variable over depth, of as many sensors as asked for.

    Raises
    ------
    DataError
        If they cannot be used, or are not what the experiments are about.
    """
    path = source(options.data)
    field = _read(path, variable, options.season, options.sensors)
    _check(field)
    return field


def _check(field: Field) -> None:
    """Refuse readings that no experiment could learn depth from."""
    where = field.source
    if not field.is_geographic:
        raise DataError(f"{where}: positions must be latitude and longitude")
    if len(field.inputs) != 1 or "depth" not in field.inputs[0].lower():
        got = ", ".join(field.inputs)
        raise DataError(f"{where}: the input must be a depth in metres, got {got}")
    depth = field.x[:, 0]
    if depth.min() < 0:
        row = f"{depth.min():g} at sensor {field.names[field.agent[depth.argmin()]]}"
        advice = "give metres below the surface, without a minus sign"
        raise DataError(f"{where}: depths must not be negative, got {row}; {advice}")
    _check_range(field)
    if len(np.unique(depth)) < 2:
        raise DataError(f"{where}: there must be two depths at least, got one")
    if field.y.std() <= 1e-9 * np.abs(field.y).max():
        got = f"{field.y[0]:g} everywhere"
        raise DataError(f"{where}: {field.name} must vary, got {got}")


def _check_range(field: Field) -> None:
    """Refuse what no sea has: codes for missing values, mostly."""
    low, high = _RANGES.get(field.name, (-np.inf, np.inf))
    strange = (field.y < low) | (field.y > high)
    if strange.any():
        r = int(np.argmax(strange))
        place = f"{field.x[r, 0]:g} m at sensor {field.names[field.agent[r]]}"
        raise DataError(
            f"{field.source}: {field.name} must be between {low} and {high}, got "
            f"{field.y[r]:g} ({place}); leave the cell of a missing value empty"
        )


def check_fill_in(field: Field) -> None:
    """Refuse readings too few to withhold some, or that do not vary where seen."""
    if field.counts.max() < 3:
        rule = "some sensor must have three readings, to withhold from"
        raise DataError(f"{field.source}: {rule}, got {field.counts.max()} at most")


def present(options: Options, variables: Sequence[str]) -> tuple[str, ...]:
    """Return those variables that the data have a column of; one there must be."""
    found, missing = [], None
    for variable in variables:
        try:
            ocean(options, variable)
            found.append(variable)
        except DataError as error:
            if "must hold a column of" not in str(error):
                raise
            missing = error
    if not found and missing is not None:
        raise missing
    return tuple(found)


def connected(field: Field, radius: float, tolerance: Any = 0.0) -> Network:
    """Return the network of sensors within a radius; some of them must be."""
    network = field.network(radius, tolerance)
    if network.n_edges == 0:
        rule = f"so large that some of the {field.n_agents} sensors talk"
        raise DataError(f"--radius must be {rule}, got {radius:g}")
    return network


def nearest(field: Field, k: int = 6) -> Network:
    """Return the network in which every sensor talks to its k nearest ones."""
    metric = "haversine" if field.is_geographic else "euclidean"
    return Network.from_positions(
        field.positions, k=k, metric=metric, names=field.names
    )


def _as_options(message: str) -> str:
    """Return a message without advice that this command cannot follow."""
    message = re.sub(r",? ?\(?(or )?give [a-z]+=( or [a-z]+=)?\)?", "", message)
    advice = "\\1correct the file; `halk doctor` says more about it"
    return re.sub(r"(-> )[^\n]*--[^\n]*", advice, message)


@lru_cache(maxsize=8)
def _read(path: Path | None, variable: Any, season: Any, sensors: int | None) -> Field:
    try:
        if path is None:
            field = data.gulf(variable, season or "annual")
        else:
            field = data.read(path, variable, season, sensors)
    except DataError as error:
        raise DataError(_as_options(str(error))) from None
    except ValueError as error:  # an option, not the data
        raise DataError(f"--{error}") from None
    if path is not None and path.is_file() and season not in (None, "annual"):
        where = f"{field.source} {path.name}".lower()
        if str(season).lower() not in where and not _CODES.search(path.name):
            rule = f"name a season that {path} has; it has none"
            raise DataError(f"--season must {rule}, got {season}")
    field = replace(field, unit=field.unit or _UNITS.get(variable, ""))
    if sensors is not None and sensors > field.n_agents:
        rule = f"be at most {field.n_agents}, the sensors there are"
        raise DataError(f"--sensors must {rule}, got {sensors}")
    return field if sensors is None else field.choose(range(sensors))
