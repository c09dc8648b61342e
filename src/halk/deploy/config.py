"""The configuration of one agent: ``agent.toml``."""

from __future__ import annotations

from pathlib import Path

from halk.deploy.endpoints import endpoint
from halk.deploy.keys import NEEDED, Keys
from halk.deploy.model import read_model
from halk.deploy.sections import (
    MODES,
    agent_name,
    read_health,
    read_limits,
    read_log,
    read_source,
)
from halk.deploy.security import read_security, refuse_open
from halk.deploy.settings import AgentConfig, Neighbour


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
    security = read_security(keys.table("security", {}))
    scheme = "tcp" if security.certificate is None else "tls"
    network = keys.table("network", {})
    listen = tuple(
        endpoint(network, "listen", one, scheme) for one in network.texts("listen", ())
    )
    neighbours = tuple(_neighbour(k, scheme, name) for k in keys.tables("neighbours"))
    _refuse_twins(keys, neighbours)
    ends = [*listen, *(end for one in neighbours for end in one.endpoints)]
    refuse_open(keys, security, ends)
    is_closed = security.certificate is not None and not readings.senders
    if readings.source == "topic" and is_closed:
        keys.refuse(
            "readings.senders",
            "is missing: with certificates only those may put readings who are listed, "
            'such as senders = ["probe"]',
        )
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
    health, stuck = read_health(keys.table("health", {}))
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
