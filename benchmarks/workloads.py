"""Workloads: a network that has learned for a while, to be timed in steady state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.fields import Fields
from benchmarks.floor import Floor, count_terms, floor_of
from benchmarks.networks import regular
from benchmarks.timing import Job, Times, in_turn, ratio
from halk import HALK, Network
from halk._validation import Vector
from halk.kernels import Gaussian, Kernel

__all__ = [
    "ABOUT_30",
    "Against",
    "Running",
    "Workload",
    "against_floor",
    "one_reading",
]

BANDWIDTHS = {1: 0.026, 2: 0.145, 3: 0.325, 5: 0.75, 8: 1.25}
"""With which functions of so many features end with about thirty atoms."""

ABOUT_30 = (27.0, 33.0)

SETTINGS = {"step_size": 0.3, "epsilon": 0.03}


@dataclass(frozen=True)
class Workload:
    """A network and how it learns.

    ``order`` is the number of atoms an agent that the bandwidth is chosen for.
    """

    n_agents: int
    degree: int = 8
    n_features: int = 1
    order: int = 30
    coupling: str = "paper"

    @property
    def network(self) -> Network:
        """The network, the same one each time."""
        return regular(self.n_agents, self.degree)

    @property
    def kernel(self) -> Kernel:
        """A kernel as narrow as so many atoms need it."""
        narrower = (30 / self.order) ** (1 / self.n_features)
        return Gaussian(BANDWIDTHS[self.n_features] * narrower)

    def model(self, **changes: Any) -> HALK:
        """Return an untaught model; ``changes`` are other arguments of HALK."""
        usual: dict[str, Any] = {"kernel": self.kernel, "coupling": self.coupling}
        return HALK(self.network, **(usual | SETTINGS | changes))

    def started(self, n_even: int = 48, n_drawn: int = 300, **changes: Any) -> Running:
        """Return the workload after so many steps: even ones first, then random."""
        model = self.model(**changes)
        fields = Fields(self.n_agents, self.n_features, 0, model.loss.takes_labels)
        running = Running(model, fields)
        running.warm_up(n_even, n_drawn)
        return running


@dataclass(frozen=True)
class Running:
    """A model in the middle of its stream."""

    model: HALK
    fields: Fields

    def warm_up(self, n_even: int, n_drawn: int) -> None:
        """Learn, a few steps at a time, so that the stream takes no room."""
        length = max(1, 1_000_000 // self.model.network.n_agents)
        for draw, n_steps in ((self.fields.even, n_even), (self.fields.drawn, n_drawn)):
            for t in range(0, n_steps, length):
                self.model.learn_many(*draw(min(length, n_steps - t)))

    def job(self, n_steps: int) -> Job:
        """Return the job of the next steps; every time it runs, they are new ones.

        A step before the clock starts, as products get a round: what ran in between
        has emptied the caches.
        """

        def prepare() -> Any:
            self.model.learn_many(*self.fields.drawn(1))
            return self.fields.drawn(n_steps)

        return Job(lambda block: self.model.learn_many(*block), prepare)

    @property
    def order(self) -> float:
        """Mean number of atoms an agent."""
        return float(self.model.model_order.mean())

    def floor(self) -> Floor:
        """Return the floor, of a function as large as the mean."""
        return floor_at(self.model, self.fields.drawn(1)[0][0])


def floor_at(model: HALK, X: Any) -> Floor:
    """Return the floor of a model, at points like ``X`` (n, p)."""
    orders = model.model_order
    typical = int(np.abs(orders - orders.mean()).argmin())
    return floor_of(model.functions[typical], X, model.network.n_agents)


def one_reading(running: Running, floor: Floor, term: Times, product: Times) -> Times:
    """Return the floor of a step in which one agent has a reading, on average.

    It evaluates its own atoms and its neighbours'; all of them move.
    """
    network = running.model.network
    share = 1 / network.n_agents
    terms = share * count_terms(network, running.model.model_order)
    return floor.times(term, product, terms, 1 + share * network.n_edges)


@dataclass(frozen=True)
class Against:
    """An agent-step of the engine and its floor, in seconds, and the atoms it had.

    ``term`` and ``product`` are what the floor is made of, in seconds each.
    """

    engine: Times
    floor: Times
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
        return ABOUT_30[0] <= self.order <= ABOUT_30[1]


def against_floor(running: Running, n_steps: int, repeats: int) -> Against:
    """Time blocks of steps and the floor in turn, an agent-step each."""
    network, floor = running.model.network, running.floor()
    before = running.model.model_order
    term, product, engine = in_turn([*floor.jobs, running.job(n_steps)], repeats)
    orders: Vector = (before + running.model.model_order) / 2
    terms, products = count_terms(network, orders), network.n_agents
    times = floor.times(term, product, terms, products).scaled(1 / network.n_agents)
    engine = engine.scaled(1 / (n_steps * network.n_agents))
    each = term.median / floor.n_terms, product.median / floor.n_products
    return Against(engine, times, float(orders.mean()), *each)
