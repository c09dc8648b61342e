"""What a simulation of free-running agents is told beyond the network: its faults.

In ``network.toml`` it is the table ``[simulation]``; agents that run as processes have
faults of their own, and do not look at it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from halk._validation import integer, nonnegative, real
from halk.deploy.activation import Activation
from halk.deploy.keys import Keys
from halk.deploy.named import named, spelled
from halk.net.faults import Delay, Faults, delay_of


@dataclass(frozen=True)
class Conditions:
    """Faults and paces of a simulation.

    Parameters
    ----------
    drop : float
        Share of messages that are lost.
    delay : Delay, float, str or dict
        Seconds that a message takes, or a distribution of them by its name.
    batches : bool
        Whether what an agent says to a neighbour in one turn arrives together, as over
        Zenoh; by default every message takes a time of its own.
    rate_spread : float
        Rates of agents are divided by a random number between ``1 / (1 + s)`` and
        ``1 + s``; ``think``, ``lag`` and ``work`` are multiplied by it.
    activation : Activation, str or dict, optional
        When agents take readings; by default as ``[readings]`` says.
    think : Delay, float, str or dict
        Seconds from the end of a step to the next reading, if an agent takes them as
        fast as it can.
    lag : Delay, float, str or dict
        Seconds until an agent that waits does what there is to do, such as hear a
        message; what comes meanwhile it hears too.
    work : Delay, float, str or dict
        Seconds of work for a message that is heard or a reading that is taken. What
        comes meanwhile waits; what is said leaves when its work is done.
    seed : int
        Decides what is random.
    """

    drop: float = 0.0
    delay: Any = 0.005
    batches: bool = False
    rate_spread: float = 0.0
    activation: Any = None
    think: Any = 0.001
    lag: Any = 0.0
    work: Any = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        Faults(drop=real("drop", self.drop))
        nonnegative("rate_spread", self.rate_spread)
        integer("seed", self.seed)
        if not isinstance(self.batches, bool):
            raise TypeError(f"batches must be true or false, got {self.batches!r}")
        for name in ("delay", "think", "lag", "work"):
            object.__setattr__(self, name, _delay(name, getattr(self, name)))
        scheme = self.activation
        if scheme is not None and not isinstance(scheme, Activation):
            scheme = named("activation", _read("activation", scheme), Activation)
            object.__setattr__(self, "activation", scheme)

    def but(self, **changes: Any) -> Conditions:
        """Return these with others in the place of some; None is none."""
        given = {name: v for name, v in changes.items() if v is not None}
        return replace(self, **given)


def _read(name: str, value: Any) -> Any:
    """Return a name or a table, from what a file or a command line says."""
    return spelled(name, value) if isinstance(value, str) else value


def _delay(name: str, value: Any) -> Delay:
    """Return a distribution, from seconds or from its name."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = _read(name, value)
    if isinstance(value, str | dict):
        value = named(name, value, Delay)
    return delay_of(value, name)


def read_conditions(keys: Keys) -> Conditions:
    """Return what a table ``[simulation]`` says."""
    given = {one.name: keys.take(one.name, None) for one in fields(Conditions)}
    keys.end()
    with keys.checking(""):
        try:
            return Conditions().but(**given)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{keys.name}.{error}") from None
