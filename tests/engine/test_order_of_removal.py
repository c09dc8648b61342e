"""The early decision takes no atom that greedy removal, one by one, would not."""

from functools import partial

import numpy as np
import pytest

from halk import reference
from tests.properties.strategies import Block
from tests.properties.test_compression import Holder

BANDWIDTH = 0.3

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("b", range(1, 9))
def test_atoms_that_stay_are_those_of_greedy_removal(b: int) -> None:
    """New points beside old atoms of little weight: which of them goes first counts."""
    rng = np.random.default_rng(b)
    kernel = partial(reference.gaussian, bandwidth=BANDWIDTH)
    n_weights_only = n_old_gone = 0
    for _ in range(200):
        old = rng.uniform(0.8, 1.6, size=8).cumsum()[:, None] * BANDWIDTH
        weights = rng.uniform(0.5, 2.0, size=8) * rng.choice([-1.0, 1.0], size=8)
        beside = rng.choice(8, size=b, replace=False)
        weights[beside[0]] *= 10.0 ** rng.uniform(-1.5, 0.0)
        points = old[beside] + rng.normal(size=(b, 1)) * 0.4 * BANDWIDTH
        coefficients = (
            0.3 ** np.arange(b) * rng.normal(size=b) * 10.0 ** rng.uniform(-1.2, -0.3)
        )
        holder = Holder(BANDWIDTH, 0.0, 1)
        holder.update(Block(old, weights, 1.0))
        assert holder.m == 8
        holder.budget = float(10.0 ** rng.uniform(-1.0, -0.3))
        atoms, given = holder.update(Block(points, coefficients, 1.0))
        kept, _ = reference.komp(kernel, atoms, given, holder.budget)
        got = {x.tobytes() for x in holder.function()[0]}
        assert got == {x.tobytes() for x in atoms[kept]}
        n_old = int((kept < 8).sum())
        n_weights_only += n_old == 8 == len(kept)
        n_old_gone += n_old < 8
    assert n_weights_only > 10
    assert n_old_gone > 10
