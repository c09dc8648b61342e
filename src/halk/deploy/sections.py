"""Tables of ``agent.toml`` by themselves; some are in ``network.toml`` too."""

from __future__ import annotations

from dataclasses import fields
from random import Random
from typing import Any

from halk.deploy.activation import Activation, OwnRate
from halk.deploy.endpoints import address
from halk.deploy.keys import NEEDED, ConfigError, Keys
from halk.deploy.model import Model
from halk.deploy.named import named
from halk.deploy.settings import Source
from halk.net import Limits
from halk.net.identity import checked_name

MODES = ("free", "lockstep")
SOURCES = ("csv", "stdin", "topic")
LEVELS = ("debug", "info", "warning", "error")


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
    activation = read_activation(keys, rate)
    for word, given in (("path", path), ("follow", follow)):
        keys.must(source == "csv" or not given, word, 'go with source = "csv"', source)
    for word, name in (("key", key), ("senders", senders)):
        keys.must(source == "topic" or not name, word, "go with a topic", source)
    keys.must(source != "topic" or rate is None, "rate", "not go with a topic", source)
    keys.end()
    return Source(source, inputs, value, path, follow, key, senders, rate, activation)


def read_activation(
    keys: Keys, rate: float | None, default: Activation | None = None
) -> Activation:
    """Return the scheme under ``activation``, one that agents can run by themselves."""
    value = keys.take("activation", None)
    found = default or OwnRate()
    if value is not None:
        with keys.checking():
            found = named(keys.label("activation"), value, Activation)
    if not found.is_own:
        keys.refuse(
            "activation",
            f"must be one that an agent can run by itself, got {value!r}: it needs a "
            "common clock, which only the simulator has; put it into [simulation]",
        )
    with keys.checking("activation"):
        found.clocks([rate], [Random(0)])
    return found


def read_health(keys: Keys) -> tuple[tuple[str, int] | None, float]:
    """Return where a table ``[health]`` says to listen, and what is stuck."""
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
