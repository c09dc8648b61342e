"""Draw panels of curves side by side, with one legend below."""

from dataclasses import replace
from string import ascii_lowercase
from typing import Any

import numpy as np

from halk.report.canvas import Axes, Canvas, blank, dates, ticks, wrapped
from halk.report.panels import Figure, Line, Panel, Points
from halk.report.style import PALETTE, Style, styles

__all__ = ["panels_drawn"]

_WIDTHS = {1: 5.6, 2: 8.4}
_WIDEST = 11.0
_DOT = "#444444"
_DAY = 86400.0
_MANY, _CROWD = 100, 1000  # points beyond which dots are small, and lines thin

Handles = dict[str, Any]


def panels_drawn(figure: Figure) -> Canvas:
    """Return the Matplotlib figure of curves."""
    columns = min(figure.columns, len(figure.panels))
    n_rows = -(-len(figure.panels) // columns)
    width = figure.width or _WIDTHS.get(columns, _WIDEST)
    canvas = blank(width, figure.height * n_rows)
    grid = canvas.add_gridspec(n_rows, columns)
    lines = [i for panel in figure.panels for i in panel.items if isinstance(i, Line)]
    looks = styles((line.label, line.style) for line in lines)
    handles: Handles = {}
    for n, panel in enumerate(figure.panels):
        axes = canvas.add_subplot(grid[divmod(n, columns)])
        letter = f"({ascii_lowercase[n]}) " if 1 < len(figure.panels) < 27 else ""
        width = int(canvas.get_figwidth() / columns * 11)
        _frame(axes, panel, letter, width)
        for item in panel.items:
            handle = _item(axes, _drawable(item, panel), looks)
            handles.setdefault(item.label, handle)
        _finish(axes, panel, width)
    handles.pop("", None)
    legend_below(canvas, handles)
    return canvas


def _frame(axes: Axes, panel: Panel, letter: str, width: int) -> None:
    axes.set_title(wrapped(letter + panel.title, width))
    axes.set_xlabel(wrapped(panel.xlabel, width + 6))
    axes.set_ylabel(wrapped(panel.ylabel, 38))
    axes.set_xscale("log" if panel.log_x else "linear")
    axes.set_yscale("log" if panel.log_y else "linear")


def _drawable(item: Line | Points, panel: Panel) -> Line | Points:
    """Leave gaps where a logarithmic axis has no place; a band reaches to its end."""
    x = np.where((item.x > 0) | (not panel.log_x), item.x, np.nan)
    x = x / _DAY if panel.is_dated else x  # Matplotlib counts days
    y = np.where((item.y > 0) | (not panel.log_y), item.y, np.nan)
    if isinstance(item, Points) or item.high is None or not panel.log_y:
        return replace(item, x=x, y=y)
    return replace(item, x=x, y=y, high=np.where(item.high > 0, item.high, np.nan))


def _item(axes: Axes, item: Line | Points, looks: dict[str, Style]) -> Any:
    if isinstance(item, Points):
        colour = PALETTE[item.style].colour if item.style else _DOT
        if item.is_cross:
            size, width = (42, 1.8) if len(item.x) <= _MANY / 5 else (12, 1.0)
            pen = {"s": size, "linewidths": width, "color": colour, "zorder": 5}
            return axes.scatter(item.x, item.y, marker="x", **pen)
        face = "white" if item.is_open else colour
        n = len(item.x)
        filled = 14 if n <= _MANY else 4 if n <= _CROWD else 0.5
        shape = {"s": 22 if item.is_open else filled, "linewidths": 1.1}
        ends = {"edgecolors": colour, "facecolors": face, "zorder": 4}
        return axes.scatter(item.x, item.y, marker="o", **shape, **ends)
    look = looks[item.label]
    if len(item.x) > _CROWD:
        look = look._replace(width=look.width / 2)
    dash = (0, look.dash) if look.dash else "solid"
    order = list(looks).index(item.label) / max(len(looks), 1)
    (handle,) = axes.plot(
        item.x, item.y, color=look.colour, linestyle=dash, linewidth=look.width,
        marker=look.marker, markersize=4.5, zorder=2 + look.width / 10,
        # Markers of different curves stand apart, or the last would hide the others.
        markevery=None if len(item.x) < 12 else (0.02 + 0.1 * order, 0.16),
    )  # fmt: skip
    if item.low is not None:
        shade = {"color": look.colour, "alpha": 0.13, "linewidth": 0}
        fill = axes.fill_betweenx if item.is_upright else axes.fill_between
        fill(item.y if item.is_upright else item.x, item.low, item.high, **shade)
    return handle


def _finish(axes: Axes, panel: Panel, width: int) -> None:
    """Set ticks, which depend on what was drawn, and the note."""
    if panel.y_limits is not None:
        axes.set_ylim(panel.y_limits)
    for axis, is_log in ((axes.xaxis, panel.log_x), (axes.yaxis, panel.log_y)):
        if panel.is_dated and axis is axes.xaxis:
            dates(axis)
        else:
            ticks(axis, is_log)
    if panel.invert_y:
        axes.invert_yaxis()
    if panel.note:
        axes.annotate(
            wrapped(panel.note, width + 10), xy=(0.5, 0), xycoords=axes.xaxis.label,
            xytext=(0, -4), textcoords="offset points", ha="center", va="top",
            fontsize=8, fontstyle="italic", color="#666666",
        )  # fmt: skip


def legend_below(canvas: Canvas, handles: Handles, title: str = "") -> None:
    """Put a legend under all axes, in as many columns as fit, and make room for it."""
    if not handles:
        return
    labels = [wrapped(label, 48) for label in handles]
    limit = canvas.bbox.width * 0.98
    for columns in range(len(labels), 0, -1):
        legend = canvas.legend(
            list(handles.values()), labels, loc="outside lower center", ncols=columns,
            title=title or None, handlelength=3.2, columnspacing=1.8,
        )  # fmt: skip
        box = legend.get_window_extent(canvas.canvas.get_renderer())
        if box.width <= limit or columns == 1:
            break
        legend.remove()
    canvas.set_figheight(canvas.get_figheight() + box.height / canvas.dpi)
