"""All that can be measured, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.peers import peers
from benchmarks.plan import Plan
from benchmarks.results import Result
from benchmarks.rows import components, dense, ocean, order, readings, reference
from benchmarks.rows import size as sizes
from benchmarks.rows import start as starts
from benchmarks.rows import threads as threading
from benchmarks.scaling import scaling

__all__ = ["BENCHES", "Bench", "chosen"]


class Bench(NamedTuple):
    """A question, and the function that measures the answer."""

    title: str
    run: Callable[[Plan], Sequence[Result]]


BENCHES: dict[str, Bench] = {
    "dense": Bench("a thousand agents against the floor", dense.dense),
    "ocean": Bench("the ocean run against the floor", ocean.ocean),
    "size": Bench("from 1,000 agents to 100,000", sizes.size),
    "order": Bench("from 10 atoms to 1,000", order.order),
    "report": Bench("one sensor of 100,000 reports", readings.report),
    "reference": Bench("against halk.reference", reference.reference_row),
    "threads": Bench("two threads", threading.threads),
    "start": Bench("new process to first step", starts.start),
    "single": Bench("learn_one of a single agent", readings.single),
    "kernels": Bench("every kernel", components.kernels),
    "losses": Bench("every loss", components.losses),
    "adaptive": Bench("bandwidth rules", components.adaptive),
    "peers": Bench("peers on the same streams", peers),
    "scaling": Bench("how cost grows", scaling),
}


def chosen(names: Sequence[str] | None) -> dict[str, Bench]:
    """Return the benches of these names, in our order; all of them for None.

    Raises
    ------
    ValueError
        If a name is unknown.
    """
    wanted: Any = BENCHES if names is None else names
    unknown = [name for name in wanted if name not in BENCHES]
    if unknown:
        known = ", ".join(BENCHES)
        got = ", ".join(unknown)
        raise ValueError(f"--only must name some of {known}; got {got}")
    return {name: bench for name, bench in BENCHES.items() if name in wanted}
