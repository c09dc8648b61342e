"""What is known about a running agent, as one dictionary of plain values."""

from __future__ import annotations

import os
import resource
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halk._version import __version__

if TYPE_CHECKING:
    from halk.deploy.runner import Runner


def facts_of(runner: Runner, now: float) -> dict[str, Any]:
    """Return the facts of this moment; what is not known is None."""
    node, diary, keeper = runner.node, runner.diary, runner.keeper
    config = runner.config
    wired = runner.around.traffic()
    checkpoint = {
        "path": None if keeper.path is None else str(keeper.path),
        "age_seconds": known(keeper.age(now)),
        "saved": keeper.n_saved,
        "failed": keeper.n_failed,
        "error": keeper.error or None,
    }
    return {
        "name": config.name,
        "mode": config.mode,
        "unit": config.unit,
        "version": __version__,
        "status": runner.status(now),
        "is_done": runner.is_finished(),
        "uptime_seconds": now - runner.began,
        "incarnation": node.incarnation,
        "step": node.step,
        "seconds_since_step": now - runner.stepped_at,
        "atoms": node.agent.order,
        "coupling": node.agent.coupling,
        "length_scale_factor": node.agent.scale,
        "suspects": node.agent.suspects,
        "readings": diary.n_readings,
        "gaps": diary.n_gaps,
        "bad_rows": diary.n_bad,
        "diverged": diary.n_diverged,
        "last_error": known(diary.last_error),
        "rmse": known(diary.rmse),
        "recent_rmse": known(diary.recent_rmse),
        "neighbours": _neighbours(runner),
        "refused": _by_name(runner.around.refused()),
        "complaints": _by_name(node.complaints),
        "round_trip_seconds": _round_trips(node),
        "checkpoint": checkpoint,
        "memory_bytes": memory(),
        **wired,
    }


def _neighbours(runner: Runner) -> dict[str, Any]:
    agent, alive = runner.node.agent, runner.around.alive()
    found = {}
    for e, (name, peer) in enumerate(runner.node.peers.items()):
        asked = int(agent.asked[e])
        found[name] = {
            "is_alive": alive.get(name, peer.is_greeted),
            "is_greeted": peer.is_greeted,
            "misfit": peer.misfit or None,
            "tolerance": float(agent.tolerance[e]),
            "multiplier": float(agent.multipliers[e]),
            "violation": float(agent.violation[e]) / asked if asked else None,
            "asked": asked,
        }
    return found


def _round_trips(node: Any) -> dict[str, Any] | None:
    """Return how long answers took; in lockstep nobody counts that."""
    times = getattr(node, "round_trips", None)
    found: dict[str, Any] | None = None if times is None else times.facts()
    return found


def _by_name(counter: Counter[Any]) -> dict[str, int]:
    return {reason.name.lower(): n for reason, n in sorted(counter.items()) if n}


def known(value: float) -> float | None:
    """Return a number for JSON, None if it is not finite."""
    return float(value) if abs(value) < float("inf") else None


def memory() -> int:
    """Return the bytes of memory that this process holds."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):  # not Linux: the most it ever held
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
