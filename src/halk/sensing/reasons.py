"""Every choice in a sentence."""

from typing import NamedTuple

import numpy as np

from halk.data.schema import Schema
from halk.data.sensors import Sensors
from halk.sensing.choices import Choices
from halk.sensing.encoding import Part
from halk.sensing.lengths import shown, shown_tolerance
from halk.sensing.options import Options
from halk.sensing.problem import Problem
from halk.sensing.scales import SCALINGS
from halk.sensing.trials import Trial

LISTED = 2
"""Other answers that are told of: the next best."""


class Reason(NamedTuple):
    """A choice, and why it was made."""

    name: str
    value: str
    because: str


def reasons_of(
    choices: Choices, trials: list[Trial], options: Options, problem: Problem
) -> tuple[Reason, ...]:
    """Return all choices with what was tried instead."""
    teller = _Teller(trials, options, problem, choices)
    schema, sensors = problem.schema, problem.sensors
    used = [part.name for part in choices.parts]
    found = [Reason("inputs", ", ".join(used), teller.inputs())]
    for part in choices.parts:
        because = teller.of(f"width {part.name}", shown(part, schema, sensors))
        told = "readings this far apart still tell of each other"
        if part.kind == "log":
            told += f", in the logarithm of {part.source}"
        value = shown(part, schema, sensors)
        found.append(Reason(f"width of {part.name}", value, f"{told}: {because}"))
    found.append(teller.reason("kernel", choices.kernel, "how fast similarity falls"))
    found.append(
        teller.reason(
            "scaling",
            SCALINGS[choices.scaling],
            "removed before learning",
            choices.scaling,
        )
    )
    found += _neighbours(choices, teller, problem)
    size = f"{choices.step_size:.3g}"
    found.append(
        teller.reason("step_size", size, "how far one reading moves a function")
    )
    budget = f"{choices.budget:.3g}"
    told = "what compression may lose in a step: the smaller, the more atoms"
    found.append(teller.reason("budget", budget, told))
    return tuple(found)


def widths_now(
    reasons: tuple[Reason, ...],
    parts: tuple[Part, ...],
    schema: Schema,
    sensors: Sensors,
) -> tuple[Reason, ...]:
    """Return reasons with the widths that parts have come to have."""
    widths = {f"width of {part.name}": shown(part, schema, sensors) for part in parts}
    return tuple(_widened(one, widths.get(one.name, one.value)) for one in reasons)


def _widened(reason: Reason, width: str) -> Reason:
    if width == reason.value:
        return reason
    first = reason.because.partition("; wider than")[0]
    told = f"{first}; wider than on the first table, where readings reached less far"
    return Reason(reason.name, width, told)


def _neighbours(choices: Choices, teller: "_Teller", problem: Problem) -> list[Reason]:
    if len(problem.sensors.names) == 1:
        return []
    if problem.sensors.positions is None and problem.graph is None:
        told = "places of sensors are not known: give --sensors or --graph"
        return [Reason("neighbours", "none", told)]
    if not np.isfinite(choices.tolerance):
        return [Reason("neighbours", "none", teller.of("together", "apart"))]
    tolerance = shown_tolerance(choices.tolerance, choices.scaling, problem)
    who, why = (
        f"the {choices.neighbours} nearest",
        teller.of("neighbours", f"{choices.neighbours}"),
    )
    if teller.was_asked("together"):
        why += f"; on the whole table {teller.of('together', 'together')}"
    if problem.graph is not None:
        who, why = "as the graph says", "given"
    elif choices.radius is not None:
        distance = "km" if problem.sensors.is_geographic else ""
        who = f"within {choices.radius:g} {distance}".strip()
    dual = f"{choices.dual:.3g} of the step size"
    return [
        Reason("neighbours", who, f"whom a sensor asks: {why}"),
        teller.reason("tolerance", tolerance, "how far neighbours may differ"),
        teller.reason(
            "dual", dual, "how fast the price of disagreeing moves", f"{choices.dual:g}"
        ),
    ]


class _Teller:
    """Tells from trials why a question was answered as it was."""

    def __init__(
        self,
        trials: list[Trial],
        options: Options,
        problem: Problem,
        choices: Choices,
    ) -> None:
        self._trials = trials
        self._fixed = options.fixed(list(choices.parts))
        self._uses = options.use is not None
        self._spread, self._unit = problem.spread, problem.schema.unit

    def _error(self, score: float) -> str:
        if not np.isfinite(score):
            return "no end"
        return f"{score * self._spread:.3g} {self._unit}".strip()

    def reason(
        self, question: str, value: str, meaning: str, answer: str = ""
    ) -> Reason:
        """Return a choice with what it means and what was tried."""
        name = question.replace("_", " ")
        return Reason(name, value, f"{meaning}: {self.of(question, answer or value)}")

    def of(self, question: str, answer: str = "") -> str:
        """Return the answers to a question, the last time it was asked.

        ``answer`` is the one that was chosen, not always the best by a hair.
        """
        if question in self._fixed:
            return "given"
        asked = self._last(question)
        if not asked:
            return "from the spread of the readings, not searched"
        best = min(asked, key=lambda trial: trial.score)
        best = next((trial for trial in asked if trial.answer == answer), best)
        others = [trial for trial in asked if trial.answer != best.answer]
        told = f"error {self._error(best.score)}"
        nearest = sorted(others, key=lambda trial: trial.score)[:LISTED]
        listed = [f"{self._error(one.score)} with {one.answer}" for one in nearest]
        return told + (f", against {', '.join(listed)}" if listed else "")

    def was_asked(self, question: str) -> bool:
        """Return whether a question has answers."""
        return bool(self._last(question))

    def _last(self, question: str) -> list[Trial]:
        """Return the answers that belong together: those asked one after the other."""
        found: list[Trial] = []
        is_open = False
        for trial in self._trials:
            if trial.question == question:
                found = found if is_open else []
                found.append(trial)
            is_open = trial.question == question
        return list({trial.answer: trial for trial in found}.values())

    def inputs(self) -> str:
        """Return what happened to each input that could have joined."""
        if self._uses:
            return "given"
        told = []
        names = dict.fromkeys(
            trial.question for trial in self._trials if trial.question[:6] == "input "
        )
        for question in names:
            scores = {
                trial.answer.partition(",")[0]: trial.score
                for trial in sorted(self._last(question), key=lambda t: -t.score)
            }
            if len(scores) > 1:
                told.append(
                    f"{question[6:]}: {self._error(scores['joins'])} with it, "
                    f"{self._error(scores['left out'])} without"
                )
        return "; ".join(told) or "not searched"
