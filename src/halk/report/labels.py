"""Names beside points, moved until they hide neither each other nor a marker."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from halk._validation import Matrix, Vector
from halk.report.canvas import Axes, Canvas
from halk.report.charts import MapFigure

__all__ = ["place_labels"]

_ANGLES = np.radians([0, 180, 90, 270, 35, 145, 215, 325])
_RINGS = (3.0, 12.0, 24.0, 38.0)  # points beyond the marker


def place_labels(
    canvas: Canvas,
    axes: Axes,
    figure: MapFigure,
    places: Matrix,
    sizes: Vector,
    edges: tuple[Matrix, Vector],
) -> None:
    """Write the names of chosen agents near their markers, with a line if far.

    Of the free places nearest to the marker, the one over the fewest edges is taken; a
    label that finds none stands to the right, on its white ground.

    Notes
    -----
    Positions are measured after the layout, which labels take no part in.
    """
    if not figure.labels:
        return
    canvas.draw_without_rendering()
    pixel = canvas.dpi / 72
    radii = np.sqrt(sizes) / 2
    centres = axes.transData.transform(places)
    reach = radii[:, None] * pixel
    taken = [*np.hstack((centres - reach, centres + reach))]
    ink = _ink(axes, edges)
    for agent in map(figure.network.index, figure.labels):
        text = _text(axes, figure.network.names[agent], places[agent])
        found = _best(canvas, axes, text, float(radii[agent]), taken, ink)
        _move(text, found)
        taken.append(_box(text, canvas))


def _best(
    canvas: Canvas,
    axes: Axes,
    text: Any,
    radius: float,
    taken: Sequence[Vector],
    ink: tuple[Matrix, Vector],
) -> tuple[float, float]:
    """Return the best place of a label, in points from its marker."""
    frame = axes.get_window_extent().extents
    for beyond in _RINGS:
        free = {}
        for offset in _around(radius + beyond):
            _move(text, offset)
            box = _box(text, canvas)
            if _is_inside(box, frame) and not any(_overlap(box, t) for t in taken):
                free[offset] = _hidden(box, ink)
        if free:
            return min(free, key=free.__getitem__)
    return radius + _RINGS[0], 0.0


def _ink(axes: Axes, edges: tuple[Matrix, Vector]) -> tuple[Matrix, Vector]:
    """Return points along the edges, in pixels, and the width at each."""
    (segments, widths), steps = edges, np.linspace(0, 1, 60)[:, None, None]
    points = segments[:, 0] * (1 - steps) + segments[:, 1] * steps
    return axes.transData.transform(points.reshape(-1, 2)), np.tile(widths, len(steps))


def _hidden(box: Vector, ink: tuple[Matrix, Vector]) -> float:
    points, widths = ink
    inside = ((points >= box[:2]) & (points <= box[2:])).all(axis=1)
    return float(widths[inside].sum())


def _text(axes: Axes, name: str, place: Vector) -> Any:
    text = axes.annotate(
        name, place, xytext=(0, 0), textcoords="offset points", fontsize=8.5, zorder=6,
        arrowprops={"arrowstyle": "-", "color": "#555555", "linewidth": 0.7},
        bbox={"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.75},
    )  # fmt: skip
    text.set_in_layout(False)
    return text


def _box(text: Any, canvas: Canvas) -> Vector:
    """Return the pixels of the words alone, without the line to the marker."""
    renderer = canvas.canvas.get_renderer()
    text.update_positions(renderer)
    words = import_module("matplotlib.text").Text.get_window_extent(text, renderer)
    extents: Vector = words.extents
    return extents


def _around(distance: float) -> Iterator[tuple[float, float]]:
    for angle in _ANGLES:
        x, y = np.round(distance * np.array([np.cos(angle), np.sin(angle)]), 6)
        yield float(x), float(y)


def _move(text: Any, offset: tuple[float, float]) -> None:
    x, y = offset
    text.set_position(offset)
    text.set_ha("left" if x > 0 else "right" if x < 0 else "center")
    text.set_va("center" if y == 0 else "bottom" if y > 0 else "top")
    # Beyond the first ring, a line shows whose name it is.
    text.arrow_patch.set_visible(bool(np.hypot(x, y) > 12))


def _is_inside(box: Vector, frame: Vector) -> bool:
    return bool((box[:2] >= frame[:2]).all() and (box[2:] <= frame[2:]).all())


def _overlap(one: Vector, other: Vector) -> bool:
    return bool((one[:2] <= other[2:]).all() and (one[2:] >= other[:2]).all())
