"""The network of a file in one process: in lockstep by the engine, or free running.

Free running is the same nodes as in the field on a clock of their own, with messages
that are lost and late as asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from random import Random
from typing import Any

import numpy as np

from halk import HALK, Network, NewtonHALK
from halk.agent import LARGEST
from halk.data.lines import Row
from halk.deploy.activation import Activation
from halk.deploy.clocks import Clock
from halk.deploy.conditions import Conditions
from halk.deploy.diary import Score
from halk.deploy.paced import Course, PacedWorld
from halk.deploy.plan import Plan
from halk.net import FreeNode
from halk.net.faults import Delay, Faults, World


@dataclass(frozen=True)
class Outcome:
    """What became of one agent."""

    name: str
    readings: int
    bad_rows: int
    atoms: int
    rmse: float
    recent_rmse: float
    refused: int = 0
    steps: int = 0


def learner_of(plan: Plan) -> HALK | NewtonHALK:
    """Return the learner of the whole network, untaught."""
    if not any(plan.paces):
        return plan.model.learner(plan.network)
    given = [plan.own(i, plan.model.arguments) for i in range(len(plan.names))]
    if plan.model.order == "second":
        noise = [arguments["noise"] for arguments in given]
        return plan.model.learner(plan.network, noise=noise)
    agents: Any = [replace(plan.model, arguments=one).agent(()) for one in given]
    paces = [agent.pace for agent in agents]
    eta, dual, budget = (np.array(column) for column in zip(*paces, strict=True))
    one_way = {"epsilon": budget, "parsimony": None, "alpha": None}
    return plan.model.learner(
        plan.network, step_size=eta, dual_step_size=dual, **one_way
    )


def stream_of(plan: Plan) -> tuple[Any, Any, list[int]]:
    """Return the readings as arrays, step by step, and how many rows were bad."""
    rows = [plan.rows(i) for i in range(len(plan.names))]
    n_steps, p = max(map(len, rows)), len(plan.model.inputs)
    X = np.zeros((n_steps, len(rows), p))
    Y = np.full((n_steps, len(rows)), np.nan)
    bad = [0] * len(rows)
    labels = learner_of(plan).loss.takes_labels
    for i, own in enumerate(rows):
        for t, row in enumerate(own):
            if _is_bad(row, labels):
                bad[i] += 1
            elif row.y is not None:
                X[t, i], Y[t, i] = row.x, row.y
    return X, Y, bad


def _is_bad(row: Row, labels: bool) -> bool:
    """Return whether an agent would not learn from a row, and say so."""
    if row.wrong or row.y is None:
        return bool(row.wrong)
    return abs(row.y) >= LARGEST or (labels and abs(row.y) != 1)


def simulate_lockstep(plan: Plan) -> tuple[HALK | NewtonHALK, list[Outcome]]:
    """Learn all readings, a row of every agent a step; return what came of it."""
    learner, (X, Y, bad) = learner_of(plan), stream_of(plan)
    scores = [Score() for _ in plan.names]
    for piece in learner.dense_pieces(X, Y):
        record = learner.observe(piece)
        triples = zip(piece.agent, record.prediction, piece.y, strict=True)
        for i, prediction, y in triples:
            scores[i].add(float(prediction), float(y))
    orders = learner.model_order.tolist()
    found = [
        _outcome(plan.names[i], score, bad[i], orders[i], steps=len(Y))
        for i, score in enumerate(scores)
    ]
    return learner, found


def simulate_free(plan: Plan, **conditions: Any) -> tuple[World, list[Outcome]]:
    """Let the nodes of the field learn all readings, each at its own pace.

    The rules are those of :class:`halk.deploy.runner.Runner`: replays begin when all
    have met; an agent takes a reading when its clock says so, one without a rate when
    the last is learned.

    Parameters
    ----------
    plan : Plan
    **conditions
        Those of :class:`halk.deploy.conditions.Conditions`: ``drop``, ``delay``,
        ``batches``, ``rate_spread``, ``activation``, ``think``, ``lag``, ``work`` and
        ``seed``; by default as the plan has them.

    Examples
    --------
    >>> simulate_free(plan, activation="poisson", delay="exponential:mean=0.02")
    ... # doctest: +SKIP
    """
    given = plan.simulation.but(**conditions)
    X, Y, bad = stream_of(plan)
    counts = [len(plan.rows(i)) for i in range(len(plan.names))]
    course = Course(X, Y, counts, *_paces(plan, given), given.batches)
    faults = Faults(drop=given.drop, delay=given.delay, until=inf)
    world = PacedWorld(_maker(plan), plan.wait, course, given.seed, faults)
    while not world.is_over:
        world.run(world.now + 1.0)
    slowest = plan.wait + given.delay.mean + given.lag.mean + given.work.mean
    world.run(world.now + 4 * slowest)
    found = []
    for i, node in enumerate(world.living()):
        n = sum(node.refused.values())
        order = node.agent.order
        found.append(_outcome(node.name, world.scores[i], bad[i], order, n, node.step))
    return world, found


def _paces(
    plan: Plan, given: Conditions
) -> tuple[list[Clock], list[Delay], list[Delay], list[Delay], bool]:
    """Return clocks of agents, their thinks, lags and works, and if they tick as one.

    The random numbers of an agent are those of its name: neither its place among the
    others nor what becomes of messages changes its clock.
    """
    rngs = [Random(f"{given.seed} {name}") for name in plan.names]
    factors = [(1 + given.rate_spread) ** rng.uniform(-1, 1) for rng in rngs]
    pauses = [
        None if source.rate is None else factor / source.rate
        for source, factor in zip(plan.sources, factors, strict=True)
    ]
    thinks, lags, works = (
        [one.times(factor) for factor in factors]
        for one in (given.think, given.lag, given.work)
    )
    scheme: Activation | None = given.activation
    if scheme is not None:
        return scheme.clocks(pauses, rngs), thinks, lags, works, not scheme.is_own
    own = zip(plan.sources, pauses, rngs, strict=True)
    clocks = [one.activation.clocks([pause], [rng])[0] for one, pause, rng in own]
    return clocks, thinks, lags, works, False


def _maker(plan: Plan) -> Callable[[int], FreeNode]:
    """Return what makes the node of an agent, untaught."""
    learner, p = learner_of(plan), len(plan.model.inputs)
    options: dict[str, Any] = {"unit": plan.unit, "limits": plan.limits}
    options |= {"retry": plan.retry, "wait": plan.wait}

    def make(i: int) -> FreeNode:
        names = _neighbours(plan.network, i)
        return FreeNode(learner.agent(i, p), plan.names[i], names, **options)

    return make


def _neighbours(network: Network, i: int) -> list[str]:
    mine = network.neighbours[network.indptr[i] : network.indptr[i + 1]]
    return [network.names[j] for j in mine.tolist()]


def _outcome(
    name: str, score: Score, bad: int, atoms: int, refused: int = 0, steps: int = 0
) -> Outcome:
    errors = score.rmse, score.recent_rmse
    return Outcome(name, score.n_readings, bad, atoms, *errors, refused, steps)
