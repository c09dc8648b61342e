"""Two threads: how much faster, and whether to the last bit the same."""

from __future__ import annotations

import inspect
import os

import numpy as np

from benchmarks.plan import Plan
from benchmarks.results import Row
from benchmarks.timing import in_turn
from benchmarks.workloads import Running, Workload
from halk import HALK

__all__ = ["different", "threads"]


def threads(plan: Plan) -> list[Row]:
    """Return the gain of a second thread, and how many numbers differ."""
    V = plan.pick(10_000, 100_000)
    what = f"two threads, V = {V:,}, degree 8, exact coupling"
    if "n_jobs" not in inspect.signature(HALK).parameters:
        missing = "not available: HALK takes no n_jobs"
        return [
            Row("threads-speed", what, missing=missing),
            Row("threads-bits", f"{what}: bits", missing=missing),
        ]
    plan.tell(what)
    workload = Workload(V, coupling="exact")
    alone, both = (workload.started(n_drawn=4, n_jobs=n) for n in (1, 2))
    one, two = in_turn([alone.job(1), both.job(1)], plan.pick(5, 9))
    n_different, unit = different(alone, both), 1e9 / V
    cores = os.cpu_count() or 1
    return [
        Row(
            name="threads-speed",
            what=what,
            unit="ns an agent-step",
            measured=two.median * unit,
            base=one.median * unit,
            against="one thread",
            ratio=one.median / two.median,
            note=f"{cores} cores, load {os.getloadavg()[0]:.1f}",
            missing="" if cores > 1 else "not judged: one core only",
        ),
        Row(
            name="threads-bits",
            what=f"{what}: multipliers and weights",
            unit="numbers differ",
            measured=float(n_different),
        ),
    ]


def different(one: Running, other: Running) -> int:
    """Return how many multipliers and weights of two models are not the same bits."""
    first, second = one.model, other.model
    count = int((first.multipliers != second.multipliers).sum())
    for f, g in zip(first.functions, second.functions, strict=True):
        same = f.order == g.order
        count += int((f.weights != g.weights).sum()) if same else max(f.order, g.order)
    return count + int(np.sum(first.model_order != second.model_order))
