"""The parts of a model, each by itself."""

import numpy as np
import pytest

import halk
from halk.data import Input, Schema, Sensors
from halk.sensing import summary
from halk.sensing.choices import Choices, network_of
from halk.sensing.course import course, with_gaps
from halk.sensing.encoding import Part, candidates, logarithm_of, telling_parts
from halk.sensing.lengths import shown, width_of
from halk.sensing.memory import KEPT, Memory, marks_of
from halk.sensing.problem import TRIAL_READINGS, Problem
from halk.sensing.scales import unit_of_functions
from tests.sensing.network import made

SCHEMA = Schema("sensor", "t_C", "°C", (Input("depth_m", "number", "m"),))


def sensors_on_a_line(n):
    places = np.column_stack([np.arange(n, dtype=float), np.zeros(n)])
    return Sensors(tuple(f"s{i}" for i in range(n)), places)


def a_problem(n_sensors=6, n_each=40, seed=0):
    rng = np.random.default_rng(seed)
    agent = np.repeat(np.arange(n_sensors), n_each)
    x = rng.uniform(0, 2, (len(agent), 1))
    y = np.sin(3 * x[:, 0]) + agent
    return Problem(SCHEMA, sensors_on_a_line(n_sensors), None, agent, x, y)


def start(task):
    return Choices(tuple(candidates(SCHEMA, task.sensors, task.x, task.agent)))


# courses


def test_gaps_are_of_all_lengths():
    rng = np.random.default_rng(0)
    agent = np.repeat(np.arange(200), 20)
    x = rng.uniform(size=(4000, 1))
    order = with_gaps(agent, x, rng)
    np.testing.assert_array_equal(np.sort(order), np.arange(4000))
    is_late = np.zeros(4000, bool)
    is_late[order[2000:]] = True
    stretches = 0
    for i in range(200):
        mine = np.flatnonzero(agent == i)
        late = is_late[mine[np.argsort(x[mine, 0])]]
        assert late.sum() == 10
        stretches += np.flatnonzero(late).max() - np.flatnonzero(late).min() == 9
    assert 70 < stretches < 130


def test_a_course_has_every_reading_new_once_and_rehearses_earlier_ones():
    steps = course(50, 3, np.random.default_rng(0), n_settling=2, n_old=10)
    new = steps.reading[steps.is_new]
    np.testing.assert_array_equal(np.sort(new), np.arange(10, 50))
    known = set(range(10))
    for reading, is_new in zip(*(a[:160].tolist() for a in steps), strict=True):
        if is_new:
            known.add(reading)
        assert reading in known
    again = steps.reading[160:].reshape(2, 50)
    np.testing.assert_array_equal(np.sort(again), np.tile(np.arange(50), (2, 1)))


# widths and tolerances


@pytest.mark.parametrize(
    ("kind", "length"), [("hour", "6 h"), ("weekday", "2 d"), ("day", "90 d")]
)
def test_widths_of_cycles_come_back_as_they_were_given(kind, length):
    part = Part(f"time: {kind}", "time", kind)
    wide = Part(part.name, "time", kind, width=width_of(part, length))
    assert shown(wide, SCHEMA, sensors_on_a_line(2)) == length


def test_widths_of_times_and_numbers():
    part = Part("t: seconds", "t", "seconds", spread=7200.0)
    assert width_of(part, "30 min") == 0.25
    assert width_of(part, 7200) == 1.0
    assert width_of(Part("depth_m", "depth_m", "number", spread=4.0), "2") == 0.5


def test_tolerances_are_squares_in_the_network():
    task = a_problem()
    network = network_of(
        Choices(start(task).parts, tolerance=0.3), task.sensors, None, 2.0
    )
    np.testing.assert_allclose(network.tolerance, 0.6**2 / 2)
    assert network.n_edges > 0
    apart = Choices(start(task).parts, tolerance=np.inf)
    assert network_of(apart, task.sensors, None, 2.0).n_edges == 0


def test_disagreements_are_root_mean_squares():
    readings, sensors, _ = made(n_sensors=4, n_each=40)
    model = halk.fit(readings, sensors, quick=True, options={"tolerance": 0.05})
    found = summary.disagreements(model)
    network, mu = model.learner.network, model.learner.multipliers
    squares = 2 * (model.learner.violations + network.tolerance)
    first = found[0]
    i, j = (network.index(name) for name in (first.one, first.other))
    edges = [network.edges.tolist().index(pair) for pair in ([i, j], [j, i])]
    spread = unit_of_functions(model.learner, "common")
    assert first.difference == pytest.approx(spread * np.sqrt(squares[edges].mean()))
    assert first.price == pytest.approx(mu[edges].sum()) == max(p.price for p in found)
    assert first.tolerance == pytest.approx(0.05)


# inputs


def test_times_tell_of_cycles_that_they_saw_twice():
    hours = np.arange(0, 24 * 21) * 3600.0
    assert telling_parts(hours) == ("seconds", "hour", "weekday")
    days = np.arange(0, 800) * 86400.0
    assert telling_parts(days) == ("seconds", "weekday", "day")
    assert telling_parts(hours[:30]) == ("seconds",)


def test_logarithms_are_for_lengths_from_near_to_far():
    near = Part("depth_m", "depth_m", "number")
    assert logarithm_of(near, np.array([0.0, 10.0, 20.0, 1000.0])).kind == "log"
    assert logarithm_of(near, np.array([-1.0, 10.0, 20.0, 1000.0])) is None
    assert logarithm_of(near, np.array([0.0, 10.0, 20.0])) is None


# parts of tables, and what is kept of them


def test_a_sample_is_of_few_sensors_with_all_they_have():
    task = a_problem(n_sensors=200, n_each=100)
    sample = task.sample()
    assert len(sample.y) <= TRIAL_READINGS
    counts = np.bincount(sample.agent, minlength=len(sample.sensors.names))
    assert len(counts) < 30
    assert (counts == 100).mean() > 0.9
    places = sample.sensors.positions[:, 0]
    assert np.ptp(places) < 40  # neighbours
    for i in range(len(counts)):  # still the same readings
        name = sample.sensors.names[i]
        whole = task.y[task.agent == task.sensors.names.index(name)]
        assert set(sample.y[sample.agent == i]) <= set(whole)


def test_places_are_as_far_apart_in_the_plane_as_on_the_globe():
    """Also in the north, where longitudes are close, and across the date line."""
    positions = np.array([[60.0, 179.5], [60.0, -179.5], [60.5, 179.5], [59.5, 179.9]])
    names = tuple("abcd")
    flat = Sensors(names, positions, True, {}, ()).plane()
    away = np.linalg.norm(flat[:, None] - flat[None], axis=2)
    lat, lon = np.radians(positions).T
    half = np.sin((lat[:, None] - lat) / 2) ** 2
    half += np.cos(lat[:, None]) * np.cos(lat) * np.sin((lon[:, None] - lon) / 2) ** 2
    np.testing.assert_allclose(away, 2 * 6371 * np.arcsin(np.sqrt(half)), rtol=0.02)


def test_coverage_counts_what_lay_inside_before_it_was_learned():
    readings, sensors, _ = made(n_sensors=3, n_each=100)
    model = halk.fit(readings, sensors, quick=True)
    judged = int(model.learned.judged.sum())
    assert judged == 100
    assert model.learned.coverage == model.learned.n_covered / judged
    assert 0.8 < model.learned.coverage < 1.0
    far = {**readings, "t_C": [y + 1000.0 for y in readings["t_C"]]}
    before = model.learned.n_covered
    model.update(far)
    assert model.learned.n_covered - before < 300, "the first cannot have been inside"


def test_memory_is_even_and_knows_readings_again():
    rng = np.random.default_rng(0)
    agent = np.concatenate([np.zeros(30_000, np.int64), np.ones(3000, np.int64)])
    x, y = rng.uniform(size=(33_000, 2)), rng.normal(size=33_000)
    memory = Memory.empty(2).with_readings(agent, x, y, rng)
    assert len(memory.y) == KEPT
    assert np.bincount(memory.agent).tolist() == [17_000, 3000]
    assert memory.is_known(agent, x, y).all()
    assert not memory.is_known(agent, x, y + 1e-9).any()
    twice = np.array([0, 0]), np.ones((2, 2)), np.ones(2)
    assert memory.is_known(*twice).tolist() == [False, True]
    assert len(set(marks_of(agent, x, y).tolist())) == 33_000


def test_an_update_learns_copies_within_its_table_once():
    readings, sensors, _ = made(n_sensors=3, n_each=20)
    model = halk.fit(readings, sensors, quick=True)
    row = {"sensor": ["s1"] * 3, "depth_m": [0.123] * 3, "t_C": [9.0] * 3}
    came = model.update(row)
    assert (came.learned.n_readings, came.n_known) == (1, 2)


def test_the_budget_grows_while_models_are_too_large(monkeypatch):
    monkeypatch.setattr("halk.sensing.job.ATOMS", 6)
    readings, sensors, _ = made(n_sensors=3, n_each=150, noise=1.0)
    given = halk.fit(readings, sensors, quick=True, options={"budget": 0.01})
    found = halk.fit(readings, sensors, quick=True)
    assert given.choices.budget == given.learner.epsilon == 0.01
    assert given.learner.model_order.mean() > 9
    assert found.choices.budget == found.learner.epsilon > 0.01
    assert 3 < found.learner.model_order.mean() < 11
