"""Figures, and one HTML page that needs nothing but itself.

The values here say what to show; ``draw`` and ``write`` show it. They know nothing of
experiments or learners: those make the values.

Examples
--------
>>> from halk import report
>>> curve = report.Line("ours", [1, 2, 3], [0.9, 0.5, 0.4], style="blue")
>>> panel = report.Panel("Error", "readings", "error [°C]", [curve])
>>> figure = report.Figure("error", "Error falls with readings.", [panel])
>>> section = report.Section("Result", "result", ["It learns:", figure])
>>> page = report.Page("A run", "of three readings", [("seed", 0)], [section])
>>> report.render(page).startswith("<!DOCTYPE html>")
True
"""

from halk.report.charts import Bars, MapFigure
from halk.report.draw import Picture, draw, picture, plot
from halk.report.html import render, write
from halk.report.pages import (
    AnyFigure,
    Bullets,
    Headline,
    Item,
    Page,
    Section,
)
from halk.report.panels import Figure, Line, Panel, Points
from halk.report.style import PALETTE, Style
from halk.report.tables import Cell, ClaimRow, ClaimTable, Table, Verdict
from halk.report.text import number

__all__ = [
    "PALETTE",
    "AnyFigure",
    "Bars",
    "Bullets",
    "Cell",
    "ClaimRow",
    "ClaimTable",
    "Figure",
    "Headline",
    "Item",
    "Line",
    "MapFigure",
    "Page",
    "Panel",
    "Picture",
    "Points",
    "Section",
    "Style",
    "Table",
    "Verdict",
    "draw",
    "number",
    "picture",
    "plot",
    "render",
    "write",
]
