"""The figure of how cost grows, engine and floor in the same panels."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import scaling
from benchmarks.results import Point
from halk.report import Figure, Line, Panel, Points

__all__ = ["figure"]

_LINES = {"exact": "blue", "paper": "vermilion"}
_CAPTION = (
    "Time of an agent-step against its floor: the kernel terms and the product of a "
    "matrix and a vector that no step can do without, measured in the same run."
)


def figure(points: Sequence[Point]) -> Figure:
    """Return four panels; those without points are left out."""
    panels = [
        _panel(panel, [point for point in points if point.panel == panel.title])
        for panel in scaling.PANELS
        if any(point.panel == panel.title for point in points)
    ]
    return Figure("bench", _CAPTION, panels, columns=2)


def _panel(panel: scaling.Panel, points: Sequence[Point]) -> Panel:
    items: list[Line | Points] = []
    for coupling, style in _LINES.items():
        own = [point for point in points if point.coupling == coupling]
        x, y = [point.x for point in own], [point.engine for point in own]
        items.append(Line(f"engine, {coupling} coupling", x, y, style=style))
        items.append(Points("", x, y, style=style))
    own = [point for point in points if point.coupling == "paper"]
    x, y = [point.x for point in own], [point.floor for point in own]
    items.append(Line("floor", x, y, style="black"))
    items.append(Points("", x, y, style="black"))
    return Panel(
        title=panel.title,
        xlabel=panel.label,
        ylabel="ns an agent-step",
        items=items,
        log_x=True,
        log_y=True,
        note=panel.note,
    )
