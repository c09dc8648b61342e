"""Learn a fifth of the readings, predict the rest: four ways, one stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk import streams
from halk._validation import Matrix, Vector
from halk.evaluate import progressive
from halk.experiments.fill_in_methods import ENTRIES, Choice
from halk.experiments.filling import filling, prepared, scale
from halk.learners.base import Learner
from halk.network import Network
from halk.streams import Field
from halk.trace import Trace

SHARE = 0.8  # of every sensor's readings is withheld
N_STEPS = 2430
RADIUS = 1000.0  # km
SEED = 0

# What `halk reproduce fill-in` chose for this table and seed, by progressive validation
# on the readings that are not withheld.
CHOICES: dict[str, Choice] = {
    "halk-exact": {
        "is_log": 1.0, "vertical": 0.755, "horizontal": 4.65, "step_size": 1.0,
        "epsilon": 0.00172, "dual_step_size": 0.00197, "tolerance": 0.00176,
    },
    "alone": {
        "is_log": 1.0, "vertical": 1.41, "horizontal": 2.28, "step_size": 3.0,
        "epsilon": 0.00749,
    },
    "polk": {
        "is_log": 1.0, "vertical": 0.815, "horizontal": 4.83, "step_size": 1.0,
        "epsilon": 0.00126,
    },
    "nlms": {"is_log": 1.0, "vertical": 0.528, "horizontal": 8.48, "step_size": 0.03},
}  # fmt: skip


LABELS = {
    "halk-exact": "together (HALK)",
    "alone": "each sensor alone",
    "polk": "one model for all (POLK)",
    "nlms": "plain linear filter",
}


class Task(NamedTuple):
    """What is learned, and what is predicted."""

    field: Field
    network: Network
    is_withheld: NDArray[np.bool_]
    offset: float
    spread: float


@dataclass(frozen=True, eq=False)
class Learned:
    """A method that has learned, with what was seen on the way."""

    key: str
    model: Learner
    trace: Trace
    task: Task

    @property
    def label(self) -> str:
        """Its name."""
        return LABELS[self.key]

    @property
    def error(self) -> float:
        """Root-mean-square error on the withheld readings, in degrees."""
        return float(self.trace["test_error"][-1]) * self.task.spread

    def profile(self, agent: int, depth: Vector) -> Vector:
        """Return what a sensor predicts at some depths, in degrees."""
        field = self.task.field
        place = np.broadcast_to(field.positions[agent], (len(depth), 2))
        x = np.column_stack([depth, place])
        n = len(depth)
        asked = replace(field, agent=np.full(n, agent), x=x, y=np.zeros(n))
        at: Matrix = prepared(asked, CHOICES[self.key], 0.0, 1.0).x
        return self.task.offset + self.task.spread * self.model.predict(agent, at)


def task() -> Task:
    """Return the network that comes along, with most readings withheld."""
    field = streams.gulf("temperature").with_positions()
    is_withheld = streams.withheld(field, SHARE, SEED)
    network = field.network(RADIUS)
    return Task(field, network, is_withheld, *scale(field.subset(~is_withheld)))


def learned(key: str, job: Task, tell: Callable[[float], None]) -> Learned:
    """Let a method learn the stream of training readings."""
    choice = CHOICES[key]
    stream = filling(job.field, job.is_withheld, choice, N_STEPS, SEED)
    model = ENTRIES[key].make(job.network, choice, SEED)

    def progress(row: dict[str, float]) -> None:
        tell(row["step"] / N_STEPS)

    every = max(1, N_STEPS // 100)
    trace = progressive(model, stream.X, stream.Y, every, stream.test, progress)
    return Learned(key, model, trace, job)
