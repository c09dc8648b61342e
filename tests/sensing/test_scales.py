"""Values and inputs are standardised online."""

import numpy as np
import pytest

import halk
from halk import HALK, Network, kernels
from halk.sensing import learning
from halk.sensing.choices import Choices
from halk.sensing.course import FIRST, PORTION, Course, taught
from halk.sensing.encoding import Part
from halk.sensing.scales import (
    NOTHING,
    STANDARDIZE,
    STILL,
    Common,
    Moments,
    spread_of,
    unit_of_functions,
)
from halk.state import OFFSET, STD
from tests.sensing.network import made, some


def learner(scaling="common", epsilon=0.01, tolerance=0.005, dual_step_size=0.1):
    network = Network.path(4, tolerance=tolerance)
    return HALK(
        network, kernels.Gaussian(0.3), step_size=1.0, dual_step_size=dual_step_size,
        epsilon=epsilon, dual_regularization=0.0, standardize=STANDARDIZE[scaling],
    )  # fmt: skip


def stream(n=600, seed=0):
    rng = np.random.default_rng(seed)
    agent, Z = rng.integers(4, size=n), rng.uniform(size=(n, 1))
    return agent, Z, 7 + 3 * np.sin(6 * Z[:, 0]) + agent + 0.1 * rng.normal(size=n)


def follower(scaling="common", **options):
    common = Common(learner(scaling, **options), scaling)
    common.prepare(1)
    return common


def all_new(n):
    return Course(np.arange(n), np.ones(n, bool))


def test_moments_are_those_of_all_values_however_they_come():
    y = np.random.default_rng(0).normal(1e6, 3.0, 500)
    found = NOTHING
    for part in np.split(y, [1, 1, 7, 200, 499]):
        found = found.joined(part)
    assert found.n == 500
    assert found.mean == pytest.approx(y.mean(), rel=1e-14)
    assert found.spread == pytest.approx(y.std(), rel=1e-9)
    for value in (7.0, 0.1, -1e9 / 3):  # also where rounding leaves a spread
        assert Moments().joined(np.full(100, value)).spread == 1.0
        assert spread_of(np.full(100, value)) == 1.0


@pytest.mark.parametrize("scaling", ["common", "offset"])
def test_another_spread_changes_no_prediction(scaling):
    agent, Z, y = stream()
    common = follower(scaling)
    taught(common, all_new(600), agent, Z, y, lambda share: None)
    common.see(y[:0])
    model = common.learner
    before = model.predict_readings(agent, Z)
    limits = unit_of_functions(model, scaling) ** 2 * model.network.tolerance
    apart = unit_of_functions(model, scaling) ** 2 * model.violations
    mean, n = common.moments.mean, common.moments.n
    common.see(mean + 50 * np.array([-1.0, 1.0] * (n // 2)))  # the mean stays
    unit = unit_of_functions(model, scaling)
    assert unit > 30
    np.testing.assert_allclose(model.predict_readings(agent, Z), before, rtol=1e-12)
    np.testing.assert_allclose(unit**2 * model.network.tolerance, limits, rtol=1e-12)
    np.testing.assert_allclose(unit**2 * model.violations, apart, rtol=1e-12)


def test_learning_goes_on_as_if_it_had_always_counted_so():
    """Only budget and pace of multipliers count in stds, and those are told."""
    agent, Z, y = stream()
    common = follower(epsilon=0.04)
    common.learner.learn_readings(agent[:300], Z[:300], y[:300])
    plain = learner(epsilon=0.04)
    plain.learn_readings(agent[:300], Z[:300], y[:300])
    common.moments = Moments(10, 0.0, 40.0)  # exactly two: nothing is rounded
    common.see(y[:0])
    assert unit_of_functions(common.learner, "common") == 2.0
    told = learner(epsilon=0.02, dual_step_size=0.4)
    told.load_state_dict(300, 1, common.learner.state_dict())
    told.set_tolerance(common.learner.network.tolerance)
    told.learn_readings(agent[300:], Z[300:], y[300:])
    plain.learn_readings(agent[300:], Z[300:], y[300:])
    np.testing.assert_array_equal(told.model_order, plain.model_order)
    np.testing.assert_allclose(
        told.predict_readings(agent, Z), plain.predict_readings(agent, Z), rtol=1e-9
    )
    np.testing.assert_allclose(told.multipliers, plain.multipliers, rtol=1e-9)


@pytest.mark.parametrize("scaling", ["common", "offset", "own"])
def test_predictions_know_nothing_of_later_values(scaling):
    agent, Z, y = stream(3 * PORTION)
    other = y.copy()
    other[PORTION + 7 :] *= -40.0
    made = [
        taught(follower(scaling), all_new(len(y)), agent, Z, values, lambda share: None)
        for values in (y, other)
    ]
    np.testing.assert_array_equal(made[0][: PORTION + 8], made[1][: PORTION + 8])
    assert (made[0][PORTION + 8 :] != made[1][PORTION + 8 :]).any()


def test_the_first_values_alone_tell_of_mean_and_spread_before_any():
    agent, Z, y = stream(50)
    other = y.copy()
    other[FIRST + 1 :] = 1e3
    made = [
        taught(follower(), all_new(50), agent, Z, values, lambda share: None)
        for values in (y, other)
    ]
    assert made[0][0] == made[1][0] == pytest.approx(y[:FIRST].mean())


def test_every_value_is_counted_once():
    agent, Z, y = stream(2 * PORTION + 5)
    common = follower()
    taught(common, all_new(len(y)), agent, Z, y, lambda share: None)
    assert common.moments.n == len(y)
    assert common.moments.mean == pytest.approx(y.mean())
    few = follower()
    taught(few, all_new(5), agent[:5], Z[:5], y[:5], lambda share: None)
    assert few.moments.n == 5


def test_mean_and_spread_of_a_model_follow_all_readings():
    readings, sensors, _ = made(n_sensors=4, n_each=30)
    model = halk.fit(readings, sensors, quick=True, options={"tolerance": 0.5})
    y = np.array(readings["t_C"])
    later = {**readings, "t_C": 40 + 3 * y}
    for _ in range(2):
        target, far = model.learner.target, STILL * y.std()
        assert model.moments.n == len(y)
        np.testing.assert_allclose(target[:, OFFSET], y.mean(), atol=far)
        np.testing.assert_allclose(target[:, STD], y.std(), atol=far)
        limit = np.sqrt(2 * model.learner.network.tolerance) * target[0, STD]
        np.testing.assert_allclose(limit, 0.5)  # what the user gave
        y = np.concatenate([y, later["t_C"]])
        model.update(later)


def test_own_means_and_spreads_follow_the_readings():
    """Online: a sensor whose values move is standardised by where they are now."""
    rng = np.random.default_rng(0)
    n, depth = 200, rng.uniform(0, 10, 400)
    level = np.where(np.arange(400) < n, 0.0, 50.0)  # the second sensor's is another
    table = {
        "sensor": np.repeat(["a", "b"], n),
        "depth_m": depth,
        "t_C": level + (1 + level / 10) * np.sin(depth) + 0.01 * rng.normal(size=400),
    }
    model = halk.fit(table, quick=True, options={"scaling": "own"})
    own = [table["t_C"][:n].std(), table["t_C"][n:].std()]
    np.testing.assert_allclose(model.learner.target[:, STD], own, rtol=0.05)
    later = {"sensor": ["a"] * n, "depth_m": depth[:n], "t_C": 20 + np.sin(depth[:n])}
    before = model.learner.target[0, OFFSET]
    model.update(later)
    assert model.learner.target[0, OFFSET] > before + 1


@pytest.mark.parametrize("scaling", ["common", "offset", "own"])
def test_one_wrong_value_spoils_no_other_sensor(scaling):
    readings, sensors, true = made(n_sensors=6, n_each=60, noise=0.05)
    options = {"tolerance": "apart", "scaling": scaling, "use": ["depth_m"]}
    model = halk.fit(readings, sensors, quick=True, options=options)
    at = np.linspace(0.1, 1.9, 30)

    def worst():
        return max(
            np.abs(model.predict(name, {"depth_m": at}).value - true([name] * 30, at))
            .max()
            for name in model.sensors.names[1:]
        )  # fmt: skip

    before = worst()
    came = model.update({"sensor": ["s0"], "depth_m": [1.0], "t_C": [1e6]})
    assert [one.code for one in came.findings.sorted] == ["far-out"]
    assert worst() < before + 0.2


def test_values_that_all_move_are_followed():
    start = Moments().joined(np.random.default_rng(0).normal(0, 1, 500))
    far = np.random.default_rng(1).normal(1000, 50, 500)
    np.testing.assert_allclose(start.tamed(far), far, atol=75)
    assert start.tamed(np.array([1e6]))[0] < 15
    np.testing.assert_array_equal(Moments().tamed(far), far)


def test_what_is_judged_comes_after_the_part_that_only_teaches():
    readings, sensors, _ = made(n_sensors=4, n_each=30)
    model = halk.fit(readings, sensors, quick=True)
    assert model.learned.judged.sum() == 40
    assert round(learning.YOUNG * 120) == 80


# widths


def deeper(options=None, n_each=80, **changes):
    """Return a model of shallow readings, and the deep ones with the truth of all."""
    readings, sensors, true = made(n_sensors=6, n_each=n_each, noise=0.05)
    is_shallow = np.array(readings["depth_m"]) < 0.2
    shallow, deep = some(readings, is_shallow), some(readings, ~is_shallow)
    model = halk.fit(
        shallow | changes, sensors, quick=True,
        options={"use": ["depth_m"]} | (options or {}),
    )  # fmt: skip
    return model, deep, true


def error(model, true, low=0.05, high=1.95):
    at = np.linspace(low, high, 30)
    misses = [
        model.predict(name, {"depth_m": at}).value - true([name] * 30, at)
        for name in model.sensors.names
    ]
    return float(np.sqrt(np.mean(np.square(misses))))


def test_widths_follow_readings_that_reach_farther():
    model, deep, _ = deeper()
    first, prices = model.choices.parts[0], model.learner.network.tolerance
    limits = prices * unit_of_functions(model.learner, "common") ** 2
    came = model.update(deep)
    now = model.choices.parts[0]
    assert now.spread > 3 * first.spread
    assert now.width == first.width
    note = next(one for one in came.findings.sorted if one.code == "wider")
    assert "depth_m" in note.message
    reason = next(one for one in model.reasons if one.name == "width of depth_m")
    assert reason.value in note.message
    assert reason.because.count("wider than on the first table") == 1
    after = model.learner.network.tolerance
    np.testing.assert_allclose(
        after * unit_of_functions(model.learner, "common") ** 2, limits
    )


def test_wider_widths_are_better_where_readings_reach_farther():
    model, deep, true = deeper({"tolerance": "apart"})
    length = model.choices.parts[0].length
    given, _, _ = deeper({"tolerance": "apart", "widths": {"depth_m": length}})
    for one in (model, given):
        one.update(deep)
    assert given.choices.parts[0].length == pytest.approx(length)  # it rests
    assert error(model, true) < 0.5 * error(given, true)
    assert model.learner.n_atoms < given.learner.n_atoms


def test_a_wider_width_must_be_better():
    """A number that goes on like time: longer, and no smoother."""
    rng = np.random.default_rng(0)
    day = np.arange(0, 84, 0.1)
    table = {
        "sensor": ["a"] * len(day),
        "day": day,
        "t_C": np.sin(2 * np.pi * day / 12) + 0.05 * rng.normal(size=len(day)),
    }
    model = halk.fit(some(table, day < 17), quick=True)
    first = model.choices.parts[0]
    came = model.update(some(table, day >= 17))
    assert model.choices.parts[0].length < 2.5 * first.length
    at = np.linspace(1, 83, 200)
    misses = model.predict("a", {"day": at}).value - np.sin(2 * np.pi * at / 12)
    assert np.sqrt(np.mean(misses**2)) < 0.2
    assert len(came.findings.sorted) == (model.choices.parts[0] != first)


def test_a_few_readings_far_out_move_no_width():
    model, _, _ = deeper()
    first = model.choices.parts
    far = {"sensor": ["s1"], "depth_m": [1e9], "t_C": [3.0]}
    assert model.update(far).findings.sorted == []
    assert model.choices.parts == first


def test_an_interrupted_update_leaves_widths_alone():
    model, deep, true = deeper()
    before, choices, reasons = error(model, true), model.choices, model.reasons

    def stop(share):
        if share > 0.6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.update(deep, tell=stop)
    assert (model.choices, model.reasons) == (choices, reasons)
    assert error(model, true) == before
    notes = [one.code for one in model.update(deep).findings.sorted]
    assert notes == ["wider"]


def test_lengths_of_time_rest():
    rng = np.random.default_rng(0)
    hours = np.arange(400)
    table = {
        "sensor": ["a"] * 400,
        "time": (np.datetime64("2024-01-01T00") + hours).astype(str).tolist(),
        "t_C": np.sin(hours / 10) + 0.1 * rng.normal(size=400),
    }
    model = halk.fit(some(table, hours < 80), quick=True)
    first = model.choices.parts
    model.update(some(table, hours >= 80))
    assert model.choices.parts == first


def test_what_is_in_no_memory_is_learned_from_the_functions(monkeypatch):
    """Of a table larger than memory, atoms tell what the kept readings do not."""
    monkeypatch.setattr("halk.sensing.memory.KEPT", 6)
    model, deep, true = deeper({"tolerance": "apart"}, n_each=400)
    assert len(model.memory.y) == 6 < model.learned.n_readings
    before = error(model, true, 0.02, 0.18)
    model.update(some(deep, np.array(deep["depth_m"]) > 1.9))
    assert model.choices.parts[0].spread > 0.2
    assert error(model, true, 0.02, 0.18) < before + 0.1


def test_numbers_of_columns_are_those_of_the_encoding():
    readings, sensors, _ = made(n_sensors=3, n_each=20)
    model = halk.fit(readings, sensors, quick=True)
    parts = (
        *model.choices.parts,
        Part("hour", "depth_m", "hour"),
        Part("e", "elevation_m", "attribute"),
    )
    encoder = Choices(parts).encoder
    Z = encoder.encoded(np.ones((5, 1)), np.zeros(5, int), model.schema, model.sensors)
    assert Z.shape[1] == sum(part.n_columns(model.sensors) for part in parts)
