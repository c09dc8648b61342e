"""The coastline that maps are drawn over, and longitudes that join up."""

from functools import cache
from importlib import resources
from math import ceil, floor

import numpy as np

from halk._validation import Matrix, Vector

__all__ = ["degrees", "land", "unwrapped"]

Box = tuple[float, float, float, float]


@cache
def _rings() -> tuple[Matrix, ...]:
    """Return closed rings (n, 2) of longitude and latitude."""
    source = resources.files("halk.report") / "data" / "coast.npz"
    with source.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        steps, lengths = stored["steps"], stored["lengths"]
        unit = float(stored["steps_per_degree"])
    parts = np.split(steps.astype(np.int64), np.cumsum(lengths)[:-1])
    return tuple(np.cumsum(part, axis=0) / unit for part in parts)


def land(west: float, east: float, south: float, north: float) -> list[Matrix]:
    """Return the rings that may be seen between some longitudes and latitudes.

    The same land is at -90 and at 270 degrees: it is returned where the view is.

    Examples
    --------
    >>> len(land(-98, -80, 18, 31)) == len(land(262, 280, 18, 31)) > 0
    True
    """
    turns = range(floor(west / 360) - 1, ceil(east / 360) + 2)
    shifts = [np.array([360.0 * turn, 0.0]) for turn in turns]
    moved = (ring + shift for ring in _rings() for shift in shifts)
    low, high = np.array([west, south]), np.array([east, north])
    return [
        ring
        for ring in moved
        if (ring.min(axis=0) < high).all() and (ring.max(axis=0) > low).all()
    ]


def unwrapped(longitudes: Vector) -> Vector:
    """Return longitudes without a jump between neighbours, as from 359 to 1.

    The circle is cut in its widest empty stretch, so that a network on both sides of a
    meridian stays in one piece.

    Examples
    --------
    >>> unwrapped(np.array([179.0, -179.0, -94.0])).tolist()
    [179.0, 181.0, 266.0]
    >>> unwrapped(np.array([-94.0, -80.0])).tolist()
    [-94.0, -80.0]
    """
    around = np.sort(longitudes % 360)
    gaps = np.diff(around, append=around[0] + 360)
    start = around[(int(np.argmax(gaps)) + 1) % len(around)]
    # Begin where the caller does: -94 stays -94, 266 stays 266.
    at_start = int(np.argmin(np.abs((longitudes - start + 180) % 360 - 180)))
    start = longitudes[at_start]
    result: Vector = start + np.round((longitudes - start) % 360, 9) % 360
    return result


def degrees(value: float, sides: str) -> str:
    """Write a latitude (``sides="NS"``) or a longitude (``"EW"``).

    Examples
    --------
    >>> degrees(266.5, "EW"), degrees(-12.0, "NS"), degrees(0, "NS")
    ('93.5°W', '12°S', '0°')
    """
    if sides == "EW":
        value = (value + 180) % 360 - 180
    side = "" if value in (0, -180) else sides[int(value < 0)]
    return f"{abs(value):.6g}°{side}"
