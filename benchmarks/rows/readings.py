"""Few readings at a time: one sensor of many, and one agent by itself."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.plan import Plan
from benchmarks.results import Row
from benchmarks.timing import Job, Times, in_turn
from benchmarks.workloads import Running, Workload, one_reading

__all__ = ["report", "single"]

_MICRO = 1e6


def report(plan: Plan) -> list[Row]:
    """Return the time of a step in which one sensor of a large network reports."""
    V, n_calls = plan.pick(10_000, 100_000), plan.pick(500, 2000)
    what = f"one sensor of {V:,} reports"
    plan.tell(what)
    running = Workload(V, coupling="exact").started(n_drawn=4)
    floor = running.floor()

    def run(readings: Any) -> None:
        running.model.learn_readings(*readings)

    job = Job(run, lambda: running.fields.single(n_calls))
    term, product, many = in_turn([*floor.jobs, job], repeats=5)
    base = one_reading(running, floor, term, product)
    calls = _called(running, n_calls)
    many = many.scaled(1 / n_calls)
    return [
        _row("report-calls", f"{what}, a Python call each", calls, base, running),
        _row("report-many", f"{what}, {n_calls:,} in one call", many, base, running),
    ]


def _called(running: Running, n_calls: int) -> Times:
    """Time every call by itself; the first tenth does not count."""
    agents, X, Y = running.fields.single(n_calls)
    numbers, seconds = agents.tolist(), []
    for n, agent in enumerate(numbers):
        began = perf_counter()
        running.model.learn_readings([agent], X[n : n + 1], Y[n : n + 1])
        seconds.append(perf_counter() - began)
    return Times(tuple(seconds[n_calls // 10 :]))


def _row(name: str, what: str, times: Times, base: Times, running: Running) -> Row:
    """Return the row; its figure is the mean, which hides no slow call."""
    mean = float(np.mean(times.seconds))
    return Row(
        name=name,
        what=what,
        unit="us a step",
        measured=mean * _MICRO,
        base=base.median * _MICRO,
        ratio=mean / base.median,
        note=f"mean; median {times.median * _MICRO:.1f}; {running.order:.1f} atoms, "
        f"exact coupling",
        details={"median": times.median * _MICRO, "best": times.best * _MICRO},
    )


def single(plan: Plan) -> list[Row]:
    """Return the time of ``learn_one`` for one agent with thirty atoms."""
    plan.tell("learn_one of a single agent")
    running = Workload(1, degree=0).started()
    model, n_calls = running.model, 1000
    floor = running.floor()

    def run(block: Any) -> None:
        for x, y in zip(*block, strict=True):
            model.learn_one(x, y)

    job = Job(run, lambda: running.fields.drawn(n_calls))
    term, product, calls = in_turn([*floor.jobs, job], plan.pick(5, 15))
    base = one_reading(running, floor, term, product)
    calls = calls.scaled(1 / n_calls)
    return [
        Row(
            name="single",
            what="learn_one of a single agent, from Python",
            unit="us a call",
            measured=calls.median * _MICRO,
            base=base.median * _MICRO,
            ratio=calls.median / base.median,
            note=f"{running.order:.0f} atoms",
            details={"best": calls.best * _MICRO},
        )
    ]
