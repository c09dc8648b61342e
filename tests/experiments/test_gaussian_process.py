"""Batch Gaussian processes against the formulas, written out."""

import sys

import numpy as np
import pytest

from halk.experiments import gaussian_process
from halk.experiments.gaussian_process import each, fitted, pooled


@pytest.fixture
def readings(rng):
    """Thirty readings of three sensors, and nine places to predict at."""
    agent, agents = np.arange(30) % 3, np.arange(9) % 3
    x, at = rng.uniform(-1, 1, (30, 2)), rng.uniform(-1, 1, (9, 2))
    y = np.sin(3 * x[:, 0]) + x[:, 1] + 0.05 * rng.standard_normal(30) + agent
    return agent, x, y, agents, at


def dense(model, x, y, at):
    """Return predictions and the log likelihood for the parameters of a model."""
    size = model.kernel_.k1.k1.constant_value
    scale, noise = model.kernel_.k1.k2.length_scale, model.kernel_.k2.noise_level

    def kernel(a, b):
        apart = (a[:, None, :] - b[None, :, :]) / scale
        return size * np.exp(-(apart**2).sum(axis=2) / 2)

    K = kernel(x, x) + noise * np.eye(len(x))
    values = kernel(at, x) @ np.linalg.solve(K, y)
    fit = y @ np.linalg.solve(K, y) + np.linalg.slogdet(K)[1]
    return values, -(fit + len(x) * np.log(2 * np.pi)) / 2


def test_pooled_prediction_is_that_of_the_formula(readings):
    _, x, y, _, at = readings
    values, likelihood = pooled(x, y, at, seed=0)
    wanted, wanted_likelihood = dense(fitted(x, y, 0), x, y, at)
    np.testing.assert_allclose(values, wanted, rtol=1e-6)
    assert likelihood == pytest.approx(wanted_likelihood, rel=1e-6)


def test_parameters_are_chosen_by_the_likelihood(readings):
    _, x, y, _, at = readings
    model = fitted(x, y, 0)
    best = dense(model, x, y, at)[1]
    for step in (-0.1, 0.1):
        for k in range(len(model.kernel_.theta)):
            theta = model.kernel_.theta.copy()
            theta[k] += step
            inside = (model.kernel_.bounds[k, 0] < theta[k]) & (
                theta[k] < model.kernel_.bounds[k, 1]
            )
            if inside:
                assert model.log_marginal_likelihood(theta) < best


def test_each_sensor_uses_its_own_readings_only(readings):
    agent, x, y, agents, at = readings
    values, likelihood = each(agent, x, y, agents, at, seed=0)
    total = 0.0
    for i in range(3):
        own, wanted = agent == i, agents == i
        alone, score = pooled(x[own], y[own], at[wanted], seed=0)
        np.testing.assert_array_equal(values[wanted], alone)
        total += score
    assert likelihood == pytest.approx(total)
    others = np.where(agent == 0, y, 1e3 * y - 7.0)
    changed, _ = each(agent, x, others, agents, at, seed=0)
    np.testing.assert_array_equal(changed[agents == 0], values[agents == 0])
    assert not np.isclose(changed[agents == 1], values[agents == 1]).any()


def test_many_readings_are_all_predicted_from(readings, monkeypatch):
    _, x, y, _, at = readings
    monkeypatch.setattr(gaussian_process, "_MOST", 12)
    some = np.random.default_rng([5, 4]).permutation(len(x))[:12]
    model = fitted(x, y, 5)
    assert len(model.X_train_) == 30
    best = fitted(x[some], y[some], 5)
    monkeypatch.undo()
    np.testing.assert_allclose(dense(model, x, y, at)[0], model.predict(at), rtol=1e-6)
    assert len(best.X_train_) == 12


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.gaussian_process", None)
    with pytest.raises(ImportError, match=r"scikit-learn: pip install 'halk\[exp"):
        pooled(np.zeros((2, 1)), np.zeros(2), np.zeros((1, 1)), 0)
