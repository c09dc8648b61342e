"""Draw groups of horizontal bars, one small chart a group."""

import numpy as np

from halk._validation import Vector
from halk.report.canvas import Axes, Canvas, blank, ticks, wrapped
from halk.report.charts import Bars
from halk.report.style import Style, styles
from halk.report.text import number

__all__ = ["bars_drawn"]

_WIDTHS = {1: 6.4, 2: 9.0}
_WIDEST = 11.0


def bars_drawn(figure: Bars) -> Canvas:
    """Return the Matplotlib figure of bars."""
    columns = min(figure.columns, len(figure.groups))
    n_rows = -(-len(figure.groups) // columns)
    height = n_rows * (0.27 * len(figure.series) + 0.95)
    canvas = blank(_WIDTHS.get(columns, _WIDEST), height)
    keys = figure.styles or [None] * len(figure.series)
    looks = styles(zip(figure.series, keys, strict=True))
    charts = canvas.subplots(n_rows, columns, sharex=True, sharey=True, squeeze=False)
    for spare in charts.flat[len(figure.groups) :]:
        spare.remove()
    for n, axes in enumerate(charts.flat[: len(figure.groups)]):
        axes.set_title(wrapped(figure.groups[n], 36))
        axes.set_xscale("log" if figure.log_x else "linear")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.tick_params(axis="x", labelbottom=True)
        axes.set_xlabel(wrapped(figure.xlabel, 44))
    _scale(charts.flat[0], figure)
    for n, axes in enumerate(charts.flat[: len(figure.groups)]):
        _chart(axes, figure, n, [looks[name] for name in figure.series])
    return canvas


def _scale(axes: Axes, figure: Bars) -> None:
    """Set the common limits, with room for the values at the ends."""
    every = [a for a in (figure.values, figure.low, figure.high) if a is not None]
    shown = np.concatenate([a[~np.isnan(a)] for a in every])
    if figure.log_x:
        shown = shown[shown > 0]
        low, high = (shown.min(), shown.max()) if len(shown) else (0.1, 1.0)
        # A bar has no beginning on a logarithmic axis: a little below the least.
        low = low / (high / low) ** 0.15 / 1.3
        axes.set_xlim(low, high * (high / low) ** 0.3)
    else:
        low, high = min(shown.min(initial=0), 0), max(shown.max(initial=0), 0)
        room = 0.26 * ((high - low) or 1.0)
        axes.set_xlim(low - room * (low < 0), high + room)
    ticks(axes.xaxis, figure.log_x)
    rows = np.arange(len(figure.series))
    axes.set_yticks(rows, [wrapped(name, 30) for name in figure.series])
    axes.set_ylim(len(rows) - 0.4, -0.6)  # the first on top


def _chart(axes: Axes, figure: Bars, n: int, looks: list[Style]) -> None:
    start = axes.get_xlim()[0] if figure.log_x else 0.0
    values = figure.values[n]
    drawable = ~np.isnan(values) & ((values > 0) | (not figure.log_x))
    ends = np.where(drawable, values, start)
    rows = np.arange(len(values))
    colours = [look.colour for look in looks]
    axes.barh(rows, ends - start, left=start, height=0.66, color=colours)
    axes.axvline(start, color="#888888", linewidth=0.8)
    outer = _whiskers(axes, figure, n, ends)
    for row, end in enumerate(outer):
        text = number(None if np.isnan(values[row]) else float(values[row]))
        side = -1 if end < start else 1
        axes.annotate(
            text, (end, row), xytext=(4 * side, 0), textcoords="offset points",
            ha="left" if side > 0 else "right", va="center", fontsize=8.5,
        )  # fmt: skip


def _whiskers(axes: Axes, figure: Bars, n: int, ends: Vector) -> Vector:
    """Draw what the seeds span; return where each bar with its whisker ends."""
    if figure.low is None or figure.high is None:
        return ends
    low, high = figure.low[n], figure.high[n]
    known = ~np.isnan(low) & ~np.isnan(high)
    rows = np.flatnonzero(known)
    axes.hlines(rows, low[known], high[known], color="#222222", linewidth=1.1)
    beyond = np.where(ends < 0, np.fmin(ends, low), np.fmax(ends, high))
    return np.where(known, beyond, ends)
