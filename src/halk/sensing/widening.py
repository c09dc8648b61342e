"""Inputs are standardised online: widths follow readings that reach farther.

A width is told in spreads of its input, and the spread is that of the readings so far.
Once they reach much farther, as the first deep ones do, functions with the old width
may need atoms without end. Then wider ones are tried, as the search tries choices; if
one does better, all is learned anew with it, from the readings that are kept and from
what the functions knew. Lengths of time rest: storms last as long in a longer record.
So do widths that the user gave.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.data.findings import NOTE, Findings
from halk.data.schema import Schema
from halk.learners import HALK
from halk.sensing.choices import Choices, learner_of
from halk.sensing.encoding import Part
from halk.sensing.lengths import shown
from halk.sensing.problem import Problem
from halk.sensing.scales import inner, unit_of_functions

if TYPE_CHECKING:
    from halk.sensing.model import SensorModel

FARTHER = 1.5
"""How much larger than it was a spread must be for a width to follow."""

BETTER = 0.02
"""Share of the error that a wider width must save."""

SHARES = (0.5, 1.0)
"""How much of the way, on a logarithmic scale, widths go that are tried."""


def widened(choices: Choices, x: Matrix, schema: Schema, share: float) -> Choices:
    """Return choices whose widths go a share of the way to what readings ask for."""
    columns = {one.name: x[:, k] for k, one in enumerate(schema.inputs)}
    parts = [_widened(part, columns, share) for part in choices.parts]
    return replace(choices, parts=tuple(parts))


def _widened(part: Part, columns: dict[str, Vector], share: float) -> Part:
    if part.kind not in ("number", "log") or part.is_given:
        return part
    values = part.values(columns[part.source])[:, 0]
    most = inner(values)
    if not len(most):
        return part
    ratio = float(np.clip(values, most[0], most[-1]).std()) * part.width
    if ratio <= FARTHER:
        return part
    return replace(part, spread=part.spread * ratio**share)


def wider_if_better(
    model: SensorModel, agent: Indices, x: Matrix, y: Vector
) -> Choices:
    """Return a model's choices, with wider widths if readings ask for them.

    All of them are tried on a part of what is kept and new, and the best is taken.
    """
    tried = [widened(model.choices, x, model.schema, share) for share in SHARES]
    if tried[-1] == model.choices:
        return model.choices
    problem = Problem(
        model.schema, model.sensors, model.graph, agent, x, y, model.spread
    ).sample()
    best, error = model.choices, (1 - BETTER) * problem.score(model.choices)[0]
    for choices in tried:
        score, _ = problem.score(choices)
        if score < error:
            best, error = choices, score
    return best


class Lesson(NamedTuple):
    """What a learner is to know before it goes on."""

    agent: Indices
    Z: Matrix
    y: Vector


def untaught(model: SensorModel, wider: Choices) -> HALK:
    """Return a learner with other widths; tolerances are what they were."""
    old = model.learner
    unit = unit_of_functions(old, model.choices.scaling)
    tolerance = old.network.tolerance * unit**2
    return learner_of(wider, replace(old.network, tolerance=tolerance))


def lesson(model: SensorModel, wider: Choices) -> Lesson:
    """Return all that a model knows, for a learner with other widths.

    The readings that are kept; and, if those are not all, the values of its functions
    at their atoms.
    """
    memory, old = model.memory, model.learner
    encoded = wider.encoder.encoded
    Z = encoded(memory.x, memory.agent, model.schema, model.sensors)
    if len(memory.y) == model.learned.n_readings:
        return Lesson(memory.agent, Z, memory.y)
    agent = np.repeat(np.arange(old.network.n_agents), old.model_order)
    atoms = np.concatenate([function.atoms for function in old.functions])
    factor = [
        before.length / after.length
        for before, after in zip(model.choices.parts, wider.parts, strict=True)
        for _ in range(before.n_columns(model.sensors))
    ]
    return Lesson(
        np.concatenate([memory.agent, agent]),
        np.concatenate([Z, atoms * factor]),
        np.concatenate([memory.y, old.predict_readings(agent, atoms)]),
    )


def tell_of_widths(
    model: SensorModel, before: tuple[Part, ...], findings: Findings
) -> None:
    """Say which widths are others than they were."""
    for old, new in zip(before, model.choices.parts, strict=True):
        if new != old:
            was, now = (shown(part, model.schema, model.sensors) for part in (old, new))
            findings.add(
                NOTE, "wider",
                f"readings reach farther in {new.source} than before, and a wider "
                f"width of {new.name} does better: it was {was} and is {now}",
                "all was learned anew; a width that you give to `halk fit` rests",
            )  # fmt: skip
