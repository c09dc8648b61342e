"""A model in use: predict, fill, update, save."""

import numpy as np
import pytest

import halk
from halk.learners import HALK
from halk.sensing import files
from tests.sensing.network import made, some

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")


@pytest.fixture
def model():
    readings, sensors, _ = made(n_sensors=6, n_each=40)
    return halk.fit(readings, sensors, quick=True)


def test_frames_come_back_as_they_were(model):
    columns = {"sensor": ["s0", "s1", "s2"], "depth_m": [0.5, 1.0, 1.5],
               "t_C": [9.0, None, None], "note": ["x", "y", "z"]}  # fmt: skip
    frame = pandas.DataFrame(columns, index=[7, 5, 3])
    filled = model.fill(frame)
    assert list(filled.index) == [7, 5, 3]
    assert list(filled.columns)[4:] == ["t_C_predicted", "t_C_low", "t_C_high"]
    assert filled["t_C_predicted"].isna().tolist() == [True, False, False]
    assert (filled["t_C_low"] < filled["t_C_predicted"]).tolist()[1:] == [True, True]
    other = model.fill(polars.DataFrame(columns), everywhere=True)
    assert isinstance(other, polars.DataFrame)
    assert other["t_C_predicted"].is_not_null().all()
    np.testing.assert_allclose(
        other["t_C_predicted"].to_numpy()[1:], filled["t_C_predicted"].to_numpy()[1:]
    )
    assert frame.shape == (3, 4)  # untouched


def test_predict_and_fill_agree(model):
    found = model.predict("s3", {"depth_m": [0.2, 1.1]})
    table = model.fill({"sensor": ["s3", "s3"], "depth_m": [0.2, 1.1]})
    for values, name in zip(found, ("predicted", "low", "high"), strict=True):
        np.testing.assert_array_equal(values, table[f"t_C_{name}"])


def test_there_is_no_interval_where_nothing_was_learned(model):
    near, far = model.predict("s3", {"depth_m": [1.0, 50.0]}).low
    assert np.isfinite(near)
    assert np.isnan(far)


@pytest.mark.parametrize(
    ("sensor", "at", "words"),
    [
        ("s99", {"depth_m": 1.0}, "1 sensor not among the known ones"),
        ("s1", {"depth": 1.0}, "at must give depth_m, got depth"),
        ("s1", {}, "at must give depth_m"),
        ("s1", {"depth_m": "deep"}, "column depth_m must hold finite numbers"),
    ],
)
def test_bad_points_are_refused(model, sensor, at, words):
    with pytest.raises(ValueError, match=words):
        model.predict(sensor, at)


def test_update_goes_on_learning():
    readings, sensors, true = made(n_sensors=6, n_each=100, noise=0.1)
    is_early = np.array(readings["depth_m"]) < 1.0
    model = halk.fit(some(readings, is_early), sensors, quick=True)
    before = model.predict("s2", {"depth_m": 1.8}).value[0]
    came = model.update(some(readings, ~is_early))
    after = model.predict("s2", {"depth_m": 1.8}).value[0]
    goal = true(["s2"], np.array([1.8]))[0]
    assert abs(after - goal) < 0.2 * abs(before - goal)
    assert came.learned.n_readings == int((~is_early).sum())
    assert model.learned.n_readings == len(is_early)
    # what was known before is not forgotten
    old = model.predict("s2", {"depth_m": 0.5}).value[0]
    assert abs(old - true(["s2"], np.array([0.5]))[0]) < 0.4


def test_readings_are_learned_once():
    readings, sensors, _ = made(n_sensors=4, n_each=30)
    model = halk.fit(readings, sensors, quick=True)
    steps = model.learner.n_steps
    came = model.update(readings)
    assert (came.n_known, came.learned.n_readings) == (120, 0)
    assert model.learner.n_steps == steps


def test_an_update_with_bad_rows_changes_nothing(model):
    steps = model.learner.n_steps
    with pytest.raises(halk.DataError, match="must hold finite numbers"):
        model.update({"sensor": ["s1"], "depth_m": [1.0], "t_C": ["warm"]})
    with pytest.raises(halk.DataError, match="there is no column 'depth_m'"):
        model.update({"sensor": ["s1"], "t_C": [1.0]})
    assert model.learner.n_steps == steps


def test_saved_and_loaded_is_the_same_model(model, tmp_path):
    path = tmp_path / "model.halk"
    model.save(path)
    loaded = halk.SensorModel.load(path)
    points = {"depth_m": np.linspace(0, 2, 20)}
    for one, two in zip(
        model.predict("s1", points), loaded.predict("s1", points), strict=True
    ):
        np.testing.assert_array_equal(one, two)
    assert loaded.reasons == model.reasons
    assert loaded.schema == model.schema
    assert (
        halk.sensing.summary.as_dict(loaded)["sensors"]
        == (halk.sensing.summary.as_dict(model)["sensors"])
    )
    more, _, _ = made(n_sensors=6, n_each=10, seed=9)
    for one in (model, loaded):
        one.update(more)
    np.testing.assert_array_equal(
        model.predict("s1", points).high, loaded.predict("s1", points).high
    )


def test_other_files_are_refused(model, tmp_path):
    path = tmp_path / "model.halk"
    model.save(path)
    content = path.read_bytes()
    for name, data, words in (
        ("cut", content[: len(content) // 2], "damaged"),
        ("empty", b"", "is empty"),
        ("text", b"sensor,t\n", "is not a halk checkpoint"),
    ):
        bad = tmp_path / name
        bad.write_bytes(data)
        with pytest.raises(halk.CheckpointError, match=words):
            halk.SensorModel.load(bad)
    learner = HALK(halk.Network(1))
    learner.save(tmp_path / "learner.halk")
    with pytest.raises(halk.CheckpointError, match=r"load it with HALK\.load"):
        halk.SensorModel.load(tmp_path / "learner.halk")
    with pytest.raises(halk.CheckpointError, match="does not exist"):
        halk.SensorModel.load(tmp_path / "none.halk")


def test_models_from_before_values_were_standardised_online_are_refused(
    model, tmp_path, monkeypatch
):
    usual = files._described

    def earlier(one):
        found = usual(one)
        del found["moments"]
        return found | {"spread": 1.0, "scale": [0.0, 1.0]}

    monkeypatch.setattr(files, "_described", earlier)
    model.save(tmp_path / "model.halk")
    with pytest.raises(halk.CheckpointError, match="make it again with `halk fit`"):
        halk.SensorModel.load(tmp_path / "model.halk")


def test_a_flipped_byte_is_noticed(model, tmp_path):
    path = tmp_path / "model.halk"
    model.save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)
    with pytest.raises(halk.CheckpointError):
        halk.SensorModel.load(path)


def test_an_update_needs_values_that_can_be_believed(model):
    rows = {"sensor": ["s1", "s2"], "depth_m": [1.0, 1.1]}
    with pytest.raises(halk.DataError, match="there is no column 't_C'"):
        model.update(rows)
    with pytest.raises(halk.DataError, match="add --missing -9999"):
        model.update(rows | {"t_C": [9.0, -9999.0]})


def test_times_may_be_of_any_kind():
    times = np.datetime64("2024-01-01T00", "ns") + np.arange(60) * np.timedelta64(
        1, "h"
    )
    table = {"sensor": ["a", "b"] * 30, "time": times, "value": np.arange(60.0)}
    model = halk.fit(table, quick=True)
    for at in (times[5], times[5:7], "2024-01-01T05:00", ["2024-01-01T05:00"]):
        assert np.isfinite(model.predict("a", {"time": at}).value).all()
    with pytest.raises(ValueError, match="must hold times"):
        model.predict("a", {"time": 17.0})


def test_an_update_may_be_of_one_reading(model):
    came = model.update({"sensor": ["s1"], "depth_m": [1.0], "t_C": [9.25]})
    assert came.learned.n_readings == 1
    assert came.findings.found == []
