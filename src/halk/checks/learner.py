"""The laws of learners."""

import copy
import pickle
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from halk.checks.law import law, law_everywhere
from halk.checks.trial import Factory, Trial, trial
from halk.network import Network

_TOLERANCE = 1e-7
"""How far rounding may take two runs apart that sum in another order: inverse Gram
matrices magnify it up to a thousand million times."""


def check_learner(
    factory: Factory,
    network: Network | None = None,
    n_features: int = 1,
    n_steps: int = 40,
    seed: int = 0,
    skip: Collection[str] = (),
) -> None:
    """Check that a learner keeps the promises that every learner of halk makes.

    Parameters
    ----------
    factory : callable
        Takes a network, returns a learner that has learned nothing. It is asked for
        learners of other networks too (relabelled, without edges, of one agent), so
        it treats all agents alike.
    network : Network, optional
        By default five agents, one of them without neighbours.
    n_features, n_steps : int
        Of the random stream; a share of its readings is missing.
    seed : int
    skip : names of laws
        Out of ``LEARNER_LAWS``: a learner opts out by name only.
    """
    unknown = sorted(set(skip) - set(LEARNER_LAWS))
    if unknown:
        listed = ", ".join(LEARNER_LAWS)
        raise ValueError(f"skip must hold names out of {listed}, got {unknown[0]!r}")
    case = trial(factory, network, n_features, n_steps, seed)
    for name, check in LEARNER_LAWS.items():
        if name not in skip:
            check(case, name)


def _predicts_at_any_time(case: Trial, name: str) -> None:
    V, n = case.network.n_agents, len(case.probes)
    for learner in (case.fresh(), case.trained()):
        one, many = learner.predict_one(case.X[0]), learner.predict(0, case.probes)
        shapes = (np.shape(one), np.shape(many))
        law(shapes == ((V,), (n,)), name, learner, f"predictions have shapes {shapes}")
        for values in (one, many):
            law_everywhere(np.isfinite(values), name, learner, prediction=values)
        own = [learner.predict(i, case.X[0, [i]])[0] for i in range(V)]
        is_same = np.array_equal(one, own)
        law(is_same, name, learner, "predict_one differs from predict")


def _leaves_inputs_alone(case: Trial, name: str) -> None:
    X, Y, probes = case.X.copy(), case.Y.copy(), case.probes.copy()
    learner = case.fresh()
    learner.learn_one(X[0], Y[0])
    learner.learn_many(X[1:], Y[1:])
    learner.predict_one(X[0])
    learner.predict(0, probes)
    for what, now, before in (
        ("inputs X", X, case.X), ("targets Y", Y, case.Y),
        ("points of predict", probes, case.probes),
    ):  # fmt: skip
        equal = np.array_equal(now, before, equal_nan=True)
        law(equal, name, learner, f"the {what} were modified")


def _keeps_no_views(case: Trial, name: str) -> None:
    learner, twin = case.fresh(), case.fresh()
    for x, y in zip(case.X[:5].copy(), case.Y[:5].copy(), strict=True):
        twin.learn_one(x.copy(), y.copy())
        learner.learn_one(x, y)
        x[:], y[:] = 77.0, -55.0
    many = case.X[5:10].copy(), case.Y[5:10].copy()
    case.train(twin, slice(5, 10))
    learner.learn_many(*many)
    many[0][:], many[1][:] = 77.0, -55.0
    case.same(learner, twin, name, "inputs were changed after learning")
    for array in (
        learner.predict_one(case.X[0]),
        getattr(learner, "multipliers", None),
    ):
        if array is not None:
            array[:] = 99.0
    case.same(learner, twin, name, "results were changed by the caller")


def _learns_many_as_one_by_one(case: Trial, name: str) -> None:
    learner = case.fresh()
    for x, y in zip(case.X.copy(), case.Y.copy(), strict=True):
        learner.learn_one(x, y)
    case.same(learner, case.trained(), name, "learn_one in a loop, and learn_many")
    what = f"n_steps is {learner.n_steps} after {len(case.X)} steps"
    law(learner.n_steps == len(case.X), name, learner, what)


def _ignores_labels(case: Trial, name: str) -> None:
    V = case.network.n_agents
    order = np.roll(np.arange(V)[::-1], 2)
    other = case.factory(case.network.relabelled(order.tolist()))
    got = case.state(case.train(other, agents=order))["predictions"]
    learner = case.trained()
    expected = case.state(learner)["predictions"][order]
    near = np.abs(got - expected) <= _TOLERANCE * (1.0 + np.abs(expected))
    agent = np.arange(V)[:, None]
    law_everywhere(near, name, learner, got=got, expected=expected, agent=agent)


def _learns_alone_without_edges(case: Trial, name: str) -> None:
    learner = case.train(case.factory(Network(case.network.n_agents)))
    for i, seen in enumerate(case.state(learner)["predictions"]):
        alone = case.train(case.factory(Network(1)), agents=[i])
        expected = case.state(alone)["predictions"][0]
        what = f"agent {i} without neighbours differs from a network of itself"
        law(np.array_equal(seen, expected), name, learner, what)


def _touches_only_who_is_concerned(case: Trial, name: str) -> None:
    learner, network = case.trained(), case.network
    before = case.state(learner)
    for i in range(network.n_agents):
        edges = slice(network.indptr[i], network.indptr[i + 1])
        concerned = {i, *network.neighbours[edges].tolist()}
        alone = np.where(np.arange(network.n_agents) == i, 1.0, np.nan)
        learner.learn_one(case.X[0].copy(), alone)
        after = case.state(learner)
        for j in set(range(network.n_agents)) - concerned:
            equal = np.array_equal(after["predictions"][j], before["predictions"][j])
            what = f"a reading of agent {i} changed agent {j}, no neighbour"
            law(equal, name, learner, what)
        if "multipliers" in after:
            moved = after["multipliers"] != before["multipliers"]
            moved[edges] = False
            what = f"a reading of agent {i} changed another agent's multipliers"
            law(not moved.any(), name, learner, what)
        before = after


def _copies_alike(
    case: Trial, name: str, clone: Callable[[Any], Any] = copy.deepcopy
) -> None:
    how = getattr(clone, "__name__", "copy")
    half = len(case.X) // 2
    for learner in (case.fresh(), case.train(case.fresh(), slice(half))):
        before = case.state(learner)
        try:
            twin = clone(learner)
        except Exception as error:
            law(False, name, learner, f"{how} raised {type(error).__name__}: {error}")
        case.same(twin, learner, name, how)
        case.train(twin, slice(half, None))
        case.same(learner, before, name, f"{how}: learning changed the original")
        case.train(learner, slice(half, None))
        case.same(twin, learner, name, f"{how}: learning went on differently")
        what = f"{how}: n_steps {twin.n_steps} and {learner.n_steps}"
        law(twin.n_steps == learner.n_steps, name, learner, what)


def _pickles(case: Trial, name: str) -> None:
    def pickled(learner: Any) -> Any:
        return pickle.loads(pickle.dumps(learner))

    _copies_alike(case, name, pickled)


def _multipliers_are_prices(case: Trial, name: str) -> None:
    learner = case.fresh()
    for x, y in zip(case.X.copy(), case.Y.copy(), strict=True):
        learner.learn_one(x, y)
        mu = getattr(learner, "multipliers", np.zeros(0))
        law_everywhere(mu >= 0, name, learner, multiplier=mu, edge=np.arange(len(mu)))


def _skips_empty_steps(case: Trial, name: str) -> None:
    learner = case.trained()
    before, n_steps = case.state(learner), learner.n_steps
    V = case.network.n_agents
    learner.learn_one(np.full_like(case.X[0], np.nan), np.full(V, np.nan))
    case.same(learner, before, name, "a step without readings")
    what = f"n_steps went from {n_steps} to {learner.n_steps}"
    law(learner.n_steps == n_steps + 1, name, learner, what)


def _refuses_wrong_shapes(case: Trial, name: str) -> None:
    learner = case.trained()
    before, x, y = case.state(learner), case.X[0], case.Y[0]
    wider = np.concatenate([x, x], axis=1)
    calls: tuple[tuple[str, Any], ...] = (
        ("x of one more agent", lambda: learner.learn_one(np.vstack([x, x[:1]]), y)),
        ("y of one more agent", lambda: learner.learn_one(x, np.append(y, 0.0))),
        ("twice the features", lambda: learner.learn_one(wider, y)),
        ("flat x", lambda: learner.learn_one(x.ravel(), y)),
        ("one step for learn_many", lambda: learner.learn_many(x, y)),
        ("flat X of predict", lambda: learner.predict(0, case.probes.ravel())),
        ("no such agent", lambda: learner.predict(len(y), case.probes)),
        ("wide x of predict_one", lambda: learner.predict_one(wider)),
    )
    for what, call in calls:
        _check_refusal(learner, name, what, call)
    case.same(learner, before, name, "a refused call changed the learner")


def _check_refusal(learner: Any, name: str, what: str, call: Callable[[], Any]) -> None:
    try:
        call()
    except ValueError as error:
        law(" must " in str(error), name, learner, f"{what}: unclear error {error}")
    except Exception as error:
        law(False, name, learner, f"{what}: {type(error).__name__}, not a ValueError")
    else:
        law(False, name, learner, f"{what}: no error")


LEARNER_LAWS: dict[str, Callable[[Trial, str], None]] = {
    "predicts at any time": _predicts_at_any_time,
    "leaves inputs alone": _leaves_inputs_alone,
    "keeps no views": _keeps_no_views,
    "learns many as one by one": _learns_many_as_one_by_one,
    "ignores labels": _ignores_labels,
    "learns alone without edges": _learns_alone_without_edges,
    "touches only who is concerned": _touches_only_who_is_concerned,
    "copies are independent": _copies_alike,
    "pickles": _pickles,
    "multipliers are prices": _multipliers_are_prices,
    "skips empty steps": _skips_empty_steps,
    "refuses wrong shapes": _refuses_wrong_shapes,
}
"""Every law by name, in the order in which they are tried."""
