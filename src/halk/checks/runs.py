"""The laws of executors and adaptations: two runs of the same stream, compared."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from halk._validation import Matrix
from halk.agent import Agent, Answer
from halk.bandwidth import Adaptation, Fixed
from halk.checks.law import check_value, law
from halk.checks.learners import Factory, Trial
from halk.function import Function
from halk.kernels import Gaussian, Kernel
from halk.learners import HALK
from halk.network import Network

Executor = Callable[[Sequence[Agent], Any, Matrix], Sequence[Agent]]


def run_agents(agents: Sequence[Agent], X: Any, Y: Matrix) -> Sequence[Agent]:
    """Drive agents through X (T, V, p) and Y (T, V), NaN for no reading; return them.

    All with a reading ask, all asked answer, all update: the plainest executor there
    is, and what a real one must be equal to.
    """
    for x, y in zip(X, Y, strict=True):
        asking = np.flatnonzero(~np.isnan(y)).tolist()
        queries = {i: agents[i].ask(x[i], float(y[i])) for i in asking}
        answers: dict[int, dict[int, Answer]] = {i: {} for i in asking}
        for i, asked in queries.items():
            for j, query in asked.items():
                answer = agents[j].answer(i, query)
                if not np.isnan(answer.value):  # else it does not know its scale yet
                    answers[i][j] = answer
        for i, agent in enumerate(agents):
            came = answers.get(i, {}).items()
            agent.update({j: a for j, a in came if np.isfinite(a.value)})
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
        Takes new agents and a stream as :func:`run_agents` does; returns them after it.
    network, n_features, n_steps, seed : as for :func:`check_learner`
    """
    trial = Trial(factory, network, n_features, n_steps, seed)
    learner, name = trial.train(), "agents do as simulated"
    new = [learner.agent(i) for i in range(trial.V)]
    agents = execute(new, trial.X.copy(), trial.Y.copy())
    law(len(agents) == trial.V, name, learner, f"{len(agents)} agents came back")
    predicted, indptr = trial.predict(learner), trial.network.indptr
    for i, agent in enumerate(agents):
        f, g = learner.function(i), agent.function
        mu = learner.multipliers[indptr[i] : indptr[i + 1]]
        law(g.kernel == f.kernel, name, learner, f"agent {i} alone has another kernel")
        for what, got, expected in (
            ("atoms", g.atoms, f.atoms),
            ("weights", g.weights, f.weights),
            ("multipliers", agent.multipliers, mu),
            ("predictions", [agent.predict(x) for x in trial.probes], predicted[i]),
        ):
            where = f"agent {i} alone has other {what}"
            law(np.array_equal(got, expected), name, learner, where)


def check_adaptation(
    rule: Adaptation, kernel: Kernel | None = None, n_steps: int = 300, seed: int = 0
) -> None:
    """Check that an adaptation changes length scales without harming the function.

    Length scales stay within the rule's bounds, and as they are during the warm-up;
    where one does not change, the step is that of a fixed kernel bit for bit; where one
    does, the function stays where its atoms are, up to a quarter of its size; inputs
    that repeat and inputs far from all others leave everything finite; and it is a
    value (equality, hash, pickle, repr).

    Parameters
    ----------
    rule : Adaptation
    kernel : Kernel of one feature with a length scale, default ``Gaussian(0.2)``
    n_steps, seed : int
        Of the stream: every fifth input repeats, every ninth is far away.
    """
    if not isinstance(rule, Adaptation):
        raise TypeError(f"rule must be an Adaptation, got {rule!r}")
    check_value(rule)
    still: Any = rule
    if not isinstance(rule, Fixed):
        still = replace(still, threshold=1e9)  # which nothing passes
    network, kernel = Network.path(3, tolerance=0.01), kernel or Gaussian(0.2)
    make = partial(HALK, network, kernel, step_size=0.5, epsilon=0.01)
    learner, twin = make(adaptation=rule), make(adaptation=still)
    own = scales = np.array(learner.length_scales)
    low, high = getattr(rule, "narrowest", 1.0), getattr(rule, "widest", 1.0)
    rng = np.random.default_rng(seed)
    for t in range(n_steps):
        x = np.full((3, 1), 0.5) if t % 5 == 4 else rng.uniform(size=(3, 1))
        x += 1e3 * t if t % 9 == 8 else 0.0
        y = np.sin(6.0 * x[:, 0]) + 0.1 * rng.normal(size=3)
        if t > 0:
            twin.load_state_dict(learner.n_steps, 1, learner.state_dict())
        learner.learn_one(x, y)
        twin.learn_one(x, y)
        before, scales = scales, np.array(learner.length_scales)
        within = np.abs(np.clip(scales / own, low, high) - scales / own) <= 1e-12
        law(within, "within bounds", rule, f"step {t}: ", length_scale=scales)
        is_moved, is_warm = scales != before, t >= getattr(rule, "warm_up", 0)
        law(is_warm or not is_moved.any(), "still during warm-up", rule, f"step {t}")
        for i in range(3):
            where, f, g = f"agent {i}, step {t}", learner.function(i), twin.function(i)
            _check_change(rule, f, g, is_moved[i], where)


def _check_change(
    rule: Adaptation, f: Function, g: Function, is_moved: bool, where: str
) -> None:
    """Compare a function with ``g``, the same one at an unchanged length scale."""
    law(np.isfinite(f.weights), "finite weights", rule, where)
    kept, rows = ({row.tobytes() for row in h.atoms} for h in (f, g))
    law(kept <= rows, "atoms are a subset", rule, where)
    is_same = np.array_equal(f.weights, g.weights)
    law(is_same or is_moved, "no change of scale, no change", rule, where)
    values = g(g.atoms)
    apart = np.max(np.abs(f(g.atoms) - values), initial=0.0)
    size = np.max(np.abs(values), initial=0.0)
    where += f": moved by {apart:.3g}, of size {size:.3g}"
    law(apart <= 0.25 * size, "the function stays at its atoms", rule, where)
