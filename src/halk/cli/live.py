"""What ``halk up`` and ``halk simulate`` show: agents in a table, or in lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from halk.cli.talk import known, table
from halk.cli.words import number

_COLUMNS = ["agent", "", ">step", ">readings", ">atoms", ">RMSE", ">recent"]
_LIVE = [">neighbours", ">refused", ">memory", ">starts"]


def agents_table(children: Sequence[Any], title: str) -> Any:
    """Return the agents of a supervisor as a table."""
    rows = [_live_row(child) for child in children]
    return table(title, [*_COLUMNS, *_LIVE], rows)


def _live_row(child: Any) -> list[str]:
    facts = child.facts
    near = facts.get("neighbours", {}).values()
    there = sum(one["is_alive"] for one in near)
    memory = facts.get("memory_bytes")
    status = facts.get("status", "ok") if child.state == "up" else "ok"
    is_done = child.state == "up" and facts.get("is_done", False)
    state = status if status != "ok" else "all read" if is_done else child.state
    return [
        child.place.name, state, f"{facts.get('step', '-')}",
        f"{facts.get('readings', '-')}", f"{facts.get('atoms', '-')}",
        _shown(facts.get("rmse")), _shown(facts.get("recent_rmse")),
        f"{there}/{len(near)}", f"{sum(facts.get('refused', {}).values())}",
        "-" if memory is None else f"{memory / 1e6:.0f} MB", f"{child.n_starts}",
    ]  # fmt: skip


def _shown(value: float | None) -> str:
    return "-" if value is None else number(value)


def line_of(children: Sequence[Any], seconds: float) -> str:
    """Return the network in one line."""
    up = sum(child.state == "up" for child in children)
    steps = [child.facts.get("step", 0) for child in children]
    errors = [child.facts.get("recent_rmse") for child in children]
    known_ones = [error for error in errors if error is not None]
    mean = sum(known_ones) / len(known_ones) if known_ones else float("nan")
    down = [c.place.name for c in children if c.state in ("down", "failed")]
    away = f"; down: {', '.join(down)}" if down else ""
    return (
        f"{seconds:.0f} s: {up} of {len(children)} agents up, step {min(steps)} to "
        f"{max(steps)}, recent RMSE {number(mean)} on average{away}"
    )


def summary_of(outcomes: Sequence[Any]) -> dict[str, Any]:
    """Return what became of the agents, for machines."""
    agents = [
        {k: known(v) if isinstance(v, float) else v for k, v in asdict(one).items()}
        for one in outcomes
    ]
    return {"agents": agents, "rmse": known(_overall(outcomes))}


def summary_table(outcomes: Sequence[Any], title: str) -> Any:
    """Return what became of the agents, as a table."""
    rows = [
        [one.name, f"{one.steps}", f"{one.readings}", f"{one.bad_rows}",
         f"{one.atoms}", number(one.rmse), number(one.recent_rmse), f"{one.refused}"]
        for one in outcomes
    ]  # fmt: skip
    columns = ["agent", ">steps", ">readings", ">bad rows", ">atoms", ">RMSE"]
    return table(title, [*columns, ">recent", ">refused"], rows)


def _overall(outcomes: Sequence[Any]) -> float:
    """Return the root mean square error of all readings of all agents."""
    n = sum(one.readings for one in outcomes)
    squares = sum(one.rmse**2 * one.readings for one in outcomes if one.readings)
    return float((squares / n) ** 0.5) if n else float("nan")
