"""Larger networks: the time of an agent-step, and the memory, in a process apart."""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

from benchmarks.children import run_child
from benchmarks.plan import Plan
from benchmarks.results import Row
from benchmarks.timing import in_turn
from benchmarks.workloads import Workload

__all__ = ["size"]

_AGE = 60
"""Random steps before: young functions change their atoms more often than old ones."""

_STEPS = 5
"""At most so many a timed block: small networks grow hardly older than large ones."""

_JUDGED = 100_000
"""Agents for which the bound on the memory was given."""


def size(plan: Plan) -> list[Row]:
    """Return growth from the smallest to the largest network, and peak memory."""
    sizes = plan.pick([1000, 10_000], [1000, 10_000, 100_000])
    rows = []
    for coupling in plan.pick(["paper"], ["paper", "exact"]):
        plan.tell(f"V = {sizes[0]:,} to {sizes[-1]:,}, {coupling} coupling")
        found = run_child("benchmarks.rows.size", coupling, *map(str, sizes))
        rows += [_growth(coupling, sizes, found), _memory(coupling, sizes, found)]
    return rows


def _growth(coupling: str, sizes: list[int], found: dict[str, Any]) -> Row:
    times = found["nanoseconds"]
    return Row(
        name=f"size-growth-{coupling}",
        what=f"V = {sizes[-1]:,} against {sizes[0]:,}, degree 8, {coupling} coupling",
        unit="ns an agent-step",
        measured=times[-1],
        base=times[0],
        against=f"V = {sizes[0]:,}",
        ratio=times[-1] / times[0],
        note=f"{found['order']:.1f} atoms",
        details={"sizes": sizes, **found},
    )


def _memory(coupling: str, sizes: list[int], found: dict[str, Any]) -> Row:
    is_judged = sizes[-1] >= _JUDGED
    return Row(
        name=f"size-memory-{coupling}",
        what=f"memory at V = {sizes[-1]:,}, {coupling} coupling",
        unit="GiB at most",
        measured=found["gibibytes"],
        note=f"{found['order']:.1f} atoms, process and stream included",
        missing="" if is_judged else f"not judged: below {_JUDGED:,} agents",
    )


def measured(coupling: str, sizes: list[int]) -> dict[str, Any]:
    """Time networks of these sizes in turn; the child's part."""
    steps = [min(_STEPS, max(1, sizes[-1] // V)) for V in sizes]
    largest = Workload(sizes[-1], coupling=coupling).started(n_drawn=_AGE)
    in_turn([largest.job(steps[-1])], repeats=1)
    peak = peak_memory()  # before the others are made
    others = [Workload(V, coupling=coupling).started(n_drawn=_AGE) for V in sizes[:-1]]
    jobs = [one.job(n) for one, n in zip([*others, largest], steps, strict=True)]
    times = in_turn(jobs, repeats=9)
    agent_steps = [n * V for n, V in zip(steps, sizes, strict=True)]
    return {
        "nanoseconds": [
            1e9 * one.median / n for one, n in zip(times, agent_steps, strict=True)
        ],
        "order": largest.order,
        "gibibytes": peak / 2**30,
    }


def peak_memory() -> int:
    """Return the bytes that this process held at most."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measured(sys.argv[1], [int(V) for V in sys.argv[2:]])))
