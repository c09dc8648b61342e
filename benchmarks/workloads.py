"""Workloads: a network that has learned for a while, to be timed in steady state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.floor import Floor, count_terms, floor_of
from benchmarks.timing import Job, Times, ratio, time_in_turn
from halk import HALK, Network
from halk._validation import Matrix, Vector
from halk.kernels import Gaussian, Kernel

LENGTH_SCALES = {1: 0.026, 2: 0.145, 3: 0.325, 5: 0.75, 8: 1.25}
"""With which functions of so many features end with about thirty atoms."""

SETTINGS = {"step_size": 0.3, "epsilon": 0.03}

NOISE = 0.1


def regular(
    n_agents: int, degree: int = 8, tolerance: float = 0.02, seed: int = 0
) -> Network:
    """Return a random network in which every agent has ``degree`` neighbours.

    Agents in a circle are joined with those at ``degree / 2`` random distances to both
    sides, and then numbered at random: neighbours lie anywhere in the memory.

    Parameters
    ----------
    n_agents : int, above ``degree``
    degree : int, even

    Examples
    --------
    >>> regular(100, 8)
    Network(100 agents, 800 edges)
    """
    if degree % 2 or not 0 <= degree < n_agents:
        raise ValueError(f"degree must be even and below {n_agents}, got {degree}")
    rng = np.random.default_rng(seed)
    below_half = np.arange(1, (n_agents - 1) // 2 + 1)
    distances = rng.choice(below_half, degree // 2, replace=False)
    number = rng.permutation(n_agents)
    pairs = [np.column_stack((number, np.roll(number, -d))) for d in distances]
    return Network(n_agents, np.concatenate(pairs) if pairs else [], tolerance)


class Fields:
    """A wave across the unit cube, shifted a little from agent to agent, with noise.

    Parameters
    ----------
    n_agents, n_features : int
    seed : int
        The same seed gives the same readings, in the same order of calls.
    has_labels : bool
        Readings are the signs -1 and +1 of the wave, for losses that take labels.

    Examples
    --------
    >>> X, Y = Fields(10, 3).draw(5)
    >>> X.shape, Y.shape
    ((5, 10, 3), (5, 10))
    """

    def __init__(
        self, n_agents: int, n_features: int, seed: int = 0, has_labels: bool = False
    ) -> None:
        self._rng = np.random.default_rng(seed)
        self._shape = n_agents, n_features
        self._phase = 0.3 * self._rng.normal(size=n_agents)
        self._start = self._rng.uniform(size=self._shape)
        self._n_even = 0
        self._has_labels = has_labels

    def draw(self, n_steps: int) -> tuple[NDArray[np.float64], Matrix]:
        """Return a reading per agent and step, at uniformly random points."""
        X = self._rng.uniform(size=(n_steps, *self._shape))
        return X, self._targets(X, self._phase)

    def fill(self, n_steps: int) -> tuple[NDArray[np.float64], Matrix]:
        """Return readings that fill the cube evenly, so dictionaries fill at once.

        Every agent goes through an additive sequence from a start of its own.
        """
        t = np.arange(self._n_even, self._n_even + n_steps)
        self._n_even += n_steps
        root, p = 2.0, self._shape[1]  # of x^(p + 1) = x + 1: most even
        for _ in range(60):
            root = (1.0 + root) ** (1.0 / (p + 1))
        X = (self._start + t[:, None, None] * root ** -np.arange(1.0, p + 1)) % 1.0
        return X, self._targets(X, self._phase)

    def draw_single(self, n_readings: int) -> tuple[NDArray[np.int64], Matrix, Vector]:
        """Return readings of agents drawn at random: who, points (n, p), targets."""
        agents = self._rng.integers(self._shape[0], size=n_readings)
        X = self._rng.uniform(size=(n_readings, self._shape[1]))
        return agents, X, self._targets(X, self._phase[agents])

    def _targets(self, X: NDArray[np.float64], phase: Vector) -> NDArray[np.float64]:
        across = (X - 0.5).sum(axis=-1) / np.sqrt(X.shape[-1])
        Y = np.sin(5.0 * across + phase)
        Y = Y + NOISE * self._rng.normal(size=Y.shape)
        return np.where(Y < 0, -1.0, 1.0) if self._has_labels else Y


@dataclass(frozen=True)
class Workload:
    """A network and how it learns.

    ``order`` is the number of atoms per agent that the length scale is chosen for.
    """

    n_agents: int
    degree: int = 8
    n_features: int = 1
    order: int = 30
    coupling: str = "paper"

    @property
    def kernel(self) -> Kernel:
        """A kernel as narrow as so many atoms need it."""
        narrower = (30 / self.order) ** (1 / self.n_features)
        return Gaussian(LENGTH_SCALES[self.n_features] * narrower)

    def start(self, n_even: int = 48, n_drawn: int = 300, **changes: Any) -> Running:
        """Return the workload after so many steps: even ones first, then random.

        ``changes`` are other arguments of HALK.
        """
        usual: dict[str, Any] = {"kernel": self.kernel, "coupling": self.coupling}
        network = regular(self.n_agents, self.degree)
        model = HALK(network, **(usual | SETTINGS | changes))
        fields = Fields(self.n_agents, self.n_features, 0, model.loss.takes_labels)
        # a few steps at a time, so that the stream takes no room
        length = max(1, 1_000_000 // self.n_agents)
        parts: list[tuple[Callable[[int], Any], int]]
        parts = [(fields.fill, n_even), (fields.draw, n_drawn)]
        for draw, n_steps in parts:
            for t in range(0, n_steps, length):
                model.learn_many(*draw(min(length, n_steps - t)))
        return Running(model, fields)


@dataclass(frozen=True)
class Running:
    """A model in the middle of its stream."""

    model: Any  # HALK or NewtonHALK
    fields: Fields

    def job(self, n_steps: int) -> Job:
        """Return the job of the next steps; every time it runs, they are new ones.

        A step before the clock starts, as products get a round: what ran in between
        has emptied the caches.
        """

        def prepare() -> Any:
            self.model.learn_many(*self.fields.draw(1))
            return self.fields.draw(n_steps)

        return Job(lambda block: self.model.learn_many(*block), prepare)

    @property
    def order(self) -> float:
        """Mean number of atoms per agent."""
        return float(self.model.model_order.mean())

    def floor(self, is_native: bool = False) -> Floor:
        """Return the floor, of a function as large as the mean."""
        orders, X = self.model.model_order, self.fields.draw(1)[0][0]
        typical = int(np.abs(orders - orders.mean()).argmin())
        V = self.model.network.n_agents
        return floor_of(self.model.function(typical), X, V, is_native=is_native)

    def time_one_reading(
        self, job: Job, n_readings: int, repeats: int
    ) -> tuple[Times, Times]:
        """Return times per reading of a job, and of its floor.

        An agent with a reading evaluates its own atoms and its neighbours'; all of them
        move.
        """
        floor, network = self.floor(), self.model.network
        term, product, times = time_in_turn([*floor.jobs, job], repeats)
        share = 1 / network.n_agents
        terms = share * count_terms(network, self.model.model_order)
        base = floor.times(term, product, terms, 1 + share * network.n_edges)
        return times.scale(1 / n_readings), base

    def compare_with_floor(self, n_steps: int, repeats: int) -> Against:
        """Time blocks of steps and both floors in turn, per agent and step."""
        network, floors = self.model.network, [self.floor(), self.floor(True)]
        before = self.model.model_order
        jobs = [*floors[0].jobs, *floors[1].jobs, self.job(n_steps)]
        term, product, *more, engine = time_in_turn(jobs, repeats)
        orders: Vector = (before + self.model.model_order) / 2
        V, terms = network.n_agents, count_terms(network, orders)
        return Against(
            engine.scale(1 / (n_steps * V)),
            floors[0].times(term, product, terms, V).scale(1 / V),
            floors[1].times(more[0], more[1], terms, V).scale(1 / V),
            float(orders.mean()),
            term.median / floors[0].n_terms,
            product.median / floors[0].n_products,
        )


@dataclass(frozen=True)
class Against:
    """An agent's step by the engine and its floors, in seconds, and the atoms it had.

    ``native`` is the floor with all that the machine has; ``term`` and ``product`` are
    what the other is made of, in seconds each.
    """

    engine: Times
    floor: Times
    native: Times
    order: float
    term: float
    product: float

    @property
    def ratio(self) -> float:
        """How many times the floor the engine takes."""
        return ratio(self.engine, self.floor)

    @property
    def is_about_30(self) -> bool:
        """Whether the agents have as many atoms as the rows are about."""
        return 27.0 <= self.order <= 33.0
