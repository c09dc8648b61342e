"""Choices that were tried, and what they came to."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from halk.sensing.choices import Choices
from halk.sensing.problem import Problem

COARSER = 5
"""How often the budget is doubled for a model that is too large."""

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

    def score(
        self, choices: Choices, question: str, answer: str
    ) -> tuple[float, Choices]:
        """Return the error of choices, and the choices with a budget that will do.

        Models that come out too large are tried again with a larger budget.
        """
        if choices not in self.known:
            self.known[choices] = self._tried(choices)
        score, made = self.known[choices]
        self.made.append(Trial(question, answer, score))
        self.expected = max(self.expected, len(self.known))
        self.tell(len(self.known), self.expected, question)
        return score, made

    def _tried(self, choices: Choices) -> tuple[float, Choices]:
        for _ in range(COARSER):
            score = self.problem.score(choices)
            if not np.isposinf(score) or "budget" in self.fixed:
                break
            choices = replace(choices, budget=2 * choices.budget)
        return score, choices
