"""Compression against a high-precision oracle: the distance is within the budget."""

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from halk.compression import (
    Dictionary,
    block,
    compress_arrays,
    compressed,
    dictionary,
    procedures,
    workspace,
)
from halk.compression.rows import rows_of
from halk.expansion import Expansion
from halk.kernels import Gaussian
from tests.engine.drive import fill_rows, fresh_trust
from tests.properties.strategies import Block, blocks, powers

CAPACITY, DIGITS = 80, 50
ROUNDING = 1e-6
"""Share of the function's size that double precision cannot tell from zero."""

UNDERFLOW = 1e-150
"""Distances below it have squares that are zero."""


def exact_distance(bandwidth: float, atoms: Any, z: Any) -> float:
    """Return the norm of ``sum z_k k(d_k, .)``, in fifty digits."""
    with mpmath.workdps(DIGITS):
        points = [[mpmath.mpf(float(v)) for v in row] for row in atoms]
        factor = -1 / (2 * mpmath.mpf(bandwidth) ** 2)
        total = mpmath.mpf(0)
        for k, (x, a) in enumerate(zip(points, z, strict=True)):
            total += a * a
            for y, b in zip(points[:k], z[:k], strict=True):
                square = mpmath.fsum((u - v) ** 2 for u, v in zip(x, y, strict=True))
                total += 2 * a * b * mpmath.exp(factor * square)
        return float(mpmath.sqrt(max(total, 0)))


def distance_between(bandwidth: float, f: Any, g: Any) -> float:
    """Return the exact distance of two functions, each atoms and weights."""
    atoms = np.vstack([f[0], g[0]])
    z = [mpmath.mpf(float(w)) for w in f[1]] + [-mpmath.mpf(float(w)) for w in g[1]]
    return exact_distance(bandwidth, atoms, z)


class Holder:
    """Drives ``compress`` as an agent does, and remembers what it was given."""

    def __init__(self, bandwidth: float, budget: float, p: int) -> None:
        self.kernel, self.budget, self.p = Gaussian(bandwidth), budget, p
        self.D: Dictionary = dictionary(CAPACITY, p)
        self.m, self.trust = 0, fresh_trust()
        self.rows, self.procedures = rows_of(self.kernel), procedures(can_rescue=True)

    def function(self) -> tuple[Any, Any]:
        return self.D.atoms[:, : self.m].T.copy(), self.D.weights[: self.m].copy()

    def update(self, new: Block) -> tuple[Any, Any]:
        """Take in a block; return the unprojected function."""
        m, b = self.m, len(new.points)
        B, ws = block(m + b, b, self.p), workspace(m + b, b, self.p)
        B.points[:, :b], B.coefficients[:b] = new.points.T, new.coefficients
        fill_rows(self.rows, 1.0, self.D, m, B, b, ws)
        ws.start[:m] = new.shrink * self.D.weights[:m]
        atoms = np.vstack([self.function()[0], new.points])
        weights = np.concatenate([ws.start[:m], new.coefficients])
        given = (self.D, m, B, ws, b, self.budget, self.trust)
        self.m = int(compress_arrays(self.rows, self.procedures, *given))
        assert 0 <= self.m <= m + b
        return atoms, weights

    def assert_within(self, unprojected: tuple[Any, Any]) -> None:
        atoms, weights = self.function()
        assert np.isfinite(weights).all()
        known = {row.tobytes() for row in unprojected[0]}
        assert {row.tobytes() for row in atoms} <= known
        assert len({row.tobytes() for row in atoms}) == self.m
        distance = distance_between(
            self.kernel.bandwidth, unprojected, (atoms, weights)
        )
        slack = ROUNDING * np.abs(unprojected[1]).sum()
        assert distance <= self.budget * (1 + 1e-6) + slack + UNDERFLOW


def drive(stream: list[Block], bandwidth: float, budget: float, every: int) -> None:
    """Run a stream; ask the oracle at every so many steps, and at the last."""
    holder = Holder(bandwidth, budget, stream[0].points.shape[1])
    for t, new in enumerate(stream):
        unprojected = holder.update(new)
        if t % every == 0 or t == len(stream) - 1:
            holder.assert_within(unprojected)


NEAR = [
    Block(np.array([[0.5], [0.5 + 1e-9]]), np.array([1.0, -1.0]), 1.0),
    Block(np.array([[0.5], [0.5]]), np.array([2.0, 2.0]), 1.0),
    Block(np.array([[0.5 - 1e-9]]), np.array([-3.0]), 0.5),
]


@given(blocks(), powers(-2, 1), powers(-4, 0))
@example(NEAR, 0.3, 1e-3)
def test_stays_within_budget(
    stream: list[Block], bandwidth: float, budget: float
) -> None:
    drive(stream, bandwidth, budget, every=4)


@given(blocks(max_blocks=8), powers(-2, 1), st.sampled_from([0.0, 1e-15, 1e-10, 1e-7]))
@example(NEAR, 0.3, 0.0)
@example([Block(np.zeros((1, 1)), np.array([6.7e-259]), 1.0)], 1.0, 0.0)
def test_stays_within_tiny_budgets(
    stream: list[Block], bandwidth: float, budget: float
) -> None:
    drive(stream, bandwidth, budget, every=3)


@given(blocks(max_blocks=8), powers(2, 6), powers(-8, 0))
@example(NEAR, 1e6, 1e-6)
def test_stays_within_budget_when_all_atoms_look_alike(
    stream: list[Block], bandwidth: float, budget: float
) -> None:
    drive(stream, bandwidth, budget, every=3)


UNLUCKY = [
    Block(np.array([[0.84375]]), np.array([-1.0]), 1.0),
    Block(np.array([[0.6875], [0.625], [0.65625]]), -np.ones(3), 1.0),
    Block(np.array([[0.78125], [0.609375], [0.796875]]), np.array([-1, 1, -1.0]), 1.0),
    Block(np.array([[0.421875], [0.96875]]), -np.ones(2), 1.0),
]


def test_absorbed_atoms_count_against_the_budget() -> None:
    """Nine atoms within two bandwidths: found by search, then made smaller."""
    drive(UNLUCKY, 0.3523472076526963, 1e-8, every=1)


@pytest.mark.compiled
@pytest.mark.parametrize("bandwidth", [0.1, 0.5])
@pytest.mark.parametrize("budget", [1e-5, 1e-2])
def test_long_streams_stay_within_budget(
    bandwidth: float, budget: float, rng: np.random.Generator
) -> None:
    """Rounding must not pile up: 2000 updates, the oracle at a few of them."""
    holder = Holder(bandwidth, budget, 1)
    for t in range(2000):
        b = 1 + t % 3
        points = rng.uniform(size=(b, 1))
        new = Block(points, 0.1 * rng.normal(size=b), 0.999)
        unprojected = holder.update(new)
        if t % 250 == 249:
            holder.assert_within(unprojected)
    assert holder.m < CAPACITY - 4


@given(blocks(max_blocks=4), powers(-2, 1), powers(-4, 0))
def test_whole_expansions_stay_within_budget(
    stream: list[Block], bandwidth: float, budget: float
) -> None:
    atoms = np.vstack([new.points for new in stream])
    weights = np.concatenate([new.coefficients for new in stream])
    g = compressed(Expansion(Gaussian(bandwidth), atoms, weights), budget)
    distance = distance_between(bandwidth, (atoms, weights), (g.atoms, g.weights))
    slack = ROUNDING * np.abs(weights).sum() + UNDERFLOW
    assert distance <= budget * (1 + 1e-6) + slack
    assert g.order <= len(np.unique(atoms, axis=0))


def test_the_oracle_tells_what_doubles_cannot() -> None:
    """Two atoms 1e-9 apart, of opposite weight: a distance of 1e-9 exactly."""
    atoms = [[0.0], [1e-9]]
    assert exact_distance(1.0, atoms, [1, -1]) == pytest.approx(1e-9, rel=1e-9)
