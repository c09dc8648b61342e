"""The table ``[model]``: what an agent learns with, with the defaults of ``HALK``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from halk import HALK, Network, bandwidth, kernels, losses, proximity
from halk.agent import Agent
from halk.deploy.keys import ConfigError, Keys
from halk.deploy.named import named

PACES = ("step_size", "dual_step_size", "epsilon", "parsimony", "alpha")
"""What agents of one network may have different."""

_FAMILIES: dict[str, tuple[type[Any], tuple[Any, ...]]] = {
    # kernels of kernels and functions of one's own cannot be written in a file
    "kernel": (
        kernels.Kernel,
        (kernels.Labelled, kernels.Sum, kernels.Product, kernels.Custom),
    ),
    "loss": (losses.Loss, ()),
    "proximity": (proximity.Proximity, ()),
    "adaptation": (bandwidth.Adaptation, ()),
}
_PLAIN = tuple(
    name
    for name in inspect.signature(HALK).parameters
    if name not in ("network", "n_jobs", *_FAMILIES)
)


@dataclass(frozen=True)
class Model:
    """What a function depends on, and the arguments of ``HALK`` but the network."""

    inputs: tuple[str, ...]
    arguments: dict[str, Any] = field(default_factory=dict)

    def learner(self, network: Network, **changes: Any) -> HALK:
        """Return a learner of a whole network."""
        return HALK(network, **self.arguments | changes)

    def agent(self, tolerances: Sequence[float]) -> Agent:
        """Return an agent with neighbours in this order, as the simulator has it.

        Of the others it needs no more than how many there are: it is the middle of a
        star.
        """
        pairs = [(0, j + 1) for j in range(len(tolerances))]
        star = Network(len(pairs) + 1, pairs, list(tolerances) if pairs else 0.0)
        return self.learner(star).agent(0, len(self.inputs))


def read_model(keys: Keys) -> Model:
    """Return what a table ``[model]`` says."""
    inputs = keys.texts("inputs", such='inputs = ["depth_m"]')
    keys.must(len(set(inputs)) == len(inputs), "inputs", "be different", list(inputs))
    arguments = {name: _component(keys, name) for name in _FAMILIES if name in keys}
    for name in _FAMILIES:
        keys.take(name, None)
    for name in _PLAIN:
        value = keys.take(name, None)
        if value is not None:
            keys.must(not isinstance(value, list | dict), name, "be one value", value)
            arguments[name] = value
    keys.end()
    made = Model(inputs, arguments)
    try:
        learner = made.learner(Network(1))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{keys.file}: {keys.name}.{error}") from None
    with keys.checking("kernel"):
        learner.kernel.check_features(len(inputs))
    return made


def _component(keys: Keys, key: str) -> Any:
    """Return a kernel, loss, ... from its name, or from name and parameters."""
    with keys.checking():
        return named(keys.label(key), keys.take(key), *_FAMILIES[key])
