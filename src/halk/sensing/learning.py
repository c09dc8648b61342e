"""How a model learns a table: a course of new and rehearsed readings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from halk.data.readings import Readings
from halk.learners import HALK
from halk.sensing.choices import Choices
from halk.sensing.course import Tell, course, taught
from halk.sensing.learned import Learned
from halk.sensing.problem import rehearsals
from halk.sensing.reasons import widths_now
from halk.sensing.scales import Common
from halk.sensing.widening import lesson, untaught, wider_if_better

if TYPE_CHECKING:
    from halk.sensing.model import SensorModel

YOUNG = 2 / 3
"""Share of a first table after which errors count."""

AGAIN = 0.5
"""Share of the time of a later table that is for beginning anew, where needed."""

FIT_STEPS = 200_000
"""Steps of learning a table, rehearsals included, where readings are few."""

SETTLING = 20
"""How often all readings are learned once more in the end, at most."""


def learn(model: SensorModel, rows: Readings, tell: Tell) -> Learned:
    """Let a model learn readings that it never learned; return what came of them."""
    memory = model.memory
    n_old, n_new = len(memory.y), len(rows.y)
    rng = np.random.default_rng([0, model.learned.n_readings])
    order = rng.permutation(n_new)
    agent = np.concatenate([memory.agent, rows.sensor[order]])
    x = np.concatenate([memory.x, rows.x[order]])
    y = np.concatenate([memory.y, rows.y[order]])
    # of a first table the larger part only teaches: while a model is young its errors
    # tell of what it has not learned yet
    n_young = 0 if n_old else max(round(YOUNG * n_new), 1)
    begun, choices, learner = YOUNG if n_young else 0.0, model.choices, model.learner
    if n_old:
        choices = wider_if_better(model, agent, x, y)
    if choices != model.choices:
        begun, learner = AGAIN, untaught(model, choices)
        _teach_again(model, learner, choices, rng, lambda s: tell(s * AGAIN))
    Z = choices.encoder.encoded(x, agent, model.schema, model.sensors)
    common = Common(learner, choices.scaling, model.moments)
    common.prepare(Z.shape[1])
    n_again = rehearsals(n_new, FIT_STEPS)
    n_settling = min(FIT_STEPS // len(y), SETTLING)
    if n_young:
        steps = course(n_young, n_again, rng, n_settling)
        taught(common, steps, agent, Z, y, lambda s: tell(s * YOUNG))
    steps = course(n_old + n_new, n_again, rng, n_settling, n_old + n_young)
    predictions = taught(
        common, steps, agent, Z, y, lambda s: tell(begun + s * (1 - begun))
    )
    new = steps.reading[steps.is_new]
    misses = predictions[new] - y[new]
    covered = model.intervals.observe(agent[new], misses)
    n_sensors = len(model.sensors.names)
    gained = Learned.from_misses(
        rows.sensor, agent[new], misses, y[new], covered, n_sensors
    )
    model.learned = model.learned.joined(gained)
    model.moments = common.moments
    model.memory = memory.with_readings(rows.sensor, rows.x, rows.y, rng)
    model.choices, model.learner = choices, learner
    model.reasons = widths_now(
        model.reasons, choices.parts, model.schema, model.sensors
    )
    return gained


def _teach_again(
    model: SensorModel, learner: HALK, choices: Choices, rng: np.random.Generator,
    tell: Tell,
) -> None:  # fmt: skip
    """Teach a learner with other widths what a model knows."""
    known = lesson(model, choices)
    n = len(known.y)
    steps = course(n, rehearsals(n, FIT_STEPS), rng, min(FIT_STEPS // n, SETTLING))
    common = Common(learner, choices.scaling, model.moments)
    common.prepare(known.Z.shape[1])
    # nothing of it is new: mean and spread have seen it
    steps = steps._replace(is_new=np.zeros(len(steps.reading), bool))
    taught(common, steps, *known, tell)
