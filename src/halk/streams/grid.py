"""A climatology on a grid, and the part of it that lies in a box."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk._validation import Matrix, Vector, real, require

Box = tuple[float, float, float, float]
"""Southern, northern, western and eastern limit in degrees."""

GULF: Box = (18.0, 31.0, -98.0, -80.0)
"""The Gulf of Mexico, with what a box around it holds of the waters next to it."""


class Grid(NamedTuple):
    """Values at some cells and depths, NaN where there are none."""

    positions: Matrix  # (N, 2), latitude and longitude
    depths: Vector  # (D,)
    values: Matrix  # (N, D)


def checked_box(box: Box) -> Box:
    """Return a box whose limits make sense."""
    require(len(box) == 4, "box", "be (south, north, west, east)", box)
    south, north, west, east = (real("box", limit) for limit in box)
    is_right = -90 <= south < north <= 90
    require(is_right, "box", "have south below north, within [-90, 90]", box)
    is_right = -360 <= west < east <= 360 and east - west <= 360
    require(is_right, "box", "have west below east, within a turn", box)
    return south, north, west, east


def is_inside(latitude: Vector, longitude: Vector, box: Box) -> NDArray[np.bool_]:
    """Whether points are in a box; longitudes count from -180 or from 0 alike.

    Examples
    --------
    >>> is_inside(np.array([25.0, 25.0]), np.array([-90.0, 270.0]), GULF)
    array([ True,  True])
    """
    south, north, west, east = box
    across = np.remainder(longitude - west, 360.0) <= east - west
    return np.asarray((latitude >= south) & (latitude <= north) & across)


def around_greenwich(longitude: Vector) -> Vector:
    """Return longitudes counted from -180 to 180."""
    return np.where(longitude >= 180, longitude - 360, longitude)
