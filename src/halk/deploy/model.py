"""The table ``[model]``: what an agent learns with, with the defaults of ``HALK``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from halk import HALK, Network, bandwidth, kernels, losses, proximity
from halk.agent import Agent, Answer, Query
from halk.compression import procedures
from halk.deploy.keys import ConfigError, Keys
from halk.deploy.named import named

PACES = ("step_size", "dual_step_size", "epsilon", "parsimony", "alpha")
"""What agents of one network may have different."""

_FAMILIES: dict[str, tuple[type[Any], tuple[Any, ...]]] = {
    # a sum, a product and a function of one's own cannot be written in a file
    "kernel": (kernels.Kernel, (kernels.Sum, kernels.Product, kernels.Custom)),
    "loss": (losses.Loss, ()),
    "proximity": (proximity.Proximity, ()),
    "bandwidth": (bandwidth.Adaptation, ()),
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

    def warm_up(self) -> None:
        """Have everything compiled that an agent needs, before somebody waits for it.

        What is compiled is cached: other processes load it.
        """
        procedures()
        for can_decide, can_rescue in product((False, True), repeat=2):
            # all that an agent may come to ask for in the middle of a step
            procedures(can_decide, can_rescue, can_project=False)
        agent = self.agent([0.0])
        for step in range(12):  # the same points again: some are left out
            x = np.full(len(self.inputs), 0.5 * (step % 3))
            agent.predict(x)
            agent.ask(x, 1.0)
            agent.answer(1, Query(x + 0.1, 0.5, 1.0))
            agent.update({1: Answer(0.5)} if step % 3 else {})
        agent.recall(agent.memory)  # copies: so does who has outgrown its room


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
