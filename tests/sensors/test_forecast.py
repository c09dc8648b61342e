"""Forecasts: what they know, what they are compared with, and what they refuse."""

import numpy as np
import pytest

import halk
from halk.data import DataError, Readings
from halk.sensors.forecast import CLIMATOLOGY, PERSISTENCE, climatology
from tests.sensors.network import START, as_wide, clocked, profiles

NOW = START.astype(float) + 239 * 3600.0


@pytest.fixture(scope="module")
def model():
    y, times, sensors = clocked(missing=0.05)
    wide = as_wide(y, times, sensors["sensor"])
    return halk.fit(wide, sensors, method="linear", quick=True)


@pytest.fixture(scope="module")
def day(model):
    return model.forecast("24h")


def test_every_sensor_has_a_forecast_at_every_step(model, day):
    assert len(day.value) == 24 * 6
    np.testing.assert_array_equal(day.time[:24], NOW + 3600 * np.arange(1, 25))
    np.testing.assert_array_equal(day.sensor, np.repeat(np.arange(6), 24))
    assert np.isfinite(day.value).all()
    assert (day.low < day.value).all()
    assert (day.value < day.high).all()
    assert len(model.forecast("1d", "6h").value) == 4 * 6


def test_persistence_is_the_last_reading_and_climatology_the_mean_of_the_hour(
    model, day
):
    rows = model.readings
    for i in range(6):
        mine = rows.sensor == i
        last = rows.y[mine][np.argmax(rows.x[mine, 0])]
        assert (day.guesses[PERSISTENCE][day.sensor == i] == last).all()
    at_0 = (day.sensor == 2) & (day.time % 86400 == 0)
    same = (rows.sensor == 2) & (rows.x[:, 0] % 86400 == 0)
    usual = day.guesses[CLIMATOLOGY][at_0]
    np.testing.assert_allclose(usual, rows.y[same].mean())


def test_the_value_is_that_of_the_method_with_the_smallest_error(day):
    which = np.searchsorted(day.ahead, day.time - NOW)
    names = list(day.guesses)
    errors = np.array([day.errors[name] for name in names])
    best = np.argmin(errors, axis=0)[which]
    wanted = np.array([day.guesses[names[k]][n] for n, k in enumerate(best)])
    np.testing.assert_array_equal(day.value, wanted)
    assert day.method.tolist() == [names[k] for k in best]


def test_errors_are_those_of_forecasts_from_the_past(model, day):
    """Persistence is worked out again, reading by reading."""
    rows = model.readings
    when = rows.x[:, 0]
    last = when.max()
    first = last - max(0.2 * (last - when.min()), 2 * 24 * 3600.0)
    origins = np.unique(
        [when[when <= o].max() for o in np.linspace(first, last - 24 * 3600.0, 12)]
    )
    assert day.n_origins == len(origins)
    misses = [[] for _ in day.ahead]
    for now in origins:
        for i in range(6):
            past = (rows.sensor == i) & (when <= now)
            guess = rows.y[past][np.argmax(when[past])]
            for k in np.flatnonzero(
                (rows.sensor == i) & (when > now) & (when <= now + 24 * 3600.0)
            ):
                bin_ = np.searchsorted(day.ahead, when[k] - now)
                misses[bin_].append(guess - rows.y[k])
    wanted = [np.sqrt(np.mean(np.square(one))) for one in misses]
    np.testing.assert_allclose(day.errors[PERSISTENCE], wanted)


def test_climatology_tells_seasons_apart_where_there_is_more_than_a_year():
    time = np.arange(0.0, 2 * 365.25 * 86400, 3600.0)
    y = np.cos(2 * np.pi * time / 31556952.0) * 10
    rows = Readings(np.zeros(len(time), np.int64), time[:, None], y)
    asked = np.array([time[-1] + 86400.0, time[-1] + 182 * 86400.0])
    found = climatology(rows, 1, np.zeros(2, np.int64), asked)
    np.testing.assert_allclose(found, [10, -10], atol=1.0)
    short = Readings(rows.sensor[:100], rows.x[:100], rows.y[:100])
    silent = climatology(short, 2, np.array([1]), asked[:1])
    np.testing.assert_allclose(silent, y[:100].mean())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ahead": "soon"}, "ahead must be a length of time such as"),
        ({"ahead": "30min"}, "ahead must be at least a step, 1 h"),
        ({"ahead": "20d", "every": "1min"}, "at most 10,000"),
        ({"ahead": "10d"}, "ahead must be much shorter than the table"),
    ],
)
def test_what_cannot_be_forecast(model, options, words):
    with pytest.raises(ValueError, match=words):
        model.forecast(**options)


def test_a_forecast_needs_time():
    readings, sensors = profiles(n_sensors=3)
    model = halk.fit(readings, sensors, method="linear", quick=True)
    with pytest.raises(DataError, match="needs a time as the only input, got depth_m"):
        model.forecast("24h")
