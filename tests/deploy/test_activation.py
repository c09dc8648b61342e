"""When agents take readings, and how long messages take: the laws of every scheme."""

from itertools import pairwise
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from halk.component import subclasses
from halk.deploy.activation import (
    Activation,
    AllAtOnce,
    AsFast,
    Asleep,
    Bernoulli,
    InTurn,
    Jitter,
    OneAtRandom,
    OwnRate,
    Poisson,
)
from halk.deploy.conditions import Conditions
from halk.deploy.named import named, plain, table_of
from halk.deploy.runner import Runner, due_after
from halk.net.faults import Delay
from halk.net.faults.delays import Constant, Exponential, Uniform

SCHEMES = [one for cls in subclasses(Activation) for one in cls.examples()]
DELAYS = [one for cls in subclasses(Delay) for one in cls.examples()]
TIMED = [one for one in SCHEMES if not one.clocks([0.5], [Random(0)])[0].waits]


def times(scheme, pauses, n=2000, start=100.0, seed=0):
    """Return the times of the first readings of every agent."""
    rngs = [Random(f"{seed} {i}") for i in range(len(pauses))]
    found = []
    for clock in scheme.clocks(pauses, rngs):
        own = [clock.start(start)]
        for _ in range(n - 1):
            own.append(clock.next(own[-1]))
        found.append(own)
    return np.array(found)


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_time_goes_forward_and_the_seed_decides(scheme):
    found = times(scheme, [0.5, 0.25, 0.5])
    assert found.min() >= 100.0
    assert (np.diff(found) >= 0).all()
    np.testing.assert_array_equal(found, times(scheme, [0.5, 0.25, 0.5]))
    later = times(scheme, [0.5, 0.25, 0.5], start=300.0)
    np.testing.assert_allclose(later - 300.0, found - 100.0, atol=1e-9)


@pytest.mark.parametrize("scheme", TIMED, ids=repr)
def test_readings_a_second_are_as_the_rates_say(scheme):
    found = times(scheme, [0.05, 0.0125], n=80_000)
    awake = 1 - getattr(scheme, "share", 0.0)
    rates = 80_000 / (found[:, -1] - 100.0)
    wanted = np.array([20.0, 80.0]) if scheme.is_own else np.array([50.0, 50.0])
    np.testing.assert_allclose(rates, wanted * awake, rtol=0.06)


@pytest.mark.parametrize("scheme", SCHEMES + DELAYS, ids=repr)
def test_files_can_name_it(scheme):
    family = Activation if isinstance(scheme, Activation) else Delay
    assert named("x", table_of(scheme), family) == scheme
    assert named("x", plain(type(scheme)), family) == type(scheme)()


def test_waits_of_poisson_are_exponential():
    waits = np.diff(times(Poisson(), [0.5], n=20000)[0])
    assert waits.mean() == pytest.approx(0.5, rel=0.04)  # five standard errors
    assert waits.var() == pytest.approx(0.25, rel=0.1)
    assert (waits > 1.0).mean() == pytest.approx(np.exp(-2), rel=0.1)
    assert abs(np.corrcoef(waits[1:], waits[:-1])[0, 1]) < 0.04


def test_waits_with_jitter_are_uniform():
    waits = np.diff(times(Jitter(0.2), [0.5], n=20000)[0])
    assert waits.min() == pytest.approx(0.4, abs=1e-3)
    assert waits.max() == pytest.approx(0.6, abs=1e-3)
    assert waits.var() == pytest.approx(0.2**2 / 12, rel=0.04)
    np.testing.assert_allclose(np.diff(times(Jitter(0.0), [0.5])[0]), 0.5)


def test_in_turn_nobody_is_active_with_another():
    found = times(InTurn(), [0.6, 0.6, 0.6], n=50)
    order = np.argsort(found.ravel())
    assert ((order // 50) == np.arange(150) % 3).all()
    np.testing.assert_allclose(np.diff(np.sort(found.ravel())), 0.2)


def test_one_at_random_is_one_a_tick_whoever_was_before():
    ticks = np.rint((times(OneAtRandom(), [0.6] * 3) - 100.0) / 0.2).astype(int)
    end = ticks[:, -1].min()
    drawn = np.sort(ticks[ticks <= end])
    np.testing.assert_array_equal(drawn, np.arange(end + 1))
    who = np.array([np.flatnonzero((ticks == k).any(axis=1))[0] for k in range(end)])
    assert np.bincount(who) / end == pytest.approx(1 / 3, abs=0.04)
    assert np.mean(who[1:] == who[:-1]) == pytest.approx(1 / 3, abs=0.04)


def test_all_at_once_is_bernoulli_with_certainty():
    every, certain = (times(s, [0.3] * 3) for s in (AllAtOnce(), Bernoulli(1.0)))
    np.testing.assert_array_equal(every, certain)
    np.testing.assert_array_equal(every[0], every[2])


def test_bernoulli_agents_meet_by_chance():
    a, b = times(Bernoulli(0.25), [0.4, 0.4], n=8000)
    ticks = np.rint((a - 100.0) / 0.1)
    np.testing.assert_allclose(a, 100.0 + 0.1 * ticks)
    end = min(a[-1], b[-1])
    shared = np.intersect1d(a, b)  # instants of a common clock are the same numbers
    assert len(shared) / (a <= end).sum() == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize("is_regular", [True, False])
def test_who_sleeps_takes_nothing(is_regular):
    scheme = Asleep(0.3, 10.0, is_regular)
    waits = np.diff(times(scheme, [0.01], n=100_000)[0])
    naps = waits[waits > 0.02]
    assert np.mean(naps) == pytest.approx(3.0, rel=0.2)
    assert (np.std(naps) < 0.02) == is_regular
    assert naps.sum() / waits.sum() == pytest.approx(0.3, abs=0.05)
    starts = [times(scheme, [0.01], 1, seed=k)[0, 0] > 100.01 for k in range(400)]
    assert np.mean(starts) == pytest.approx(0.3, abs=0.12)
    np.testing.assert_array_equal(
        times(Asleep(0.0), [0.5], 50), times(OwnRate(), [0.5], 50)
    )


@pytest.mark.parametrize("pause", [None, 0.05])
def test_who_sleeps_takes_nothing_that_comes_meanwhile(pause):
    """Rows that come slowly are long due: the clock is asked when they are there."""
    (clock,) = Asleep(0.5, 10.0, is_regular=True).clocks([pause], [Random(1)])
    runner = SimpleNamespace(_due=None, _clock=clock, _is_ready=lambda _: True)
    taken, n_rows, now = [], 0, 0.0
    for tick in range(4000):
        now = 0.05 * tick
        n_rows = int(now / 3) - len(taken)
        if n_rows > 0 and Runner._is_time(runner, now):
            taken.append(now)
            runner._due = due_after(clock, runner._due, now)
    phase = (np.array(taken) - taken[0]) % 10.0
    assert len(taken) > 50
    assert np.ptp(np.sort((phase + 5.0) % 10.0)) <= 5.1 or np.ptp(phase) <= 5.1


def test_what_is_rare_or_short_ends():
    assert np.isfinite(times(Bernoulli(1e-9), [0.5], 3)).all()
    with pytest.raises(ValueError, match="period must be at least"):
        Asleep(0.3, 1e-9)


@pytest.mark.parametrize("delay", DELAYS, ids=repr)
def test_delays_have_their_mean(delay):
    rng = Random(0)
    drawn = np.array([delay.draw(rng) for _ in range(20000)])
    assert drawn.min() >= 0
    assert drawn.mean() == pytest.approx(delay.mean, rel=0.04)
    twice = delay.times(2.0)
    assert twice.mean == pytest.approx(2 * delay.mean)
    rng, other = Random(1), Random(1)
    assert twice.draw(rng) == pytest.approx(2 * delay.draw(other))


def test_which_messages_overtake_one_another():
    def overtakes(delay):
        rng = Random(0)
        arrivals = [0.001 * k + delay.draw(rng) for k in range(500)]
        return sum(b < a for a, b in pairwise(arrivals))

    assert overtakes(Constant(0.02)) == 0
    assert overtakes(Uniform(0.0, 0.02)) > 100
    assert overtakes(Exponential(0.02)) > 100
    assert Exponential(0.02, 0.02).draw(Random(0)) == 0.02


LISTED = ", ".join(repr(plain(cls)) for cls in subclasses(Activation))
WRONG = {
    f"activation must be one of {LISTED}, got 'poison', did you mean 'poisson'?": {
        "activation": "poison"
    },
    "activation: q must be above 0 and at most 1, got 0": {
        "activation": "bernoulli:q=0"
    },
    "activation: share must be from 0 to below 1, got 1": {
        "activation": {"name": "asleep", "share": 1}
    },
    "activation: period must be a number, got 'long'": {
        "activation": "asleep:period='long'"
    },
    "activation: by must be a number, got 'x'": {
        "activation": {"name": "jitter", "by": "x"}
    },
    "activation has no parameter 'p'; those of bernoulli are q": {
        "activation": "bernoulli:p=0.3"
    },
    "activation must be a name, or name:parameter=value,..., got 'bernoulli:0.3'": {
        "activation": "bernoulli:0.3"
    },
    "delay must be one of 'constant', 'uniform', 'exponential', 'measured', got "
    "'gamma'": {"delay": "gamma:mean=1"},
    "delay must not be negative, got -1.0": {"delay": "-1"},
    "delay must be finite, got nan": {"delay": float("nan")},
    "delay: high must be at least low, 0.1, got 0.01": {"delay": "uniform:low=0.1"},
    "delay: mean must be at least least, 0.1, got 0.005": {
        "delay": "exponential:least=0.1"
    },
    "think must be a number, got [1]": {"think": [1]},
    "batches must be true or false, got 1": {"batches": 1},
    "lag must not be negative, got -1": {"lag": -1},
    "work must be one of": {"work": "hard"},
    "drop must be a share below 1, got 1.0": {"drop": 1.0},
    "rate_spread must not be negative, got -1.0": {"rate_spread": -1.0},
}


@pytest.mark.parametrize("words", WRONG)
def test_refusals(words):
    with pytest.raises((TypeError, ValueError)) as caught:
        Conditions(**WRONG[words])
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_who_has_no_rate_goes_as_fast_as_it_can_or_is_refused(scheme):
    pauses, rngs = [0.5, None], [Random(0), Random(1)]
    if type(scheme) in (OwnRate, AsFast, Asleep):
        assert scheme.clocks(pauses, rngs)[1].waits
    else:
        with pytest.raises(ValueError, match="must go with a rate of readings, got no"):
            scheme.clocks(pauses, rngs)
