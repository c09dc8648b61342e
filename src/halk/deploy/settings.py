"""What can be set about an agent: the values, as they are used."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from halk.deploy.activation import Activation, OwnRate
from halk.deploy.model import Model
from halk.net import Limits


@dataclass(frozen=True)
class Source:
    """Where readings come from, and which columns are what."""

    source: str
    inputs: tuple[str, ...]
    value: str
    path: Path | None = None
    follow: bool = False
    key: str = ""
    senders: tuple[str, ...] = ()
    """Who may put readings under the key, by the names of their certificates."""
    rate: float | None = None
    """Readings a second; None: as they come."""
    activation: Activation = field(default_factory=OwnRate)


@dataclass(frozen=True)
class Neighbour:
    """A neighbour: its name, where it listens, and how far it may differ."""

    name: str
    endpoints: tuple[str, ...]
    tolerance: float


@dataclass(frozen=True)
class Security:
    """The certificates, or that there are none."""

    certificate: Path | None = None
    key: Path | None = None
    authority: Path | None = None
    plain: bool = False


@dataclass(frozen=True)
class AgentConfig:
    """Everything about one agent."""

    file: Path
    name: str
    mode: str
    unit: str
    steps: int | None
    """Of the whole network in lockstep, if that is known."""
    model: Model
    readings: Source
    neighbours: tuple[Neighbour, ...]
    listen: tuple[str, ...]
    network: str
    retry: float
    wait: float
    patience: float
    """How long a replay waits for neighbours before its first reading."""
    checkpoint: Path | None
    every: float
    health: tuple[str, int] | None
    stuck: float
    security: Security
    limits: Limits
    level: str
    format: str

    @property
    def is_lockstep(self) -> bool:
        """Whether it goes in steps with its neighbours."""
        return self.mode == "lockstep"
