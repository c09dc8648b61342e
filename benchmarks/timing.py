"""Timing: jobs take turns, so that a noisy machine hits all of them alike."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple


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

    def scale(self, factor: float) -> Times:
        """Return the times multiplied by ``factor``, for another unit or amount.

        Examples
        --------
        >>> Times((2.0, 4.0)).scale(0.5)
        Times(seconds=(1.0, 2.0))
        """
        return Times(tuple(second * factor for second in self.seconds))

    def add(self, other: Times) -> Times:
        """Return the sums, repeat by repeat."""
        return Times(tuple(map(sum, zip(self.seconds, other.seconds, strict=True))))


def ratio(one: Times, other: Times) -> float:
    """Return the ratio of the medians.

    Examples
    --------
    >>> ratio(Times((1.0, 3.0, 90.0)), Times((1.0, 1.5, 2.0)))
    2.0
    """
    return one.median / other.median


class Job(NamedTuple):
    """What is timed: ``run``, on what ``prepare`` made for it outside the clock."""

    run: Callable[[Any], Any]
    prepare: Callable[[], Any] = lambda: None


def time_in_turn(
    jobs: Sequence[Job],
    repeats: int,
    warm_up: bool = True,
    clock: Callable[[], float] = perf_counter,
) -> list[Times]:
    """Run all jobs in turn, ``repeats`` times, and return the times of each.

    With ``warm_up`` there is a round before that is not counted, which brings data into
    the caches. Processor time as the clock leaves out what other programs take; it
    counts the threads of a job one by one.
    """
    rounds = [[_time(job, clock) for job in jobs] for _ in range(warm_up + repeats)]
    return [Times(own) for own in zip(*rounds[warm_up:], strict=True)]


def _time(job: Job, clock: Callable[[], float]) -> float:
    """Return the seconds of a job, without Python's garbage collection in them."""
    argument = job.prepare()
    was_on = gc.isenabled()
    gc.disable()
    try:
        began = clock()
        job.run(argument)
        return clock() - began
    finally:
        if was_on:
            gc.enable()
