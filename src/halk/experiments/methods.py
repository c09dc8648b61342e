"""The methods that the paper's experiments compare, set up as they were there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from halk import features, learners, losses
from halk.bandwidth import LeaveOneOut, LossFollowing
from halk.kernels import Gaussian
from halk.learners import HALK, NewtonHALK
from halk.learners.base import Learner
from halk.network import Network


@dataclass(frozen=True)
class Setup:
    """What all methods of an experiment are given.

    ``low`` and ``high`` bound the inputs, for centres; ``n_centres`` is as many as HALK
    ended with.
    """

    network: Network
    bandwidth: float
    parsimony: float
    low: float
    high: float
    seed: int
    loss: losses.Loss = losses.Squared()  # noqa: RUF009 (immutable)
    step_size: float = 0.01
    regularization: float = 1e-5
    penalty: float = 0.08
    pooled_parsimony: float = 0.001
    n_random: int = 100
    coupling: str = "paper"
    n_centres: int = 0

    @property
    def step(self) -> str:
        """The paper's update has a plain step; the exact one halk's default."""
        return "plain" if self.coupling == "paper" else "normalized"

    def shared(self) -> dict[str, Any]:
        """Return the arguments that every learner takes."""
        return {
            "network": self.network,
            "loss": self.loss,
            "step_size": self.step_size,
            "regularization": self.regularization,
            "step": self.step,
        }

    def bound(self) -> dict[str, Any]:
        """Return the arguments of learners whose neighbours are bound."""
        return self.shared() | {"coupling": self.coupling}

    def priced(self) -> dict[str, Any]:
        """Return the arguments of learners with multipliers."""
        return self.bound() | {"dual_regularization": self.regularization}

    def kernel(self) -> dict[str, Any]:
        """Return the arguments of learners with a dictionary."""
        return {"kernel": Gaussian(self.bandwidth), "parsimony": self.parsimony}


@dataclass(frozen=True)
class Method:
    """A method by its label, its style in figures, and how it is made.

    ``has_coupling``: whether it is run for both couplings. ``counts_centres``: whether
    it needs to know how many atoms HALK ended with. ``reads_one``: whether it gets one
    agent's reading a step, drawn at random, instead of everybody's.
    """

    label: str
    style: str
    make: Callable[[Setup], Learner]
    has_coupling: bool = True
    counts_centres: bool = False
    reads_one: bool = False


def _halk(setup: Setup, **further: Any) -> Learner:
    return HALK(**setup.priced(), **setup.kernel(), **further)


def _newton(setup: Setup) -> Learner:
    return NewtonHALK(setup.network, loss=setup.loss)  # finds its scales


def _finer(setup: Setup) -> Learner:
    return _halk(replace(setup, parsimony=setup.parsimony / 100))


def _penalty(setup: Setup) -> Learner:
    return learners.Penalty(**setup.bound(), **setup.kernel(), penalty=setup.penalty)


def _consensus(setup: Setup) -> Learner:
    return learners.Consensus(**setup.priced(), **setup.kernel())


def _alone(setup: Setup) -> Learner:
    return learners.Alone(**setup.shared(), **setup.kernel())


def _pooled(setup: Setup) -> Learner:
    own = setup.kernel() | {"parsimony": setup.pooled_parsimony}
    return learners.POLK(**setup.shared(), **own)


def _linear(features: Any) -> Callable[[Setup], Learner]:
    return lambda setup: learners.Linear(**setup.priced(), features=features)


def _rbf(setup: Setup) -> Learner:
    return learners.RBFNetwork(
        **setup.priced(),
        length_scale=setup.bandwidth,
        n_centres=setup.n_centres,
        low=setup.low,
        high=setup.high,
        seed=setup.seed,
    )


def _random(setup: Setup) -> dict[str, Any]:
    arguments = setup.shared()
    arguments.pop("step")
    return arguments | {
        "n_frequencies": setup.n_random,
        "length_scale": setup.bandwidth,
        "seed": setup.seed,
    }


def _diffusion(setup: Setup) -> Learner:
    return learners.RFFDiffusion(**_random(setup))


def _admm(setup: Setup) -> Learner:
    return learners.RFFADMM(**_random(setup), threshold=0.1, decay=0.995)


def _filter(setup: Setup) -> Learner:
    return learners.NLMS(setup.network)


METHODS: dict[str, Method] = {
    "halk": Method("HALK", "blue", _halk),
    "halk-fine": Method("HALK, P / 100", "sky", _finer),
    "halk-adaptive": Method(
        "HALK, adaptive bandwidth",
        "vermilion",
        lambda s: _halk(s, adaptation=LeaveOneOut()),
    ),
    "halk-following": Method(
        "HALK, bandwidth follows loss",
        "orange",
        lambda s: _halk(s, adaptation=LossFollowing()),
    ),
    "newton": Method("NewtonHALK", "purple", _newton, has_coupling=False),
    "penalty": Method("Penalty", "green", _penalty),
    "consensus": Method("Consensus", "sky", _consensus),
    "quadratic": Method("Linear, quadratic", "orange", _linear(features.Monomials(2))),
    "cubic": Method("Linear, cubic", "purple", _linear(features.Monomials(3))),
    "sine": Method("Linear, sine", "vermilion", _linear(features.Sine(1.0))),
    "rbf": Method("RBF network", "green", _rbf, counts_centres=True),
    "polk": Method("POLK, pooled", "black", _pooled, has_coupling=False),
    "polk-one": Method(
        "POLK, one reading a step", "brown", _pooled, has_coupling=False, reads_one=True
    ),
    "alone": Method("Alone", "grey", _alone, has_coupling=False),
    "diffusion": Method("RFF diffusion", "brown", _diffusion, has_coupling=False),
    "admm": Method("RFF ADMM, censored", "purple", _admm, has_coupling=False),
    "nlms": Method("Plain linear filter", "grey", _filter, has_coupling=False),
}
