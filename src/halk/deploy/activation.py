"""Activation schemes: when an agent takes its next reading.

A scheme gives every agent a clock; the simulator and agents in the field ask the same
clocks. Whatever the scheme, an agent takes as many readings a second on average as its
rate says, unless it is asleep.

To add one: a class with its parameters and ``clocks``, below the others. Files and
commands find it by its name, ``InTurn`` as ``in_turn``, and the tests do too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import log1p
from random import Random
from typing import ClassVar, Self

from halk._validation import real, require
from halk.deploy.clocks import (
    Clock,
    Dozing,
    Eager,
    Irregular,
    Lots,
    Regular,
    Ticking,
    exponential,
    uniform,
)

Pauses = Sequence[float | None]
"""Mean seconds between two readings, by agent; None: as fast as it can."""

SHORTEST = 0.01
"""Seconds of being awake and asleep, together, that a process can tell apart."""


class Activation(ABC):
    """A scheme; its parameters are checked when it is made."""

    is_own: ClassVar[bool] = True
    """Whether an agent needs to know of no other: it can run in the field too."""

    @abstractmethod
    def clocks(self, pauses: Pauses, rngs: Sequence[Random]) -> list[Clock]:
        """Return a clock an agent, from its mean pause and its random numbers.

        Raises
        ------
        ValueError
            If agents have no rate and the scheme needs one.
        """

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return instances for the tests to run through the laws."""
        return (cls(),)

    def _timed(self, pauses: Pauses) -> list[float]:
        found = [pause for pause in pauses if pause is not None]
        if len(found) < len(pauses):
            raise ValueError(f"{self!r} must go with a rate of readings, got none")
        return found

    def _mean(self, pauses: Pauses) -> float:
        """Return the pause of agents who all take as many readings as these do."""
        timed = self._timed(pauses)
        return len(timed) / sum(1 / pause for pause in timed)


@dataclass(frozen=True)
class OwnRate(Activation):
    """Every agent at its own fixed rate; without a rate as fast as it can.

    The first reading is somewhere in the first pause, within a second: agents that
    are started together do not all ask in the same instant for ever.
    """

    def clocks(self, pauses: Pauses, rngs: Sequence[Random]) -> list[Clock]:
        pairs = zip(pauses, rngs, strict=True)
        return [Eager() if p is None else Regular(p, rng) for p, rng in pairs]


@dataclass(frozen=True)
class AsFast(Activation):
    """Every agent takes a reading as soon as the last is learned, whatever its rate."""

    def clocks(self, pauses: Pauses, rngs: Sequence[Random]) -> list[Clock]:
        return [Eager() for _ in pauses]


@dataclass(frozen=True)
class Poisson(Activation):
    """Pauses are exponential: readings come like calls to a telephone."""

    def clocks(self, pauses: Pauses, rngs: Sequence[Random]) -> list[Clock]:
        pairs = zip(self._timed(pauses), rngs, strict=True)
        return [Irregular(exponential(pause, rng)) for pause, rng in pairs]


@dataclass(frozen=True)
class Jitter(Activation):
    """Pauses are uniform, up to a share ``by`` shorter or longer than the mean."""

    by: float = 0.5

    def __post_init__(self) -> None:
        require(0 <= real("by", self.by) <= 1, "by", "be a share, from 0 to 1", self.by)

    def clocks(self, pauses: Pauses, rngs: Sequence[Random]) -> list[Clock]:
        pairs = zip(self._timed(pauses), rngs, strict=True)
        return [Irregular(uniform(pause, self.by, rng)) for pause, rng in pairs]


@dataclass(frozen=True)
class Asleep(Activation):
    """Agents at their own rate that sleep a ``share`` of the time.

    They take no readings then, but answer neighbours. Awake and asleep are ``period``
    seconds together, on average: each exponential, or fixed if ``is_regular``.
    """

    share: float = 0.5
    period: float = 10.0
    is_regular: bool = False

    def __post_init__(self) -> None:
        require(
            0 <= real("share", self.share) < 1,
            "share",
            "be from 0 to below 1",
            self.share,
        )
        require(
            real("period", self.period) >= SHORTEST,
            "period",
            f"be at least {SHORTEST:g} seconds",
            self.period,
        )

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return cls(), cls(0.3, 2.0, is_regular=True)

    def clocks(self, pauses: Pauses, rngs: Sequence[Random]) -> list[Clock]:
        own = OwnRate().clocks(pauses, rngs)
        return [Dozing(c, self._phases(rng)) for c, rng in zip(own, rngs, strict=True)]

    def _phases(self, rng: Random) -> Iterator[tuple[float, float]]:
        """Yield how long an agent is awake and then asleep, from anywhere in a cycle.

        What is left of an exponential time is exponential again.
        """
        asleep = self.share * self.period
        awake = self.period - asleep
        if self.is_regular:
            left = rng.random() * self.period
            yield max(left - asleep, 0.0), min(left, asleep)
        elif rng.random() < self.share:
            yield 0.0, exponential(asleep, rng)()
        while True:
            draws = (awake, asleep)
            if not self.is_regular:
                draws = exponential(awake, rng)(), exponential(asleep, rng)()
            yield draws


@dataclass(frozen=True)
class AllAtOnce(Activation):
    """A common clock: at every tick all agents take a reading."""

    is_own: ClassVar[bool] = False

    def clocks(self, pauses: Pauses, rngs: Sequence[Random]) -> list[Clock]:
        tick = self._mean(pauses)
        return [Ticking(tick, count()) for _ in pauses]


@dataclass(frozen=True)
class InTurn(Activation):
    """One agent after the other, in the order of the network, and again."""

    is_own: ClassVar[bool] = False

    def clocks(self, pauses: Pauses, rngs: Sequence[Random]) -> list[Clock]:
        n = len(pauses)
        tick = self._mean(pauses) / n
        return [Ticking(tick, count(i, n)) for i in range(n)]


@dataclass(frozen=True)
class OneAtRandom(Activation):
    """At every tick one agent, drawn at random, whoever was before."""

    is_own: ClassVar[bool] = False

    def clocks(self, pauses: Pauses, rngs: Sequence[Random]) -> list[Clock]:
        n = len(pauses)
        drawn = Lots(n, Random(rngs[0].random()))
        tick = self._mean(pauses) / n
        return [Ticking(tick, drawn.of(i)) for i in range(n)]


@dataclass(frozen=True)
class Bernoulli(Activation):
    """At every tick of a common clock, each agent with probability ``q``."""

    is_own: ClassVar[bool] = False
    q: float = 0.5

    def __post_init__(self) -> None:
        require(0 < real("q", self.q) <= 1, "q", "be above 0 and at most 1", self.q)

    def clocks(self, pauses: Pauses, rngs: Sequence[Random]) -> list[Clock]:
        tick = self._mean(pauses) * self.q
        return [Ticking(tick, self._heads(rng)) for rng in rngs]

    def _heads(self, rng: Random) -> Iterator[int]:
        # from head to head, not tick by tick: heads may be rare
        tick = -1
        while True:
            is_rare = self.q < 1
            gap = log1p(-rng.random()) / log1p(-self.q) if is_rare else 0.0
            tick += 1 + int(gap)
            yield tick
