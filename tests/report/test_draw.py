"""Figures: files whole or not at all, the same bytes each time, nothing overlapping."""

import errno
import os
import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

from halk.report import PALETTE, Bars, Figure, Line, Panel, Points, draw, picture, plot
from halk.report.draw_panels import panels_drawn

PNG = b"\x89PNG\r\n\x1a\n"


def small(name: str = "small") -> Figure:
    return Figure(name, "c", [Panel("t", "x", "y", [Line("a", [1, 2], [1, 2])])])


def _overlap(one: Any, other: Any) -> bool:
    return bool(
        min(one.x1, other.x1) > max(one.x0, other.x0)
        and min(one.y1, other.y1) > max(one.y0, other.y0)
    )


def test_draw_writes_both_files(tmp_path: Path, curves: Figure) -> None:
    paths = draw(curves, tmp_path)
    assert [path.name for path in paths] == ["curves.png", "curves.svg"]
    png, svg = (path.read_bytes() for path in paths)
    assert png.startswith(PNG)
    width = int.from_bytes(png[16:20], "big")
    assert width == round(150 * picture(curves).width)
    assert b"<svg" in svg
    assert b"<text" not in svg  # letters are shapes: no font is asked for
    assert sorted(os.listdir(tmp_path)) == ["curves.png", "curves.svg"]


def test_the_same_figure_gives_the_same_bytes(curves: Figure) -> None:
    with matplotlib.rc_context({"font.size": 30, "svg.hashsalt": None}):
        first = picture(curves)
    assert picture(curves) == first
    assert b"<dc:date>" not in first.svg


def test_settings_of_the_user_are_left_alone(curves: Figure) -> None:
    # To read the backend would make Matplotlib choose one.
    names = set(matplotlib.rcParams) - {"backend"}
    before, modules = [matplotlib.rcParams[n] for n in names], set(sys.modules)
    picture(curves)
    assert [matplotlib.rcParams[name] for name in names] == before
    assert "matplotlib.pyplot" not in set(sys.modules) - modules


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"folder .*nowhere must exist"):
        draw(small(), tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small.png").write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        draw(small(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["small.png"]
    assert (tmp_path / "small.png").read_bytes() == b"old"


def test_without_matplotlib_the_error_is_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'halk\[demo\]'"):
        plot(small())


def test_what_is_no_figure_is_refused() -> None:
    with pytest.raises(TypeError, match="figure must be a Figure"):
        plot("curves")


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_legend_and_panels_do_not_overlap(curves: Figure, columns: int) -> None:
    figure = Figure(curves.name, curves.caption, curves.panels, columns)
    canvas = plot(figure)
    canvas.draw_without_rendering()
    renderer = canvas.canvas.get_renderer()
    (legend,) = canvas.legends
    box = legend.get_window_extent(renderer)
    panels = [axes.get_tightbbox(renderer) for axes in canvas.axes]
    assert not any(_overlap(box, panel) for panel in panels)
    pairs = [(a, b) for n, a in enumerate(panels) for b in panels[:n]]
    assert not any(_overlap(a, b) for a, b in pairs)
    for part in (box, *panels):
        assert part.x0 >= 0
        assert part.y0 >= 0
        assert part.x1 <= canvas.bbox.x1
        assert part.y1 <= canvas.bbox.y1
    assert all(axes.bbox.height > 100 for axes in canvas.axes)


def test_legend_names_each_curve_once(curves: Figure) -> None:
    (legend,) = plot(curves).legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert len(labels) == len(set(labels)) == 8


def test_a_method_looks_the_same_in_every_panel(curves: Figure) -> None:
    for axes, panel in zip(plot(curves).axes, curves.panels, strict=True):
        for drawn, item in zip(axes.lines, panel.items, strict=True):
            assert isinstance(item, Line)
            assert item.style is not None
            assert drawn.get_color() == PALETTE[item.style].colour


def test_titles_are_lettered_and_depth_grows_downwards() -> None:
    panel = Panel("deep", "x", "depth [m]", [Line("", [1, 2], [0, 900])], invert_y=True)
    canvas = plot(Figure("a", "c", [panel, panel]))
    assert [a.get_title(loc="left") for a in canvas.axes] == ["(a) deep", "(b) deep"]
    assert canvas.axes[0].yaxis_inverted()
    assert canvas.legends == []  # nothing has a name


def test_limits_hold_against_a_curve_that_runs_away() -> None:
    line = Line("a", [1, 2, 3], [0.5, 1, 1e12])
    panel = Panel("t", "x", "y", [line], log_y=True, y_limits=(0.1, 10))
    axes = plot(Figure("a", "c", [panel])).axes[0]
    assert axes.get_ylim() == (0.1, 10)
    assert [text.get_text() for text in axes.get_yticklabels()]


def test_withheld_readings_are_open_circles() -> None:
    items = [Points("seen", [1], [1]), Points("withheld", [2], [2], is_open=True)]
    axes = plot(Figure("a", "c", [Panel("t", "x", "y", items)])).axes[0]
    seen, withheld = (dots.get_facecolor()[0, :3] for dots in axes.collections)
    assert seen.max() < 0.5
    assert withheld.min() == 1.0


def test_dollars_and_braces_are_just_text() -> None:
    picture(Figure("a", "c", [Panel("$x_{", "$", "^_", [Line("$a$ $", [1], [1])])]))


@pytest.mark.parametrize(
    "items",
    [
        [],
        [Line("a", [], [])],
        [Line("a", [1, 2], [np.nan, np.nan], [np.nan] * 2, [np.nan] * 2)],
        [Line("a", [-1, 0], [-1, 0], [-2, -2], [0, 0]), Points("b", [], [])],
    ],
)
def test_nothing_to_show_is_shown_quietly(items: list[Line | Points]) -> None:
    panel = Panel("t", "x", "y", items, log_x=True, log_y=True)
    picture(Figure("a", "c", [panel]))


def test_bars_are_as_long_as_their_values() -> None:
    values = [[1.0, 2.0, np.nan], [0.5, -4.0, 0.0]]
    canvas = plot(Bars("a", "c", ["g", "h"], ["x", "y", "z"], values, xlabel="m"))
    for axes, row in zip(canvas.axes, values, strict=True):
        lengths = [bar.get_width() for bar in axes.patches]
        assert lengths == np.nan_to_num(row).tolist()
    texts = [[text.get_text() for text in axes.texts] for axes in canvas.axes]
    assert texts == [["1.00", "2.00", "–"], ["0.500", "−4.00", "0"]]


@pytest.mark.parametrize("log_x", [False, True])
def test_values_of_bars_stay_inside(log_x: bool) -> None:
    values = np.array([[0.00123, 123456.0, 2.0]])
    bars = Bars(
        "a", "c", ["g"], ["x", "y", "z"], values, low=values / 2, high=values * 2,
        log_x=log_x,
    )  # fmt: skip
    canvas = plot(bars)
    canvas.draw_without_rendering()
    (axes,) = canvas.axes
    for text in axes.texts:
        box = text.get_window_extent(canvas.canvas.get_renderer())
        assert box.x1 <= axes.bbox.x1


def test_bars_of_nothing() -> None:
    picture(Bars("a", "c", ["g"], ["x"], [[np.nan]], log_x=True))
    picture(Bars("a", "c", ["g"], ["x"], [[0.0]]))


def test_a_band_lies_along_its_curve() -> None:
    depth, values = np.array([0.0, 100.0, 200.0]), np.array([25.0, 15.0, 10.0])
    half = np.array([1.0, 2.0, 3.0])
    low, high = values - half, values + half
    line = Line("a", values, depth, low, high, is_upright=True)
    canvas = panels_drawn(Figure("f", "c", [Panel("t", "x", "y", [line])]))
    (band,) = canvas.axes[0].collections
    box = band.get_paths()[0].get_extents()
    assert (box.xmin, box.xmax) == (low.min(), high.max())
    assert (box.ymin, box.ymax) == (0.0, 200.0)


def test_dated_axes_count_seconds_and_show_dates() -> None:
    seconds = 1709251200 + 86400.0 * np.arange(10)  # from 1 March 2024
    items = [Line("a", seconds, seconds * 0), Points("b", seconds[:2], [1, 2])]
    figure = Figure("d", "c", [Panel("t", "", "y", items, is_dated=True)])
    canvas = plot(figure)
    canvas.canvas.draw()
    (axes,) = canvas.axes
    np.testing.assert_allclose(axes.lines[0].get_xdata(), seconds / 86400)
    shown = [label.get_text() for label in axes.get_xticklabels()]
    assert shown[:3] == ["1 Mar", "3 Mar", "5 Mar"]
    assert axes.xaxis.get_offset_text().get_text() == "2024"


@pytest.mark.parametrize("n", [1, 500])
def test_crosses_are_on_top_of_everything(n: int) -> None:
    at = np.arange(n)
    items = [Line("a", at, at), Points("b", at, at), Points("c", at, at, is_cross=True)]
    canvas = plot(Figure("d", "c", [Panel("t", "", "y", items)]))
    dots, crosses = canvas.axes[0].collections
    above = max(dots.get_zorder(), canvas.axes[0].lines[0].get_zorder())
    assert crosses.get_zorder() > above
    assert len(crosses.get_paths()[0].vertices) == 4  # two strokes, no disc


def test_crowds_are_drawn_with_finer_pens() -> None:
    def widths(n: int) -> tuple[float, float]:
        items = [Line("a", range(n), range(n)), Points("b", range(n), range(n))]
        axes = plot(Figure("d", "c", [Panel("t", "", "y", items)])).axes[0]
        return axes.lines[0].get_linewidth(), axes.collections[0].get_sizes()[0]

    few, some, many = widths(50), widths(500), widths(5000)
    assert few[0] == some[0] == 2 * many[0]
    assert few[1] > some[1] > many[1]


def test_width_and_height_are_as_asked() -> None:
    panels = [Panel("t", "", "y", [Line("", [1, 2], [1, 2])])] * 2
    canvas = plot(Figure("d", "c", panels, columns=1, height=2.0, width=7.5))
    assert canvas.get_size_inches().tolist() == [7.5, 4.0]
