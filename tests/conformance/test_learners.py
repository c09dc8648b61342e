"""Learners, executors and adaptations through their laws."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from halk import (
    HALK,
    Network,
    bandwidth,
    checks,
    features,
    kernels,
    learners,
    losses,
    proximity,
)
from halk.agent import Agent
from halk.bandwidth import Adaptation, LeaveOneOut
from halk.component import subclasses
from halk.errors import LawError

NARROW_KERNEL = {"kernel": kernels.Gaussian(0.3)}
NARROW = partial(HALK, **NARROW_KERNEL)
ROUGH = partial(
    HALK,
    kernel=kernels.Matern32(0.3),
    loss=losses.Huber(0.5),
    proximity=proximity.Absolute(),
)
LEAVE_ONE_OUT = LeaveOneOut(rate=0.5, warm_up=5, threshold=0.01)
PARSIMONY = partial(NARROW, parsimony=2.0, step_size=0.3)
BASELINES: dict[str, dict[str, Any]] = {
    "HALK": {},
    "NewtonHALK": {"length_scale": 0.3, "noise": 0.01, "standardize": False},
    "Penalty": NARROW_KERNEL | {"penalty": 0.5, "coupling": "exact"},
    "Consensus": NARROW_KERNEL,
    "Alone": NARROW_KERNEL | {"standardize": True},
    "POLK": NARROW_KERNEL,
    "Linear": {"features": features.Monomials(3), "norm_bound": 1.0},
    "RBFNetwork": {"length_scale": 0.3, "n_centres": 8, "low": [0.0]},
    "RFFDiffusion": {"n_frequencies": 20, "length_scale": 0.3},
    "RFFADMM": {"n_frequencies": 20, "length_scale": 0.3, "threshold": 0.3},
    "NLMS": {},
}
FACTORIES: dict[str, Any] = {
    **{name: partial(getattr(learners, name), **BASELINES[name]) for name in BASELINES},
    "narrow": NARROW,
    "paper": partial(NARROW, coupling="paper", step="plain"),
    "standardized": partial(NARROW, standardize=True),
    "leave-one-out": partial(NARROW, adaptation=LEAVE_ONE_OUT),
    "parsimony": PARSIMONY,
    "slow prices, bounded": partial(NARROW, dual_step_size=0.01, norm_bound=0.5),
    "rough": ROUGH,
}
OPTS_OUT = {
    "NewtonHALK": {
        "ignores labels": "queries of a step count in the order of neighbours",
    },
    "POLK": {
        "ignores labels": "within a step readings count in the order of agents",
        "learns alone without edges": "everybody's readings teach the one model",
        "touches only who is concerned": "all predict with the same function",
    },
}
BASES = {"Learner", "KernelLearner", "DictionaryLearner", "FeatureLearner"}


def check_one(factory: Any, name: str, **options: Any) -> None:
    others = set(checks.LEARNER_LAWS) - {name}
    checks.check_learner(factory, skip=others, **options)


@pytest.mark.parametrize("name", checks.LEARNER_LAWS)
@pytest.mark.parametrize("learner", FACTORIES)
def test_laws(learner: str, name: str) -> None:
    if name in OPTS_OUT.get(learner, {}):  # who opts out would fail
        with pytest.raises(LawError, match=name):
            check_one(FACTORIES[learner], name)
    else:
        check_one(FACTORIES[learner], name)


@pytest.mark.parametrize("learner", FACTORIES)
def test_laws_on_other_networks(learner: str) -> None:
    skip, factory = OPTS_OUT.get(learner, {}), FACTORIES[learner]
    checks.check_learner(factory, network=Network(1), skip=skip)
    if learner == "RBFNetwork":
        factory = partial(factory, low=[0.0, 0.0])
    star = Network.star(4, tolerance=0.1)
    checks.check_learner(factory, network=star, n_features=2, seed=1, skip=skip)


def test_every_learner_is_on_trial() -> None:
    found = subclasses(learners.Learner)
    public = {cls.__name__ for cls in found if cls.__module__.startswith("halk.")}
    assert public == set(BASELINES) | BASES - {"Learner"}
    assert public | {"Learner"} == set(learners.__all__)


LABELLED: dict[str, Any] = {
    # few atoms, far apart: rounding is not magnified by what they have in common
    "parsimony": PARSIMONY,
    "rough": partial(ROUGH, epsilon=0.05),
    "paper": partial(NARROW, coupling="paper", epsilon=0.05),
}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("learner", LABELLED)
def test_labels_do_not_matter_whatever_the_stream(learner: str, seed: int) -> None:
    check_one(LABELLED[learner], "ignores labels", seed=seed)


def test_functions_can_be_looked_at() -> None:
    learner = NARROW(Network.path(3))
    learner.learn_one([[0.0], [0.5], [1.0]], [1.0, 2.0, np.nan])
    assert [f.order for f in learner.functions] == learner.model_order.tolist()
    assert len(learner.functions) == 3
    with pytest.raises(IndexError):
        learner.functions[3]


def test_unknown_law_cannot_be_skipped() -> None:
    with pytest.raises(ValueError, match=r"skip must hold names out of .*, got 'luck'"):
        checks.check_learner(HALK, skip=["luck"])


# Broken learners ----------------------------------------------------------------------


class _Greedy(HALK):
    """Writes into its inputs."""

    def learn_one(self, x: Any, y: Any) -> None:
        super().learn_one(x, y)
        x *= 0.5


class _Clinging(HALK):
    """Learns with one step of delay, from views of what it was given."""

    last: Any = None

    def learn_one(self, x: Any, y: Any) -> None:
        if self.last is not None:
            super().learn_one(*self.last)
        self.last = x, y


class _Hasty(HALK):
    """Leaves out the last of many steps."""

    def learn_many(self, X: Any, Y: Any) -> None:
        super().learn_many(X[:-1], Y[:-1])


class _Miscounting(HALK):
    def learn_one(self, x: Any, y: Any) -> None:
        super().learn_one(x, y)
        self.n_steps += 1


class _Shy(HALK):
    """Has no predictions before it has learned."""

    def predict_one(self, x: Any) -> Any:
        return super().predict_one(x) + (np.nan if self.n_steps == 0 else 0.0)


class _Partial(HALK):
    """Has a favourite: the first agent's predictions count double."""

    def predict(self, agent: Any, X: Any) -> Any:
        return super().predict(agent, X) * (2.0 if agent == 0 else 1.0)


class _Gossiping(HALK):
    """Adds a common offset from everybody's readings."""

    heard = 0.0

    def learn_many(self, X: Any, Y: Any) -> None:
        super().learn_many(X, Y)
        self.heard += float(np.nansum(Y))

    def learn_one(self, x: Any, y: Any) -> None:
        super().learn_one(x, y)
        self.heard += float(np.nansum(y))

    def predict(self, agent: Any, X: Any) -> Any:
        return super().predict(agent, X) + self.heard


class _Selfish(HALK):
    def __deepcopy__(self, memo: Any) -> Any:
        return self


class _Forgetful(HALK):
    def __reduce__(self) -> Any:
        return type(self), (self.network,)


class _Generous(HALK):
    @property
    def multipliers(self) -> Any:
        return super().multipliers - 1e-9


class _Busy(HALK):
    """Does something in steps without readings."""

    idle = 0.0

    def learn_one(self, x: Any, y: Any) -> None:
        super().learn_one(x, y)
        self.idle += bool(np.isnan(y).all())

    def predict(self, agent: Any, X: Any) -> Any:
        return super().predict(agent, X) + self.idle


class _Lenient(HALK):
    """Takes what comes, of any shape."""

    def learn_one(self, x: Any, y: Any) -> None:
        V = self.network.n_agents
        super().learn_one(np.reshape(x, (-1, 1))[:V], y[:V])


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (_Shy, "predicts at any time"),
        (_Greedy, "leaves inputs alone"),
        (_Clinging, "keeps no views"),
        (_Hasty, "learns many as one by one"),
        (_Miscounting, "learns many as one by one"),
        (_Partial, "ignores labels"),
        (_Partial, "learns alone without edges"),
        (_Gossiping, "learns alone without edges"),
        (_Gossiping, "touches only who is concerned"),
        (_Selfish, "copies are independent"),
        (_Forgetful, "pickles"),
        (_Generous, "multipliers are not negative"),
        (_Busy, "skips empty steps"),
        (_Lenient, "refuses wrong shapes"),
    ],
)
def test_checks_find_broken_learners(learner: Any, name: str) -> None:
    factory = partial(learner, kernel=kernels.Gaussian(0.3))
    with pytest.raises(LawError, match=f"breaks a law, {name}: ") as caught:
        check_one(factory, name)
    assert f"{learner.__name__}(" in str(caught.value)
    assert "raised" not in str(caught.value)


# Executors ----------------------------------------------------------------------------


WITH_AGENTS = {"Penalty", "Consensus", "Alone", *set(FACTORIES) - set(BASELINES)}


@pytest.mark.parametrize("learner", sorted(WITH_AGENTS))
def test_agents_do_as_simulated(learner: str) -> None:
    checks.check_executor(FACTORIES[learner])
    checks.check_executor(FACTORIES[learner], network=Network(1), n_features=2)


def test_the_one_model_of_polk_has_no_agents() -> None:
    with pytest.raises(TypeError, match="POLK must be run as a whole"):
        learners.POLK(Network(2)).agent(0, n_features=1)


@pytest.mark.parametrize("exchange", ["predictions", "readings"])
@pytest.mark.parametrize("standardize", [False, "offset", True])
def test_agents_of_second_order_do_as_simulated(standardize: Any, exchange: str):
    factory = partial(
        learners.NewtonHALK, length_scale=0.3, noise=0.02, standardize=standardize,
        exchange=exchange, identity=0.2,
    )  # fmt: skip
    checks.check_executor(factory, n_features=2)


def _lossy(agents: Sequence[Agent], X: Any, Y: Any) -> Sequence[Agent]:
    """Lose all messages."""
    for x, y in zip(X, Y, strict=True):
        for i, agent in enumerate(agents):
            if not np.isnan(y[i]):
                agent.ask(x[i], y[i])
            agent.update()
    return agents


def _impatient(agents: Sequence[Agent], X: Any, Y: Any) -> Sequence[Agent]:
    """Let agents update one after the other, the later ones with newer answers."""
    for x, y in zip(X, Y, strict=True):
        for i, agent in enumerate(agents):
            if not np.isnan(y[i]):
                queries = agent.ask(x[i], y[i]).items()
                agent.update({j: agents[j].answer(i, query) for j, query in queries})
        for i in np.flatnonzero(np.isnan(y)):
            agents[i].update()
    return agents


@pytest.mark.parametrize("execute", [_lossy, _impatient])
def test_checks_find_broken_executors(execute: Any) -> None:
    with pytest.raises(LawError, match="agents do as simulated: agent 0 alone"):
        checks.check_executor(NARROW, execute)


# Adaptations --------------------------------------------------------------------------

ADAPTATIONS = [rule for cls in subclasses(Adaptation) for rule in cls.examples()]


@pytest.mark.parametrize("rule", ADAPTATIONS, ids=lambda rule: type(rule).__name__)
def test_laws_of_adaptations(rule: Adaptation) -> None:
    checks.check_adaptation(rule)


@pytest.mark.parametrize("kernel", [kernels.Matern52(0.3), kernels.Periodic(1.0, 2.0)])
@pytest.mark.parametrize(
    "rule",
    [LeaveOneOut(0.5, 5, 0.5, 1.5, 0.01), bandwidth.LossFollowing(0.5, 5, 0.5, 1.5)],
    ids=lambda rule: type(rule).__name__,
)
def test_laws_of_hasty_adaptations(rule: Adaptation, kernel: Any) -> None:
    checks.check_adaptation(rule, kernel, seed=1)


def test_checks_find_broken_adaptations() -> None:
    rule = LeaveOneOut(1.0, smoothing=9.0)
    with pytest.raises(LawError, match="the function stays at its atoms: agent"):
        checks.check_adaptation(rule)
