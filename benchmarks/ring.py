"""Second order on a ring with known truth: ``python -m benchmarks.ring``.

Twelve agents in a ring, each with four neighbours. Their fields are a common one plus
``difference`` times one of their own that is smooth round the ring. Each agent gets a
hundred readings with a noise of 0.2, nine in ten of them in a window of its own. The
tolerance of an edge is what it truly takes. Errors are those against the truth, over
the whole domain, each reading learned once.

Learners find their length scale, noise and unit themselves, but for those that are
given the ones that the ring was drawn with.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from halk import HALK, Network, NewtonHALK
from halk._validation import Matrix
from halk.kernels import Gaussian

V, SCALE, NOISE = 12, 0.12, 0.2
DIFFERENCES = 0.0, 0.1, 0.3, 1.0, 3.0
GRID = np.linspace(0.0, 1.0, 201)
PAIRS = [(i, (i + k) % V) for i in range(V) for k in (1, 2)]


class Ring(NamedTuple):
    """The truth on the grid (V, 201), the network, and a stream of readings."""

    truth: Matrix
    network: Network
    X: Any  # (T, V, 1)
    Y: Matrix
    std: float  # of the fields, before they were drawn

    def error(self, model: Any) -> float:
        """Return the root mean square error of a model, over agents and grid."""
        found = [model.predict(i, GRID[:, None]) for i in range(V)]
        return float(np.sqrt(np.mean((np.array(found) - self.truth) ** 2)))


def make_ring(difference: float, seed: int, n_steps: int = 100) -> Ring:
    """Return a ring, the same for the same seed."""
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * np.arange(V) / V
    round_the_ring = np.exp(-2 * np.sin((angle[:, None] - angle) / 2) ** 2)
    along = Gaussian(SCALE)(GRID[:, None]) + 1e-9 * np.eye(len(GRID))
    sample = np.linalg.cholesky(along) @ rng.normal(size=(len(GRID), V + 1))
    own = np.linalg.cholesky(round_the_ring + 1e-9 * np.eye(V)) @ sample[:, 1:].T
    truth = sample[:, 0] + difference * own
    first = rng.uniform(0.0, 0.7, size=V)
    window = first + 0.3 * rng.uniform(size=(n_steps, V))
    anywhere = rng.uniform(size=(n_steps, V))
    X = np.where(rng.uniform(size=(n_steps, V)) < 0.9, window, anywhere)
    Y = np.stack([np.interp(X[:, i], GRID, truth[i]) for i in range(V)], axis=1)
    Y += NOISE * rng.normal(size=Y.shape)
    share = np.full((V, len(GRID)), 0.1 / len(GRID))
    within = (first[:, None] <= GRID) & (first[:, None] + 0.3 >= GRID)
    share += 0.9 * within / within.sum(axis=1, keepdims=True)
    network = Network(V, PAIRS)
    i, j = network.edges.T  # the tolerance is an average over what i reads
    gaps = 0.5 * (share[i] * (truth[i] - truth[j]) ** 2).sum(axis=1)
    std = float(np.hypot(1.0, difference))
    return Ring(truth, replace(network, tolerance=gaps), X[..., None], Y, std)


def given(ring: Ring) -> dict[str, Any]:
    """Return the numbers that the ring was drawn with."""
    noise = (NOISE / ring.std) ** 2
    return {"length_scale": SCALE, "noise": noise, "standardize": (0.0, ring.std)}


def learn(ring: Ring, network: Network | None = None, **settings: Any) -> NewtonHALK:
    """Return second-order agents that have learned all readings once."""
    model = NewtonHALK(network or ring.network, **settings)
    model.learn_many(ring.X, ring.Y)
    return model


def learn_first(ring: Ring, n_passes: int = 1) -> HALK:
    """Return first-order agents after so many passes over the readings."""
    settings: dict[str, Any] = {"step_size": 0.3, "epsilon": 0.02}
    model = HALK(ring.network, Gaussian(SCALE), dual_step_size=0.03, **settings)
    for _ in range(n_passes):
        model.learn_many(ring.X, ring.Y)
    return model


class Pooled:
    """One second-order agent that learns everybody's readings."""

    def __init__(self, ring: Ring, **settings: Any) -> None:
        self.model = NewtonHALK(Network(1), max_atoms=100, **settings)
        self.model.learn_many(ring.X.reshape(-1, 1, 1), ring.Y.reshape(-1, 1))

    def predict(self, agent: int, X: Any) -> Any:
        """Return the same for all agents."""
        del agent
        return self.model.predict(0, X)


METHODS: dict[str, Callable[[Ring], Any]] = {
    "together": learn,
    "together, readings": lambda r: learn(r, exchange="readings"),
    "... with identity 0.1": lambda r: learn(r, exchange="readings", identity=0.1),
    "... with identity 1": lambda r: learn(r, exchange="readings", identity=1.0),
    "alone": lambda r: learn(r, Network(V)),
    "pooled": Pooled,
    "together, given numbers": lambda r: learn(r, **given(r)),
    "alone, given numbers": lambda r: learn(r, Network(V), **given(r)),
    "pooled, given numbers": lambda r: Pooled(r, **given(r)),
    "first order, one pass": learn_first,
    "first order, 20 passes": lambda r: learn_first(r, 20),
}


def measure(difference: float, seeds: range) -> dict[str, float]:
    """Return the mean error of every method."""
    rings = [make_ring(difference, seed) for seed in seeds]
    return {
        name: float(np.mean([ring.error(method(ring)) for ring in rings]))
        for name, method in METHODS.items()
    }


def cover(name: str, difference: float, seeds: range) -> float:
    """Return the share of the truth within the 90 % intervals of a method."""
    inside = []
    for seed in seeds:
        ring = make_ring(difference, seed)
        model: NewtonHALK = METHODS[name](ring)
        for i in range(V):
            mean, std = model.predict(i, GRID[:, None], return_std=True)
            noise = float(np.mean(model.noise_)) * model.target[i, 4] ** 2
            width = 1.645 * np.sqrt(np.maximum(std**2 - noise, 0.0))
            inside.append(np.abs(mean - ring.truth[i]) <= width)
    return float(np.mean(inside))


def main() -> None:
    """Print errors and intervals."""
    from rich import print as show
    from rich.table import Table

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=6, help="how many")
    parser.add_argument("--first", type=int, default=100, help="the first of them")
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    columns = [measure(difference, seeds) for difference in DIFFERENCES]
    table = Table("difference", *map(str, DIFFERENCES), title="error")
    for name in METHODS:
        table.add_row(name, *(f"{column[name]:.3f}" for column in columns))
    show(table)
    table = Table("difference", *map(str, DIFFERENCES), title="90 % intervals cover")
    for name in list(METHODS)[:5]:
        shares = [cover(name, difference, seeds) for difference in DIFFERENCES]
        table.add_row(name, *(f"{share:.2f}" for share in shares))
    show(table)


if __name__ == "__main__":
    main()
