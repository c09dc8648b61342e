"""Claims: sentences about a figure, each with a verdict computed from the runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

Numbers = dict[str, float]
Judge = Callable[..., tuple[bool | None, Numbers]]
"""Says of one seed's results whether a claim holds, and by which numbers; None where
there is nothing to judge."""

COUPLINGS = ("paper", "exact")
"""The paper's own update, and the gradient of the Lagrangian."""


@dataclass(frozen=True)
class Verdict:
    """What the runs say of a claim.

    Parameters
    ----------
    seeds : sequence of (bool or None, numbers)
        For every seed whether the claim holds, and the numbers that say so; numbers of
        a run that diverged are infinite. None: what it is compared with diverged.
    """

    seeds: tuple[tuple[bool | None, Numbers], ...]

    @property
    def holds(self) -> bool | None:
        """Whether it holds for every seed; None if that cannot be said."""
        found = [one for one, _ in self.seeds]
        if False in found:
            return False
        return True if found and None not in found else None

    @property
    def word(self) -> str:
        """The verdict in a word or two."""
        if self.holds is None:
            return "not comparable" if self.seeds else "not computed"
        return "reproduced" if self.holds else "not reproduced"

    @property
    def seen(self) -> str:
        """The means of the numbers over the seeds, and how many seeds agree."""
        if not self.seeds:
            return ""
        means = {name: self._mean(name) for name in self.seeds[0][1]}
        texts = told_apart(list(means.values()))
        parts = [f"{name} {text}" for name, text in zip(means, texts, strict=True)]
        n_true, n = sum(one is True for one, _ in self.seeds), len(self.seeds)
        seeds = "seed" if n == 1 else "seeds"
        return f"{'; '.join(parts)} ({n_true} of {n} {seeds})"

    def _mean(self, name: str) -> float:
        return sum(numbers[name] for _, numbers in self.seeds) / len(self.seeds)

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as JSON; infinite numbers, which it has not, as null."""
        return {
            "holds": self.holds,
            "verdict": self.word,
            "seeds": [
                {"holds": one, "numbers": {k: _finite(v) for k, v in numbers.items()}}
                for one, numbers in self.seeds
            ],
        }


class Statement(NamedTuple):
    """A claim before the runs: which methods it compares, and how it is judged."""

    name: str
    sentence: str
    source: str
    methods: tuple[str, ...]
    judge: Judge
    note: str = ""


@dataclass(frozen=True)
class Claim:
    """A sentence, who says it, and a verdict for each coupling it was tried with."""

    name: str
    sentence: str
    source: str
    verdicts: Mapping[str, Verdict]
    note: str = ""

    def verdict(self, coupling: str) -> Verdict:
        """Return the verdict for a coupling; an empty one where none is claimed."""
        return self.verdicts.get(coupling, Verdict(()))

    def as_json(self) -> dict[str, Any]:
        """Return the claim as JSON."""
        return {
            "name": self.name,
            "sentence": self.sentence,
            "source": self.source,
            "note": self.note,
            "verdicts": {k: verdict.as_json() for k, verdict in self.verdicts.items()},
        }


def told_apart(numbers: Sequence[float]) -> list[str]:
    """Return numbers with as many digits as it takes to see that they differ.

    Examples
    --------
    >>> told_apart([0.85712, 0.85698, 30.0])
    ['0.8571', '0.857', '30']
    """
    for digits in range(3, 7):
        texts = [shown(number, digits) for number in numbers]
        if len(set(texts)) == len(set(numbers)):
            break
    return texts


def shown(number: float, digits: int = 3) -> str:
    """Return a number as people read it.

    Examples
    --------
    >>> shown(0.012345), shown(1234.5), shown(float("inf")), shown(30.0)
    ('0.0123', '1234', 'diverged', '30')
    """
    if not isfinite(number):
        return "diverged"
    if abs(number) >= 10**digits:
        return f"{number:.0f}"
    return f"{number:.{digits}g}"


def verdict(judge: Judge, *series: Sequence[Any]) -> Verdict:
    """Judge a claim seed by seed; ``series`` are the results it compares.

    A diverged run is infinitely bad, so a claim that it is good does not hold. That
    another is better than a diverged one says nothing: then there is no verdict.
    """
    if not all(series) or len({len(one) for one in series}) != 1:
        return Verdict(())
    judged: list[tuple[bool | None, Numbers]] = []
    for results in zip(*series, strict=True):
        holds, numbers = judge(*results)
        is_vacuous = holds and not all(map(isfinite, numbers.values()))
        judged.append((None if is_vacuous else holds, numbers))
    return Verdict(tuple(judged))


def below(measure: Callable[[Any], float], *names: str) -> Judge:
    """Return a judge: the measure of the first result is below that of all others."""

    def judge(*results: Any) -> tuple[bool, Numbers]:
        values = [measure(result) for result in results]
        numbers = dict(zip(names, values, strict=True))
        return all(values[0] < other for other in values[1:]), numbers

    return judge


def _finite(number: float) -> float | None:
    return float(number) if isfinite(number) else None
