"""Choices that were tried, and what they came to."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

from halk.sensing.choices import Choices
from halk.sensing.problem import Problem

AT_ONCE = 2
"""Trials made at once: the core leaves Python's lock to others while it works."""

Tell = Callable[[int, int, str], None]
"""Told of trials made, trials expected, and what is being tried."""


class Trial(NamedTuple):
    """An answer to a question, and the error that it came to, in spreads."""

    question: str
    answer: str
    score: float


@dataclass
class Trials:
    """Scores of choices, each computed once.

    Parameters
    ----------
    problem : Problem
        What choices are tried on.
    fixed : set of str
        Questions that the user has answered.
    expected : int
        How many trials there may be, for the progress told.
    """

    problem: Problem
    fixed: frozenset[str] = frozenset()
    tell: Tell = lambda done, total, what: None
    expected: int = 1
    made: list[Trial] = field(default_factory=list)
    known: dict[Choices, tuple[float, Choices]] = field(default_factory=dict)

    def prepare(self, candidates: Iterable[Choices]) -> None:
        """Try choices that will be asked for, some at once."""
        new = [one for one in dict.fromkeys(candidates) if one not in self.known]
        if not new:
            return
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            for choices, found in zip(new, pool.map(self._tried, new), strict=True):
                self.known[choices] = found
        finally:  # also after an interrupt: what has begun ends, nothing else begins
            pool.shutdown(cancel_futures=True)

    def score(
        self, choices: Choices, question: str, answer: str
    ) -> tuple[float, Choices]:
        """Return the error of choices, and the choices with a budget that will do.

        It grows for models that are too large.
        """
        self.prepare([choices])
        score, made = self.known[choices]
        self.made.append(Trial(question, answer, score))
        self.expected = max(self.expected, len(self.known))
        self.tell(len(self.known), self.expected, question)
        return score, made

    def _tried(self, choices: Choices) -> tuple[float, Choices]:
        return self.problem.score(choices, "budget" not in self.fixed)
