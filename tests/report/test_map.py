"""Maps: colours follow values, the strongest on top, labels apart, land in place."""

from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text

from halk import Network
from halk.report import MapFigure, picture, plot


def artist(canvas: Any, name: str) -> Any:
    (found,) = canvas.findobj(lambda a: a.get_gid() == name)
    return found


def lightness(colours: Any) -> Any:
    return np.asarray(colours)[:, :3] @ [0.2126, 0.7152, 0.0722]


def boxes(canvas: Any, labels: list[str]) -> list[Any]:
    canvas.draw_without_rendering()
    renderer = canvas.canvas.get_renderer()
    texts = [text for text in canvas.axes[0].texts if text.get_text() in labels]
    assert len(texts) == len(labels)
    return [Text.get_window_extent(text, renderer) for text in texts]


def test_edges_follow_the_larger_value_of_a_pair(
    gulf: Network, rng: np.random.Generator
) -> None:
    values = rng.gamma(0.4, size=gulf.n_edges)
    edges = artist(plot(MapFigure("m", "c", gulf, values)), "edges")
    segments = np.array(edges.get_segments())
    assert len(segments) == 1025
    larger = np.maximum(values, values[gulf.reverse])
    once = gulf.edges[:, 0] < gulf.edges[:, 1]
    assert gulf.positions is not None
    ends = gulf.positions[gulf.edges[once]][:, :, ::-1]
    order = np.argsort(larger[once], kind="stable")
    np.testing.assert_allclose(segments, ends[order])
    widths = np.array(edges.get_linewidths())
    assert (np.diff(widths) >= 0).all()  # the strongest last, and thickest
    assert widths[0] < 0.5 < 2.5 < widths[-1]
    shades = lightness(edges.get_colors())
    assert (np.diff(shades) <= 1e-3).all()  # and darkest, in grey as well
    assert shades[0] > 0.8 > 0.1 > shades[-1]


def test_colour_bar_has_its_label_and_range(gulf: Network) -> None:
    canvas = plot(MapFigure("m", "c", gulf, np.arange(2050.0), "price [1/°C²]"))
    bar = canvas.axes[1]
    assert bar.get_ylabel() == "price [1/°C²]"
    assert bar.get_ylim() == (0.0, 2049.0)


def test_labels_hide_neither_each_other_nor_agents() -> None:
    places = [(25 + 0.2 * i, -90 + 0.2 * j) for i in range(4) for j in range(4)]
    places.append((30.0, -85.0))
    names = [f"a long name {n}" for n in range(17)]
    net = Network(17, [(n, n + 1) for n in range(16)], positions=places, names=names)
    canvas = plot(MapFigure("m", "c", net, labels=names[:6:2]))
    found = boxes(canvas, names[:6:2])
    for n, box in enumerate(found):
        assert not any(box.overlaps(other) for other in found[:n])
    centres = artist(canvas, "agents").get_offsets()
    dots = canvas.axes[0].transData.transform(centres)
    assert not any(box.contains(*dot) for box in found for dot in dots)


def test_degrees_and_shape_are_those_of_the_earth(gulf: Network) -> None:
    canvas = plot(MapFigure("m", "c", gulf))
    canvas.draw_without_rendering()
    axes = canvas.axes[0]
    ticks = [tick.get_text() for tick in axes.get_xticklabels()]
    assert "90°W" in ticks
    assert axes.get_xlabel() == "longitude"
    assert axes.get_aspect() == pytest.approx(1 / np.cos(np.radians(24)), rel=0.01)


@pytest.mark.parametrize("turn", [0, 360])
def test_land_is_under_the_gulf(gulf: Network, turn: int) -> None:
    assert gulf.positions is not None
    moved = Network(50, gulf.edges, positions=gulf.positions + [0, turn])  # noqa: RUF005
    canvas = plot(MapFigure("m", "c", moved))
    path = artist(canvas, "land").get_path()
    assert path.contains_point((-89.5 + turn, 20.5))  # Yucatán
    assert not path.contains_point((-90 + turn, 25))
    west, east = canvas.axes[0].get_xlim()
    assert west > -99 + turn
    assert east < -82 + turn


def test_an_inland_sea_is_a_hole() -> None:
    net = Network(2, positions=[(46, 48), (37, 55)])
    canvas = plot(MapFigure("m", "c", net))
    canvas.canvas.draw()
    pixels = np.asarray(canvas.canvas.buffer_rgba())[::-1]  # from the bottom, as y
    x, y = canvas.axes[0].transData.transform([(48, 40.3), (50.3, 41.7)]).T.astype(int)
    shore, sea = pixels[y, x, :3].mean(axis=1)
    assert shore < 240
    assert sea == 255  # the Caspian


def test_a_network_over_the_date_line_stays_in_one_piece() -> None:
    net = Network(2, [(0, 1)], positions=[(-17, 179), (-18, -179)])
    canvas = plot(MapFigure("m", "c", net))
    west, east = canvas.axes[0].get_xlim()
    assert east - west < 5


def test_other_networks_have_plain_axes(rng: np.random.Generator) -> None:
    net = Network(6, [(0, 1), (2, 5)], positions=rng.random((6, 2)))
    figure = MapFigure("m", "c", net, is_geographic=False, position_label="km")
    canvas = plot(figure)
    axes = canvas.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x [km]", "y [km]")
    assert axes.get_aspect() == 1.0
    assert not canvas.findobj(lambda a: a.get_gid() == "land")
    np.testing.assert_allclose(artist(canvas, "agents").get_offsets(), net.positions)


def test_markers_grow_with_their_values(gulf: Network) -> None:
    values = np.arange(50)
    figure = MapFigure(
        "m", "c", gulf, np.ones(2050), node_values=values, node_label="atoms"
    )
    canvas = plot(figure)
    assert (np.diff(artist(canvas, "agents").get_sizes()) > 0).all()
    (legend,) = canvas.legends
    assert legend.get_title().get_text() == "atoms"
    assert [text.get_text() for text in legend.get_texts()] == ["0", "24", "49"]
    coloured = plot(MapFigure("m", "c", gulf, node_values=values, node_label="atoms"))
    assert coloured.legends == []
    assert coloured.axes[1].get_ylabel() == "atoms"
    shades = lightness(artist(coloured, "agents").get_facecolors())
    assert (np.diff(shades) < 0).all()


def test_what_is_not_known_is_white_and_takes_no_colour(gulf: Network) -> None:
    values = np.linspace(1, 2, 50)
    values[7] = np.nan
    agents = artist(plot(MapFigure("m", "c", gulf, node_values=values)), "agents")
    shades = lightness(agents.get_facecolors())
    assert shades[7] == pytest.approx(1.0)
    assert (np.diff(np.delete(shades, 7)) < 0).all()


def test_colours_begin_where_they_are_told(gulf: Network) -> None:
    values = np.linspace(0.8, 0.9, gulf.n_edges)
    for limits in ((0.5, 1.0), None):
        canvas = plot(MapFigure("m", "c", gulf, values, value_limits=limits))
        bar = canvas.axes[1]
        assert bar.get_ylim() == pytest.approx(limits or (0.0, 0.9), abs=1e-3)


@pytest.mark.parametrize(
    "figure",
    [
        MapFigure("m", "c", Network(1, positions=[(0, 0)]), [], labels=[0]),
        MapFigure("m", "c", Network.path(3), is_geographic=False, labels=[0]),
        MapFigure("m", "c", Network(2, positions=[[0], [1]]), is_geographic=False),
        MapFigure(
            "m", "c", Network(2, [(0, 1)], positions=[(89, 0), (88, 170)]), [0, 0]
        ),
        MapFigure("m", "c", Network(2, [(0, 1)], positions=[(0, 0), (0, 0)]), [-1, -1]),
    ],
)
def test_odd_networks_are_drawn(figure: MapFigure) -> None:
    picture(figure)


def test_fifty_agents_with_two_thousand_edges(
    gulf: Network, rng: np.random.Generator
) -> None:
    drawn = picture(MapFigure("m", "c", gulf, rng.random(2050), labels=[0, 7, 30]))
    assert len(drawn.svg) < 400_000
    assert drawn.width < 9
