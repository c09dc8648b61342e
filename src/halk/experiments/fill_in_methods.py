"""The methods of the fill-in, and what is searched over for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halk import features, learners
from halk.bandwidth import LeaveOneOut, LossFollowing
from halk.kernels import Gaussian
from halk.learners import HALK, NewtonHALK
from halk.learners.base import Learner
from halk.network import Network

Choice = dict[str, float]
"""Hyper-parameters by name."""

Draw = Callable[[np.random.Generator], float]


def between(low: float, high: float) -> Draw:
    """Return a draw, uniform on a logarithmic scale, to three digits."""
    a, b = np.log(low), np.log(high)
    return lambda rng: float(f"{np.exp(rng.uniform(a, b)):.3g}")


def one_of(*values: float) -> Draw:
    """Return a draw of one of some values."""
    return lambda rng: float(rng.choice(values))


INPUTS: dict[str, Draw] = {
    "is_log": one_of(0.0, 1.0),  # depth itself, or its logarithm
    "vertical": between(0.3, 3.0),  # length scale of depth, in the input's unit
    "horizontal": between(2.0, 12.0),  # length scale of latitude and longitude, degrees
}
"""What every method searches: how depth enters, and the length scales of the inputs."""

HALF_DEPTH, HALF_WIDTH = 1.8, 8.0
"""Half the range of depth (in km, or of its logarithm) and of positions (degrees)."""

STEP: dict[str, Draw] = {"step_size": one_of(0.3, 1.0, 3.0, 10.0)}
ATOMS: dict[str, Draw] = {"epsilon": between(1e-3, 1e-2)}
PRICES: dict[str, Draw] = {
    "dual_step_size": between(1e-5, 1e-2),
    "tolerance": between(1e-3, 1e-1),
}


@dataclass(frozen=True)
class Entry:
    """A method of the fill-in: its label, its search, and how it is made.

    ``is_one_pass``: whether every reading is learned once, by sensors that talk to
    their nearest ones, instead of drawing readings at random.
    """

    label: str
    search: dict[str, Draw]
    make: Callable[[Network, Choice, int], Learner]
    is_one_pass: bool = False

    def drawn(self, rng: np.random.Generator) -> Choice:
        """Return hyper-parameters at random."""
        return {name: draw(rng) for name, draw in (INPUTS | self.search).items()}


def _dictionary(choice: Choice) -> dict[str, Any]:
    # length scales are in the inputs already: every feature has length scale 1
    return {
        "kernel": Gaussian(1.0),
        "step_size": choice["step_size"],
        "epsilon": choice["epsilon"],
    }


def _tolerant(network: Network, choice: Choice) -> Network:
    """Return the network with one tolerance for all edges, in squares of the spread."""
    tolerance = np.full(network.n_edges, choice["tolerance"])
    return replace(network, tolerance=tolerance)


def _halk(coupling: str, **further: Any) -> Callable[[Network, Choice, int], Learner]:
    def make(network: Network, choice: Choice, seed: int) -> Learner:
        return HALK(
            _tolerant(network, choice),
            **_dictionary(choice),
            dual_step_size=choice["dual_step_size"],
            coupling=coupling,
            **further,
        )

    return make


def _newton(network: Network, choice: Choice, seed: int) -> Learner:
    return NewtonHALK(
        _tolerant(network, choice),
        length_scale=choice.get("length_scale", "auto"),
        noise=choice.get("noise", "auto"),
        standardize=False,
    )


def _newton_alone(network: Network, choice: Choice, seed: int) -> Learner:
    return _newton(Network(network.n_agents), choice | {"tolerance": 0.0}, seed)


def _penalty(network: Network, choice: Choice, seed: int) -> Learner:
    price = choice["penalty"]
    own = _dictionary(choice) | {"coupling": "exact"}
    return learners.Penalty(network, penalty=price, **own)


def _consensus(network: Network, choice: Choice, seed: int) -> Learner:
    dual = choice["dual_step_size"]
    return learners.Consensus(network, dual_step_size=dual, **_dictionary(choice))


def _alone(network: Network, choice: Choice, seed: int) -> Learner:
    return learners.Alone(network, **_dictionary(choice))


def _pooled(network: Network, choice: Choice, seed: int) -> Learner:
    return learners.POLK(network, **_dictionary(choice))


def _linear(basis: Any) -> Callable[[Network, Choice, int], Learner]:
    def make(network: Network, choice: Choice, seed: int) -> Learner:
        return learners.Linear(
            _tolerant(network, choice),
            features=basis,
            step_size=choice["step_size"],
            dual_step_size=choice["dual_step_size"],
        )

    return make


def _rbf(network: Network, choice: Choice, seed: int) -> Learner:
    up, flat = HALF_DEPTH / choice["vertical"], HALF_WIDTH / choice["horizontal"]
    high = np.array([up, flat, flat])
    return learners.RBFNetwork(
        _tolerant(network, choice),
        n_centres=int(choice["n_centres"]),
        low=-high,
        high=high,
        seed=seed,
        step_size=choice["step_size"],
        dual_step_size=choice["dual_step_size"],
    )


def _diffusion(network: Network, choice: Choice, seed: int) -> Learner:
    n, eta = int(choice["n_frequencies"]), choice["step_size"]
    return learners.RFFDiffusion(network, n_frequencies=n, step_size=eta, seed=seed)


def _admm(network: Network, choice: Choice, seed: int) -> Learner:
    return learners.RFFADMM(
        network,
        n_frequencies=int(choice["n_frequencies"]),
        step_size=choice["step_size"],
        penalty=choice["penalty"],
        threshold=choice["threshold"],
        seed=seed,
    )


def _nlms(network: Network, choice: Choice, seed: int) -> Learner:
    return learners.NLMS(network, step_size=choice["step_size"])


_KERNEL = STEP | ATOMS
_NOISE = {"length_scale": one_of(1.0), "noise": between(1e-4, 1e-1)}
_FOUND = {"vertical": one_of(1.0), "horizontal": one_of(1.0)}  # by the learner itself
_TOLERANCE = {"tolerance": PRICES["tolerance"]}
_LINEAR = STEP | PRICES
_RANDOM = STEP | {"n_frequencies": one_of(50.0, 100.0, 200.0)}

ENTRIES: dict[str, Entry] = {
    "newton": Entry("NewtonHALK, one pass", _NOISE | _TOLERANCE, _newton, True),
    "newton-auto": Entry(
        "NewtonHALK, one pass, finds its scales", _FOUND | _TOLERANCE, _newton, True
    ),
    "newton-alone": Entry("NewtonHALK, one pass, alone", _NOISE, _newton_alone, True),
    "halk-exact": Entry("HALK, exact coupling", _KERNEL | PRICES, _halk("exact")),
    "halk-adaptive": Entry(
        "HALK, exact, adaptive bandwidth",
        _KERNEL | PRICES,
        _halk("exact", adaptation=LeaveOneOut()),
    ),
    "halk-following": Entry(
        "HALK, exact, bandwidth follows loss",
        _KERNEL | PRICES,
        _halk("exact", adaptation=LossFollowing()),
    ),
    "halk-once": Entry("HALK, exact, one pass", _KERNEL | PRICES, _halk("exact"), True),
    "halk-paper": Entry("HALK, paper's coupling", _KERNEL | PRICES, _halk("paper")),
    "penalty": Entry("Penalty", _KERNEL | {"penalty": between(1e-4, 1e-1)}, _penalty),
    "consensus": Entry(
        "Consensus", _KERNEL | {"dual_step_size": between(1e-5, 1e-2)}, _consensus
    ),
    "polk": Entry("POLK, pooled", _KERNEL, _pooled),
    "alone": Entry("Sensors alone", _KERNEL, _alone),
    "quadratic": Entry("Linear, quadratic", _LINEAR, _linear(features.Monomials(2))),
    "cubic": Entry("Linear, cubic", _LINEAR, _linear(features.Monomials(3))),
    "sine": Entry("Linear, sine", _LINEAR, _linear(features.Sine(1.0))),
    "rbf": Entry(
        "RBF network",
        _LINEAR | {"n_centres": one_of(50.0, 100.0, 200.0)},
        _rbf,
    ),
    "diffusion": Entry("RFF diffusion", _RANDOM, _diffusion),
    "admm": Entry(
        "RFF ADMM, censored",
        _RANDOM | {"penalty": between(1e-3, 1.0), "threshold": one_of(0.0, 0.01, 0.1)},
        _admm,
    ),
    "nlms": Entry(
        "Plain linear filter", {"step_size": one_of(0.01, 0.03, 0.1, 0.3)}, _nlms
    ),
}

BATCH = {
    "gp-alone": "Batch GP, each sensor alone",
    "gp-pooled": "Batch GP, all data in one place",
}
"""What all readings at once would come to; not learned online."""

LABELS = {key: entry.label for key, entry in ENTRIES.items()} | BATCH
