"""Choices by progressive validation: one question after another, the better kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from halk.sensing.choices import Choices
from halk.sensing.encoding import Part, logarithm_of
from halk.sensing.problem import Problem

GAIN = 0.005
"""Share of the error that a change must save."""

WIDER = 3.0
"""An input may tell little at the width that its spread suggests, and more at this."""

DOUBLINGS = 3
"""How far a number is followed in a direction that helps."""

Tell = Callable[[int, int, str], None]
"""Told of trials made, trials expected, and what is being tried."""


class Trial(NamedTuple):
    """An answer to a question, and the error that it came to, in spreads."""

    question: str
    answer: str
    score: float


@dataclass
class Search:
    """A search under way.

    Parameters
    ----------
    problem : Problem
        What choices are tried on.
    parts : list of Part
        All that could be inputs.
    fixed : set of str
        Questions that the user has answered.
    """

    problem: Problem
    parts: list[Part]
    fixed: frozenset[str] = frozenset()
    tell: Tell = lambda done, total, what: None  # noqa: E731
    trials: list[Trial] = field(default_factory=list)

    def run(self, choices: Choices) -> Choices:
        """Return better choices; two rounds, the second for numbers only."""
        self._known: dict[Choices, float] = {}
        self._expected = 24 + 10 * len(self.parts)
        for _ in range(2):
            for ask in (self._inputs, self._numbers, self._kinds):
                choices = ask(choices)
        return self._numbers(choices)

    def score(self, choices: Choices, question: str, answer: str) -> float:
        """Return the error of choices, and remember what was asked."""
        if choices not in self._known:
            self._known[choices] = self.problem.score(choices)
        score = self._known[choices]
        self.trials.append(Trial(question, answer, score))
        done = len(self._known)
        self._expected = max(self._expected, done)
        self.tell(done, self._expected, question)
        return score

    def _better(
        self, choices: Choices, options: list[tuple[str, Choices]], question: str,
        now: str, gain: float = GAIN,
    ) -> Choices:  # fmt: skip
        """Return the best of the options, or what there is if none is clearly so."""
        if question in self.fixed or not options:
            return choices
        best, least = choices, (1 - gain) * self.score(choices, question, now)
        for answer, option in options:
            score = self.score(option, question, answer)
            if score < least:
                best, least = option, score
        return best

    # what joins the inputs

    def _inputs(self, choices: Choices) -> Choices:
        for part in self.parts:
            is_in = any(one.name == part.name for one in choices.parts)
            question = f"input {part.name}"
            if is_in and len(choices.parts) > 1:
                option = ("left out", choices.without_part(part.name))
                choices = self._better(choices, [option], question, "joins", 0.0)
            elif not is_in:
                options = [
                    (f"joins, width {w:.3g}", choices.with_part(replace(part, width=w)))
                    for w in (part.width, WIDER * part.width)
                ]
                choices = self._better(choices, options, question, "left out", 0.01)
        return choices

    # numbers, followed while they help

    def _numbers(self, choices: Choices) -> Choices:
        for part in choices.parts:
            choices = self._followed(choices, f"width {part.name}", _widths(part.name))
        choices = self._followed(choices, "tolerance", _tolerances)
        return self._followed(choices, "step_size", _steps)

    def _followed(
        self,
        choices: Choices,
        question: str,
        moved: Callable[[Choices, float], tuple[str, Choices]],
    ) -> Choices:
        if question in self.fixed or not self._matters(choices, question):
            return choices
        now, _ = moved(choices, 1.0)
        least = self.score(choices, question, now)
        best = choices
        for factor in (0.5, 2.0):
            for k in range(1, DOUBLINGS + 1):
                answer, option = moved(choices, factor**k)
                score = self.score(option, question, answer)
                if score >= (1 - GAIN) * least:
                    break
                best, least = option, score
            if best is not choices:
                break
        return best

    def _matters(self, choices: Choices, question: str) -> bool:
        is_apart = not np.isfinite(choices.tolerance) or not self._has_neighbours()
        return not (is_apart and question == "tolerance")

    def _has_neighbours(self) -> bool:
        problem = self.problem
        has_places = problem.sensors.positions is not None
        return len(problem.sensors.names) > 1 and (
            has_places or problem.graph is not None
        )

    # one of a few kinds

    def _kinds(self, choices: Choices) -> Choices:
        for part, log in self._logarithms(choices):
            option = ("its logarithm", choices.with_part(log))
            choices = self._better(choices, [option], f"form {part.name}", "as it is")
        own = [("own", replace(choices, offsets="own"))]
        choices = self._better(choices, own, "offsets", choices.offsets, 0.01)
        if self._has_neighbours():
            apart = ("apart", replace(choices, tolerance=np.inf))
            choices = self._better(choices, [apart], "together", "together")
            if np.isfinite(choices.tolerance) and self.problem.graph is None:
                nearest = [
                    (f"{k}", replace(choices, neighbours=k, radius=None))
                    for k in (3, 12)
                    if k < len(self.problem.sensors.names)
                ]
                now = f"{choices.neighbours}"
                choices = self._better(choices, nearest, "neighbours", now, 0.01)
        kernels = [("matern32", replace(choices, kernel="matern32"))]
        choices = self._better(choices, kernels, "kernel", choices.kernel, 0.01)
        budgets = [
            (f"{choices.budget * f:g}", replace(choices, budget=choices.budget * f))
            for f in (0.3,)
        ]
        return self._better(choices, budgets, "budget", f"{choices.budget:g}", 0.03)

    def _logarithms(self, choices: Choices) -> Iterator[tuple[Part, Part]]:
        columns = [one.name for one in self.problem.schema.inputs]
        for part in choices.parts:
            if part.kind == "number":
                column = self.problem.x[:, columns.index(part.source)]
                log = logarithm_of(part, column)
                if log is not None:
                    yield part, log


def _widths(name: str) -> Callable[[Choices, float], tuple[str, Choices]]:
    def moved(choices: Choices, factor: float) -> tuple[str, Choices]:
        part = next(one for one in choices.parts if one.name == name)
        width = part.width * factor
        return f"{width:.3g}", choices.with_part(replace(part, width=width))

    return moved


def _tolerances(choices: Choices, factor: float) -> tuple[str, Choices]:
    tolerance = choices.tolerance * factor
    return f"{tolerance:.3g}", replace(choices, tolerance=tolerance)


def _steps(choices: Choices, factor: float) -> tuple[str, Choices]:
    step = choices.step_size * factor
    return f"{step:.3g}", replace(choices, step_size=step)
