"""A network in the Gulf, and a page with one of everything."""

from collections.abc import Callable

import numpy as np
import pytest

from halk import Network
from halk.report import (
    Bars,
    Bullets,
    ClaimRow,
    ClaimTable,
    Figure,
    Line,
    MapFigure,
    Page,
    Panel,
    Points,
    Section,
    Table,
    Verdict,
)

METHODS = {
    "ours": "blue",
    "everybody agrees on one function": "vermilion",
    "a penalty in place of constraints": "green",
    "no network": "black",
    "polynomial features": "purple",
    "random Fourier features, 200": "orange",
    "all readings in one place": "sky",
    "sine features": "grey",
}


@pytest.fixture
def gulf(rng: np.random.Generator) -> Network:
    """Return 50 agents with 2050 directed edges."""
    places = rng.uniform((19, -97), (29, -84), (50, 2))
    i, j = np.triu_indices(50, 1)
    near = np.argsort(np.linalg.norm(places[i] - places[j], axis=1))[:1025]
    names = [f"buoy {n}" for n in range(50)]
    return Network(50, np.column_stack((i, j))[near], positions=places, names=names)


@pytest.fixture
def curves() -> Figure:
    """Return three panels of eight methods with bands."""
    x = np.arange(1, 50)
    lines = [
        Line(label, x, (n + 1) / x, 0.9 * (n + 1) / x, 1.1 * (n + 1) / x, style=key)
        for n, (label, key) in enumerate(METHODS.items())
    ]
    panels = [
        Panel("Loss", "readings", "error [°C²]", lines, log_y=True, note="5 seeds"),
        Panel("Violation", "readings", "violation [°C²]", lines[:4]),
        Panel("Order", "readings", "atoms per agent", lines[2:], log_x=True),
    ]
    return Figure("curves", "Three panels.", panels)


@pytest.fixture
def make_page(gulf: Network, curves: Figure) -> Callable[[str], Page]:
    """Return a maker of pages that hold a text in every place for text."""

    def made(text: str) -> Page:
        depth = [0.0, 100.0, 500.0]
        dots = [Points(text, depth, depth), Points("open", depth, depth, is_open=True)]
        panel = Panel(text, text, text, [*dots, Line(text, depth, depth)], note=text)
        items = [
            text,
            Bullets([text, "plain"]),
            curves,
            Figure("profile", text, [panel]),
            MapFigure(
                "map", text, gulf, np.arange(2050.0), text, [0, 1], text,
                node_values=np.arange(50), node_label=text,
            ),
            Bars("bars", text, [text], [text, "b"], [[1.0, 2.0]], xlabel=text),
        ]  # fmt: skip
        claims = [
            ClaimRow(text, text, [Verdict(True, text)]),
            ClaimRow("b", "", [(False, "seen 3")]),
            ClaimRow("c", "", [(None, "")]),
        ]
        tables = [
            Table(
                text, [text, "n"], [[text, 1.23456], ["b", None]], highlight_rows=[0]
            ),
            ClaimTable(text, [text], claims),
        ]
        sections = [
            Section(text, "first", items),
            Section("Tables", "second", tables),
            Section("Last", "third", ["The end."]),
        ]
        headline = [(text, 0.5, text), ("count", 1234, "")]
        return Page(text, text, [(text, text), ("seed", 7)], sections, headline)

    return made
