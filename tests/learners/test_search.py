"""What NewtonHALK finds with its first readings."""

import numpy as np
import pytest

from halk import Network, NewtonHALK


@pytest.mark.parametrize("seed", [4, 7, 9])
def test_a_feature_that_looked_irrelevant_comes_back(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(200, 10))
    bump, line = 20 * (X[:, 2] - 0.5) ** 2, 10 * X[:, 3] + 5 * X[:, 4]
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + bump + line + rng.normal(size=200)
    model = NewtonHALK(Network(1), max_atoms=120)
    model.learn_readings([0] * 200, X, y)
    assert max(model.length_scale_[:5]) < 4 < min(model.length_scale_[5:])


def test_settled_after_the_last_search(rng):
    X = rng.uniform(size=(300, 1))
    model, given = NewtonHALK(Network(1)), {"length_scale": 1.0, "noise": 0.1}
    assert not model.is_settled
    model.learn_readings([0] * 199, X[:199], X[:199, 0])
    assert not model.is_settled
    model.learn_readings([0], X[199:200], X[199, :1])
    assert model.is_settled
    assert not NewtonHALK(Network(1), **given).is_settled
    assert NewtonHALK(Network(1), **given, standardize=True).is_settled


def test_noise_is_found_where_there_is_hardly_any(rng):
    X = rng.uniform(size=(200, 2))
    model = NewtonHALK(Network(1))
    model.learn_readings([0] * 200, X, np.sin(3 * X[:, 0]) + X[:, 1])
    assert model.noise_ < 2e-4


def test_the_first_call_ends_with_a_search_by_all_its_readings() -> None:
    rng = np.random.default_rng(3)
    agents, X = rng.integers(50, size=156), rng.uniform(size=(156, 1))
    y = np.sin(9 * X[:, 0]) + 0.01 * rng.normal(size=156)
    whole, pieces = NewtonHALK(Network(50)), NewtonHALK(Network(50))
    whole.learn_readings(agents, X, y)
    pieces.learn_readings(agents[:128], X[:128], y[:128])
    pieces.learn_readings(agents[128:], X[128:], y[128:])
    assert pieces.noise_ == 0.03  # where it begins: too few to tell
    assert whole.noise_ < 0.01
