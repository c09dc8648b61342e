"""The law of executors: whoever carries the messages, agents do as simulated."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from halk._validation import Matrix
from halk.agent import Agent, Answer
from halk.checks.law import law
from halk.checks.trial import Factory, trial
from halk.network import Network

Executor = Callable[[Sequence[Agent], Any, Matrix], Sequence[Agent]]


def run_agents(agents: Sequence[Agent], X: Any, Y: Matrix) -> Sequence[Agent]:
    """Drive agents through a stream (T, V, p), (T, V) by hand; return them.

    Everybody who has a reading asks, everybody asked answers, everybody updates: the
    plainest executor there is, and what a real one must be equal to.
    """
    for x, y in zip(X, Y, strict=True):
        asking = np.flatnonzero(~np.isnan(y)).tolist()
        queries = {i: agents[i].ask(x[i], float(y[i])) for i in asking}
        answers: dict[int, dict[int, Answer]] = {i: {} for i in range(len(agents))}
        for i, asked in queries.items():
            for j, query in asked.items():
                answers[i][j] = agents[j].answer(i, query)
        for i, agent in enumerate(agents):
            agent.update(answers[i])
    return agents


def check_executor(
    factory: Factory,
    execute: Executor = run_agents,
    network: Network | None = None,
    n_features: int = 1,
    n_steps: int = 60,
    seed: int = 0,
) -> None:
    """Check that agents driven by ``execute`` do as in the simulator, bit for bit.

    Parameters
    ----------
    factory : callable
        Takes a network, returns a learner that hands out its agents.
    execute : callable
        Takes untaught agents and a stream ``X`` (T, V, p), ``Y`` (T, V) with NaN for
        missing readings; returns the agents after it.
    network, n_features, n_steps, seed
        As for :func:`check_learner`.
    """
    case = trial(factory, network, n_features, n_steps, seed)
    learner = case.trained()
    untaught = [learner.agent(i) for i in range(case.network.n_agents)]
    agents = execute(untaught, case.X.copy(), case.Y.copy())
    for i, agent in enumerate(agents):
        edges = slice(case.network.indptr[i], case.network.indptr[i + 1])
        f, g = learner.function(i), agent.function
        mu = learner.multipliers[edges]
        points = zip(case.probes, learner.predict(i, case.probes), strict=True)
        for what, equal in (
            ("kernel", g.kernel == f.kernel),
            ("atoms", np.array_equal(g.atoms, f.atoms)),
            ("weights", np.array_equal(g.weights, f.weights)),
            ("multipliers", np.array_equal(agent.multipliers, mu)),
            ("predictions", all(agent.predict(x) == value for x, value in points)),
        ):
            name = "agents do as simulated"
            law(equal, name, learner, f"agent {i} alone has other {what}")
