"""The table ``[model]``: what an agent learns with, and the defaults of its learner."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from halk import HALK, Network, NewtonHALK, bandwidth, kernels, losses, proximity
from halk.agent import Agent, NewtonAgent
from halk.deploy.keys import ConfigError, Keys
from halk.deploy.named import named
from halk.learners.newton import FAMILIES

ORDERS: dict[str, Any] = {"first": HALK, "second": NewtonHALK}

BUDGETS = ("epsilon", "parsimony", "alpha")

PACES = {"first": ("step_size", "dual_step_size", *BUDGETS), "second": ("noise",)}
"""What agents of one network may have different, by order."""

_FAMILIES: dict[str, tuple[type[Any], tuple[Any, ...]]] = {
    # what is made of other kernels, and functions of one's own, are not for a file
    "kernel": (
        kernels.Kernel,
        (kernels.Sum, kernels.Product, kernels.Custom, kernels.Labelled),
    ),
    "loss": (losses.Loss, ()),
    "proximity": (proximity.Proximity, ()),
    "adaptation": (bandwidth.Adaptation, ()),
}
_OTHERS = ("network", "n_jobs", *_FAMILIES)


@dataclass(frozen=True)
class Model:
    """What a function depends on, and the arguments of a learner but the network."""

    inputs: tuple[str, ...]
    order: str = "first"
    """Of the learner, one of ``ORDERS``."""
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def has_family(self) -> bool:
        """Whether the kernel is a family, whose length scale is given beside it."""
        is_named = isinstance(self.arguments.get("kernel", "gaussian"), str)
        return self.order == "second" and is_named

    def learner(self, network: Network, **changes: Any) -> HALK | NewtonHALK:
        """Return a learner of a whole network."""
        made: HALK | NewtonHALK = ORDERS[self.order](
            network, **self.arguments | changes
        )
        return made

    def agent(self, tolerances: Sequence[float]) -> Agent | NewtonAgent:
        """Return an agent with neighbours in this order, as the simulator has it.

        Of the others it needs no more than how many there are: it is the middle of a
        star.
        """
        pairs = [(0, j + 1) for j in range(len(tolerances))]
        star = Network(len(pairs) + 1, pairs, list(tolerances) if pairs else 0.0)
        return self.learner(star).agent(0, len(self.inputs))


def read_model(keys: Keys) -> Model:
    """Return what a table ``[model]`` says.

    It is of second order where that is said, or its numbers are there.
    """
    inputs = keys.texts("inputs", such='inputs = ["depth_m"]')
    keys.must(len(set(inputs)) == len(inputs), "inputs", "be different", list(inputs))
    is_second = "noise" in keys or "length_scale" in keys
    order = keys.choice("order", tuple(ORDERS), "second" if is_second else "first")
    words = [*inspect.signature(ORDERS[order]).parameters]
    arguments: dict[str, Any] = {}
    for name in (word for word in _FAMILIES if word in words):
        if keys.take(name, None) is not None:
            arguments[name] = _component(keys, name, order)
    for name in words:
        value = keys.take(name, None) if name not in _OTHERS else None
        if value is None:
            continue
        is_list = isinstance(value, list) and name in ("length_scale", "standardize")
        is_one = not isinstance(value, list | dict)
        keys.must(is_one or is_list, name, "be one value", value)
        arguments[name] = tuple(value) if is_list else value
    keys.end()
    if order == "second":
        _check_unit(keys, arguments)
    made = Model(inputs, order, arguments)
    needed = ("noise",) if order == "second" else ()
    for name in (*needed, "length_scale") if made.has_family else needed:
        _check_number(keys, name, arguments.get(name))
    try:
        made.learner(Network(1))
        if made.has_family:
            made.agent(())
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{keys.file}: {keys.name}.{error}") from None
    with keys.checking("kernel"):
        made.agent(())
    return made


def _check_number(keys: Keys, name: str, value: Any) -> None:
    """Refuse what is to be found: an agent by itself has nothing to find it with."""
    if value is None or value == "auto":
        wrong = "is missing" if value is None else "must be a number, got 'auto'"
        keys.refuse(
            name,
            f"{wrong}; such as {name} = {0.02 if name == 'noise' else 50.0}. "
            f"NewtonHALK(..., standardize=True) finds it with past readings: {name}_ "
            f"after learn_many",
        )


def _check_unit(keys: Keys, arguments: dict[str, Any]) -> None:
    """Let agents measure their targets; a unit of all is found with all readings."""
    has_labels = getattr(arguments.get("loss"), "takes_labels", False)
    unit = arguments.setdefault("standardize", not has_labels)
    rule = 'be true, "offset", false or [mean, std]; no agent knows what is common'
    keys.must(unit != "common", "standardize", rule, unit)


def _component(keys: Keys, key: str, order: str) -> Any:
    """Return a kernel, loss, ... from its name, or from name and parameters."""
    value = keys.take(key)
    if (order, key) == ("second", "kernel") and str(value) in FAMILIES:
        return value
    with keys.checking():
        return named(keys.label(key), value, *_FAMILIES[key])
