"""Timing: jobs take turns, so that a noisy machine hits all of them alike."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

__all__ = ["Job", "Times", "in_turn", "ratio"]


class Times(NamedTuple):
    """Seconds of the repeats of a job."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The shortest: what the job takes when nothing disturbs it."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The middle one, which comparisons are made of."""
        return median(self.seconds)

    def scaled(self, factor: float) -> Times:
        """Return the times multiplied by ``factor``, for another unit or amount.

        Examples
        --------
        >>> Times((2.0, 4.0)).scaled(0.5)
        Times(seconds=(1.0, 2.0))
        """
        return Times(tuple(second * factor for second in self.seconds))

    def plus(self, other: Times) -> Times:
        """Return the sums, repeat by repeat."""
        pairs = zip(self.seconds, other.seconds, strict=True)
        return Times(tuple(one + two for one, two in pairs))


def ratio(one: Times, other: Times) -> float:
    """Return the ratio of the medians.

    Examples
    --------
    >>> ratio(Times((1.0, 3.0, 90.0)), Times((1.0, 1.5, 2.0)))
    2.0
    """
    return one.median / other.median


def _nothing() -> None:
    return None


class Job(NamedTuple):
    """What is timed: ``run``, on what ``prepare`` made for it outside the clock."""

    run: Callable[[Any], Any]
    prepare: Callable[[], Any] = _nothing


def in_turn(jobs: Sequence[Job], repeats: int, warm_up: bool = True) -> list[Times]:
    """Run all jobs in turn, ``repeats`` times, and return the times of each.

    With ``warm_up`` there is a round before that is not counted: it compiles, and
    brings data into the caches.
    """
    seconds: list[list[float]] = [[] for _ in jobs]
    for _ in range(warm_up):
        for job in jobs:
            _timed(job)
    for _ in range(repeats):
        for job, own in zip(jobs, seconds, strict=True):
            own.append(_timed(job))
    return [Times(tuple(own)) for own in seconds]


def _timed(job: Job) -> float:
    argument = job.prepare()
    with _no_collection():
        began = perf_counter()
        job.run(argument)
        return perf_counter() - began


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep Python's garbage collector from running inside the clock."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
