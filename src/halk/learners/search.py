"""Length scales, noise and the unit of targets, found with the first readings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from halk._validation import (
    Indices,
    Matrix,
    Vector,
    finite_array,
    require,
    require_each,
)
from halk.agent import CONSTANT
from halk.function import Function
from halk.learners.readings import check_readings
from halk.simulator import NewtonSimulator, Readings, Record
from halk.state import OFFSET, STD, check_counts, take

AUTO = "auto"

PER_AGENT, ALONE, LARGEST, FEWEST = 20, 200, 5_000, 5
"""Readings to search with: per agent of a network, of a single agent; in all, unless
that is fewer than so many per agent."""

FACTORS = (0.25, 0.6, 1.5, 4.0)
NOISES = (0.0003, 0.003, 0.03, 0.3, 1.0)
"""Where the search begins: length scales over the spread of the inputs, and noise."""
START_NOISE = 0.03
"""What the noise is taken for while there is hardly a reading to go by."""

STRIDES = (3.0, None, 1.7, 1.7)
"""Factors by which one number at a time is moved around the best, round after round.

None: back to where the search began. A feature that few readings made look irrelevant
is far from there after a round, and the steps between are no better.
"""

WORST = 25.0
"""Squared standardised errors count no more: outliers shall not choose."""

MANY = 20
"""Features above which there is one length scale for all."""


Unit = tuple[float, float]
"""Mean and std of targets."""


class Candidate(NamedTuple):
    """Agents that have learned the readings kept, and how well they predicted them."""

    score: float
    simulator: NewtonSimulator
    length_scale: Any
    noise: Any


_score_of = attrgetter("score")


def is_auto(value: Any) -> bool:
    """Return whether a number is to be found."""
    return isinstance(value, str) and value == AUTO


class Search:
    """Runs the agents, and looks for their length scales and noise meanwhile.

    The first readings are kept. Whenever their number has doubled, candidates learn
    them from the beginning; the one that predicted them best before learning them goes
    on. After the last search the readings are dropped. All candidates count in one
    mean and std, those of the readings kept without outliers, if there is to be one
    unit for all agents.

    Parameters
    ----------
    make : function (n_features, length_scale, noise, unit)
        Makes agents that have learned nothing; targets count in the unit.
    n_features, n_agents : int
    length_scale, noise : "auto", or what is not to be looked for
    unit : "auto", or mean and std
    """

    def __init__(
        self,
        make: Callable[[int, Any, Any, Unit], NewtonSimulator],
        n_features: int,
        n_agents: int,
        length_scale: Any,
        noise: Any,
        unit: Any,
    ) -> None:
        self._make, self.n_features = make, n_features
        self._is_common = is_auto(unit)
        self.unit: Unit = (0.0, 1.0) if self._is_common else unit
        self._n_agents = n_agents
        self._finds = is_auto(length_scale), is_auto(noise)
        self.length_scale = length_scale
        if self._finds[0]:
            self.length_scale = _as_length(np.full(n_features, np.sqrt(n_features)))
        self.noise = START_NOISE if self._finds[1] else noise
        most = ALONE if n_agents == 1 else PER_AGENT * n_agents
        self._most, self._searched = min(most, max(LARGEST, FEWEST * n_agents)), 0
        finds_any = any(self._finds) or self._is_common
        self._kept: list[Readings] | None = [] if finds_any else None
        self.steps_made = 0
        self.live = self._simulate(self.length_scale, self.noise, self.unit)

    def _simulate(self, length_scale: Any, noise: Any, unit: Unit) -> NewtonSimulator:
        return self._make(self.n_features, length_scale, noise, unit)

    # learning

    def run(self, readings: Readings) -> Record:
        """Learn from a stream; return what was seen on the way."""
        self.steps_made, records = 0, []
        while self._kept is not None and self.steps_made < len(readings.start) - 1:
            rest = _cut(readings, self.steps_made, None)
            wanted = max(2 * self._searched, 1) - self._n_kept
            n_steps = int(np.searchsorted(rest.start, min(wanted, self._room)))
            part = _cut(rest, 0, max(n_steps, 1))
            before = self.steps_made
            try:
                records.append(self._learn(part))
            finally:  # an interrupt: what was learned is kept
                made = self.steps_made - before
                self._kept.append(_copy(_cut(part, 0, made)))
            if self._n_kept >= min(max(2 * self._searched, 1), self._most):
                self.search()
        if self.steps_made < len(readings.start) - 1 or not records:
            records.append(self._learn(_cut(readings, self.steps_made, None)))
        return records[0] if len(records) == 1 else _join(records)

    @property
    def is_over(self) -> bool:
        """Whether nothing is looked for any more."""
        return self._kept is None

    @property
    def _n_kept(self) -> int:
        return sum(len(part.y) for part in self._kept or [])

    @property
    def _room(self) -> int:
        return self._most - self._n_kept

    def _learn(self, readings: Readings) -> Record:
        try:
            return self.live.run(self._labelled(readings))
        finally:
            self.steps_made += self.live.steps_made

    def _labelled(self, readings: Readings) -> Readings:
        if self.live.n_features == self.n_features:
            return readings
        return readings._replace(x=np.column_stack([readings.x, readings.agent]))

    def learn_one(self, x: Any, y: Any, takes_labels: bool) -> bool:
        """Make one step fast, where nothing is looked for any more."""
        is_plain = self._kept is None and self.live.n_features == self.n_features
        return is_plain and self.live.learn_one(x, y, takes_labels)

    def search(self, growth: float = 1.0) -> None:
        """Look for better numbers, if the readings are ``growth`` times as many."""
        if self._kept is None or self._n_kept <= growth * self._searched:
            return
        readings = _join_readings(self._kept)
        unit = _measure_unit(readings.y) if self._is_common else self.unit
        best = self._find_best(readings, unit)
        self._searched, self.unit = len(readings.y), unit  # all at once: interrupts
        self.live, self.noise = best.simulator, best.noise
        if self._finds[0]:
            self.length_scale = _as_length(best.length_scale)
        if self._searched >= self._most:
            self._kept = None

    def _find_best(self, readings: Readings, unit: Unit) -> Candidate:
        labelled = self._labelled(readings)

        def judge(length_scale: Any, noise: Any) -> Candidate:
            given = _as_length(length_scale) if self._finds[0] else length_scale
            simulator = self._simulate(given, noise, unit)
            score = _score(simulator.run(labelled), readings, simulator)
            return Candidate(score, simulator, length_scale, noise)

        spread = readings.x.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0) * np.sqrt(self.n_features)
        is_early = len(readings.y) < min(max(4, 3 * self._n_agents), self._most)
        factors, noises = ((1.0,), (START_NOISE,)) if is_early else (FACTORS, NOISES)
        scales: list[Any] = [self.length_scale]
        features: list[Any] = []
        if self._finds[0]:
            scales = [factor * spread for factor in factors]
            has_few = self.n_features <= MANY
            features = [slice(None), *(range(self.n_features) if has_few else ())]
        grid = product(scales, noises if self._finds[1] else [self.noise])
        best = max((judge(*numbers) for numbers in grid), key=_score_of)
        for stride in () if is_early else STRIDES:
            steps = (stride, 1 / stride) if stride else FACTORS
            for feature, factor in product(features, steps):
                moved = best.length_scale.copy()
                moved[feature] = factor * (moved if stride else spread)[feature]
                best = max(best, judge(moved, best.noise), key=_score_of)
            for factor in steps if stride and self._finds[1] else ():
                moved = judge(best.length_scale, best.noise * factor)
                best = max(best, moved, key=_score_of)
        return best

    # looking inside

    def values(self, agents: Indices, X: Matrix) -> Vector:
        """Return the prediction of ``agents[r]`` at ``X[r]``."""
        return self.live.values(agents, self._points(agents, X))

    def stds(self, agents: Indices, X: Matrix) -> Vector:
        """Return the std of a reading of ``agents[r]`` at ``X[r]``."""
        variance = self.live.variances(agents, self._points(agents, X))
        noise = self.live.paces[agents, 0] * self.live.target[agents, STD] ** 2
        std: Vector = np.sqrt(variance + noise)
        return std

    def _points(self, agents: Indices, X: Matrix) -> Matrix:
        if self.live.n_features == self.n_features:
            return X
        return np.column_stack([X, agents]).astype(float)

    def function(self, i: int) -> Function:
        """Return a copy of agent ``i``'s function."""
        return self.live.function(i)

    @property
    def model_order(self) -> Indices:
        """Number of atoms per agent, (V,)."""
        return self.live.model_order

    @property
    def n_atoms(self) -> int:
        """Number of atoms held in all."""
        return self.live.n_atoms

    @property
    def target(self) -> Matrix:
        """Running statistics of the agents' targets, (V, 6)."""
        return self.live.target

    @property
    def multipliers(self) -> Vector:
        """Multiplier per tolerance, (E,)."""
        return self.live.multipliers

    @property
    def violations(self) -> Vector:
        """Running mean of ``h - tolerance`` per edge, (E,)."""
        return self.live.violations

    @property
    def bytes_sent(self) -> int:
        """Bytes of all messages of the agents that go on; headers do not count."""
        return self.live.bytes_sent

    def set_tolerance(self, tolerance: Vector) -> None:
        """Let other tolerances hold from the next step on, (E,)."""
        self.live.set_tolerance(tolerance)

    # saving

    def state_dict(self) -> dict[str, Any]:
        """Return what the next step needs, with the readings that are still kept."""
        kept = _join_readings(self._kept) if self._kept else None
        found = {} if not self._finds[0] else {"length_scale": self.length_scale}
        found |= {} if not self._finds[1] else {"noise": self.noise}
        state = self.live.state_dict() | {
            f"found_{name}": np.atleast_1d(np.asarray(value, dtype=float))
            for name, value in found.items()
        }
        state["searched"] = np.array([self._searched, self._kept is None], np.int64)
        if kept is not None:
            state |= {f"kept_{name}": part for name, part in kept._asdict().items()}
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; raises ``ValueError`` if it does not fit."""
        scale, noise = self.length_scale, self.noise
        if self._finds[0]:
            name = "found_length_scale"
            found = finite_array(name, take(state, name), (self.n_features,))
            require_each(name, "be positive", found, found > 0)
            scale = _as_length(found)
        if self._finds[1]:
            found = finite_array("found_noise", take(state, "found_noise"), (1,))
            require_each("found_noise", "be positive", found, found > 0)
            noise = float(found[0])
        searched, is_over = check_counts(state, "searched", 2).tolist()
        kept: list[Readings] | None = None
        if (any(self._finds) or self._is_common) and not is_over:
            kept = [self._take_kept(state)] if "kept_y" in state else []
            n_kept = sum(len(part.y) for part in kept)
            require(searched <= n_kept, "searched", f"be at most {n_kept}", searched)
        live = self._simulate(scale, noise, self.unit)
        live.load_state_dict(state)
        if self._is_common:
            self.unit = tuple(live.target[0, [OFFSET, STD]].tolist())
        self.live, self.length_scale, self.noise = live, scale, noise
        self._kept, self._searched = kept, searched

    def _take_kept(self, state: Mapping[str, Any]) -> Readings:
        """Return the readings of a state that candidates shall learn."""
        y = finite_array("kept_y", state["kept_y"], (None,))
        x = finite_array("kept_x", take(state, "kept_x"), (len(y), self.n_features))
        check_readings("kept_x kept_y", x, y, self.live.loss, has_agents=False)
        agent = check_counts(state, "kept_agent", len(y))
        inside = agent < self.live.network.n_agents
        require_each("kept_agent", "be of the network", agent, inside)
        n_steps = np.size(take(state, "kept_start"))
        start = check_counts(state, "kept_start", n_steps)
        ends = start[[0, -1]].tolist() if n_steps else []
        rises = ends == [0, len(y)] and bool((np.diff(start) >= 0).all())
        rule = "rise from 0 to the number of readings"
        require(rises, "kept_start", rule, start.tolist())
        is_later = np.diff(np.repeat(np.arange(n_steps - 1), np.diff(start))) > 0
        ascends = is_later | (np.diff(agent) > 0)
        require_each("kept_agent", "be ascending within a step", agent[1:], ascends)
        return _copy(Readings(start, agent, x, y))


def _as_length(scale: Vector) -> float | tuple[float, ...]:
    """Return length scales as a kernel takes them."""
    return tuple(scale.tolist()) if len(scale) > 1 else float(scale[0])


def _measure_unit(y: Vector) -> Unit:
    """Return mean and std of values, without those far from their median."""
    distance = np.abs(y - np.median(y))
    deviation = 1.4826 * np.median(distance)
    y = y[distance <= 10 * deviation] if deviation > 0 else y
    mean, std = float(y.mean()), float(y.std())
    return mean, std if std > CONSTANT * abs(mean) else 1.0


def _score(record: Record, readings: Readings, simulator: NewtonSimulator) -> float:
    """Return the log-likelihood of readings as predicted; outliers count no more."""
    if simulator.loss.takes_labels:
        return -float(simulator.loss.value(record.prediction, readings.y).sum())
    errors = (readings.y - record.prediction) ** 2 / record.variance
    return -0.5 * float((np.minimum(errors, WORST) + np.log(record.variance)).sum())


def _cut(readings: Readings, first: int, last: int | None) -> Readings:
    """Return the steps from ``first`` to before ``last``."""
    start = readings.start[first:] if last is None else readings.start[first : last + 1]
    part = slice(int(start[0]), int(start[-1]))
    return Readings(
        start - start[0], readings.agent[part], readings.x[part], readings.y[part]
    )


def _copy(readings: Readings) -> Readings:
    return Readings._make(column.copy() for column in readings)


def _join_readings(parts: list[Readings]) -> Readings:
    """Return streams one after another."""
    ends = np.cumsum([0] + [len(part.y) for part in parts])
    start = [part.start[1:] + end for part, end in zip(parts, ends, strict=False)]
    return Readings(
        np.concatenate([[0], *start]).astype(np.int64),
        *(np.concatenate(column) for column in list(zip(*parts, strict=True))[1:]),
    )


def _join(records: list[Record]) -> Record:
    return Record(*(np.concatenate(part) for part in zip(*records, strict=True)))
