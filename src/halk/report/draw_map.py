"""Draw a network on a map: faint edges first, those that matter on top."""

import numpy as np

from halk._validation import Matrix, Vector
from halk.report.canvas import Canvas, blank, wrapped
from halk.report.charts import MapFigure
from halk.report.coast import unwrapped
from halk.report.draw_network import draw_agents, draw_edges
from halk.report.ground import draw_ground
from halk.report.labels import place_labels

__all__ = ["map_drawn"]

_HIGHEST = 6.4
_BESIDE, _BELOW = 1.7, 0.7  # inches that colour bar and tick labels need


def map_drawn(figure: MapFigure) -> Canvas:
    """Return the Matplotlib figure of a map."""
    places = _places(figure)
    low, high = _view(figure, places)
    stretch = _stretch(figure, places)
    shape = stretch * (high[1] - low[1]) / (high[0] - low[0])
    width = min(figure.width, max(_HIGHEST / shape, 2.5) + _BESIDE)
    height = min(_HIGHEST, max((width - _BESIDE) * shape, 1.5)) + _BELOW
    canvas = blank(width, height)
    axes = canvas.add_subplot(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.set_aspect(stretch)
    axes.set_title(wrapped(figure.title, int(10 * width)))
    axes.spines[:].set_visible(True)
    draw_ground(axes, figure)
    edges = draw_edges(canvas, axes, figure, places)
    sizes = draw_agents(canvas, axes, figure, places)
    place_labels(canvas, axes, figure, places, sizes, edges)
    return canvas


def _places(figure: MapFigure) -> Matrix:
    """Return x and y of every agent."""
    given = figure.network.positions
    if given is None:
        angle = 2 * np.pi * np.arange(figure.network.n_agents) / figure.network.n_agents
        return np.column_stack((np.sin(angle), np.cos(angle)))
    if figure.is_geographic:
        return np.column_stack((unwrapped(given[:, 1]), given[:, 0]))
    flat = np.column_stack((given, np.zeros(len(given))))  # on a line, if need be
    return flat[:, :2]


def _view(figure: MapFigure, places: Matrix) -> tuple[Vector, Vector]:
    """Return the lower and upper corner of what is shown, with a margin."""
    low, high = places.min(axis=0), places.max(axis=0)
    half = (high - low) / 2
    # Agents on a line get some ground beside them, and a single one a view at all.
    half = np.maximum(half, 0.3 * half.max()) + (0.16 * half.max() or 0.5)
    low, high = (low + high) / 2 - half, (low + high) / 2 + half
    if figure.is_geographic:
        low[1], high[1] = max(low[1], -90), min(high[1], 90)
    return low, high


def _stretch(figure: MapFigure, places: Matrix) -> float:
    """Return how much longer a unit of y is than one of x."""
    if not figure.is_geographic:
        return 1.0
    middle = (places[:, 1].min() + places[:, 1].max()) / 2
    return 1 / max(float(np.cos(np.radians(middle))), 0.1)
