"""One agent as a state machine without I/O: ask, answer, update.

No clock, no randomness, no socket: whoever runs the agent carries its queries and
answers. The arithmetic is that of the simulator, the same compiled functions on the
same numbers in the same order, so both give the same trajectory to the last bit.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from halk._validation import Vector, array, nonnegative, real, require, without_nan
from halk.arena import roomier
from halk.bandwidth import N_STATE, adapt
from halk.compression import Dictionary, compressor, dictionary, workspace
from halk.expansion import Expansion, value_at
from halk.kernels import rescaled
from halk.losses import loss_slope
from halk.step import (
    OFFSET,
    SPREAD,
    Inbox,
    Pace,
    Rules,
    Settings,
    adopt,
    dual_pace,
    fresh_targets,
    observe,
    update_function,
    update_multipliers,
)


class Query(NamedTuple):
    """What an agent asks a neighbour: the neighbour's prediction at a point.

    With the paper's coupling only ``x`` is used.
    """

    x: Vector
    value: float
    """The asking agent's own prediction there."""
    multiplier: float
    """The price of the asking agent's tolerance towards this neighbour."""
    spread: float = 1.0
    """The unit in which the asking agent measures disagreement."""


class Answer(NamedTuple):
    """What a neighbour answers: its prediction, and the log scale of its bandwidth."""

    value: float
    log_scale: float = 0.0


class Agent:
    """One agent: its function, its multipliers, and the step it is in.

    A step is ``ask`` (if there is a reading), then ``answer`` for every query that came
    in, then ``update`` with the answers that came back.

    Parameters
    ----------
    rules, settings, pace : Rules, Settings, Pace
        Components and numbers; ``HALK.agent`` hands out agents that are set up.
    neighbours : sequence of int
        Identities of the neighbours, ascending.
    tolerance : array (n_neighbours,)
    n_features : int
    """

    def __init__(
        self,
        rules: Rules,
        settings: Settings,
        pace: Pace,
        neighbours: Sequence[int],
        tolerance: Any,
        n_features: int,
    ) -> None:
        self.rules = rules._replace(compressor=compressor())
        self.settings = settings
        self.pace = pace
        self.neighbours = [int(j) for j in neighbours]
        ordered = self.neighbours == sorted(set(self.neighbours))
        require(ordered, "neighbours", "be ascending and distinct", neighbours)
        degree = len(self.neighbours)
        self.tolerance = array("tolerance", tolerance, (degree,)).copy()
        self.multipliers = np.zeros(degree)
        self.n_features = n_features
        self.order = 0
        self.scale = 1.0
        self.target = fresh_targets(1)[0]
        self.adaptation = np.zeros(N_STATE)
        self._dictionary = dictionary(4, n_features)
        self._inbox = Inbox(
            np.zeros(degree + 1),
            np.zeros(degree + 1),
            np.zeros(degree + 1),
            np.zeros(degree),
        )
        self._queries: dict[int, Query] = {}
        self._reading: tuple[Vector, float, float] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # the compressor is a pointer into this process: another one makes its own
        return vars(self) | {"rules": self.rules._replace(compressor=None)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.rules = self.rules._replace(compressor=compressor())

    def predict(self, x: Any) -> float:
        """Return the prediction at one point, in the unit of the target."""
        return self._value(self._point(x))

    def _point(self, x: Any) -> Vector:
        return without_nan("x", array("x", x, (self.n_features,)))

    def _value(self, x: Vector) -> float:
        D, kernel = self._dictionary, rescaled(self.rules.kernel, self.scale)
        value = value_at(kernel, D.atoms, D.weights, self.order, x)
        return float(self.target[OFFSET] + self.target[SPREAD] * value)

    def ask(self, x: Any, y: float) -> dict[int, Query]:
        """Take in a reading; return the query to send to each neighbour.

        Mutates the running statistics of the target, nothing else of the model.
        """
        point, y = self._point(x).copy(), real("y", y)
        if self.settings.removes_offset or self.settings.removes_spread:
            ratio = observe(self.target, y, self.settings)
            self._dictionary.weights[: self.order] *= ratio
        own = self._value(point)
        self._reading = (point, y, own)
        return {
            j: Query(point, own, float(mu), float(self.target[SPREAD]))
            for j, mu in zip(self.neighbours, self.multipliers, strict=True)
        }

    def answer(self, neighbour: int, query: Query) -> Answer:
        """Return the prediction at a neighbour's point, and remember to be taught.

        Changes no model; under the exact coupling ``update`` uses the query.
        """
        if neighbour not in self.neighbours:
            raise ValueError(
                f"neighbour must be one of this agent's, got {neighbour!r}"
            )
        x = self._point(query.x)
        if self.settings.is_exact:
            real("value", query.value)
            nonnegative("multiplier", query.multiplier)
            self._queries[neighbour] = query._replace(x=x.copy())
        adopt(self.target, query.value, query.spread, self.settings)
        return Answer(self._value(x), float(self.adaptation[0]))

    def update(self, answers: Mapping[int, Answer] | None = None) -> None:
        """Finish the step with the answers that came; missing ones may be left out."""
        answers = answers or {}
        b = self._fill_inbox(answers)
        m = self._move(b)
        if self._reading is not None:
            x, y, own = self._reading
            offset, spread = self.target[OFFSET], self.target[SPREAD]
            slope = loss_slope(
                self.rules.loss, (own - offset) / spread, (y - offset) / spread
            )
            self.scale, m = adapt(
                self.rules.adaptation, self.rules.kernel, self._dictionary, m,
                self._workspace, self.adaptation, self.scale, x, slope,
                self._around(answers),
            )  # fmt: skip
            eta = dual_pace(self.target, self.pace.dual_step_size, self.settings)
            update_multipliers(
                self.rules, self.settings, eta, own,
                self._inbox.answer, spread, self.tolerance, self.multipliers,
            )  # fmt: skip
        self.order = m
        self._reading = None
        self._queries = {}

    def _around(self, answers: Mapping[int, Answer]) -> float:
        # summed in order of the neighbours, as the simulator does
        logs = [answers[j].log_scale for j in self.neighbours if j in answers]
        return sum(logs) / len(logs) if logs else np.nan

    def _fill_inbox(self, answers: Mapping[int, Answer]) -> int:
        n_block = 1 + len(self.neighbours)
        ws = workspace(self.order + n_block, n_block, self.n_features)
        self._workspace, inbox, b = ws, self._inbox, 0
        if self._reading is not None:
            ws.points[0] = self._reading[0]
            b = 1
            for e, j in enumerate(self.neighbours):
                inbox.answer[e] = answers[j].value if j in answers else np.nan
        for j in sorted(self._queries):
            query = self._queries[j]
            ws.points[b] = query.x
            inbox.value[b] = query.value
            inbox.multiplier[b] = query.multiplier
            inbox.spread[b] = query.spread
            b += 1
        return b

    def _move(self, b: int) -> int:
        y = 0.0 if self._reading is None else self._reading[1]
        while True:
            m = update_function(
                self.rules, self.settings, self.pace, self._dictionary, self.order,
                self.scale, self.target, self._workspace, self._inbox, b,
                self._reading is not None, y, self.multipliers,
            )  # fmt: skip
            if m >= 0:
                return int(m)
            self._dictionary = self._roomier(-m)

    def _roomier(self, wanted: int) -> Dictionary:
        old, m = self._dictionary, self.order
        new = dictionary(roomier(len(old.weights), wanted), self.n_features)
        new.atoms[:m], new.weights[:m] = old.atoms[:m], old.weights[:m]
        new.gram[:m, :m], new.inverse[:m, :m] = old.gram[:m, :m], old.inverse[:m, :m]
        return new

    @property
    def function(self) -> Expansion:
        """A copy of the agent's function."""
        kernel = rescaled(self.rules.kernel, self.scale)
        D = self._dictionary
        return Expansion(kernel, D.atoms[: self.order], D.weights[: self.order])
