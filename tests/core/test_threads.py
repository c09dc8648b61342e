"""Threads share a step, to the same bits as one."""

from typing import Any

import numpy as np
import pytest

from halk import HALK, Network, kernels, simulator
from halk.bandwidth import LeaveOneOut

NETWORKS = {
    "ring": Network.ring(9, tolerance=0.01),
    "hub": Network.star(40, tolerance=0.01),  # more ask it than a desk has room for
    "isolated": Network(9, [(0, 1), (1, 2), (4, 7)], tolerance=0.01),
}


def learned(network: Network, n_features: int, share: float, **changes: Any) -> HALK:
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(30, network.n_agents, n_features))
    Y = np.sin(6.0 * X.sum(axis=-1)) * np.linspace(0.5, 5.0, network.n_agents)
    Y[rng.uniform(size=Y.shape) < share] = np.nan
    Y[7] = np.nan  # nobody reads
    # narrow: dictionaries grow, and agents have to wait for room
    model = HALK(network, kernels.Gaussian(0.05), epsilon=0.001, **changes)
    model.learn_many(X, Y)
    return model


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("share", [0.0, 0.6])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"coupling": "paper"},
        {"standardize": True},
        {"adaptation": LeaveOneOut(warm_up=3)},
    ],
    ids=["exact", "paper", "standardized", "adaptive"],
)
def test_threads_change_no_bit(
    name: str, share: float, changes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulator, "WORTH_SHARING", 1)
    alone = learned(NETWORKS[name], 2, share, **changes)
    for n_jobs in (2, 3):
        shared = learned(NETWORKS[name], 2, share, n_jobs=n_jobs, **changes)
        np.testing.assert_array_equal(shared.multipliers, alone.multipliers)
        np.testing.assert_array_equal(shared.violations, alone.violations)
        for f, g in zip(shared.functions, alone.functions, strict=True):
            np.testing.assert_array_equal(f.atoms, g.atoms)
            np.testing.assert_array_equal(f.weights, g.weights)
