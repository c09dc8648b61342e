"""Agents that read one after the other settle; they do not drift away together."""

import numpy as np

from halk import HALK, Network, kernels


def test_many_neighbours_with_tight_tolerances_do_not_drift(rng):
    """Pulls of the one who reads and of those it asks must balance (S9)."""
    V, n = 40, 50
    places = rng.uniform(0, 1, (V, 2))
    network = Network.from_positions(places, k=12, tolerance=4e-4)
    agent = np.repeat(np.arange(V), n)
    t = rng.integers(0, 25, V * n) / 5.0
    x = np.column_stack([t, places[agent]])
    y = np.sin(9 * t) + 0.5 * np.sin(7 * places[agent, 0]) + rng.normal(0, 0.7, V * n)
    model = HALK(
        network, kernels.Gaussian(0.5), step_size=4.0, dual_step_size=0.4, epsilon=0.05
    )
    errors = []
    for _ in range(8):
        order = rng.permutation(V * n)
        model.learn_readings(agent[order], x[order], y[order])
        misses = model.predict_readings(agent, x) - y
        errors.append(np.sqrt(np.mean(misses**2)))
    assert errors[-1] < np.std(y)
    assert errors[-1] <= 1.05 * min(errors)
