"""A model's life: learned, saved, updated, undone; the same whatever the way."""

import json
import re

import numpy as np
import pytest

import halk
from halk.data import DataError
from halk.errors import CheckpointError
from halk.sensors import model as model_module
from tests.sensors.network import as_long, clocked, profiles

METHODS = ("neighbours", "field", "kriging", "linear")
FAST = ("neighbours", "linear")


def hourly(method="linear", rows=slice(None), **options):
    y, times, sensors = clocked()
    table = as_long(y, times, sensors["sensor"], rows)
    return halk.fit(table, sensors, method=method, quick=True, **options)


def later(rows=slice(200, 240)):
    y, times, sensors = clocked()
    return as_long(y, times, sensors["sensor"], rows)


def assert_same(one, other):
    """Assert that two models are the same in all they hold and say."""
    assert one.schema == other.schema
    assert one.sensors.names == other.sensors.names
    assert one.coverage == other.coverage
    pair = [json.dumps(m.comparison.as_dict()) for m in (one, other)]
    told = [re.sub('"seconds": [^,}]+', "", text) for text in pair]
    assert told[0] == told[1]
    for name in ("sensor", "x", "y"):
        np.testing.assert_array_equal(
            getattr(one.readings, name), getattr(other.readings, name)
        )
    rng = np.random.default_rng(3)
    x = one.readings.x
    points = rng.uniform(x.min(axis=0), x.max(axis=0), (50, x.shape[1]))
    who = rng.integers(len(one.sensors.names), size=50)
    for causal in (False, True):
        pair = [m.estimate(who, points, causal=causal) for m in (one, other)]
        for left, right in zip(*pair, strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("method", METHODS)
def test_a_model_is_the_same_after_a_file(tmp_path, method):
    model = hourly(method, graph=[("s0", "s1", 0.5), ("s1", "s2")])
    model.save(tmp_path / "a.halk")
    again = halk.SensorModel.load(tmp_path / "a.halk")
    assert_same(model, again)
    np.testing.assert_array_equal(model.site.graph.pairs, again.site.graph.pairs)
    again.save(tmp_path / "b.halk")
    assert (tmp_path / "a.halk").read_bytes() == (tmp_path / "b.halk").read_bytes()


@pytest.mark.parametrize("method", FAST)
def test_an_update_is_learned_once_and_can_be_undone(tmp_path, method):
    model = hourly(method, slice(0, 200))
    model.save(tmp_path / "before.halk")
    came = model.update(later(slice(200, 220)))
    n_more = sum(v is not None for v in later(slice(200, 220))["t_C"])
    assert (came.n_new, came.n_known) == (n_more, 0)
    assert np.isfinite(came.error)
    again = model.update(later(slice(200, 220)))
    assert (again.n_new, again.n_known) == (0, n_more)
    model.save(tmp_path / "between.halk")
    model.update(later(slice(210, 240)))
    model.save(tmp_path / "after.halk")
    loaded = halk.SensorModel.load(tmp_path / "after.halk")
    assert_same(model, loaded)
    for one in (model, loaded):
        for name in ("between", "before"):
            one.undo()
            assert_same(one, halk.SensorModel.load(tmp_path / f"{name}.halk"))
            one.save(tmp_path / "undone.halk")
            wanted, undone = (tmp_path / f"{n}.halk" for n in (name, "undone"))
            assert wanted.read_bytes() == undone.read_bytes()
        with pytest.raises(DataError, match="there is no update to undo"):
            one.undo()


@pytest.mark.parametrize("method", FAST)
def test_what_is_learned_does_not_depend_on_the_order_of_rows(method):
    y, times, sensors = clocked()
    table = as_long(y, times, sensors["sensor"])
    order = np.random.default_rng(1).permutation(len(table["time"]))
    mixed = {name: [cells[k] for k in order] for name, cells in table.items()}
    assert_same(*(halk.fit(t, sensors, method=method, quick=True)
                  for t in (table, mixed)))  # fmt: skip


@pytest.mark.parametrize("method", FAST)
def test_a_sensor_joins_by_an_update(method):
    model = hourly(method, slice(0, 200))
    new = {"sensor": ["s0", "new"], "lat": [25.0, 26.0], "lon": [-90.0, -89.0]}
    came = model.update(
        {"time": ["2024-03-09T08:00", "2024-03-09T09:00"], "sensor": ["new", "s0"],
         "t_C": [20.0, 21.0]}, new,
    )  # fmt: skip
    assert came.new_sensors == ("new",)
    assert model.sensors.names[-1] == "new"
    np.testing.assert_array_equal(model.sensors.positions[-1], [26.0, -89.0])
    found = model.predict("new", {"time": "2024-03-09T08:00"})
    assert np.isfinite(found.value).all()
    model.undo()
    assert "new" not in model.sensors.names
    assert_same(model, hourly(method, slice(0, 200)))


@pytest.mark.parametrize(
    ("sensors", "words"),
    [
        ({"sensor": ["new"]}, "new sensors must have lat, lon, .* without: new"),
        ({"lat": [1.0]}, "no column names the sensors"),
        ({"sensor": ["a", "a"], "lat": [1, 2], "lon": [1, 2]}, "must have one row"),
    ],
)
def test_new_sensors_must_be_complete(sensors, words):
    model = hourly(rows=slice(0, 50))
    with pytest.raises(DataError, match=words):
        model.update(later(), sensors)
    assert_same(model, hourly(rows=slice(0, 50)))


def test_a_refused_update_leaves_the_model_as_it_was():
    model = hourly(rows=slice(0, 200))
    for table, words in (
        (later() | {"sensor": ["who"] * len(later()["time"])}, "not among the known"),
        ({"sensor": ["s0"]}, "there is no column 'time'"),
        (later() | {"t_C": [-9999.0] * len(later()["time"])}, "far from all other"),
    ):
        with pytest.raises(DataError, match=words):
            model.update(table)
        assert_same(model, hourly(rows=slice(0, 200)))
        assert len(model.batches) == 1


def test_the_oldest_readings_go_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(model_module, "KEPT", 1000)
    model = hourly(rows=slice(0, 150))
    n = len(model.readings.y)
    first = model.readings.y.copy()
    model.update(later(slice(150, 240)))
    assert len(model.readings.y) == 1000
    model.undo()
    np.testing.assert_array_equal(model.readings.y, first[-len(model.readings.y) :])
    assert n - len(model.readings.y) == n + sum(
        v is not None for v in later(slice(150, 240))["t_C"]
    ) - 1000  # fmt: skip


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "does not exist; check the name, or make it with `halk fit`"),
        (b"", "is empty"),
        (b"time,t_C\n1,2\n", "is not a halk checkpoint"),
        ("cut", "is damaged or cut short"),
        ("flipped", "is damaged"),
        ("learner", "holds a NewtonHALK learner, not a model that halk fit made"),
        ("folder", "is a folder"),
    ],
)
def test_files_that_are_no_models_say_why(tmp_path, content, words):
    path = tmp_path / "m.halk"
    if content in ("cut", "flipped"):
        hourly(rows=slice(0, 30)).save(path)
        data = bytearray(path.read_bytes())
        data[-20] ^= 1
        path.write_bytes(data[:-100] if content == "cut" else data)
    elif content == "learner":
        halk.NewtonHALK(halk.Network(2)).save(path)
    elif content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(CheckpointError, match=words):
        halk.SensorModel.load(path)


def test_predictions_know_where_nothing_was_read():
    readings, sensors = profiles(n_sensors=4)
    model = halk.fit(readings, sensors, method="linear", quick=True)
    found = model.predict("s1", {"depth_m": [0.5, 1.5, 3.0]})
    assert found.is_extrapolated.tolist() == [False, False, True]
    assert found.value.shape == found.std.shape == (3,)


@pytest.mark.parametrize(
    ("sensor", "at", "words"),
    [
        ("s1", {"x": 1}, "at must give depth_m, got x"),
        ("s9", {"depth_m": 1}, "1 sensor not among the known ones"),
        ("s1", {"depth_m": "deep"}, "column depth_m must hold finite numbers"),
    ],
)
def test_wrong_points_are_refused(sensor, at, words):
    readings, sensors = profiles(n_sensors=4)
    model = halk.fit(readings, sensors, method="linear", quick=True)
    with pytest.raises(ValueError, match=words):
        model.predict(sensor, at)


def test_a_long_table_is_judged_on_its_end(monkeypatch):
    """Gaps before that part do not count, and do no harm."""
    monkeypatch.setattr("halk.sensors.choose.QUICK_WINDOW", 900)
    y, times, sensors = clocked(n_hours=600, missing=0.08)
    model = halk.fit(as_long(y, times, sensors["sensor"]), sensors, quick=True)
    assert model.comparison.chosen.startswith("neighbours")
    assert model.comparison.find(model.comparison.chosen).fill["all"].cells > 20
