"""The folder of a network of processes: one ``agent.toml`` an agent, and its files."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halk._atomic import replacing
from halk.data.lines import Columns
from halk.deploy.activation import OwnRate
from halk.deploy.named import table_of
from halk.deploy.plan import Plan
from halk.deploy.shares import as_csv
from halk.net import certs

_KEYS = "certificates"


@dataclass(frozen=True)
class Place:
    """The files of one agent, and where its health is."""

    name: str
    config: Path
    log: Path
    checkpoint: Path
    health: int


def free_ports(n: int) -> list[int]:
    """Return ports of this machine that nobody listens on now."""
    sockets = [socket.socket() for _ in range(n)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


def prepare(plan: Plan, folder: Path, tls: bool, fresh: bool) -> list[Place]:
    """Write what the agents need; return where it is, agent by agent."""
    folder.mkdir(parents=True, exist_ok=True)
    n = len(plan.names)
    ports = free_ports(2 * n)
    if tls and not (folder / _KEYS / "authority.pem").exists():
        certs.make_authority(folder / _KEYS)
    steps = None
    if plan.mode == "lockstep" and not any(s.follow for s in plan.sources):
        steps = max(len(plan.rows(i)) for i in range(n))
    places = []
    for i, name in enumerate(plan.names):
        own = folder / name
        own.mkdir(exist_ok=True)
        place = Place(
            name,
            own / "agent.toml",
            own / "log.jsonl",
            own / "agent.halk",
            ports[n + i],
        )
        if fresh:
            place.checkpoint.unlink(missing_ok=True)
        content = _tables(plan, i, ports[:n]) | {"health": _health(place.health)}
        if steps is not None:
            content = {"steps": steps} | content
        if plan.shares is not None:
            columns = Columns(plan.sources[i].inputs, plan.sources[i].value)
            _write(own / "readings.csv", as_csv(plan.rows(i), columns))
        if tls:
            content["security"] = _certified(folder / _KEYS, name)
        _write(place.config, toml(content))
        places.append(place)
    return places


def _health(port: int) -> dict[str, Any]:
    return {"listen": f"127.0.0.1:{port}"}


def _certified(folder: Path, name: str) -> dict[str, str]:
    if not (folder / f"{name}.pem").exists():
        certs.make_certificate(folder, name)
    words = {"certificate": f"{name}.pem", "key": f"{name}.key"}
    words["authority"] = "authority.pem"
    return {word: f"../{_KEYS}/{file}" for word, file in words.items()}


def _tables(plan: Plan, i: int, ports: list[int]) -> dict[str, Any]:
    """Return the configuration of one agent, but for its health and security."""
    source, network = plan.sources[i], plan.network
    own = plan.shares is not None
    path = "readings.csv" if own or source.path is None else str(source.path.resolve())
    readings: dict[str, Any] = {
        "source": "csv", "path": path, "inputs": list(source.inputs),
        "value": source.value, "follow": source.follow,
    }  # fmt: skip
    if source.rate is not None:
        readings["rate"] = source.rate
    if source.activation != OwnRate():
        readings["activation"] = table_of(source.activation)
    neighbours = [
        {
            "name": network.names[j],
            "endpoints": [f"127.0.0.1:{ports[j]}"],
            "tolerance": float(network.tolerance[e]),
        }
        for e in range(network.indptr[i], network.indptr[i + 1])
        for j in (int(network.neighbours[e]),)
    ]
    model = {k: v for k, v in plan.tables["model"].items() if k != "inputs"}
    return {
        "name": network.names[i], "mode": plan.mode, "unit": plan.unit,
        "model": {"inputs": list(plan.model.inputs)} | plan.own(i, model),
        "readings": readings,
        "network": {
            "listen": [f"127.0.0.1:{ports[i]}"], "retry": plan.retry, "wait": plan.wait,
        },
        "neighbours": neighbours,
        "checkpoint": {"path": "agent.halk", "every": plan.every},
        "limits": plan.tables["limits"],
        "log": plan.tables["log"],
    }  # fmt: skip


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())


def toml(content: dict[str, Any]) -> str:
    """Return tables of plain values as TOML; keys before tables."""
    plain = {k: v for k, v in content.items() if not _is_table(v)}
    lines = [f"{k} = {_value(v)}" for k, v in plain.items()]
    for name, value in content.items():
        tables = value if isinstance(value, list) else [value]
        if _is_table(value):
            head = f"[[{name}]]" if isinstance(value, list) else f"[{name}]"
            for table in tables:
                lines += ["", head, *(f"{k} = {_value(v)}" for k, v in table.items())]
    return "\n".join([*lines, ""])


def _is_table(value: Any) -> bool:
    is_list = isinstance(value, list) and bool(value) and isinstance(value[0], dict)
    return isinstance(value, dict) or is_list or value == []


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{k} = {_value(v)}' for k, v in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else repr(value)
