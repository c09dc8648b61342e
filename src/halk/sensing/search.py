"""Choices by progressive validation: one question after another, the better kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from halk.sensing.choices import Choices
from halk.sensing.encoding import Part, logarithm_of
from halk.sensing.lengths import shown, shown_tolerance
from halk.sensing.scales import SCALINGS
from halk.sensing.trials import Trials

GAIN = 0.005
"""Share of the error that a change must save."""

WIDER = 3.0
"""An input may tell little at the width that its spread suggests, and more at this."""

DOUBLINGS = 3
"""How far a number is followed in a direction that helps."""


@dataclass
class Search:
    """A search under way.

    Parameters
    ----------
    trials : Trials
        What choices are tried on, and what they came to.
    parts : list of Part
        All that could be inputs.
    """

    trials: Trials
    parts: list[Part]

    def run(self, choices: Choices) -> Choices:
        """Return better choices: all questions twice, and numbers once more."""
        self.trials.expected = 24 + 10 * len(self.parts)
        for _ in range(2):
            for ask in (self._inputs, self._numbers, self._kinds):
                choices = ask(choices)
        return self._numbers(choices)

    def _better(
        self, choices: Choices, options: list[tuple[str, Choices]], question: str,
        now: str, gain: float = GAIN,
    ) -> Choices:  # fmt: skip
        """Return the best of the options, or what there is if none is clearly so."""
        if question in self.trials.fixed or not options:
            return choices
        self.trials.prepare([choices, *(option for _, option in options)])
        score, best = self.trials.score(choices, question, now)
        least = (1 - gain) * score
        for answer, option in options:
            score, made = self.trials.score(option, question, answer)
            if score < least:
                best, least = made, score
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
                    (
                        f"joins, {self._length(replace(part, width=w))}",
                        choices.with_part(replace(part, width=w)),
                    )
                    for w in (part.width, WIDER * part.width)
                ]
                choices = self._better(choices, options, question, "left out", 0.01)
        return choices

    # numbers, followed while they help

    def _numbers(self, choices: Choices) -> Choices:
        for part in choices.parts:
            moved = partial(self._widened, part.name)
            choices = self._followed(choices, f"width {part.name}", moved)
        choices = self._followed(choices, "tolerance", self._tolerated)
        return self._followed(choices, "step_size", _steps)

    def _followed(
        self,
        choices: Choices,
        question: str,
        moved: Callable[[Choices, float], tuple[str, Choices]],
    ) -> Choices:
        if question in self.trials.fixed or not self._matters(choices, question):
            return choices
        now, _ = moved(choices, 1.0)
        self.trials.prepare([moved(choices, factor)[1] for factor in (1.0, 0.5, 2.0)])
        least, best = self.trials.score(choices, question, now)
        for factor in (0.5, 2.0):
            start, is_better = best, False
            for k in range(1, DOUBLINGS + 1):
                answer, option = moved(start, factor**k)
                score, made = self.trials.score(option, question, answer)
                if score >= (1 - GAIN) * least:
                    break
                best, least, is_better = made, score, True
            if is_better:
                break
        return best

    def _matters(self, choices: Choices, question: str) -> bool:
        is_apart = not np.isfinite(choices.tolerance) or not self._has_neighbours()
        return not (is_apart and question == "tolerance")

    def _has_neighbours(self) -> bool:
        problem = self.trials.problem
        has_places = problem.sensors.positions is not None
        return len(problem.sensors.names) > 1 and (
            has_places or problem.graph is not None
        )

    def _widened(
        self, name: str, choices: Choices, factor: float
    ) -> tuple[str, Choices]:
        part = next(one for one in choices.parts if one.name == name)
        wide = replace(part, width=part.width * factor)
        return self._length(wide), choices.with_part(wide)

    def _length(self, part: Part) -> str:
        return shown(part, self.trials.problem.schema, self.trials.problem.sensors)

    def _tolerated(self, choices: Choices, factor: float) -> tuple[str, Choices]:
        tolerance = choices.tolerance * factor
        label = shown_tolerance(tolerance, choices.scaling, self.trials.problem)
        return label, replace(choices, tolerance=tolerance)

    # one of a few kinds

    def _kinds(self, choices: Choices) -> Choices:
        for part, log in self._logarithms(choices):
            option = ("its logarithm", choices.with_part(log))
            choices = self._better(choices, [option], f"form {part.name}", "as it is")
        others = [
            (name, replace(choices, scaling=name))
            for name in SCALINGS
            if name != choices.scaling
        ]
        choices = self._better(choices, others, "scaling", choices.scaling, 0.01)
        if self._has_neighbours():
            apart = ("apart", replace(choices, tolerance=np.inf))
            choices = self._better(choices, [apart], "together", "together")
            if np.isfinite(choices.tolerance):
                choices = self._talking(choices)
        kind = "gaussian" if choices.kernel == "matern32" else "matern32"
        kernels = [(kind, replace(choices, kernel=kind))]
        choices = self._better(choices, kernels, "kernel", choices.kernel, 0.01)
        budgets = [
            (f"{choices.budget * f:g}", replace(choices, budget=choices.budget * f))
            for f in (0.3, 3.0)
        ]
        return self._better(choices, budgets, "budget", f"{choices.budget:g}", 0.03)

    def _talking(self, choices: Choices) -> Choices:
        """Return choices of whom to ask, and how fast prices move."""
        problem = self.trials.problem
        nearest = [
            (f"{k}", replace(choices, neighbours=k, radius=None))
            for k in (3, 6, 12)
            if k < len(problem.sensors.names) and k != choices.neighbours
        ]
        if problem.graph is None:
            now = f"{choices.neighbours}"
            choices = self._better(choices, nearest, "neighbours", now, 0.01)
        duals = [
            (f"{choices.dual * f:g}", replace(choices, dual=choices.dual * f))
            for f in (0.1, 10.0)
        ]
        return self._better(choices, duals, "dual", f"{choices.dual:g}")

    def _logarithms(self, choices: Choices) -> Iterator[tuple[Part, Part]]:
        columns = [one.name for one in self.trials.problem.schema.inputs]
        for part in choices.parts:
            if part.kind == "number":
                column = self.trials.problem.x[:, columns.index(part.source)]
                log = logarithm_of(part, column)
                if log is not None:
                    yield part, log


def _steps(choices: Choices, factor: float) -> tuple[str, Choices]:
    step = choices.step_size * factor
    return f"{step:.3g}", replace(choices, step_size=step)
