"""A whole network in one file: ``network.toml``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from halk import Network
from halk.data.findings import suggest
from halk.data.lines import Columns, Row
from halk.deploy.conditions import Conditions, read_conditions
from halk.deploy.edges import network_of
from halk.deploy.feeds import CsvFeed
from halk.deploy.keys import NEEDED, ConfigError, Keys
from halk.deploy.model import BUDGETS, PACES, Model, read_model
from halk.deploy.sections import (
    MODES,
    agent_name,
    read_activation,
    read_limits,
    read_log,
)
from halk.deploy.settings import Source
from halk.deploy.shares import Shares, shares
from halk.net import Limits
from halk.net.identity import checked_name

_MOST = 5
"""Agents that a remark names."""

OPEN = {"rate": 1e6, "burst": 1e6}
"""Limits of agents that replay a file as fast as they can, among themselves."""


@dataclass(frozen=True)
class Plan:
    """A network, who learns what in it, and how."""

    file: Path
    mode: str
    unit: str
    model: Model
    network: Network
    paces: tuple[dict[str, float], ...]
    """What an agent has different from the model, by agent."""
    sources: tuple[Source, ...]
    shares: Shares | None
    """The rows of every agent, if they share a table."""
    limits: Limits
    retry: float
    wait: float
    every: float
    simulation: Conditions
    tables: dict[str, Any]
    """The tables ``model``, ``limits`` and ``log`` as they are in the file."""

    @property
    def names(self) -> Sequence[str]:
        """The agents."""
        return self.network.names

    def remarks(self) -> list[str]:
        """Return what the file leaves open, a sentence each: it may not be meant."""
        found, degree = [], self.network.degree
        alone = [n for n, d in zip(self.names, degree, strict=True) if d == 0]
        if alone and len(self.names) > 1:
            who = ", ".join(alone[:_MOST]) + (", ..." if len(alone) > _MOST else "")
            found.append(
                f"{len(alone)} of {len(self.names)} agents have no neighbour and learn "
                f"alone: {who}; see [network] and [[edges]]"
            )
        if self.model.order == "first" and "kernel" not in self.model.arguments:
            kernel = self.model.learner(Network(1)).kernel
            units = ", ".join(self.model.inputs)
            found.append(
                f"[model] names no kernel: {kernel}, in the unit of {units}; give one "
                f"as wide as the values stay alike"
            )
        return found

    def own(self, i: int, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return arguments of the model with those of one agent."""
        return _with_paces(arguments, self.paces[i])

    def rows(self, i: int) -> list[Row]:
        """Return all rows of an agent, as it would read them."""
        if self.shares is not None:
            return self.shares.get(self.names[i], [])
        feed, rows = CsvFeed(replace(self.sources[i], follow=False)), []
        while (row := feed.row()) is not None:
            rows.append(row)
        feed.close()
        return rows


def read_plan(path: str | Path) -> Plan:
    """Return the network of a file; what is wrong is a ``ConfigError``."""
    keys = Keys.of(path)
    mode, unit = keys.choice("mode", MODES, "free"), keys.text("unit", "")
    model_keys = keys.table("model", such="[model] with inputs and a kernel")
    model = read_model(model_keys)
    listed = keys.tables("agents")
    readings = keys.table("readings", {} if listed else NEEDED, such="[readings] path")
    shared, base, pooled = _readings(readings, model, bool(listed))
    names = [agent_name(one, "name") for one in listed] or sorted(pooled or ())
    _check_names(keys, names, pooled)
    agents = [_agent(one, model, base, shared is None) for one in listed]
    if not agents:
        agents = [({}, base) for _ in names]
    links = keys.table("network", {})
    network = network_of(links, keys.tables("edges"), names)
    retry, wait = links.number("retry", 1.0), links.number("wait", 0.5)
    links.end()
    checkpoint = keys.table("checkpoint", {})
    every = checkpoint.number("every", 10.0)
    checkpoint.end()
    limits, log = keys.table("limits", {}), keys.table("log", {})
    numbers = read_limits(Keys(OPEN | limits.found, keys.file, "limits"))
    level, _ = read_log(log)
    simulation = read_conditions(keys.table("simulation", {}))
    keys.end()
    tables = {"model": model_keys.found, "limits": OPEN | limits.found}
    tables["log"] = {"level": level}
    return Plan(
        file=Path(path), mode=mode, unit=unit, model=model, network=network,
        paces=tuple(pace for pace, _ in agents), shares=pooled,
        sources=tuple(source for _, source in agents), limits=numbers, retry=retry,
        wait=wait, every=every, simulation=simulation, tables=tables,
    )  # fmt: skip


def _readings(
    keys: Keys, model: Model, has_agents: bool
) -> tuple[str | None, Source, Shares | None]:
    """Return the sensor column of a common table, the source, and all rows."""
    inputs = keys.texts("inputs", model.inputs)
    p = len(model.inputs)
    keys.must(len(inputs) == p, "inputs", f"be {p}, as in [model]", list(inputs))
    sensor = keys.text("sensor", None if has_agents else NEEDED, such='sensor = "buoy"')
    needed = NEEDED if sensor is not None else ""
    value = keys.text("value", needed, such='value = "t_C"')
    path = keys.path("path", NEEDED if sensor else None, such='path = "readings.csv"')
    follow, rate = keys.flag("follow", False), keys.number("rate", None)
    keys.must(not (sensor and follow), "follow", "go with a file an agent", follow)
    # agents may have rates of their own
    activation = read_activation(keys, 1.0 if has_agents else rate)
    keys.end()
    source = Source("csv", inputs, value, path, follow, "", (), rate, activation)
    if sensor is None:
        return None, source, None
    return sensor, source, shares(keys, path, sensor, Columns(inputs, value))


def _check_names(keys: Keys, names: list[str], pooled: Shares | None) -> None:
    keys.must(bool(names), "agents", "be some, each under [[agents]]", names)
    twice = sorted({name for name in names if names.count(name) > 1})
    keys.must(not twice, "agents", "have different names", ", ".join(twice))
    for name in names:
        with keys.checking("readings.sensor"):
            checked_name("name of a sensor", name)
    for name in pooled or ():
        if name not in names:
            hint = suggest(name, names)
            keys.refuse("agents", f"must have all sensors, got no {name!r}{hint}")


def _agent(
    keys: Keys, model: Model, base: Source, has_own: bool
) -> tuple[dict[str, float], Source]:
    """Return what an agent has different, and where its readings are."""
    paces = {word: keys.take(word, None) for word in PACES[model.order]}
    paces = {word: value for word, value in paces.items() if value is not None}
    source = base
    if has_own:
        path = keys.path("path", base.path or NEEDED, such='path = "north.csv"')
        value = keys.text("value", base.value or NEEDED, such='value = "t_C"')
        source = replace(base, path=path, value=value)
    rate = keys.number("rate", base.rate)
    activation = read_activation(keys, rate, base.activation)
    keys.end()
    try:
        own = replace(model, arguments=_with_paces(model.arguments, paces))
        own.learner(Network(1))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{keys.file}: {keys.name}.{error}") from None
    return paces, replace(source, rate=rate, activation=activation)


def _with_paces(arguments: dict[str, Any], paces: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with paces; a budget of these replaces one given otherwise."""
    budgets = set(BUDGETS)
    out = budgets if set(paces) & budgets else set()
    return {word: v for word, v in arguments.items() if word not in out} | paces
