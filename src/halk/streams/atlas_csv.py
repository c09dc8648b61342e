"""The World Ocean Atlas as comma separated values.

Comment lines start with ``#``. The last of them lists the standard depths; then there
is one line a grid cell: latitude, longitude and the value at each depth, of which the
last ones are left out where the sea is shallower.
"""

from math import isfinite

import numpy as np

from halk._validation import Matrix, Vector
from halk.streams.cells import number
from halk.streams.errors import DataError
from halk.streams.files import Source, problems
from halk.streams.grid import Box, Grid, is_inside

MARK = "COMMA SEPARATED LATITUDE, LONGITUDE, AND VALUES AT DEPTHS (M):"

Line = tuple[str, str]
"""Where a line is, to begin a message with, and the line."""

_ADVICE = "correct the line, or fetch the file again"


def is_atlas_csv(text: str) -> bool:
    """Whether a text is of the atlas: comments that announce the depths."""
    return text.startswith("#") and MARK in text[: text.find("\n", 100_000)].upper()


def grid_from_csv(source: Source, box: Box) -> Grid:
    """Return the cells of an atlas file that lie in a box."""
    lines = source.text().splitlines()
    n_comments = next(
        (n for n, line in enumerate(lines) if not line.startswith("#")), len(lines)
    )
    depths = _depths(source.path, lines[:n_comments])
    body = [
        (f"{source.path}, line {n}", line)
        for n, line in enumerate(lines[n_comments:], n_comments + 1)
        if line.strip()
    ]
    if not body:
        raise DataError(f"{source.path} must hold grid cells, got comments only")
    positions = _positions(body)
    inside = np.flatnonzero(is_inside(positions[:, 0], positions[:, 1], box))
    body, positions = [body[k] for k in inside.tolist()], positions[inside]
    _refuse_repeated(body, positions)
    return Grid(positions, depths, _values(body, len(depths)))


def _depths(path: str, comments: list[str]) -> Vector:
    """Return the standard depths, which the last comment lists."""
    last = comments[-1] if comments else ""
    where = f"{path}, line {max(len(comments), 1)}"
    _, mark, listed = last.upper().partition(MARK)
    if not mark:
        raise DataError(
            f"{where}: last comment must list the depths after {MARK!r}, "
            f"got {last[:60]!r}; fetch the file again"
        )
    depths = np.array([number(cell) for cell in listed.strip(" ,").split(",")])
    if not (np.isfinite(depths).all() and (np.diff(depths) > 0).all()):
        got = f"{listed[:60]!r}; {_ADVICE}"
        raise DataError(f"{where}: depths must be rising numbers, got {got}")
    return depths


def _positions(body: list[Line]) -> Matrix:
    """Return latitude and longitude of every line."""
    places = [[number(cell) for cell in line.split(",", 2)[:2]] for _, line in body]
    found = [
        f"{where}: cell must begin with latitude within [-90, 90] and longitude within "
        f"[-180, 360], got {line[:40]!r}"
        for (where, line), place in zip(body, places, strict=True)
        if len(place) < 2 or not (abs(place[0]) <= 90 and -180 <= place[1] <= 360)
    ]
    if found:
        raise problems(found, _ADVICE)
    return np.array(places)


def _refuse_repeated(body: list[Line], positions: Matrix) -> None:
    first: dict[tuple[float, float], str] = {}
    found = []
    for (where, _), (latitude, longitude) in zip(body, positions.tolist(), strict=True):
        other = first.setdefault((latitude, longitude % 360), where)
        if other != where:
            rule = f"cell must differ from that of {other.rpartition(', ')[2]}"
            found.append(f"{where}: {rule}, got ({latitude:g}, {longitude:g}) in both")
    if found:
        raise problems(found, "remove one of them")


def _values(body: list[Line], n_depths: int) -> Matrix:
    """Return the values (N, D), NaN where a cell is empty or left out."""
    values = np.full((len(body), n_depths), np.nan)
    found = []
    for k, (where, line) in enumerate(body):
        cells = [cell.strip() for cell in line.rstrip(", \t").split(",")[2:]]
        row = [number(cell) for cell in cells]
        wrong = [c for c, v in zip(cells, row, strict=True) if c and not isfinite(v)]
        if wrong:
            found.append(f"{where}: values must be finite numbers, got {wrong[0]!r}")
        elif len(row) > n_depths:
            found.append(f"{where}: values must be {n_depths} at most, got {len(row)}")
        else:
            values[k, : len(row)] = row
    if found:
        raise problems(found, _ADVICE)
    return values
