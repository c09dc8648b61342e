"""Draw what a network stands on: land, and axes in degrees or in plain units."""

from importlib import import_module

import numpy as np

from halk._validation import Matrix
from halk.report.canvas import Axes
from halk.report.charts import MapFigure
from halk.report.coast import degrees, land

__all__ = ["draw_ground"]

_LAND = {"facecolor": "#E9E7E2", "edgecolor": "#BDB9B0", "linewidth": 0.7}


def draw_ground(axes: Axes, figure: MapFigure) -> None:
    """Draw the land and label the axes, whose limits are set."""
    if figure.is_geographic:
        _geographic(axes)
        return
    if figure.network.positions is None:  # a circle in no unit
        axes.set(xticks=[], yticks=[])
        return
    unit = f" [{figure.position_label}]" if figure.position_label else ""
    axes.set(xlabel=f"x{unit}", ylabel=f"y{unit}")


def _geographic(axes: Axes) -> None:
    ticker = import_module("matplotlib.ticker")
    for axis, sides in ((axes.xaxis, "EW"), (axes.yaxis, "NS")):
        written = ticker.FuncFormatter(lambda v, _, sides=sides: degrees(v, sides))
        axis.set_major_formatter(written)
        axis.set_major_locator(ticker.MaxNLocator(6, steps=[1, 2, 3, 5, 10]))
    axes.set(xlabel="longitude", ylabel="latitude")
    rings = land(*axes.get_xlim(), *axes.get_ylim())
    path = import_module("matplotlib.path").Path
    # One path of all rings: a hole turns the other way and stays empty. What is far
    # outside is cut off, or a map of one bay would carry a continent.
    closed = (path(_shut(ring), closed=True) for ring in rings)
    seen = path.make_compound_path(*closed).clip_to_bbox(axes.viewLim.padded(0.5))
    patch = import_module("matplotlib.patches").PathPatch
    axes.add_patch(patch(seen, zorder=0.4, gid="land", **_LAND))


def _shut(ring: Matrix) -> Matrix:
    return np.concatenate((ring, ring[:1]))
