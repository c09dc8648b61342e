"""The early decision takes no atom that greedy removal, one by one, would not."""

from functools import partial

import numpy as np
import pytest

from halk import reference
from halk.kernels import Gaussian
from tests.properties.strategies import Block
from tests.properties.test_compression import Holder

LENGTH_SCALE = 0.3


@pytest.mark.parametrize("b", range(1, 9))
def test_atoms_that_stay_are_those_of_greedy_removal(b: int) -> None:
    """New points beside old atoms of little weight: which of them goes first counts."""
    rng = np.random.default_rng(b)
    kernel = partial(reference.gaussian, length_scale=LENGTH_SCALE)
    n_weights_only = n_old_gone = 0
    for _ in range(200):
        old = rng.uniform(0.8, 1.6, size=8).cumsum()[:, None] * LENGTH_SCALE
        weights = rng.uniform(0.5, 2.0, size=8) * rng.choice([-1.0, 1.0], size=8)
        beside = rng.choice(8, size=b, replace=False)
        weights[beside[0]] *= 10.0 ** rng.uniform(-1.5, 0.0)
        points = old[beside] + rng.normal(size=(b, 1)) * 0.4 * LENGTH_SCALE
        coefficients = (
            0.3 ** np.arange(b) * rng.normal(size=b) * 10.0 ** rng.uniform(-1.2, -0.3)
        )
        holder = Holder(LENGTH_SCALE, 0.0, 1)
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


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_of_new_atoms_that_cost_the_same_the_newest_goes(order: list[int]) -> None:
    """Two points mirrored in the dictionary, and a budget for one of them."""
    rng, kernel = np.random.default_rng(0), Gaussian(LENGTH_SCALE)
    plain, n_cases = partial(reference.gaussian, length_scale=LENGTH_SCALE), 0
    for _ in range(100):
        half = rng.uniform(0.8, 1.6, size=3).cumsum() * LENGTH_SCALE
        old = np.concatenate([-half[::-1], half])[:, None]
        w = rng.uniform(0.5, 2.0, size=3)
        x = rng.uniform(0.05, 0.4) * LENGTH_SCALE + rng.choice([0.0, half[0]])
        points, c = np.array([[x], [-x]])[order], np.full(2, 0.3 * rng.normal())
        holder = Holder(LENGTH_SCALE, 0.0, 1)
        holder.update(Block(old, np.concatenate([w[::-1], w]), 1.0))
        Q = np.linalg.inv(kernel(np.vstack([old, points])))
        one, both = c[0] ** 2 / Q[6, 6], c @ np.linalg.inv(Q[6:, 6:]) @ c
        if one < both:
            holder.budget = float(np.sqrt((one + both) / 2.0))
            atoms, given = holder.update(Block(points, c, 1.0))
            kept, _ = reference.komp(plain, atoms, given, holder.budget)
            got = {x.tobytes() for x in holder.function()[0]}
            assert got == {x.tobytes() for x in atoms[kept]}
            n_cases += 1
    assert n_cases > 50


@pytest.mark.parametrize("b", [3, 6, 8, 10])
def test_points_that_repeat_are_merged_in_blocks_of_any_size(b: int) -> None:
    """Whether they repeat atoms or each other, and before or after the decision."""
    rng, kernel = (
        np.random.default_rng(b),
        partial(reference.gaussian, length_scale=0.3),
    )
    for _ in range(60):
        old = rng.uniform(0.9, 1.4, size=7).cumsum()[:, None] * LENGTH_SCALE
        holder = Holder(LENGTH_SCALE, 0.0, 1)
        holder.update(Block(old, rng.uniform(0.5, 2.0, size=7), 1.0))
        points = old[rng.integers(7, size=b)]
        new = rng.uniform(0.0, 3.0, size=(2, 1))
        points[:2] = new[rng.integers(2, size=2)]
        holder.budget = float(10.0 ** rng.uniform(-3.0, -0.5))
        unprojected = holder.update(Block(points, 0.1 * rng.normal(size=b), 0.99))
        holder.assert_within(unprojected)
        atoms, inverse = np.unique(unprojected[0], axis=0, return_inverse=True)
        weights = np.bincount(inverse.ravel(), unprojected[1], len(atoms))
        kept, _ = reference.komp(kernel, atoms, weights, holder.budget)
        assert len(holder.function()[0]) == len(kept)


@pytest.mark.parametrize("b", [3, 4, 6])
def test_points_that_all_but_repeat_take_no_old_atom_s_place(b: int) -> None:
    """Beside old atoms of little weight; two count as one, with the weight of both."""
    rng, n_old_gone, n_weights_only = np.random.default_rng(b), 0, 0
    kernel = partial(reference.gaussian, length_scale=LENGTH_SCALE)
    for _ in range(200):
        old = rng.uniform(0.8, 1.6, size=8).cumsum()[:, None] * LENGTH_SCALE
        weights = rng.uniform(0.5, 2.0, size=8) * rng.choice([-1.0, 1.0], size=8)
        beside = rng.choice(8, size=b - 1, replace=False)
        weights[beside[0]] *= 10.0 ** rng.uniform(-1.5, 0.0)
        points = old[beside] + rng.normal(size=(b - 1, 1)) * 0.4 * LENGTH_SCALE
        c = 0.3 ** np.arange(b - 1) * rng.normal(size=b - 1) * 0.2
        holder = Holder(LENGTH_SCALE, 0.0, 1)
        holder.update(Block(old, weights, 1.0))
        holder.budget = float(10.0 ** rng.uniform(-1.0, -0.3))
        twice = np.vstack([points, points[:1] + 1e-9 * LENGTH_SCALE])
        shared = np.concatenate([c, [0.4 * c[0]]])
        shared[0] *= 0.6
        holder.update(Block(twice, shared, 1.0))
        atoms, given = np.vstack([old, points]), np.concatenate([weights, c])
        kept, _ = reference.komp(kernel, atoms, given, holder.budget)
        got = {x.tobytes() for x in holder.function()[0]} & {x.tobytes() for x in old}
        assert got == {x.tobytes() for x in atoms[kept[kept < 8]]}
        n_old_gone += len(got) < 8
        n_weights_only += len(got) == 8 == len(kept)
    assert n_old_gone > 10
    assert n_weights_only > 10
