"""How long messages and pieces of work take, as distributions.

To add one: a class with its parameters and ``draw``. Files and commands find it by its
name.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from random import Random
from typing import Any, Self

from halk._validation import nonnegative, real, require


class Delay(ABC):
    """Seconds that a message takes; messages are independent of one another."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """Seconds on average."""

    @abstractmethod
    def draw(self, rng: Random) -> float:
        """Return the seconds of one message."""

    def times(self, factor: float) -> "Delay":
        """Return the distribution of a multiple."""
        return self if factor == 1 else _Times(self, factor)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return instances for the tests to run through the laws."""
        return (cls(),)


@dataclass(frozen=True)
class Constant(Delay):
    """All messages take the same time."""

    seconds: float = 0.005

    def __post_init__(self) -> None:
        nonnegative("seconds", self.seconds)

    @property
    def mean(self) -> float:
        return self.seconds

    def draw(self, rng: Random) -> float:
        return self.seconds


@dataclass(frozen=True)
class Uniform(Delay):
    """Anything between two bounds: jitter, by which messages overtake one another."""

    low: float = 0.0
    high: float = 0.01

    def __post_init__(self) -> None:
        nonnegative("low", self.low)
        rule = f"be at least low, {self.low:g}"
        require(real("high", self.high) >= self.low, "high", rule, self.high)

    @property
    def mean(self) -> float:
        return (self.low + self.high) / 2

    def draw(self, rng: Random) -> float:
        return rng.uniform(self.low, self.high)


@dataclass(frozen=True)
class Exponential(Delay):
    """Mostly short and now and then long; ``least`` is the shortest."""

    mean: float = 0.005
    least: float = 0.0

    def __post_init__(self) -> None:
        nonnegative("least", self.least)
        rule = f"be at least least, {self.least:g}"
        require(real("mean", self.mean) >= self.least, "mean", rule, self.mean)

    def draw(self, rng: Random) -> float:
        rest = self.mean - self.least
        return self.least + (rng.expovariate(1 / rest) if rest > 0 else 0.0)


@dataclass(frozen=True)
class Measured(Delay):
    """Drawn from times that were measured, all alike."""

    seconds: tuple[float, ...] = (0.005,)

    def __post_init__(self) -> None:
        given: Any = self.seconds
        is_list = isinstance(given, list | tuple) and len(given) > 0
        require(is_list, "seconds", "be a list of times", given)
        for one in self.seconds:
            nonnegative("seconds", one)

    @property
    def mean(self) -> float:
        return sum(self.seconds) / len(self.seconds)

    def draw(self, rng: Random) -> float:
        return rng.choice(self.seconds)


@dataclass(frozen=True)
class _Times(Delay):
    base: Delay
    factor: float

    @property
    def mean(self) -> float:
        return self.factor * self.base.mean

    def draw(self, rng: Random) -> float:
        return self.factor * self.base.draw(rng)


def delay_of(value: Any, name: str = "delay") -> Delay:
    """Return a distribution, from one or from seconds."""
    return value if isinstance(value, Delay) else Constant(nonnegative(name, value))
