"""Clocks: the times at which one agent takes readings, and what they are drawn from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from random import Random
from typing import Any


class Clock(ABC):
    """The times at which one agent takes readings."""

    waits: bool = False
    """Whether a reading waits until the one before is learned."""

    def start(self, now: float) -> float:
        """Return when the first reading is due, for one who may begin now."""
        return now

    def open(self, now: float) -> float:
        """Return when a reading may be taken that is due: now, or later."""
        return now

    @abstractmethod
    def next(self, due: float) -> float:
        """Return when the next reading is due, after one that was due then."""


class Regular(Clock):
    """Always the same pause, after a part of it."""

    def __init__(self, pause: float, rng: Random) -> None:
        self._pause, self._rng = pause, rng

    def start(self, now: float) -> float:
        return now + self._rng.random() * min(self._pause, 1.0)

    def next(self, due: float) -> float:
        return due + self._pause


class Irregular(Clock):
    """Pauses drawn one after another, one before the first reading too."""

    def __init__(self, pause: Callable[[], float]) -> None:
        self._pause = pause

    def start(self, now: float) -> float:
        return self.next(now)

    def next(self, due: float) -> float:
        return due + self._pause()


class Eager(Clock):
    """At once, when the last is learned."""

    waits = True

    def next(self, due: float) -> float:
        return due


class Ticking(Clock):
    """Some ticks of a clock that all agents have in common."""

    def __init__(self, tick: float, numbers: Iterator[int]) -> None:
        self._tick, self._numbers, self._origin = tick, numbers, 0.0

    def start(self, now: float) -> float:
        self._origin = now
        return self.next(now)

    def next(self, due: float) -> float:
        # not due + tick: one instant must be the same number for all who share it
        return self._origin + next(self._numbers) * self._tick


class Dozing(Clock):
    """Another clock; what is due while the agent sleeps is taken when it wakes."""

    def __init__(self, clock: Clock, phases: Iterator[tuple[float, float]]) -> None:
        self._clock, self._phases, self.waits = clock, phases, clock.waits

    def start(self, now: float) -> float:
        self._sleeps = self._wakes = now
        return self._awake(self._clock.start(now))

    def next(self, due: float) -> float:
        return self._awake(self._clock.next(due))

    def open(self, now: float) -> float:
        return self._awake(now)

    def _awake(self, time: float) -> float:
        while time >= self._wakes:
            awake, asleep = next(self._phases)
            self._sleeps = self._wakes + awake
            self._wakes = self._sleeps + asleep
        return time if time < self._sleeps else self._wakes


def exponential(mean: float, rng: Random) -> Callable[[], float]:
    """Return what draws exponential times."""
    return lambda: rng.expovariate(1 / mean) if mean > 0 else 0.0


def uniform(mean: float, by: float, rng: Random) -> Callable[[], float]:
    """Return what draws times up to a share shorter or longer than the mean."""
    return lambda: mean * (1 + by * rng.uniform(-1, 1))


class Lots:
    """Who is drawn at which tick; agents look at it at different times."""

    def __init__(self, n_agents: int, rng: Random) -> None:
        self._rng, self._n_drawn = rng, 0
        self._waiting: list[deque[int]] = [deque() for _ in range(n_agents)]

    def of(self, i: int) -> Iterator[int]:
        """Yield the ticks of one agent."""
        while True:
            while not self._waiting[i]:
                who: Any = self._rng.randrange(len(self._waiting))
                self._waiting[who].append(self._n_drawn)
                self._n_drawn += 1
            yield self._waiting[i].popleft()
