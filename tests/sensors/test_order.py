"""Readings in order, along a line and at random."""

import numpy as np
import pytest

from halk.data import Input, Readings, Schema
from halk.sensors.order import Track, find_far, find_line, hash_rows, sort_rows
from tests.sensors.made import HOUR, START, make_series, make_site, take

TIME = make_site(1).schema
DEPTH = make_site(1, depth=True).schema


def test_steps_of_time_are_those_between_readings():
    """Gaps and jitter do not change the step, nor does a slower sensor."""
    rng = np.random.default_rng(0)
    times = START + HOUR * np.arange(500.0) + rng.uniform(-100, 100, 500)
    rows = Readings(np.zeros(500, int), times[:, None], np.zeros(500))
    line = find_line(TIME, take(rows, rng.random(500) > 0.3))
    assert line.is_time
    assert line.is_only
    assert line.step == pytest.approx(HOUR, rel=2e-3)
    places = line.place(times[[0, 499]][:, None])
    assert np.diff(places) == pytest.approx(499, rel=2e-3)


def test_common_depths_are_a_step_apart_however_far():
    """Levels that all sensors share are counted; other depths by their density."""
    depth = np.tile([0.0, 5, 10, 100, 1000], 3)
    rows = Readings(np.repeat(np.arange(3), 5), depth[:, None], np.zeros(15))
    line = find_line(DEPTH, rows)
    assert line.place(np.array([[0.0], [10], [1000], [55]])).tolist() == [0, 2, 4, 2.5]
    rng = np.random.default_rng(0)
    rows = Readings(
        np.repeat(np.arange(10), 50), rng.uniform(0, 9, (500, 1)), np.zeros(500)
    )
    apart = [
        np.diff(np.sort(find_line(DEPTH, rows).place(rows.x[rows.sensor == i])))
        for i in range(10)
    ]
    assert np.mean(np.concatenate(apart)) == pytest.approx(1, rel=0.1)


def test_an_input_that_no_sensor_varies_is_no_input():
    """A depth per mooring beside the time leaves the time alone."""
    schema = Schema("s", "y", "", (Input("depth", "number"), Input("time", "time")))
    sensor = np.repeat([0, 1], 20)
    times = np.tile(START + HOUR * np.arange(20.0), 2)
    rows = Readings(sensor, np.column_stack([sensor * 10.0, times]), np.zeros(40))
    assert find_line(schema, rows).is_only
    moved = np.column_stack([np.arange(40.0), times])
    assert not find_line(schema, Readings(sensor, moved, np.zeros(40))).is_only


def test_nearest_own_readings_are_found_before_and_after():
    """By brute force, for every sensor by itself; causally only before.

    One has no reading, and is not taken for the one before it.
    """
    rng = np.random.default_rng(1)
    y = np.where(rng.random((60, 4)) < 0.8, np.nan, 1.0)
    y[:, 2] = np.nan
    rows = sort_rows(make_series(y))
    track = Track(find_line(TIME, make_series(np.ones((60, 4)))), rows)
    asked = make_series(np.ones((60, 4)))
    for causal in (False, True):
        bins = track.find_bins(asked.sensor, asked.x, causal)
        for k in range(len(asked.y)):
            own = rows.x[rows.sensor == asked.sensor[k], 0]
            away = (own - asked.x[k, 0]) / HOUR
            away = -away[away <= 0] if causal else np.abs(away)
            nearest = away.min(initial=np.inf)
            expected = np.searchsorted([1.5, 3.5, 11.5], nearest)
            assert bins[k] == expected


def test_hashes_depend_on_the_reading_only():
    """Not on its row, nor on other sensors; on the seed they do."""
    rows = make_series(np.ones((50, 3)))
    names = ("a", "b", "c")
    found = hash_rows(names, rows.sensor, rows.x, 1)
    kept = np.random.default_rng(0).permutation(150)[:40]
    assert (hash_rows(names, rows.sensor[kept], rows.x[kept], 1) == found[kept]).all()
    other = hash_rows(("c", "a", "b"), (rows.sensor + 1) % 3, rows.x, 1)
    assert (other == found).all()
    assert len(np.unique(found)) == 150
    assert (hash_rows(names, rows.sensor, rows.x, 2) != found).all()


def test_codes_for_missing_values_are_far_and_peaks_are_not():
    """-9999 among temperatures; rain, a hundred times the usual, stays."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=(200, 2))
    y[5, 0] = -9999.0
    y[:, 1] = np.where(rng.random(200) < 0.03, 50.0, 0.0)
    far = find_far(sort_rows(make_series(y)))
    assert far.sum() == 1
    assert sort_rows(make_series(y)).y[far] == [-9999.0]
