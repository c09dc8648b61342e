"""How far one observation moves an agent of second order, whoever tells it."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halk import Network, NewtonHALK
from halk.agent import Answer, NewtonAgent, Query

POINT = [0.4]
LIES = st.floats(-1e6, 1e6) | st.floats(-3, 3) | st.sampled_from([1e30, -1e30])
STDS = st.floats(-20, 20).map(lambda power: 10.0**power)


def taught(n_readings: int, **changes) -> NewtonAgent:
    """Return the middle of a path, which has read so often."""
    options = {"length_scale": 0.2, "noise": 0.02, "standardize": False} | changes
    learner = NewtonHALK(Network.path(3, 0.01), **options)
    agent = learner.agent(1, n_features=1)
    for x in np.random.default_rng(0).uniform(size=n_readings):
        agent.ask([x], float(np.sin(6 * x)))
        agent.update()
    return agent


def variance(agent: NewtonAgent, x) -> float:
    asked = Query(np.array(x), 0.0, 1.0)
    return copy.deepcopy(agent).answer(0, asked).variance


def phi(n_readings: int) -> float:
    return 4.5 if n_readings < 20 else 3.0


@pytest.mark.parametrize("n_readings", [0, 3, 19, 20, 60])
@given(value=LIES, multiplier=st.floats(0, 1e9), std=STDS, x=st.floats(0, 1))
def test_a_query_moves_no_further_than_the_bound(n_readings, value, multiplier, std, x):
    agent = taught(n_readings)
    before, v = agent.predict([x]), variance(agent, [x])
    agent.answer(0, Query(np.array([x]), value, multiplier, std))
    agent.update()
    moved = abs(agent.predict([x]) - before)
    assert moved <= phi(n_readings) * np.sqrt(v) * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("n_readings", [3, 40])
@given(value=LIES, told=st.floats(0, 1e9))
def test_an_answer_moves_no_further_than_the_bound(n_readings, value, told):
    agent = taught(n_readings)
    agent.ask(POINT, 0.7)
    before, v = agent.predict(POINT), variance(agent, POINT)
    agent.update({0: Answer(value, variance=told)})
    moved = abs(agent.predict(POINT) - before)
    assert moved <= phi(n_readings) * np.sqrt(v) * (1 + 1e-6) + 1e-9
    assert (agent.multipliers <= agent.settings.largest_multiplier).all()


@pytest.mark.parametrize("n_readings", [0, 40])
@given(st.lists(st.tuples(LIES, st.floats(0, 1), st.sampled_from([0, 2])), min_size=1))
def test_many_queries_move_by_their_root(n_readings, lies):
    """Every observation takes from the variance what it moves the function by."""
    agent = taught(n_readings)
    before, v = agent.predict(POINT), variance(agent, POINT)
    for value, x, neighbour in lies:
        agent.answer(neighbour, Query(np.array([x]), value, 1e9, 1e-9))
        agent.update()
    most = phi(n_readings) * np.sqrt(len(lies) * v)
    assert abs(agent.predict(POINT) - before) <= most * (1 + 1e-6) + 1e-6


def test_a_std_that_is_told_is_no_way_around_the_largest_multiplier():
    honest, liar = taught(30), taught(30)
    honest.answer(0, Query(np.array(POINT), 2.0, 10.0))
    liar.answer(0, Query(np.array(POINT), 2.0, 10.0, 1e-9))
    for agent in (honest, liar):
        agent.update()
    assert honest.predict(POINT) == liar.predict(POINT)
    assert variance(honest, POINT) == variance(liar, POINT) > 0
