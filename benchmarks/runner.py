"""Measure one thing after the other, and show that something is going on."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import Any

from benchmarks.benches import Bench
from benchmarks.plan import Plan
from benchmarks.results import Result, Results, Row

__all__ = ["FAILED", "measured"]

FAILED = "failed"
"""How the verdict of a bench that broke begins."""


def measured(benches: Mapping[str, Bench], is_quick: bool, console: Any) -> Results:
    """Run the benches and return everything they found.

    One that breaks leaves a row that says so, and the others go on.
    """
    items: list[Result] = []
    progress = _progress(console)
    with _one_thread(), progress:
        bar = progress.add_task("", total=len(benches))
        for name, bench in benches.items():
            tell = _Teller(progress, bar, name)
            tell(bench.title)
            began = perf_counter()
            items += _run(name, bench, Plan(is_quick, tell))
            progress.advance(bar)
            if not console.is_terminal:
                seconds = perf_counter() - began
                console.print(f"{name}: {bench.title}, {seconds:.0f} s")
    return Results(items)


def _run(name: str, bench: Bench, plan: Plan) -> Iterator[Result]:
    try:
        yield from bench.run(plan)
    except Exception as error:  # the numbers of the others are not to be lost
        traceback.print_exc()
        yield Row(
            name, bench.title, missing=f"{FAILED}: {type(error).__name__}: {error}"
        )


class _Teller:
    """Shows what is being measured beside the bar."""

    def __init__(self, progress: Any, bar: Any, name: str) -> None:
        self._progress, self._bar, self._name = progress, bar, name

    def __call__(self, what: str) -> None:
        self._progress.update(self._bar, description=f"{self._name}: {what}")


def _progress(console: Any) -> Any:
    progress = import_module("rich.progress")
    return progress.Progress(
        progress.SpinnerColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
    )


def _one_thread() -> AbstractContextManager[Any]:
    """Hold linear algebra libraries to one thread, where we can."""
    if find_spec("threadpoolctl") is None:
        return nullcontext()
    limits: AbstractContextManager[Any] = import_module(
        "threadpoolctl"
    ).threadpool_limits(1)
    return limits
