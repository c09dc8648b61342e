"""The configuration of one agent: ``agent.toml``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from halk.deploy.endpoints import address, endpoint, is_local
from halk.deploy.keys import NEEDED, ConfigError, Keys
from halk.deploy.model import Model, read_model
from halk.net import Limits
from halk.net.identity import checked_name

MODES = ("free", "lockstep")
SOURCES = ("csv", "stdin", "topic")
LEVELS = ("debug", "info", "warning", "error")


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


def read_config(path: str | Path) -> AgentConfig:
    """Return the configuration of a file.

    Raises
    ------
    ConfigError
        For whatever is wrong, with the file and the key.
    """
    keys = Keys.of(path)
    name = agent_name(keys, "name")
    mode = keys.choice("mode", MODES, "free")
    unit = keys.text("unit", "")
    keys.must(len(unit.encode()) <= 64, "unit", "have at most 64 bytes", unit)
    steps = keys.whole("steps", None)
    keys.must(steps is None or mode != "free", "steps", 'go with "lockstep"', steps)
    model = read_model(keys.table("model", such="[model] with inputs and a kernel"))
    readings = read_source(keys.table("readings", such='source = "csv"'), model, mode)
    security = _security(keys.table("security", {}))
    scheme = "tcp" if security.certificate is None else "tls"
    network = keys.table("network", {})
    listen = tuple(
        endpoint(network, "listen", one, scheme) for one in network.texts("listen", ())
    )
    neighbours = tuple(_neighbour(k, scheme, name) for k in keys.tables("neighbours"))
    _refuse_twins(keys, neighbours)
    _refuse_open(keys, security, listen, neighbours)
    name_of_network = agent_name(network, "name", "halk")
    times = {
        "retry": network.number("retry", 1.0),
        "wait": network.number("wait", 0.5),
        "patience": network.number("patience", 30.0),
    }
    network.end()
    checkpoint = keys.table("checkpoint", {})
    needed = NEEDED if checkpoint.found else None
    file = checkpoint.path("path", needed, such='path = "agent.halk"')
    every = checkpoint.number("every", 60.0)
    checkpoint.end()
    health, stuck = _health(keys.table("health", {}))
    level, format_ = read_log(keys.table("log", {}))
    limits = read_limits(keys.table("limits", {}))
    keys.end()
    return AgentConfig(
        file=Path(path), name=name, mode=mode, unit=unit, steps=steps, model=model,
        readings=readings, neighbours=neighbours, listen=listen,
        network=name_of_network, checkpoint=file, every=every, health=health,
        stuck=stuck, security=security, limits=limits, level=level, format=format_,
        **times,
    )  # fmt: skip


def agent_name(keys: Keys, key: str, default: Any = NEEDED) -> str:
    """Return a name that can stand in certificates, keys and names of files."""
    name = keys.text(key, default, such=f'{key} = "north"')
    with keys.checking():
        return checked_name(keys.label(key), name)


def read_source(keys: Keys, model: Model, mode: str) -> Source:
    """Return what a table ``[readings]`` says."""
    source = keys.choice("source", SOURCES, "csv")
    if mode == "lockstep" and source != "csv":
        keys.refuse(
            "source",
            f"must be 'csv' in lockstep, got {source!r}: after a restart an agent must "
            "read the same again",
        )
    inputs = keys.texts("inputs", model.inputs)
    p = len(model.inputs)
    keys.must(len(inputs) == p, "inputs", f"be {p}, as in [model]", list(inputs))
    value = keys.text("value", such='value = "t_C", the column of what was measured')
    keys.must(value not in inputs, "value", "not be an input", value)
    path = keys.path("path", NEEDED if source == "csv" else None, 'path = "log.csv"')
    follow = keys.flag("follow", False)
    key = keys.text("key", NEEDED if source == "topic" else "", 'key = "buoys/north"')
    senders = keys.texts("senders", ())
    rate = keys.number("rate", None)
    for word, given in (("path", path), ("follow", follow)):
        keys.must(source == "csv" or not given, word, 'go with source = "csv"', source)
    for word, name in (("key", key), ("senders", senders)):
        keys.must(source == "topic" or not name, word, "go with a topic", source)
    keys.must(source != "topic" or rate is None, "rate", "not go with a topic", source)
    keys.end()
    return Source(source, inputs, value, path, follow, key, senders, rate)


def _neighbour(keys: Keys, scheme: str, own: str) -> Neighbour:
    name = agent_name(keys, "name")
    keys.must(name != own, "name", "be another agent's", name)
    listed = keys.texts("endpoints", (), such='endpoints = ["192.168.1.12:7447"]')
    ends = tuple(endpoint(keys, "endpoints", one, scheme) for one in listed)
    tolerance = keys.take("tolerance", such="tolerance = 0.25, how far it may differ")
    is_number = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
    rule = "be a number, not negative"
    keys.must(is_number and 0 <= tolerance < 1e300, "tolerance", rule, tolerance)
    keys.end()
    return Neighbour(name, ends, float(tolerance))


def _refuse_twins(keys: Keys, neighbours: tuple[Neighbour, ...]) -> None:
    names = [one.name for one in neighbours]
    twice = sorted({name for name in names if names.count(name) > 1})
    keys.must(not twice, "neighbours", "have different names", ", ".join(twice))


def _security(keys: Keys) -> Security:
    plain = keys.flag("plain", False)
    words = ("certificate", "key", "authority")
    given = [word for word in words if word in keys]
    if plain and given:
        keys.refuse("plain", f"must not go with {given[0]}: it means no certificates")
    needed = NEEDED if given else None
    such = "what `halk certs` makes"
    found = {word: keys.path(word, needed, such) for word in words}
    for word, path in found.items():
        keys.must(path is None or path.is_file(), word, "be a file", str(path))
    keys.end()
    return Security(plain=plain, **found)


def _refuse_open(
    keys: Keys,
    security: Security,
    listen: tuple[str, ...],
    neighbours: tuple[Neighbour, ...],
) -> None:
    """Refuse to leave this machine without certificates, unless asked to."""
    if security.certificate is not None or security.plain:
        return
    ends = [*listen, *(end for one in neighbours for end in one.endpoints)]
    for end in ends:
        if not is_local(end):
            keys.refuse(
                "security",
                f"must name certificate, key and authority, since {end} is not on this "
                "machine; `halk certs` makes them. With plain = true instead, anybody "
                "on the network can read, change and invent what agents say",
            )


def _health(keys: Keys) -> tuple[tuple[str, int] | None, float]:
    listen, public = keys.text("listen", None), keys.flag("public", False)
    stuck = keys.number("stuck", 60.0)
    keys.end()
    if listen is None:
        return None, stuck
    return address(keys, "listen", listen, public), stuck


def read_log(keys: Keys) -> tuple[str, str]:
    """Return level and format that a table ``[log]`` says."""
    level = keys.choice("level", LEVELS, "info")
    format_ = keys.choice("format", ("json", "text"), "json")
    keys.end()
    return level, format_


def read_limits(keys: Keys) -> Limits:
    """Return what a table ``[limits]`` says."""
    given: dict[str, Any] = {}
    for one in fields(Limits):
        value = keys.take(one.name, None)
        if value is not None:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            keys.must(is_number, one.name, "be a number", value)
            given[one.name] = value
    keys.end()
    try:
        return Limits(**given)
    except ValueError as error:
        raise ConfigError(f"{keys.file}: {keys.name}.{error}") from None
