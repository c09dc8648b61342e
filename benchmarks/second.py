"""Rows about the second-order step, against the floor of its arithmetic.

With d neighbours an agent makes 2 + d observations, of two products and a rank-one
update each, two more products per answer, and kernel rows for its own point and those
of its neighbours.
"""

from __future__ import annotations

import numpy as np

from benchmarks.floor import floor_of, update_job
from benchmarks.results import Plan, Row
from benchmarks.timing import Job, time_in_turn
from benchmarks.workloads import Fields, Running, regular
from halk import Network, NewtonHALK
from halk.kernels import Gaussian

LENGTH_SCALES = {15: 2.1, 30: 1.2, 60: 0.76, 100: 0.56}
"""With which three features need about so many atoms."""

DEGREES = 0, 4


def second(plan: Plan) -> list[Row]:
    """Return a row per size of the network, atoms and degree."""
    return [
        _measure(plan, V, M, d)
        for V in plan.pick([50], [50, 1000])
        for M in LENGTH_SCALES
        for d in DEGREES
    ]


def _measure(plan: Plan, V: int, M: int, d: int) -> Row:
    what = f"V = {V:,}, degree {d}, about {M} atoms, p = 3"
    plan.tell(f"second order, {what}")
    model = NewtonHALK(
        regular(V, d, tolerance=0.001) if d else Network(V), Gaussian(LENGTH_SCALES[M]),
        noise=0.01, max_atoms=1000, standardize=False,
    )  # fmt: skip
    running = Running(model, Fields(V, 3))
    for _ in range(12):  # until hardly anything new is seen
        model.learn_many(*running.fields.draw(50_000 // V))
    order = round(running.order)
    n_steps = max(2, 5_000_000 // (V * (1 + d) * order**2))
    update, n_updates = update_job(2 * V, order)
    floor = floor_of(model.function(0), np.zeros((1, 3)), 2 * V, order)
    jobs: list[Job] = [*floor.jobs, update, running.job(n_steps)]
    term, product, rank_one, engine = time_in_turn(jobs, plan.pick(5, 11))
    n_products, terms = 2 * (2 + d) + 2 * d, (1 + d) * running.order
    base = floor.times(term, product, terms, n_products).add(
        rank_one.scale((2 + d) / n_updates)
    )
    large = "-large" if V > 50 else ""
    return Row.compare(
        f"second{large}-d{d}-m{M}", what, "us per agent and step",
        engine.scale(1 / (n_steps * V)), base,
        note=f"{running.order:.1f} atoms; multipliers {model.multipliers.mean():.2f}"
        if d else f"{running.order:.1f} atoms",
        details={"order": running.order},
    )  # fmt: skip
