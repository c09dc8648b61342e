"""How the cost of an agent-step grows: with agents, atoms, neighbours and features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from benchmarks.plan import Plan
from benchmarks.results import Point
from benchmarks.workloads import Workload, against_floor

__all__ = ["PANELS", "scaling"]

_AGENT_STEPS = 10_000
"""In every timed block."""


class Panel(NamedTuple):
    """What grows from a workload: a field of it, and the values it takes."""

    title: str
    label: str
    field: str
    start: Workload
    quick: tuple[int, ...]
    full: tuple[int, ...]
    note: str


PANELS = (
    Panel(
        "Agents", "agents V", "n_agents", Workload(1000),
        (100, 1000, 10_000), (100, 1000, 10_000, 100_000),
        "degree 8, 30 atoms, p = 1",
    ),
    Panel(
        "Atoms", "atoms an agent M", "order", Workload(20),
        (10, 30, 100), (10, 30, 100, 300),
        "V = 20, degree 8, p = 1",
    ),
    Panel(
        "Neighbours", "degree", "degree", Workload(500),
        (2, 8, 32), (2, 4, 8, 16, 32, 64),
        "V = 500, 30 atoms, p = 1",
    ),
    Panel(
        "Features", "features p", "n_features", Workload(500),
        (1, 3, 8), (1, 2, 3, 5, 8),
        "V = 500, degree 8, 30 atoms",
    ),
)  # fmt: skip


def scaling(plan: Plan) -> list[Point]:
    """Return the points of all panels, for both couplings."""
    return [point for panel in PANELS for point in _points(panel, plan)]


def _points(panel: Panel, plan: Plan) -> Iterator[Point]:
    for value in plan.pick(panel.quick, panel.full):
        for coupling in ("paper", "exact"):
            plan.tell(f"{panel.label} = {value:,}, {coupling} coupling")
            changes: dict[str, Any] = {panel.field: value, "coupling": coupling}
            workload = replace(panel.start, **changes)
            yield _point(panel, workload, plan)


def _point(panel: Panel, workload: Workload, plan: Plan) -> Point:
    """Warm up until the dictionaries are full, and time a few blocks."""
    n_even = max(48, 8 * workload.order // 5)
    running = workload.started(n_even, n_drawn=12)
    n_steps = max(1, _AGENT_STEPS // workload.n_agents // max(1, workload.order // 30))
    found = against_floor(running, n_steps, plan.pick(5, 7))
    # Atoms are what came of it; everything else is what was asked for.
    x = found.order if panel.field == "order" else getattr(workload, panel.field)
    return Point(
        panel=panel.title,
        x=float(x),
        coupling=workload.coupling,
        engine=found.engine.median * 1e9,
        floor=found.floor.median * 1e9,
        order=found.order,
    )
