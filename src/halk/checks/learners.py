"""The laws of learners, and what they are tried on."""

import copy
import pickle
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

import numpy as np

from halk.checks.law import law
from halk.network import Network

_TOLERANCE = 1e-7
"""How far rounding may take two runs apart that sum in another order: inverse Gram
matrices magnify it up to 1e9 times."""

Factory = Callable[[Network], Any]
Claims = Iterator[tuple[Any, str]]
"""Whether each part of a law holds, and what to say if not."""


class Trial:
    """What the laws are tried on: a network, a stream with gaps, and probes."""

    def __init__(
        self, factory: Factory, network: Network | None, p: int, n_steps: int, seed: int
    ) -> None:
        network = network or Network(5, [(0, 1), (1, 2), (2, 3), (0, 2)], 0.01)
        self.factory, self.network, self.V = factory, network, network.n_agents
        rng = np.random.default_rng(seed)
        self.X = rng.uniform(size=(n_steps, self.V, p))
        noise = 0.1 * rng.normal(size=(n_steps, self.V))
        self.Y = np.sin(6.0 * self.X[..., 0]) + 0.1 * np.arange(self.V) + noise
        if getattr(getattr(self.make(), "loss", None), "takes_labels", False):
            self.Y = np.where(self.Y > 0, 1.0, -1.0)
        self.Y[rng.uniform(size=self.Y.shape) < 0.3] = np.nan
        self.Y[n_steps // 2] = np.nan
        self.probes = rng.uniform(size=(11, p))

    def make(self) -> Any:
        """Return a learner that has learned nothing."""
        return self.factory(self.network)

    def teach(self, learner: Any, steps: Any = ..., agents: Any = ...) -> None:
        """Let a learner learn steps of the stream, of some agents."""
        X, Y = self.X[steps], self.Y[steps]
        learner.learn_many(X[:, agents].copy(), Y[:, agents].copy())

    def train(self, network: Network | None = None, **part: Any) -> Any:
        """Return a learner, of another network if given, that learned the stream."""
        learner = self.factory(network or self.network)
        self.teach(learner, **part)
        return learner

    def predict(self, learner: Any) -> Any:
        """Return all agents' predictions at the probes, (V, n)."""
        agents = range(learner.network.n_agents)
        return np.array([learner.predict(i, self.probes.copy()) for i in agents])

    def state(self, learner: Any) -> dict[str, Any]:
        """Return what can be seen of a learner from outside."""
        names = ("n_steps", "multipliers", "model_order", "length_scales")
        seen = {name: getattr(learner, name, None) for name in names}
        seen["predictions"] = self.predict(learner)
        return {name: np.array(v) for name, v in seen.items() if v is not None}

    def compare(self, learner: Any, expected: dict[str, Any], where: str) -> Claims:
        """Claim that a learner is in the expected state, bit for bit."""
        for name, value in self.state(learner).items():
            is_alike = value.shape == expected[name].shape
            apart = np.abs(value - expected[name]) if is_alike else np.array(np.inf)
            is_same = not apart.any()
            yield is_same, f"{where}: {name} differ by up to {apart.max(initial=0):.3g}"


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
        learners of other networks too (relabelled, without edges, of one agent).
    network : Network, by default of five agents, one of them without neighbours
    n_features, n_steps, seed : int
        Of the random stream; a share of its readings is missing.
    skip : names of laws
        Out of ``LEARNER_LAWS``: a learner opts out by name only.
    """
    unknown = sorted(set(skip) - set(LEARNER_LAWS))
    if unknown:
        listed = ", ".join(LEARNER_LAWS)
        raise ValueError(f"skip must hold names out of {listed}, got {unknown[0]!r}")
    trial = Trial(factory, network, n_features, n_steps, seed)
    for name, claims in LEARNER_LAWS.items():
        for holds, where in claims(trial) if name not in skip else ():
            law(holds, name, trial.make(), where)


def _predicts_at_any_time(trial: Trial) -> Claims:
    for learner in (trial.make(), trial.train()):
        one, many = learner.predict_one(trial.X[0]), learner.predict(0, trial.probes)
        shapes = (np.shape(one), np.shape(many))
        is_right = shapes == ((trial.V,), (len(trial.probes),))
        yield is_right, f"predictions have shapes {shapes}"
        yield np.isfinite([*one, *many]).all(), f"it predicts {one} and {many}"
        own = [learner.predict(i, trial.X[0, [i]])[0] for i in range(trial.V)]
        yield np.array_equal(one, own), "predict_one differs from predict"


def _leaves_inputs_alone(trial: Trial) -> Claims:
    X, Y, probes = trial.X.copy(), trial.Y.copy(), trial.probes.copy()
    learner = trial.make()
    learner.learn_one(X[0], Y[0])
    learner.learn_many(X[1:], Y[1:])
    learner.predict_one(X[0])
    learner.predict(0, probes)
    for name, now in {"X": X, "Y": Y, "probes": probes}.items():
        is_same = np.array_equal(now, getattr(trial, name), equal_nan=True)
        yield is_same, f"{name} were modified"


def _keeps_no_views(trial: Trial) -> Claims:
    learner, twin = trial.make(), trial.make()
    for part in (0, 1, 2, slice(3, 10)):
        X, Y = trial.X[part].copy(), trial.Y[part].copy()
        learn = "learn_one" if isinstance(part, int) else "learn_many"
        getattr(twin, learn)(X.copy(), Y.copy())
        getattr(learner, learn)(X, Y)
        X[:], Y[:] = 77.0, -55.0
    expected = trial.state(twin)
    yield from trial.compare(learner, expected, "inputs were changed after learning")
    learner.predict_one(trial.X[0])[:] = 99.0
    getattr(learner, "multipliers", np.zeros(0))[:] = 99.0
    yield from trial.compare(learner, expected, "results were changed by the caller")


def _learns_many_as_one_by_one(trial: Trial) -> Claims:
    learner = trial.make()
    for x, y in zip(trial.X.copy(), trial.Y.copy(), strict=True):
        learner.learn_one(x, y)
    expected = trial.state(trial.train()) | {"n_steps": np.array(len(trial.X))}
    yield from trial.compare(learner, expected, "learn_one in a loop, and learn_many")


def _ignores_labels(trial: Trial) -> Claims:
    order = np.roll(np.arange(trial.V)[::-1], 2)
    other = trial.train(trial.network.relabel(order.tolist()), agents=order)
    pairs = zip(trial.predict(other), trial.predict(trial.train())[order], strict=True)
    for i, (got, expected) in enumerate(pairs):
        near = np.abs(got - expected) <= _TOLERANCE * (1.0 + np.abs(expected))
        yield near.all(), f"agent {i} predicts {got}, not {expected}"


def _learns_alone_without_edges(trial: Trial) -> Claims:
    together = trial.predict(trial.train(Network(trial.V)))
    for i in range(trial.V):
        alone = trial.predict(trial.train(Network(1), agents=[i]))[0]
        where = f"agent {i} without neighbours differs from a network of itself"
        yield np.array_equal(together[i], alone), where


def _touches_only_who_is_concerned(trial: Trial) -> Claims:
    learner, network = trial.train(), trial.network
    for i in range(trial.V):
        before, reading = trial.state(learner), np.full(trial.V, np.nan)
        reading[i] = 1.0
        learner.learn_one(trial.X[0].copy(), reading)
        after = trial.state(learner)
        edges = slice(network.indptr[i], network.indptr[i + 1])
        moved = np.any(after["predictions"] != before["predictions"], axis=1)
        moved[[i, *network.neighbours[edges]]] = False
        where = f"a reading of agent {i} changed agents {np.flatnonzero(moved)}"
        yield not moved.any(), f"{where}, no neighbours"
        if "multipliers" in after:
            moved = after["multipliers"] != before["multipliers"]
            moved[edges] = False
            where = f"a reading of agent {i} changed another agent's multipliers"
            yield not moved.any(), where


def _copies_alike(trial: Trial, clone: Callable[[Any], Any] = copy.deepcopy) -> Claims:
    half = len(trial.X) // 2
    for learner in (trial.make(), trial.train(steps=slice(half))):
        before = trial.state(learner)
        try:
            twin = clone(learner)
        except Exception as error:
            yield False, f"copying raised {type(error).__name__}: {error}"
        yield from trial.compare(twin, before, "a copy")
        trial.teach(twin, slice(half, None))
        yield from trial.compare(learner, before, "the original when the copy learned")
        trial.teach(learner, slice(half, None))
        expected = trial.state(learner)
        yield from trial.compare(twin, expected, "the copy after learning as much")


def _keeps_multipliers_nonnegative(trial: Trial) -> Claims:
    learner = trial.make()
    for x, y in zip(trial.X.copy(), trial.Y.copy(), strict=True):
        learner.learn_one(x, y)
        mu = getattr(learner, "multipliers", np.zeros(0))
        yield (mu >= 0).all(), f"multipliers are {mu}"


def _skips_empty_steps(trial: Trial) -> Claims:
    learner = trial.train()
    expected = trial.state(learner) | {"n_steps": np.array(learner.n_steps + 1)}
    learner.learn_one(np.full_like(trial.X[0], np.nan), np.full(trial.V, np.nan))
    yield from trial.compare(learner, expected, "a step without readings")


def _refuses_wrong_shapes(trial: Trial) -> Claims:
    learner = trial.train()
    before, x, y = trial.state(learner), trial.X[0], trial.Y[0]
    wider, points = np.concatenate([x, x], axis=1), trial.probes
    calls: dict[str, tuple[Any, ...]] = {
        "x of one more agent": (learner.learn_one, np.vstack([x, x[:1]]), y),
        "y of one more agent": (learner.learn_one, x, np.append(y, 0.0)),
        "twice the features": (learner.learn_one, wider, y),
        "flat x": (learner.learn_one, x.ravel(), y),
        "one step for learn_many": (learner.learn_many, x, y),
        "flat X of predict": (learner.predict, 0, points.ravel()),
        "no such agent": (learner.predict, trial.V, points),
        "wide x of predict_one": (learner.predict_one, wider),
    }
    for what, (call, *arguments) in calls.items():
        error: Exception | None = None
        try:
            call(*arguments)
        except Exception as caught:
            error = caught
        is_clear = isinstance(error, ValueError) and " must " in str(error)
        yield is_clear, f"{what}: no ValueError of what must be, but {error!r}"
    yield from trial.compare(learner, before, "a refused call")


LEARNER_LAWS: dict[str, Callable[[Trial], Claims]] = {
    "predicts at any time": _predicts_at_any_time,
    "leaves inputs alone": _leaves_inputs_alone,
    "keeps no views": _keeps_no_views,
    "learns many as one by one": _learns_many_as_one_by_one,
    "ignores labels": _ignores_labels,
    "learns alone without edges": _learns_alone_without_edges,
    "touches only who is concerned": _touches_only_who_is_concerned,
    "copies are independent": _copies_alike,
    "pickles": partial(_copies_alike, clone=lambda x: pickle.loads(pickle.dumps(x))),
    "multipliers are not negative": _keeps_multipliers_nonnegative,
    "skips empty steps": _skips_empty_steps,
    "refuses wrong shapes": _refuses_wrong_shapes,
}
"""Every law by name, in the order in which they are tried."""
