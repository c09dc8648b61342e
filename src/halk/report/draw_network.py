"""Draw the edges and the agents of a network."""

from importlib import import_module
from typing import Any

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.report.canvas import Axes, Canvas
from halk.report.charts import MapFigure
from halk.report.draw_panels import legend_below
from halk.report.text import number

__all__ = ["draw_agents", "draw_edges"]

_PLAIN, _MARK = "#C3CBD1", "#1F2A33"
# Pale sand to dark violet: lightness falls all the way, so it reads in grey as well.
_EDGES = ("#EADBB9", "#F3C578", "#EE8A3C", "#C8403F", "#7B1E5F", "#2B0B3F")
_AGENTS = ("#E3F1DC", "#9FD3B6", "#4BA3B5", "#2F6AA5", "#2B2F77")
_SMALL, _LARGE = 26.0, 150.0  # square points


def draw_edges(
    canvas: Canvas, axes: Axes, figure: MapFigure, places: Matrix
) -> tuple[Matrix, Vector]:
    """Draw each pair of neighbours as a line, the largest values last.

    Returns
    -------
    segments : array (P, 2, 2)
    widths : array (P,)
        In points.
    """
    pairs, values = _pairs(figure)
    crowd = float(np.clip(150 / max(len(pairs), 1), 0.4, 1.0))
    widths, colours = np.full(len(pairs), 1.1 * crowd), _PLAIN
    if values is not None and len(values):
        limits = figure.value_limits or (min(0.0, values.min()), values.max())
        scale = _scale(_EDGES, *limits)
        part = np.clip(scale.norm(values), 0, 1)
        stress = _stress(len(values))
        widths = 0.8 * crowd + (2.5 + crowd) * part**1.5 * stress
        colours = scale.to_rgba(values, alpha=0.3 + 0.7 * stress)
        _colour_bar(canvas, axes, scale, figure.value_label)
    lines = import_module("matplotlib.collections").LineCollection
    drawn = lines(places[pairs], linewidths=widths, colors=colours)
    drawn.set(zorder=1, capstyle="round", gid="edges")
    axes.add_collection(drawn, autolim=False)
    return places[pairs], widths


def _pairs(figure: MapFigure) -> tuple[Indices, Vector | None]:
    """Return each pair once, those of the least value first."""
    net = figure.network
    once = net.edges[:, 0] < net.edges[:, 1]
    if figure.values is None:
        return net.edges[once], None
    larger = np.maximum(figure.values, figure.values[net.reverse])[once]
    order = np.argsort(larger, kind="stable")
    return net.edges[once][order], larger[order]


def _stress(n_pairs: int) -> Vector:
    """Return how much each pair stands out, in ascending order of values.

    All of a few pairs do. Of many, only the forty or so largest: a thousand thick lines
    would show nothing, whatever their values.
    """
    above = np.arange(n_pairs)[::-1]
    spared = float(np.clip((375 - n_pairs) / 225, 0, 1))
    result: Vector = np.maximum(np.exp(-above / 40), spared)
    return result


def _scale(colours: tuple[str, ...], low: float, high: float) -> Any:
    """Return the scale from values to colours."""
    module = import_module("matplotlib.colors")
    norm = module.Normalize(low, high if high > low else low + 1)
    blend = module.LinearSegmentedColormap.from_list("halk", colours)
    return import_module("matplotlib.cm").ScalarMappable(norm, blend)


def _colour_bar(canvas: Canvas, axes: Axes, scale: Any, label: str) -> None:
    bar = canvas.colorbar(scale, ax=axes, shrink=0.8, pad=0.02, aspect=28)
    bar.set_label(label)
    bar.outline.set_visible(False)


def draw_agents(
    canvas: Canvas, axes: Axes, figure: MapFigure, places: Matrix
) -> Vector:
    """Draw the agents; return the areas of their markers in square points."""
    values = figure.node_values
    look: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.8, "zorder": 3}
    if values is None:
        axes.scatter(*places.T, s=_SMALL, color=_MARK, gid="agents", **look)
        return np.full(len(places), _SMALL)
    known = values[~np.isnan(values)]
    low, high = float(known.min(initial=np.inf)), float(known.max(initial=-np.inf))
    if not len(known):
        low, high = 0.0, 1.0
    sizes = _areas(np.nan_to_num(values, nan=low), low, high)
    colours: Any = _MARK
    if figure.values is None:  # else the colours are those of edges
        scale = _scale(_AGENTS, low, high)
        colours = scale.to_rgba(np.nan_to_num(values, nan=low))
        colours[np.isnan(values)] = 1.0  # white: nothing is known
        look["edgecolors"] = _MARK
        _colour_bar(canvas, axes, scale, figure.node_label)
    else:
        _size_legend(canvas, axes, figure.node_label, known)
    axes.scatter(*places.T, s=sizes, color=colours, gid="agents", **look)
    return sizes


def _areas(values: Any, low: float, high: float) -> Vector:
    part = (np.asarray(values, dtype=np.float64) - low) / ((high - low) or 1.0)
    return _SMALL + (_LARGE - _SMALL) * part


def _size_legend(canvas: Canvas, axes: Axes, title: str, values: Vector) -> None:
    low, high = float(values.min()), float(values.max())
    examples = [low, (low + high) / 2, high] if high > low else [low]
    if (values % 1 == 0).all():  # counts
        examples = [round(value) for value in examples]
    areas = _areas(examples, low, high)
    marks = {
        number(value): axes.scatter([], [], s=area, color=_MARK)
        for value, area in zip(examples, areas, strict=True)
    }
    legend_below(canvas, marks, title=title)
