"""Times of readings as numbers: seconds, and where they stand in day, week and year."""

from datetime import UTC, date, datetime
from itertools import islice
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halk._validation import Matrix, Vector

HOUR, DAY, WEEK, YEAR = 3600.0, 86400.0, 604800.0, 31556952.0
"""In seconds; a year is that of the calendar, on average."""

PERIODS = {"hour": DAY, "weekday": WEEK, "day": YEAR}
"""What comes round again: the hour of the day, the weekday, the day of the year."""

PARTS = ("seconds", *PERIODS)
"""What a time can become."""

_MONTH = "2024-01"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def seconds(cell: Any) -> float:
    """Return a time as seconds since 1970, NaN if it is none.

    A time without a zone counts as UTC. Text is read as ISO 8601 has it; a month counts
    from its first day.

    Examples
    --------
    >>> seconds("1970-01-02"), seconds("1970-01-01 01:00+01:00"), seconds("soon")
    (86400.0, 0.0, nan)
    """
    if isinstance(cell, str):
        if not _may_be_time(cell):
            return nan
        try:
            cell = datetime.fromisoformat(
                cell if len(cell) > len(_MONTH) else cell + "-01"
            )
        except ValueError:
            return nan
    if isinstance(cell, datetime):
        if cell.tzinfo is None:
            cell = cell.replace(tzinfo=UTC)
        try:
            return float((cell - _EPOCH).total_seconds())
        except OverflowError:
            return nan
    if isinstance(cell, date):
        return float((cell - _EPOCH.date()).days) * DAY
    return nan


def _may_be_time(text: str) -> bool:
    """Return whether text looks like a date: 20240101 is rather a number."""
    is_long = len(text) >= len("2024-01-01") or len(text) == len(_MONTH)
    return is_long and text[4:5] == "-" and text[:4].isdigit()


def are_times(cells: Any) -> bool:
    """Return whether what is filled among the first cells is mostly times."""
    if isinstance(cells, np.ndarray):
        return bool(cells.dtype.kind == "M")
    known = list(islice((cell for cell in cells if cell != ""), 200))
    found = sum(seconds(cell) == seconds(cell) for cell in known)
    return bool(known) and 2 * found > len(known)


def to_seconds(cells: Any) -> Vector:
    """Return a column of times as seconds since 1970, NaN where there is none."""
    if isinstance(cells, np.ndarray):
        if cells.dtype.kind != "M":  # numbers are no times
            return np.full(len(cells), nan)
        unknown = np.isnat(cells)
        whole: Vector = cells.astype("datetime64[us]").astype(np.int64) / 1e6
        return np.where(unknown, nan, whole)
    return np.array([seconds(cell) for cell in cells], dtype=np.float64)


def format_times(values: Vector) -> list[str]:
    """Return seconds since 1970 as ISO 8601 has them, to the second, in UTC.

    Examples
    --------
    >>> format_times(np.array([90061.0]))
    ['1970-01-02T01:01:01']
    """
    times: NDArray[Any] = np.round(values).astype("datetime64[s]")
    return [str(time) for time in times]


def on_circle(values: Vector, part: str) -> Matrix:
    """Return where times stand in what comes round again, as points of a circle.

    Examples
    --------
    >>> on_circle(np.array([0.0, 6 * HOUR]), "hour").round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    angle = 2 * np.pi * (values / PERIODS[part] % 1.0)
    return np.column_stack([np.cos(angle), np.sin(angle)])
