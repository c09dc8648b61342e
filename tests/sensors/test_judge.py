"""What is noticed in readings, and what a model says of a new file, word for word."""

import re

import numpy as np
import pytest

import halk
from halk.data import Sensors, examine
from halk.sensors import fill_table
from halk.sensors.judge import judge
from halk.sensors.notices import Notice
from tests.sensors.network import START, as_long, as_wide, clocked

NEW = slice(480, 528)


@pytest.fixture(scope="module")
def tables():
    """Return hourly readings, times, sensors, and a model of all but two days."""
    y, times, sensors = clocked(n_sensors=8, n_hours=528, missing=0.03)
    early = as_long(y, times, sensors["sensor"], slice(0, 480))
    model = halk.fit(early, sensors, method="neighbours", quick=True)
    return y, times, sensors, model


def judged(tables, y, sensors=None):
    """Return warnings about the last two days, by code."""
    _, times, known, model = tables
    table = as_long(y, times, known["sensor"], NEW)
    found = judge(model, table, sensors).findings.found
    return {one.code: one for one in found}


def test_good_readings_are_not_complained_of(tables):
    found = judged(tables, tables[0])
    assert set(found) == {"judged"}
    assert "judged by the model, none of them far from what it says" in (
        found["judged"].message
    )


def test_a_reading_far_off_is_explained(tables):
    y = tables[0].copy()
    y[500, 2], y[505, 4] = 85.0, -40.0
    found = judged(tables, y)["far"]
    assert found.message == "readings: 2 readings far from what the model says"
    row = (500 - 480) * 8 + 2
    wanted = (
        rf"readings, row {row}, sensor 's2': 85 °C, [\d.]+ standard deviations above "
        rf"what its neighbours and its own past say"
    )
    places = sorted(found.places)
    assert re.fullmatch(wanted, places[0])
    assert "below what its neighbours" in places[1]


@pytest.mark.parametrize(
    ("convert", "words"),
    [
        (lambda y: 1.8 * y + 32, "look like Fahrenheit"),
        (lambda y: y + 273.15, "look like Kelvin"),
        (lambda y: y / 100, "look like a unit 100 times as large"),
    ],
)
def test_a_day_in_another_unit_is_asked_about(tables, convert, words):
    y = tables[0].copy()
    y[500:524, 3] = convert(y[500:524, 3])
    found = judged(tables, y)
    assert "sensor 's3'" in found["unit"].message
    assert words in found["unit"].message
    assert found["unit"].advice == "if they are, convert them to °C"
    assert "far" not in found


def test_a_step_is_no_unit(tables):
    y = tables[0].copy()
    y[500:524, 3] += 17.0
    found = judged(tables, y)
    assert "unit" not in found
    assert "far" in found


def test_sensors_that_moved_or_are_swapped_are_asked_about(tables):
    sensors = {name: list(cells) for name, cells in tables[2].items()}
    lat, lon = sensors["lat"], sensors["lon"]
    lat[0], lon[0] = lon[0], lat[0]
    lat[1] += 3.0
    found = judged(tables, tables[0], sensors)
    assert found["swapped"].message == "sensors: lat and lon of 1 sensor look swapped"
    assert found["swapped"].places[0].startswith("'s0': ")
    assert found["moved"].message.endswith("elsewhere than when the model was made")
    assert found["moved"].places[0].startswith("'s1': ")


def test_unknown_sensors_are_named(tables):
    _, times, known, model = tables
    names = ["who", *known["sensor"][1:]]
    found = judge(model, as_long(tables[0], times, names, NEW)).findings.found
    (unknown,) = [one for one in found if one.code == "unknown-sensor"]
    assert "1 sensor not among the known ones" in unknown.message
    assert "'who'" in unknown.places[0]


def test_a_code_for_no_reading_is_an_error(tables):
    y = tables[0].copy()
    y[500:503, 1] = -9999.0
    found = judged(tables, y)["sentinel"]
    assert found.level == "error"
    assert "--missing -9999" in found.advice


def test_a_table_that_cannot_be_read_is_an_error(tables):
    found = judge(tables[3], {"sensor": ["s0"], "t_C": [1.0]})
    (error,) = found.findings.of("error")
    assert "there is no column 'time'" in error.message


def test_suspects_and_stuck_sensors_are_marked_and_left_as_they_are():
    y, times, sensors = clocked(n_sensors=8, n_hours=480, missing=0.0)
    y[300, 2] = 85.0
    y[350:390, 5] = y[350, 5]
    wide = as_wide(y, times, sensors["sensor"])
    model = halk.fit(wide, sensors, unit="°C", method="neighbours", quick=True)
    made = fill_table(model, wide)
    method = made.method.reshape(y.shape)
    assert method[300, 2] == "suspect"
    assert (method[356:390, 5] == "suspect").mean() > 0.9
    np.testing.assert_array_equal(made.value.reshape(y.shape), y)
    assert made.high.reshape(y.shape)[300, 2] < 85.0
    assert (made.quality == 0).all()
    texts = {one.kind: one for one in model.notices}
    said = texts["suspect"].text(model)
    assert re.fullmatch(
        r"85 °C at 2024-03-13 12:00, [\d.]+ standard deviations above what its "
        r"neighbours and its own past say",
        said,
    )
    assert texts["suspect"].sensor == "s2"
    assert texts["stuck"].sensor == "s5"
    assert re.fullmatch(
        rf"{y[350, 5]:.3g} °C from 2024-03-15 1\d:00 to 2024-03-17 05:00",
        texts["stuck"].text(model),
    )


def test_notices_read_well(tables):
    model, when = tables[3], START.astype(float)
    nan = float("nan")
    drift = Notice("drift", "s1", when, when + 3600, nan, nan, -2.34)
    assert drift.text(model) == (
        "drifts since 2024-03-01 00:00, by now 2.3 standard deviations below what its "
        "neighbours say"
    )
    shift = Notice("shift", "s1", when, nan, 12.0, 2.0, nan)
    assert shift.text(model) == (
        "another level since 2024-03-01 00:00: 12 °C after 2 °C"
    )
    assert shift.as_dict(model)["end"] == "now"


def test_a_column_in_fahrenheit_and_a_swapped_place_are_asked_about_without_a_model():
    y, times, sensors = clocked(n_sensors=6)
    y[:, 4] = 1.8 * y[:, 4] + 32
    sensors["lat"][3], sensors["lon"][3] = 170 + sensors["lon"][3], sensors["lat"][3]
    found = examine(as_long(y, times, sensors["sensor"]), sensors).findings.found
    (unit,) = [one for one in found if one.code == "unit"]
    assert unit.message == "readings: 1 sensor whose t_C looks like Fahrenheit"
    assert unit.places[0].startswith("'s4': ")


def test_sensors_of_different_size_are_in_no_other_unit(rng):
    """Rivers: each of its own size, up to a thousand times another."""
    n, size = 40, np.array([1.0, 3.0, 10.0, 40.0, 100.0, 1000.0])
    y = size * np.exp(rng.normal(0, 0.5, (n, 6)))
    times = [str(START + 3600 * k) for k in range(n)]
    table = as_long(y, times, [f"s{i}" for i in range(6)])
    table["flow"] = table.pop("t_C")
    assert "unit" not in {one.code for one in examine(table).findings.found}
    assert isinstance(examine(table).sensors, Sensors)
