"""Compression against a high-precision oracle: the distance is within the budget."""

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from halk import HALK, Network
from halk.agent import Agent, Query
from halk.function import Function
from halk.kernels import Gaussian
from tests.properties.strategies import Block, blocks, powers

DIGITS, N_QUERIES = 50, 12
ROUNDING = 1e-6
"""Share of the function's size that double precision cannot tell from zero."""

UNDERFLOW = 1e-150
"""Distances below it have squares that are zero."""


def exact_distance(length_scale: float, atoms: Any, z: Any) -> float:
    """Return the norm of ``sum z_k k(d_k, .)``, in fifty digits."""
    with mpmath.workdps(DIGITS):
        points = [[mpmath.mpf(float(v)) for v in row] for row in atoms]
        factor = -1 / (2 * mpmath.mpf(length_scale) ** 2)
        total = mpmath.mpf(0)
        for k, (x, a) in enumerate(zip(points, z, strict=True)):
            total += a * a
            for y, b in zip(points[:k], z[:k], strict=True):
                square = mpmath.fsum((u - v) ** 2 for u, v in zip(x, y, strict=True))
                total += 2 * a * b * mpmath.exp(factor * square)
        return float(mpmath.sqrt(max(total, 0)))


def distance_between(length_scale: float, f: Any, g: Any) -> float:
    """Return the exact distance of two functions, each atoms and weights."""
    atoms = np.vstack([f[0], g[0]])
    z = [mpmath.mpf(float(w)) for w in f[1]] + [-mpmath.mpf(float(w)) for w in g[1]]
    return exact_distance(length_scale, atoms, z)


class Holder:
    """Drives compression as an agent does, and remembers what it was given."""

    def __init__(self, length_scale: float, budget: float, p: int) -> None:
        self.kernel, self.budget, self.p = Gaussian(length_scale), budget, p
        self.agent = self._make(1.0)

    def _make(self, shrink: float) -> Agent:
        star = Network.star(N_QUERIES + 1, tolerance=0.0)
        options = {"step": "plain", "step_size": 1.0, "regularization": 1.0 - shrink}
        made = HALK(star, self.kernel, epsilon=self.budget, **options)
        return made.agent(0, n_features=self.p)

    def function(self) -> tuple[Any, Any]:
        f = self.agent.function
        return f.atoms, f.weights

    @property
    def m(self) -> int:
        return len(self.function()[1])

    def update(self, new: Block) -> tuple[Any, Any]:
        """Take in a block; return the unprojected function."""
        old, w = self.function()
        atoms = np.vstack([old, new.points])
        weights = np.concatenate([new.shrink * w, new.coefficients])
        agent = self._make(new.shrink)
        agent.load_state_dict(self.agent.state_dict())
        # whatever the function predicts, the pulls are these: see S3 to S5
        values = [agent.predict(x) + c for x, c in new.pairs()]
        for j, (x, value) in enumerate(zip(new.points[1:], values[1:], strict=True)):
            agent.answer(j + 1, Query(x, value, 1.0))
        agent.ask(new.points[0], values[0])
        agent.update()
        self.agent = agent
        assert 0 <= self.m <= len(atoms)
        return atoms, weights

    def assert_within(self, unprojected: tuple[Any, Any]) -> None:
        atoms, weights = self.function()
        assert np.isfinite(weights).all()
        known = {row.tobytes() for row in unprojected[0]}
        assert {row.tobytes() for row in atoms} <= known
        assert len({row.tobytes() for row in atoms}) == self.m
        distance = distance_between(
            self.kernel.length_scale, unprojected, (atoms, weights)
        )
        slack = ROUNDING * np.abs(unprojected[1]).sum()
        assert distance <= self.budget * (1 + 1e-6) + slack + UNDERFLOW


def drive(stream: list[Block], length_scale: float, budget: float, every: int) -> None:
    """Run a stream; ask the oracle at every so many steps, and at the last."""
    holder = Holder(length_scale, budget, stream[0].points.shape[1])
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
    stream: list[Block], length_scale: float, budget: float
) -> None:
    drive(stream, length_scale, budget, every=4)


@given(blocks(max_blocks=8), powers(-2, 1), st.sampled_from([0.0, 1e-15, 1e-10, 1e-7]))
@example(NEAR, 0.3, 0.0)
@example([Block(np.zeros((1, 1)), np.array([6.7e-259]), 1.0)], 1.0, 0.0)
def test_stays_within_tiny_budgets(
    stream: list[Block], length_scale: float, budget: float
) -> None:
    drive(stream, length_scale, budget, every=3)


@given(blocks(max_blocks=8), powers(2, 6), powers(-8, 0))
@example(NEAR, 1e6, 1e-6)
def test_stays_within_budget_when_all_atoms_look_alike(
    stream: list[Block], length_scale: float, budget: float
) -> None:
    drive(stream, length_scale, budget, every=3)


UNLUCKY = [
    Block(np.array([[0.84375]]), np.array([-1.0]), 1.0),
    Block(np.array([[0.6875], [0.625], [0.65625]]), -np.ones(3), 1.0),
    Block(np.array([[0.78125], [0.609375], [0.796875]]), np.array([-1, 1, -1.0]), 1.0),
    Block(np.array([[0.421875], [0.96875]]), -np.ones(2), 1.0),
]


def test_absorbed_atoms_count_against_the_budget() -> None:
    """Nine atoms within two length scales: found by search, then made smaller."""
    drive(UNLUCKY, 0.3523472076526963, 1e-8, every=1)


@given(blocks(max_blocks=4), powers(-2, 1), powers(-4, 0))
def test_whole_functions_stay_within_budget(
    stream: list[Block], length_scale: float, budget: float
) -> None:
    atoms = np.vstack([new.points for new in stream])
    weights = np.concatenate([new.coefficients for new in stream])
    g = Function(Gaussian(length_scale), atoms, weights).compress(budget)
    distance = distance_between(length_scale, (atoms, weights), (g.atoms, g.weights))
    slack = ROUNDING * np.abs(weights).sum() + UNDERFLOW
    assert distance <= budget * (1 + 1e-6) + slack
    assert g.order <= len(np.unique(atoms, axis=0))


def test_the_oracle_tells_what_doubles_cannot() -> None:
    """Two atoms 1e-9 apart, of opposite weight: a distance of 1e-9 exactly."""
    atoms = [[0.0], [1e-9]]
    assert exact_distance(1.0, atoms, [1, -1]) == pytest.approx(1e-9, rel=1e-9)
