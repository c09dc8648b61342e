"""Rows about the second-order step, against the floor of its arithmetic.

An observation takes two products and a rank-one update of S; an agent with d neighbours
makes one of its reading, one of the answers if there are any, and one per query. Every
answer takes two products more, and there are kernel rows for the agent's own point and
those of its neighbours. What is shared between them is not: the floor of d = 4 has 20
products.

Rows with ``cap`` are of dictionaries that are full, and readings that are all new to
them. Every atom taken in takes a rank-one update of Q and, since another must go, a
second one; S gets and loses a row, which is no arithmetic. Which goes is seen from the
weights, another product per step. Moving rows together, looking for the cheapest atom
and watching the drift of Q are the engine's own.
"""

from __future__ import annotations

from time import process_time

import numpy as np

from benchmarks.floor import floor_of, update_job
from benchmarks.results import Plan, Row
from benchmarks.timing import Job, time_in_turn
from benchmarks.workloads import Fields, Running, regular
from halk import Network, NewtonHALK
from halk.kernels import Gaussian

LENGTH_SCALES = {15: 2.1, 30: 1.2, 60: 0.76, 100: 0.56}
"""With which three features need about so many atoms."""

AT_CAP = 0.4
"""A length scale this much shorter makes readings new to as many atoms."""

DEGREES = 0, 4
NOVELTY = 1e-4


def second(plan: Plan) -> list[Row]:
    """Return a row per size of the network, kind of dictionary, atoms and degree."""
    return [
        _measure(plan, V, M, d, is_full)
        for V in plan.pick([50], [50, 1000])
        for is_full in (False, True)
        for M in LENGTH_SCALES
        for d in DEGREES
    ]


def _measure(plan: Plan, V: int, M: int, d: int, is_full: bool) -> Row:
    size = f"{M} atoms, full" if is_full else f"about {M} atoms"
    what = f"V = {V:,}, degree {d}, {size}, p = 3"
    plan.tell(f"second order, {what}")
    model = NewtonHALK(
        regular(V, d, tolerance=0.001) if d else Network(V),
        Gaussian(LENGTH_SCALES[M] * (AT_CAP if is_full else 1.0)), noise=0.01,
        novelty=NOVELTY, max_atoms=M if is_full else 1000, standardize=False,
    )  # fmt: skip
    running = Running(model, Fields(V, 3))
    for _ in range(1 if is_full else 12):  # until hardly anything new is seen
        model.learn_many(*running.fields.draw(50_000 // V))
    order = round(running.order)
    n_steps = max(2, 5_000_000 // (V * (1 + d) * order**2))
    update, n_updates = update_job(2 * V, order)
    floor = floor_of(model.function(0), np.zeros((1, 3)), 2 * V, order)
    jobs: list[Job] = [*floor.jobs, update, running.job(n_steps)]
    repeats = plan.pick(5, 11)
    times = time_in_turn(jobs, repeats, clock=process_time)  # of one thread each
    term, product, rank_one, engine = times
    n_seen, terms = 1 + d + (d > 0), (1 + d) * running.order
    taken_in = (1 + d) * _new_share(running) if is_full else 0.0
    base = floor.times(term, product, terms, 2 * (n_seen + d) + is_full).add(
        rank_one.scale((n_seen + 2 * taken_in) / n_updates)
    )
    notes = [f"{running.order:.1f} atoms"]
    notes += [f"multipliers {model.multipliers.mean():.2f}"] if d else []
    notes += [f"{taken_in:.1f} in and out per step"] if is_full else []
    kind = ("-large" if V > 50 else "") + ("-cap" if is_full else "")
    return Row.compare(
        f"second{kind}-d{d}-m{M}", what, "us per agent and step",
        engine.scale(1 / (n_steps * V)), base, note="; ".join(notes),
        details={"order": running.order, "taken_in": taken_in},
    )  # fmt: skip


def _new_share(running: Running) -> float:
    """Return how many readings in one are new to the atoms of whoever gets them."""
    X = running.fields.draw(8)[0]
    is_new = []
    for i in range(min(running.model.network.n_agents, 50)):
        function = running.model.function(i)
        K, k = (function.kernel(function.atoms, Z) for Z in (function.atoms, X[:, i]))
        is_new.append(1.0 - (k * np.linalg.solve(K, k)).sum(axis=0) > NOVELTY)
    return float(np.mean(is_new))
