"""How a model learns a table: a course of new and rehearsed readings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from halk.sensing.course import course, taught
from halk.sensing.learned import Learned
from halk.sensing.problem import rehearsals
from halk.tables.readings import Rows

if TYPE_CHECKING:
    from halk.sensing.model import SensorModel

YOUNG = 2 / 3
"""Share of a first table after which errors count."""

FIT_STEPS = 200_000
"""Steps of learning a table, rehearsals included, where readings are few."""

SETTLING = 20
"""How often all readings are learned once more in the end, at most."""


def learn(model: SensorModel, rows: Rows, tell: Callable[[float], None]) -> Learned:
    """Let a model learn readings that it never learned; return what came of them."""
    memory = model.memory
    n_old, n_new = len(memory.y), len(rows.y)
    rng = np.random.default_rng([0, model.learned.n_readings])
    order = rng.permutation(n_new)
    agent = np.concatenate([memory.agent, rows.agent[order]])
    x = np.concatenate([memory.x, rows.x[order]])
    y = np.concatenate([memory.y, rows.y[order]])
    # of a first table the larger part only teaches: while a model is young its errors
    # tell of what it has not learned yet
    n_young = 0 if n_old else max(round(YOUNG * n_new), 1)
    if n_young:
        model.set_scale(y[:n_young])
    Z, scaled = model.encoded(x, agent), model.scale.removed(y)
    n_again = rehearsals(n_new, FIT_STEPS)
    n_settling = min(FIT_STEPS // len(y), SETTLING)
    if n_young:
        steps = course(n_young, n_again, rng, n_settling)
        taught(model.learner, steps, agent, Z, scaled, lambda s: tell(s * YOUNG))
    steps = course(n_old + n_new, n_again, rng, n_settling, n_old + n_young)
    begun = YOUNG if n_young else 0.0
    predictions = taught(
        model.learner, steps, agent, Z, scaled, lambda s: tell(begun + s * (1 - begun))
    )
    new = steps.reading[steps.is_new]
    misses = (predictions[new] - scaled[new]) * model.scale.spread
    covered = model.intervals.observe(agent[new], misses)
    n_sensors = len(model.sensors.names)
    gained = Learned.from_misses(
        rows.agent, agent[new], misses, y[new], covered, n_sensors
    )
    model.learned = model.learned.joined(gained)
    model.memory = memory.with_readings(rows.agent, rows.x, rows.y, rng)
    return gained
