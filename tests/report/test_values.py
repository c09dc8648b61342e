"""Value objects refuse what cannot be shown, and numbers read as numbers."""

from typing import Any

import numpy as np
import pytest

from halk import Network
from halk.report import (
    PALETTE,
    Bars,
    ClaimRow,
    ClaimTable,
    Figure,
    Line,
    MapFigure,
    Page,
    Panel,
    Section,
    Table,
    number,
)
from halk.report.coast import land, unwrapped
from halk.report.style import styles

PANEL = Panel("t", "x", "y", [])
PAIR = Network(2, [(0, 1)], positions=[(20, -90), (21, -91)])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Line("a", [1, 2], [1]), "y must have 2 entries, got 1"),
        (lambda: Line("a", [1], [1], low=[0]), "low must come with high"),
        (lambda: Line("a", [1], [1], style="pink"), "style must be one of 'blue'"),
        (lambda: Line("a", [[1]], [1]), "x must have one axis"),
        (lambda: Figure("../a", "", [PANEL]), "name must hold letters"),
        (lambda: Figure("a", "", []), "panels must not be empty"),
        (lambda: Figure("a", "", [PANEL], columns=0), "columns must be at least 1"),
        (lambda: Bars("a", "", ["g"], ["s"], [[1, 2]]), r"shape \(1, 1\)"),
        (lambda: Bars("a", "", ["g"], ["s"], [[1]], styles=["x"]), "style must be one"),
        (lambda: MapFigure("a", "", PAIR, [1.0]), r"directed edge \(2\), got 1"),
        (lambda: MapFigure("a", "", PAIR, labels=["x"]), "agent must be one of"),
        (lambda: MapFigure("a", "", Network(2)), "give is_geographic=False"),
        (lambda: Table("", ["a", "b"], [[1]]), "row 0 must have 2 cells, got 1"),
        (lambda: Table("", ["a"], [[1]], align="x"), "align must be 1 letters"),
        (lambda: ClaimTable("", ["a"], [ClaimRow("", "", [])]), "claim 0 must have 1"),
        (lambda: Section("a", 'a"b', []), "anchor must be lower case"),
        (lambda: _page(Section("", "a", []), Section("", "a", [])), "anchors must be"),
        (lambda: _page(Section("", "a", [_figure(), _figure()])), "names of figures"),
    ],
)
def test_wrong_values_are_named(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def _figure() -> Figure:
    return Figure("a", "", [PANEL])


def _page(*sections: Section) -> Page:
    return Page("", "", [], sections)


def test_curves_keep_their_own_copy_and_hide_infinity() -> None:
    y = np.array([1.0, np.inf, -np.inf, np.nan])
    line = Line("a", range(4), y)
    y[0] = 7.0
    assert line.y[0] == 1.0
    assert np.isnan(line.y[1:]).all()
    assert not line.y.flags.writeable


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.5, "−0.500"),
        (0.000999999, "0.00100"),
        (999.9, "1,000"),
        (99.96, "100"),
        (123456.0, "123,456"),
        (1234567.0, "1.23×10⁶"),
        (-1e-12, "−1.00×10⁻¹²"),
        (float("nan"), "–"),
        (float("-inf"), "−∞"),
        (-1234, "−1,234"),
        (np.int64(5), "5"),
        (np.float32(0.25), "0.250"),
        (np.bool_(True), "yes"),
        (False, "no"),
        ("-1 as text", "-1 as text"),
        (None, "–"),
    ],
)
def test_numbers_have_three_digits(value: Any, text: str) -> None:
    assert number(value) == text


def test_styles_differ_by_more_than_colour() -> None:
    own = ("reference", "ink")  # never beside others of their kind
    shapes = [(s.dash, s.marker) for key, s in PALETTE.items() if key not in own]
    assert len(set(shapes)) == len(shapes)


def test_styles_are_shared_out_when_many() -> None:
    found = styles((str(n), None) for n in range(20))
    assert len(found) == 20
    assert PALETTE["reference"] not in found.values()


def test_longitudes_join_up() -> None:
    assert unwrapped(np.array([350.0, 10.0])).tolist() == [350.0, 370.0]
    assert unwrapped(np.array([5.0])).tolist() == [5.0]
    assert unwrapped(np.array([5.0, 5.0])).tolist() == [5.0, 5.0]


def test_land_is_where_it_is_on_earth() -> None:
    assert land(75, 80, -45, -40) == []  # the Indian Ocean
    (chukotka,) = [r for r in land(175, 185, 67, 68) if len(r) > 1000]
    assert np.abs(np.diff(chukotka[:, 0])).max() < 5  # no jump at 180 degrees
