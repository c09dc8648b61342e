"""Learn a fifth of the readings, each once; predict the rest, in five ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halk import data
from halk._validation import Indices, Matrix, Vector
from halk.data import Field
from halk.evaluate import progressive
from halk.experiments.filling import prepared
from halk.learners import NewtonHALK
from halk.network import Network
from halk.trace import Trace

SHARE = 0.8  # of every sensor's readings is withheld
RADIUS = 400.0  # km
TOLERANCE = 0.05  # °C²: neighbours may differ by a third of a degree
SEED = 0
BAND = 1.64  # standard deviations on either side hold 90 % of a normal distribution

INPUTS = {"is_log": 1.0, "vertical": 1.0, "horizontal": 1.0}
"""log(1 + depth / 100 m), latitude and longitude; learners find the length scales."""

LABELS = {
    "together": "sensors together (NewtonHALK)",
    "alone": "each sensor alone",
    "pooled": "one pooled model",
    "linear": "plain linear regression, pooled",
    "gp": "batch Gaussian process, pooled",
}


class Task(NamedTuple):
    """What is learned, and what is predicted."""

    field: Field
    network: Network
    is_withheld: NDArray[np.bool_]
    order: Indices  # of the training readings, as they come in


class Dense:
    """A model of all readings at once, with numbers that another has found."""

    def __init__(self, x: Matrix, y: Vector, scales: NewtonHALK | None) -> None:
        self._at, self.model_order = x, np.array([len(x)])
        self._mean = float(y.mean())
        self._kernel = None if scales is None else scales.functions[0].kernel
        if self._kernel is None or scales is None:
            self._weights = np.linalg.lstsq(self._features(x), y - self._mean)[0]
            self.model_order = np.array([len(self._weights)])
        else:
            K = self._features(x) + scales.noise_ * np.eye(len(x))
            self._weights = np.linalg.solve(K, y - self._mean)

    def _features(self, x: Matrix) -> Matrix:
        if self._kernel is None:
            return np.column_stack([np.ones(len(x)), x])
        matrix: Matrix = self._kernel(x, self._at)
        return matrix

    def predict(self, agent: int, x: Matrix) -> Vector:
        """Return predictions, the same for every sensor."""
        values: Vector = self._mean + self._features(x) @ self._weights
        return values


@dataclass(frozen=True, eq=False)
class Learned:
    """A method that has learned; what was seen on the way, if it learns online."""

    key: str
    model: Any
    trace: Trace | None
    task: Task
    n_messages: int

    @property
    def label(self) -> str:
        """Its name."""
        return LABELS[self.key]

    @property
    def size(self) -> float:
        """Atoms per model, or coefficients."""
        return float(self.model.model_order.mean())

    @property
    def error(self) -> float:
        """Root-mean-square error on the withheld readings, in degrees."""
        return float(np.sqrt(np.mean(self.misses() ** 2)))

    def misses(self) -> Vector:
        """Return prediction less reading for every withheld reading, in degrees."""
        field, away = self.task.field, self.task.is_withheld
        values = np.zeros(field.n_readings)
        for i in range(field.n_agents):
            mine = away & (field.agent == i)
            values[mine] = self.profile(i, field.x[mine, 0])
        return (values - field.y)[away]

    @property
    def coverage(self) -> float:
        """Share of the withheld readings inside the bands."""
        field, away = self.task.field, self.task.is_withheld
        halves = np.zeros(field.n_readings)
        for i in range(field.n_agents):
            mine = away & (field.agent == i)
            halves[mine] = self.band(i, field.x[mine, 0])
        return float(np.mean(np.abs(self.misses()) <= halves[away]))

    def profile(self, agent: int, depth: Vector) -> Vector:
        """Return what a sensor predicts at some depths, in degrees."""
        who = 0 if self.key == "pooled" else agent
        values: Vector = self.model.predict(who, _inputs(self.task, agent, depth))
        return values

    def band(self, agent: int, depth: Vector) -> Vector:
        """Return half the width of the band around the profile, in degrees."""
        x = _inputs(self.task, agent, depth)
        std: Vector = self.model.predict(agent, x, return_std=True)[1]
        return BAND * std


def _inputs(job: Task, agent: int, depth: Vector) -> Matrix:
    n = len(depth)
    place = np.broadcast_to(job.field.positions[agent], (n, 2))
    x = np.column_stack([depth, place])
    asked = replace(job.field, agent=np.full(n, agent), x=x, y=np.zeros(n))
    return prepared(asked, INPUTS, 0.0, 1.0).x


def task() -> Task:
    """Return the network that comes along, with most readings withheld."""
    field = data.gulf("temperature").with_positions()
    away = data.withhold(field, SHARE, SEED)
    order = np.random.default_rng([SEED, 5]).permutation(np.flatnonzero(~away))
    network = field.network(RADIUS, TOLERANCE)
    return Task(field, network, away, order)


def learned(
    key: str, job: Task, tell: Callable[[float], None], scales: NewtonHALK | None = None
) -> Learned:
    """Let a method learn the training readings, one after another, each once.

    ``scales`` is the pooled model; its length scales and noise, found by the likelihood
    of the same readings, are those of the batch Gaussian process.
    """
    whole, away = prepared(job.field, INPUTS, 0.0, 1.0), job.is_withheld
    x, y = (part[job.order] for part in whole)
    agent = job.field.agent[job.order]
    if key in ("linear", "gp"):
        model = Dense(x, y, scales if key == "gp" else None)
        tell(1.0)
        return Learned(key, model, None, job, len(y))
    n_messages = len(y)
    if key == "pooled":
        agent, network = np.zeros_like(agent), Network(1)
    else:
        network = job.network if key == "together" else Network(job.field.n_agents)
        n_messages = 2 * int(network.degree[agent].sum())  # queries and answers
    V, T = network.n_agents, len(y)
    X, Y = np.full((T, V, x.shape[1]), np.nan), np.full((T, V), np.nan)
    X[np.arange(T), agent], Y[np.arange(T), agent] = x, y
    online = NewtonHALK(network, max_atoms=max(60, T // V))
    who = job.field.agent[away] if V > 1 else np.zeros(away.sum(), np.int64)
    test = who.tolist(), whole.x[away], whole.y[away]
    trace = progressive(online, X, Y, 4, test, lambda row: tell(row["step"] / T))
    return Learned(key, online, trace, job, n_messages)
