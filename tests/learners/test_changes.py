"""Tolerances and budgets that change while agents learn."""

import numpy as np
import pytest

from halk import HALK, Network, kernels, learners

RNG = np.random.default_rng(3)
X = RNG.uniform(size=(120, 4, 1))
Y = np.sin(6 * X[..., 0]) + np.arange(4)


def learner(tolerance, **options):
    network = Network.ring(4, tolerance=tolerance)
    return HALK(network, kernels.Gaussian(0.3), step_size=0.5, **options)


@pytest.mark.parametrize("coupling", ["exact", "paper"])
def test_other_tolerances_hold_from_the_next_step_on(coupling, tmp_path):
    moved = learner(0.01, coupling=coupling)
    moved.learn_many(X[:60], Y[:60])
    moved.set_tolerance(0.5)
    fresh = learner(0.5, coupling=coupling)
    fresh.load_state_dict(moved.n_steps, 1, moved.state_dict())
    stays = learner(0.01, coupling=coupling)
    for one in (moved, fresh, stays):
        one.learn_many(X[60:], Y[60:])
    np.testing.assert_array_equal(moved.multipliers, fresh.multipliers)
    np.testing.assert_array_equal(moved.predict_one(X[0]), fresh.predict_one(X[0]))
    assert (moved.multipliers != stays.multipliers).any()
    moved.save(tmp_path / "model.halk")
    again = HALK.load(tmp_path / "model.halk")
    np.testing.assert_array_equal(again.network.tolerance, 0.5)


def test_tolerances_may_be_set_before_anything_is_learned():
    moved, plain = learner(0.01), learner(0.5)
    moved.set_tolerance(0.5)
    for one in (moved, plain):
        one.learn_many(X, Y)
    np.testing.assert_array_equal(moved.multipliers, plain.multipliers)


def test_consensus_stays_one_whatever_is_tolerated():
    made = []
    for tolerance in (0.5, None):
        network = Network.ring(4, tolerance=0.01 if tolerance else 0.5)
        model = learners.Consensus(network, kernels.Gaussian(0.3), step_size=0.5)
        model.learn_many(X[:60], Y[:60])
        if tolerance:
            model.set_tolerance(tolerance)
        model.learn_many(X[60:], Y[60:])
        made.append(model)
    for what in ("multipliers", "violations"):
        np.testing.assert_array_equal(*(getattr(model, what) for model in made))


@pytest.mark.parametrize("bad", [-0.1, float("nan"), [0.1, 0.2, 0.3], "much"])
def test_bad_tolerances_change_nothing(bad):
    model = learner(0.01)
    model.learn_many(X[:5], Y[:5])
    with pytest.raises((ValueError, TypeError), match="tolerance"):
        model.set_tolerance(bad)
    np.testing.assert_array_equal(model.network.tolerance, 0.01)


def test_another_budget_holds_from_the_next_step_on(tmp_path):
    moved = learner(0.01, parsimony=0.02)
    moved.learn_many(X[:60], Y[:60])
    before = moved.n_atoms
    moved.set_epsilon(0.4)
    fresh = learner(0.01, epsilon=0.4)
    fresh.load_state_dict(moved.n_steps, 1, moved.state_dict())
    moved.save(tmp_path / "model.halk")
    again = HALK.load(tmp_path / "model.halk")
    for one in (moved, fresh, again):
        one.learn_many(X[60:], Y[60:])
        np.testing.assert_array_equal(moved.predict_one(X[0]), one.predict_one(X[0]))
    assert moved.n_atoms < before
    assert (again.epsilon, again.parsimony) == (0.4, None)


@pytest.mark.parametrize("bad", [-0.1, float("nan"), [0.1, 0.2, 0.3], "much"])
def test_bad_budgets_change_nothing(bad):
    model = learner(0.01, epsilon=0.02)
    with pytest.raises((ValueError, TypeError), match="epsilon"):
        model.set_epsilon(bad)
    assert model.epsilon == 0.02
