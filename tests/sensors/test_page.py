"""What people see of a model: a page, the curve of a sensor, a table in a notebook."""

import re
from functools import cache

import numpy as np
import pytest
from matplotlib.dates import date2num

import halk
from halk.cli import main
from halk.data import DataError
from halk.report import render
from halk.sensors.curves import find_rows, find_window
from halk.sensors.page import make_page
from halk.sensors.pairs import correlate, find_pairs
from tests.report.test_html import Reader
from tests.sensors.network import START, as_long, clocked, profiles

EVIL = "<b>s1</b> & [co](https://x.org) $"
BAD, LENGTH = (120, 1, 500.0), 168


def at_times(n_sensors=5, n_hours=LENGTH):
    """Return a table, its readings, and its sensors, one of which has a wild name."""
    y, times, sensors = clocked(n_sensors, n_hours)
    hour, who, value = BAD
    if who < n_sensors and hour < n_hours:
        y[hour, who] = value
        sensors["sensor"][who] = EVIL
    return as_long(y, times, sensors["sensor"]), y, sensors


@cache
def model_of(kind):
    if kind == "neighbours":
        table, _, sensors = at_times()
        return halk.fit(table, sensors, method="neighbours")
    if kind in ("kriging", "field"):
        table, _, sensors = at_times()
        return halk.fit(table, sensors, method=kind, quick=True)
    if kind == "no places":
        return halk.fit(at_times()[0], method="neighbours", quick=True)
    if kind == "profiles":
        return halk.fit(*profiles(8, 20), method="field, together", quick=True)
    n_sensors, n_hours = {"alone": (1, 60), "two": (2, 15)}[kind]
    return halk.fit(at_times(n_sensors, n_hours)[0], quick=n_sensors == 1)


KINDS = {
    "neighbours": "methods bad map sensors curves pairs table",
    "kriging": "methods map sensors curves pairs table",
    "field": "methods map sensors curves pairs table",
    "no places": "methods bad sensors curves pairs table",
    "profiles": "methods map sensors curves pairs",
    "alone": "methods sensors curves table",
    "two": "methods sensors curves table",
}
VOID = {"meta", "link", "img", "source", "br"}


class Nesting(Reader):
    """A reader that insists on every tag being closed in its place."""

    def __init__(self, html):
        self.open = []
        super().__init__(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@cache
def html_of(kind):
    return render(make_page(model_of(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_what_there_is_to_say(kind):
    page = make_page(model_of(kind))
    assert [s.anchor for s in page.sections] == KINDS[kind].split()


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_whole_and_asks_for_nothing(kind):
    reader = Nesting(html_of(kind))
    assert "b" not in re.findall(r"<(b)>s1", html_of(kind))
    assert not re.search(r"\b(nan|NaN|inf|None)\b", reader.text)
    sources = [v for k, v in reader.attributes if k in ("src", "srcset")]
    assert sources
    assert all(source.startswith("data:") for source in sources)
    assert not re.search(r"(src|href|url)\W{1,2}https?:", html_of("no places"))


def test_names_are_shown_as_they_are():
    reader = Reader(html_of("neighbours"))
    assert reader.text.count(EVIL) >= 3
    assert EVIL not in html_of("neighbours")


def test_methods_stand_side_by_side():
    model = model_of("neighbours")
    text = " ".join(Reader(html_of("neighbours")).text.split())
    for name in ("kriging", "inverse distance", "linear interpolation", "sensor mean"):
        error = halk.report.number(model.comparison.error(name))
        assert f"{name}{error}" in text.replace(" ", " ").replace(f"{name} ", name)
    assert "Error by method" in text


def test_suspects_are_told_and_marked():
    model = model_of("neighbours")
    (notice,) = (n for n in model.notices if n.kind == "suspect" and n.value > 400)
    assert notice.sensor == EVIL
    assert "500 °C at 2024-03-06 00:00" in Reader(html_of("neighbours")).text
    (axes,) = model.plot(EVIL).axes
    (crosses,) = (
        c for c in axes.collections if c.get_label() and c.get_linewidth()[0] == 1.8
    )
    day, shown = crosses.get_offsets()[0]
    assert day == pytest.approx(date2num(START + 3600 * BAD[0]))
    assert shown < 100  # far outside: at the edge, and the axis is that of the others
    assert axes.get_ylim()[1] < 100


def test_axes_have_dates():
    figure = model_of("neighbours").plot("s0")
    figure.canvas.draw()
    (axes,) = figure.axes
    shown = [label.get_text() for label in axes.get_xticklabels()]
    assert {"1 Mar", "3 Mar", "5 Mar", "7 Mar"} == set(shown)
    assert axes.xaxis.get_offset_text().get_text() == "2024"
    assert axes.get_ylabel() == "t [°C]"
    part = model_of("neighbours").plot("s0", "2024-03-02", "2024-03-03 12:00").axes[0]
    low, high = date2num(np.array(["2024-03-02", "2024-03-03T12:00"], "datetime64"))
    assert part.get_xlim()[0] > low - 0.2
    assert part.get_xlim()[1] < high + 0.2


def test_gaps_are_filled_and_readings_are_not():
    model, (_, y, _) = model_of("neighbours"), at_times()
    (axes,) = model.plot("s0").axes
    estimate, read = (line.get_ydata() for line in axes.lines)
    is_gone = np.isnan(y[:, 0])
    np.testing.assert_array_equal(np.isnan(read), is_gone)
    np.testing.assert_array_equal(read[~is_gone], y[~is_gone, 0])
    x = model.readings.x[:1] * 0 + np.datetime64(START, "s").astype(float)
    x = x + 3600.0 * np.flatnonzero(is_gone)[:, None]
    asked = model.estimate(np.zeros(len(x), int), x)
    np.testing.assert_allclose(estimate[is_gone], asked.value)
    beside = np.convolve(is_gone, [1, 1, 1], "same") > 0
    np.testing.assert_array_equal(np.isnan(estimate), ~beside)


@pytest.mark.parametrize("kind", ["field", "profiles"])
def test_curves_have_enough_points_and_are_true(kind):
    model = model_of(kind)
    (axes,) = model.plot("s0").axes
    (line,) = axes.lines
    across, along = line.get_data()
    if kind == "field":
        at = {"time": (along_days := across) * 86400}
        value = along
        x = (along_days * 86400)[:, None]
    else:
        value, x = across, along[:, None]
        at = None
        assert axes.yaxis_inverted()
    assert len(x) >= 400
    found = model.estimate(np.zeros(len(x), int), x)
    np.testing.assert_allclose(value, found.value)
    assert at is None or len(at["time"]) == len(x)


def test_pairs_are_those_that_go_together():
    model = model_of("no places")
    rows = find_rows(model)
    both = np.isfinite(rows.values[:, 0]) & np.isfinite(rows.values[:, 2])
    known = np.corrcoef(rows.values[both][:, [0, 2]].T)[0, 1]
    assert correlate(rows.values)[0, 2] == pytest.approx(known)
    few = rows.values.copy()
    few[15:, 0] = np.nan  # fewer than tell anything
    assert np.isnan(correlate(few)[0]).all()


def test_pairs_of_fields_are_those_of_multipliers():
    model = model_of("profiles")
    found, learner = find_pairs(model, None), model.method.learner
    assert found.what == "multiplier"
    largest = np.argmax(learner.multipliers)
    assert set(found.pairs[np.argmax(found.values)]) == set(
        learner.network.edges[largest]
    )
    along = found.along(learner.network)
    back = np.maximum(learner.multipliers, learner.multipliers[learner.network.reverse])
    np.testing.assert_array_equal(along, back)


def test_windows_show_gaps_and_what_is_asked_for():
    read = np.zeros(1000)
    read[700:720] = np.nan
    start, stop = find_window(read, None, 100)
    assert (start, stop - start) == (pytest.approx(660, abs=60), 100)
    assert np.isnan(read[start:stop]).sum() == 20
    start, stop = find_window(read, 990, 100)
    assert start <= 990 < stop == 1000
    assert find_window(read[:50], None, 100) == (0, 50)


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_shows_a_small_table(kind):
    model = model_of(kind)
    reader = Nesting(model._repr_html_())
    assert set(reader.tags) == {"table", "tr", "th", "td"}
    assert f"mean error of {model.comparison.chosen}" in reader.text
    assert not re.search(r"\b(nan|NaN|inf|None)\b", reader.text)
    assert f"{len(model.readings.y):,}" in reader.text


def test_wrong_calls_are_told_so():
    timed, untimed = model_of("neighbours"), model_of("profiles")
    with pytest.raises(DataError, match=r"sensor must be one .*, got 'x'"):
        timed.plot("x")
    with pytest.raises(DataError, match=r"start must be a time .*, got 'soon'"):
        timed.plot("s0", "soon")
    with pytest.raises(DataError, match="must have readings in between"):
        timed.plot("s0", "2025-01-01")
    with pytest.raises(DataError, match="start and end need readings at times"):
        untimed.plot("s0", start="2025-01-01")


def test_inspect_writes_the_page_beside_the_model(tmp_path, capsys):
    model_of("alone").save(tmp_path / "a.halk")
    main(["inspect", str(tmp_path / "a.halk")])
    assert "a-report.html" in capsys.readouterr().out
    assert "</html>" in (tmp_path / "a-report.html").read_text()
    main(["inspect", str(tmp_path / "a.halk"), "-o", str(tmp_path / "b.html")])
    assert (tmp_path / "b.html").exists()
