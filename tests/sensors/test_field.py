"""The field model: its inputs, who talks to whom, and what it comes to."""

import numpy as np
import pytest

from halk.data import Input, Readings, Schema
from halk.data.sensors import Sensors
from halk.sensors.encode import Encoder
from halk.sensors.field import FieldModel
from halk.sensors.method import Graph, Site
from tests.sensors.made import HOUR, START, draw_profiles, make_series, make_site, take


@pytest.fixture(scope="module")
def deep():
    """Return profiles of twelve sensors, with four in five readings hidden."""
    site = make_site(12, depth=True)
    rows, clean = draw_profiles(site, n_each=30)
    hidden = np.random.default_rng(5).random(len(rows.y)) < 0.8
    return site, rows, clean, hidden


def error(model, rows, clean, hidden):
    """Return the error on hidden readings, against the truth."""
    model.fit(take(rows, ~hidden))
    found = model.estimate(rows.sensor[hidden], rows.x[hidden])
    return np.sqrt(((found.value - clean[hidden]) ** 2).mean())


def names(site, rows, **options):
    """Return the names of the parts of the inputs."""
    return [part.name for part in Encoder(site, rows, **options).parts]


def test_depths_of_wide_range_come_as_their_logarithm():
    """Instead of themselves. And places; what does not vary is left out."""
    site = make_site(3, depth=True)
    even = Readings(np.zeros(100, int), np.arange(100.0)[:, None], np.zeros(100))
    assert names(site, even) == ["depth_m: number", "place"]
    wide = Readings(even.sensor, 10 ** (even.x / 25), even.y)
    assert names(site, wide) == ["depth_m: log", "place"]
    same = Readings(even.sensor, 0 * even.x, even.y)
    assert names(site, same) == ["place"]


def test_times_tell_of_the_circles_that_they_went_through_twice():
    """A day at hourly steps nothing, two weeks of hours the hour and the weekday."""
    site = make_site(2, places=False)
    for n_steps, step, expected in (
        (24, HOUR, []),
        (24 * 15, HOUR, ["hour", "weekday"]),
        (30, 24 * HOUR, ["weekday"]),
        (800, 24 * HOUR, ["weekday", "day"]),
    ):
        rows = make_series(np.zeros((n_steps, 2)), step)
        found = names(site, rows)
        assert found == ["time: number", *(f"time: {one}" for one in expected)]


def test_inputs_are_about_one_wide():
    """Whatever their units; two hours that are a day apart are the same hour."""
    site = make_site(4)
    rows = make_series(np.zeros((24 * 15, 4)))
    found = Encoder(site, rows).encode(rows.sensor, rows.x)
    assert found[:, [0, 5, 6]].mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-6)
    assert (np.abs(found.std(axis=0) - 0.9) < 0.4).all()
    at = START + HOUR * np.array([[5.0], [29]])
    hour = Encoder(site, rows, ["time: hour"]).encode(np.zeros(2, int), at)
    assert hour[0] == pytest.approx(hour[1])


def test_features_can_be_named_and_wrong_ones_are_refused():
    """By part or by column; what there is is listed."""
    site = make_site(4)
    rows = make_series(np.zeros((24 * 15, 4)))
    assert names(site, rows, features=["time: hour", "place"]) == [
        "time: hour", "place",
    ]  # fmt: skip
    assert len(names(site, rows, features=["time"])) == 3
    with pytest.raises(ValueError, match=r"features must be among .*, got 'depth'"):
        Encoder(site, rows, features=["depth"])


def test_neighbours_help_where_readings_are_few(deep):
    """Together is better than independent, and both are better than the mean."""
    site, rows, clean, hidden = deep
    together = error(FieldModel(site), rows, clean, hidden)
    independent = error(FieldModel(site, together=False), rows, clean, hidden)
    assert together < 0.7 * independent
    assert together < 0.15 * rows.y.std()


def test_order_of_rows_changes_nothing(deep):
    """Bit for bit: readings are learned in an order of their own."""
    site, rows, _, hidden = deep
    known, asked = take(rows, ~hidden), take(rows, hidden)
    order = np.random.default_rng(0).permutation(len(known.y))
    values = []
    for one in (known, take(known, order)):
        model = FieldModel(site)
        model.fit(one)
        values.append(model.estimate(asked.sensor, asked.x).value)
    assert np.array_equal(*values)


def test_units_carry_over(deep):
    """Fahrenheit is as good as Celsius, tolerances included."""
    site, rows, clean, hidden = deep
    warm = Readings(rows.sensor, rows.x, 1.8 * rows.y + 32)
    one = error(FieldModel(site), rows, clean, hidden)
    other = error(FieldModel(site), warm, 1.8 * clean + 32, hidden)
    assert other == pytest.approx(1.8 * one, rel=1e-3)


def test_a_graph_says_who_talks(deep):
    """Pairs that were given, with tolerances in stds of the readings."""
    site, *_ = deep
    with pytest.raises(ValueError, match="places or a graph to learn together"):
        FieldModel(make_site(3, depth=True, places=False)).make_network(1.0)

    graph = Graph(np.array([[0, 1], [4, 2]]), np.array([0.5, np.nan]))
    network = FieldModel(site._replace(graph=graph)).make_network(std=2.0)
    assert network.edges.tolist() == [[0, 1], [1, 0], [2, 4], [4, 2]]
    assert network.tolerance == pytest.approx([0.5, 0.5, 0.0008, 0.0008])
    assert FieldModel(site, together=False).make_network(1.0).n_edges == 0
    assert FieldModel(site, neighbours=2).make_network(1.0).degree.min() == 2


def test_attributes_of_sensors_are_inputs():
    """Such as an altitude: it tells of a sensor that reads little."""
    rng = np.random.default_rng(0)
    height = rng.uniform(0, 1000, 12)
    schema = Schema("s", "y", "", (Input("depth_m", "number"),))
    ids = tuple(f"s{i}" for i in range(12))
    places = rng.uniform(0, 10, (12, 2))
    sites = [
        Site(schema, Sensors(ids, places, False, known))
        for known in ({"height": height}, {})
    ]
    who = np.repeat(np.arange(12), 20)
    depth = rng.uniform(0, 3, (240, 1))
    clean = np.sin(depth[:, 0]) + height[who] / 200
    rows = Readings(who, depth, clean + 0.02 * rng.normal(size=240))
    hidden = rng.random(240) < 0.9
    known, unknown = (error(FieldModel(s), rows, clean, hidden) for s in sites)
    assert known < 0.8 * unknown
