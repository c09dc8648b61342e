"""The paper's ocean run: fifty sensors, almost all of them neighbours, all steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks.floor import count_terms, floor_of
from benchmarks.plan import Plan
from benchmarks.results import Row
from benchmarks.timing import Job, in_turn, ratio
from halk.experiments.methods import METHODS
from halk.experiments.ocean import Temperature
from halk.experiments.runs import Options
from halk.learners.base import Learner

__all__ = ["ocean"]

_LENGTH = 27
"""Steps after which the orders are looked at, to count the terms."""


class Count(NamedTuple):
    """What a run must evaluate, summed over its steps with the orders it had."""

    terms: float
    products: int
    order: float
    square: float  # mean of the squared orders


def counted(model: Learner, X: Any, Y: Any, length: int = _LENGTH) -> Count:
    """Let a fresh model learn, and count terms and products on the way."""
    terms, orders = 0.0, []
    before = model.model_order
    for t in range(0, len(X), length):
        model.learn_many(X[t : t + length], Y[t : t + length])
        after = model.model_order
        n_steps = len(X[t : t + length])
        terms += n_steps * count_terms(model.network, (before + after) / 2)
        orders.append((before + after) / 2)
        before = after
    seen = np.array(orders)
    return Count(terms, Y.size, float(seen.mean()), float((seen**2).mean()))


def ocean(plan: Plan) -> list[Row]:
    """Return the row of the whole run, set up as the experiment does it."""
    experiment = Temperature(Options())
    setup = experiment.setup(0)
    X, Y, _ = experiment.stream(0)
    what = (
        f"ocean, {experiment.network.n_agents} sensors, degree "
        f"{experiment.network.degree.mean():.0f}, {len(X):,} steps, paper coupling"
    )
    plan.tell(what)
    model: Any = METHODS["halk"].make(setup)
    count = counted(model, X, Y)
    sizes = np.abs(model.model_order - count.order)
    function = model.functions[int(sizes.argmin())]
    floor = floor_of(
        function, X[:, 0], model.network.n_agents, round(count.square**0.5)
    )
    run = Job(lambda fresh: fresh.learn_many(X, Y), lambda: METHODS["halk"].make(setup))
    jobs = [*floor.jobs, run]
    term, product, engine = in_turn(jobs, plan.pick(3, 9), warm_up=False)
    times = floor.times(term, product, count.terms, count.products)
    return [
        Row(
            name="ocean",
            what=what,
            unit="s a run",
            measured=engine.median,
            base=times.median,
            ratio=ratio(engine, times),
            note=f"{count.order:.1f} atoms; {experiment.field.source}",
            details={
                "terms": count.terms,
                "order": count.order,
                "best": engine.best,
                "term": term.median / floor.n_terms * 1e9,
                "product": product.median / floor.n_products * 1e9,
            },
        )
    ]
