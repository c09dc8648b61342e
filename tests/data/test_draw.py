import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halk.data import draw_arrivals, draw_steps, withhold
from tests.data.strategies import field_of, fields, seeds

STEPS = st.integers(1, 30)
SHARES = st.floats(0, 0.99)


def reading(field, X, Y):
    """Return the number of each reading (T, V), -1 for none, checking it is one."""
    assert (np.isnan(X[..., 0]) == np.isnan(Y)).all()
    number = np.where(np.isnan(Y), -1, Y - 100).astype(int)
    has = number >= 0
    assert (has == (field.counts > 0)).all()
    assert (field.x[number[has], 0] == X[has][:, 0]).all()
    owner = np.broadcast_to(np.arange(field.n_agents), Y.shape)
    assert (field.agent[number[has]] == owner[has]).all()
    return number


@given(fields(), STEPS, seeds())
def test_every_agent_draws_its_own_readings(field, n_steps, seed):
    X, Y = draw_steps(field, n_steps, seed)
    assert X.shape == (n_steps, field.n_agents, 1)
    reading(field, X, Y)
    again = draw_steps(field, n_steps, seed)
    assert np.array_equal(again[1], Y, equal_nan=True)


def test_all_readings_are_drawn_alike():
    field = field_of([0] * 4 + [1], 2)
    _, Y = draw_steps(field, 8000, seed=0)
    assert np.bincount(Y[:, 0].astype(int) - 100) == pytest.approx(2000, abs=200)
    assert (Y[:, 1] == 104).all()
    assert (Y[1:, 0] == Y[:-1, 0]).mean() == pytest.approx(1 / 4, abs=0.03)


@given(fields(), SHARES, SHARES, seeds())
def test_withheld_readings_are_nested(field, one, other, seed):
    less, more = (withhold(field, share, seed) for share in sorted((one, other)))
    assert not (less & ~more).any()


@given(fields(), SHARES, seeds())
def test_every_sensor_loses_the_share_but_not_all(field, share, seed):
    mask = withhold(field, share, seed)
    lost = field.subset(mask).counts
    has = field.counts > 0
    assert (lost[has] < field.counts[has]).all()
    wanted = np.minimum(share * field.counts, field.counts - 1)[has]
    assert (np.abs(lost[has] - wanted) < 1).all()


def test_the_share_is_right_on_average_where_sensors_have_few_readings():
    field = field_of(np.repeat(np.arange(1000), 3), 1000, is_geographic=False)
    mask = withhold(field, 0.5, seed=0)
    assert mask.mean() == pytest.approx(0.5, abs=0.02)
    assert mask.reshape(-1, 3).mean(axis=0) == pytest.approx(0.5, abs=0.06)
    assert not withhold(field, 0, seed=0).any()
    assert (withhold(field, 0.3, seed=1) != withhold(field, 0.3, seed=2)).any()


@given(fields(), STEPS, seeds())
def test_readings_arrive_once_and_are_not_drawn_before(field, n_steps, seed):
    X, Y, is_new = draw_arrivals(field, n_steps, seed)
    number = reading(field, X, Y)
    for i, count in enumerate(field.counts):
        new = number[is_new[:, i], i]
        assert len(set(new)) == len(new) == min(count, n_steps)
        arrived = set()
        for t in range(n_steps):
            assert is_new[t, i] == (count > 0 and number[t, i] not in arrived)
            arrived.add(number[t, i])


@given(st.integers(1, 30), st.integers(1, 30))
def test_arrivals_are_spread_evenly_from_the_first_step(count, n_steps):
    is_new = draw_arrivals(field_of([0] * count, 1), n_steps, seed=0).is_new[:, 0]
    n = min(count, n_steps)
    at = np.flatnonzero(is_new)
    assert at.tolist() == [k * n_steps // n for k in range(n)]


def test_readings_arrive_in_random_order_and_old_ones_return():
    field = field_of([0] * 50, 1)
    _, Y, is_new = draw_arrivals(field, 1000, seed=0)
    order = Y[is_new[:, 0], 0]
    assert (np.diff(order) < 0).any()
    late = Y[500:, 0][~is_new[500:, 0]]
    assert len(set(late.tolist())) > 40


@pytest.mark.parametrize("share", [-0.1, 1.0, np.nan])
def test_broken_shares(share):
    with pytest.raises(ValueError, match="share must be"):
        withhold(field_of([0], 1), share, seed=0)


@pytest.mark.parametrize("function", [draw_steps, draw_arrivals])
def test_broken_lengths(function):
    with pytest.raises(ValueError, match="n_steps must be at least 1, got 0"):
        function(field_of([0], 1), 0, seed=0)
