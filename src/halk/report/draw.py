"""Figures as files."""

import os
from functools import singledispatch
from pathlib import Path
from typing import Any, NamedTuple

from halk._atomic import replacing
from halk.report.canvas import Canvas, encoded, settings
from halk.report.charts import Bars, MapFigure
from halk.report.draw_bars import bars_drawn
from halk.report.draw_map import map_drawn
from halk.report.draw_panels import panels_drawn
from halk.report.pages import AnyFigure
from halk.report.panels import Figure

__all__ = ["Picture", "draw", "picture", "plot"]


class Picture(NamedTuple):
    """A figure drawn: two files and their size in inches."""

    png: bytes
    svg: bytes
    width: float
    height: float


@singledispatch
def plot(figure: Any) -> Canvas:
    """Return the Matplotlib figure of a figure of ours, to look at or to change."""
    raise TypeError(f"figure must be a Figure, MapFigure or Bars, got {figure!r}")


@plot.register
def _(figure: Figure) -> Canvas:
    with settings():
        return panels_drawn(figure)


@plot.register
def _(figure: Bars) -> Canvas:
    with settings():
        return bars_drawn(figure)


@plot.register
def _(figure: MapFigure) -> Canvas:
    with settings():
        return map_drawn(figure)


def picture(figure: AnyFigure) -> Picture:
    """Draw a figure in memory; the same figure gives the same bytes."""
    canvas = plot(figure)
    with settings():
        files = encoded(canvas, "png"), encoded(canvas, "svg")
    return Picture(*files, *canvas.get_size_inches().tolist())


def draw(figure: AnyFigure, folder: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write ``name.png`` (150 dots an inch) and ``name.svg`` into a folder.

    Returns
    -------
    pair of paths
        Of the PNG and of the SVG file.

    Raises
    ------
    FileNotFoundError
        If there is no such folder; it is not made.
    ImportError
        If Matplotlib is not installed.

    Notes
    -----
    Each file is replaced whole or not at all.
    """
    return save(figure.name, picture(figure), folder)


def save(
    name: str, drawn: Picture, folder: str | os.PathLike[str]
) -> tuple[Path, Path]:
    """Write a picture to its two files."""
    paths = Path(folder) / f"{name}.png", Path(folder) / f"{name}.svg"
    for path, content in zip(paths, (drawn.png, drawn.svg), strict=True):
        with replacing(path) as file:
            file.write(content)
    return paths
