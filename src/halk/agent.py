"""One agent as a state machine without I/O: ask, answer, update.

No clock, no randomness, no socket: whoever runs the agent carries its queries and
answers. The arithmetic is that of the simulator, the same compiled functions on the
same numbers in the same order, so both give the same trajectory to the last bit.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from halk._validation import (
    Vector,
    array,
    nonnegative,
    positive,
    real,
    require,
    without_nan,
)
from halk.adaptation import N_STATE
from halk.arena import copy_dictionary, roomier
from halk.compression import Dictionary, dictionary
from halk.errors import DivergenceError
from halk.expansion import Expansion
from halk.formulas import Rules, formulas_of
from halk.kernels import rescaled
from halk.step import (
    LARGEST,
    SPREAD,
    Pace,
    Settings,
    adapted,
    adopt,
    desk,
    dual_pace,
    evaluate,
    fresh_targets,
    observe,
    own_slope,
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
        self.rules = rules
        self._formulas = formulas_of(rules)
        self.settings = settings
        self.pace = pace
        self.neighbours = [int(j) for j in neighbours]
        ordered = self.neighbours == sorted(set(self.neighbours))
        require(ordered, "neighbours", "be ascending and distinct", neighbours)
        degree = len(self.neighbours)
        self.tolerance = array("tolerance", tolerance, (degree,)).copy()
        self.multipliers = np.zeros(degree)
        self.violation = np.zeros(degree)
        self.asked = np.zeros(degree, dtype=np.int64)
        self.n_features = n_features
        self.order = 0
        self.scale = 1.0
        self.target = fresh_targets(1)[0]
        self.adaptation = np.zeros(N_STATE)
        self._dictionary = dictionary(4, n_features)
        self._trust = np.array([np.inf, 0.0])
        self._desk = desk(16, degree + 1, degree, n_features)
        self._queries: dict[int, Query] = {}
        self._reading: tuple[Vector, float, float] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # formulas are pointers into this process: another one makes its own
        return vars(self) | {"_formulas": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._formulas = formulas_of(self.rules)

    def predict(self, x: Any) -> float:
        """Return the prediction at one point, in the unit of the target."""
        return self._value(self._point(x))

    def _point(self, x: Any) -> Vector:
        return without_nan("x", array("x", x, (self.n_features,)))

    def _value(self, x: Vector) -> float:
        self._make_room(1)
        self._desk.block.points[:, 0] = x
        self._evaluate(1)
        return float(self._desk.block.values[0])

    def _evaluate(self, b: int) -> None:
        """Fill kernel values and predictions at the first points of the block."""
        evaluate(
            self._formulas, self.scale, self._dictionary, self.order, self.target,
            self._desk.block, self._desk.workspace, b,
        )  # fmt: skip

    def _make_room(self, n_block: int) -> None:
        if self.order + n_block > len(self._desk.workspace.start):
            degree = len(self.neighbours)
            n_union = 2 * (self.order + n_block)
            self._desk = desk(n_union, degree + 1, degree, self.n_features)

    def ask(self, x: Any, y: float) -> dict[int, Query]:
        """Take in a reading; return the query to send to each neighbour.

        Moves the running statistics of the target, if those are removed, and changes
        nothing else of the model.

        Raises
        ------
        DivergenceError
            If the prediction at ``x`` has left the finite numbers; nothing is changed.
        """
        point, y = self._point(x).copy(), real("y", y)
        require(abs(y) < LARGEST, "y", f"be below {LARGEST:g} in size", y)
        labels = self.rules.loss.takes_labels
        require(not labels or abs(y) == 1, "y", "be -1 or +1", y)
        self._finite(point)
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

        Under the exact coupling ``update`` uses the query. An agent that has read
        nothing takes offset and spread over from its first query, if those are removed.
        """
        if neighbour not in self.neighbours:
            known = ", ".join(map(str, self.neighbours)) or "none"
            raise ValueError(f"neighbour must be one of {known}, got {neighbour!r}")
        x = self._point(query.x)
        value, spread = real("value", query.value), positive("spread", query.spread)
        require(abs(value) < LARGEST, "value", f"be below {LARGEST:g} in size", value)
        nonnegative("multiplier", query.multiplier)
        self._finite(x)
        if self.settings.is_exact:
            self._queries[neighbour] = query._replace(x=x.copy())
        adopt(self.target, value, spread, self.settings)
        return Answer(self._value(x), float(self.adaptation[0]))

    def _finite(self, x: Vector) -> None:
        value = self._value(x)
        if not abs(value) <= LARGEST:
            raise DivergenceError(
                f"learning diverged: the prediction is {value:g}; use "
                f"step='normalized', or a step size below {self.pace.step_size:g}"
            )

    def update(self, answers: Mapping[int, Answer] | None = None) -> None:
        """Finish the step with the answers that came; missing ones may be left out."""
        answers = answers or {}
        for j, answer in answers.items():
            require(abs(answer.value) < LARGEST, f"answer of {j}", "be finite", answer)
        m = self._move(answers)
        if self._reading is not None:
            x, y, own = self._reading
            if not self._formulas.adapter.is_fixed:
                m = self._adapt(x, y, own, m, self._around(answers))
            eta = dual_pace(self.target, self.pace.dual_step_size, self.settings)
            update_multipliers(
                self._formulas, self.settings, eta, own, self._desk.inbox.answer,
                self.target[SPREAD], self.tolerance, self.multipliers,
                self.violation, self.asked, self._desk.inbox,
            )  # fmt: skip
        self.order = m
        self._reading = None
        self._queries = {}

    def _adapt(self, x: Vector, y: float, own: float, m: int, around: float) -> int:
        formulas, block, ws = self._formulas, self._desk.block, self._desk.workspace
        block.points[:, 0] = x
        scale = np.array([self.scale])
        slope = own_slope(formulas, own, y, self.target)
        m = adapted(
            formulas, self._dictionary, m, block, ws, self.adaptation, scale, slope,
            around, self._trust, self.settings.norm_bound,
        )  # fmt: skip
        self.scale = float(scale[0])
        return int(m)

    def _around(self, answers: Mapping[int, Answer]) -> float:
        # summed in order of the neighbours, as the simulator does
        logs = [answers[j].log_scale for j in self.neighbours if j in answers]
        return sum(logs) / len(logs) if logs else np.nan

    def _fill_inbox(self, answers: Mapping[int, Answer]) -> int:
        self._make_room(1 + len(self.neighbours))
        points, inbox, b = self._desk.block.points, self._desk.inbox, 0
        if self._reading is not None:
            points[:, 0] = self._reading[0]
            b = 1
            for e, j in enumerate(self.neighbours):
                inbox.answer[e] = answers[j].value if j in answers else np.nan
        for j in sorted(self._queries):
            query = self._queries[j]
            points[:, b] = query.x
            inbox.value[b] = query.value
            inbox.multiplier[b] = query.multiplier
            inbox.spread[b] = query.spread
            b += 1
        return b

    def _move(self, answers: Mapping[int, Answer]) -> int:
        y = 0.0 if self._reading is None else self._reading[1]
        while True:
            b = self._fill_inbox(answers)
            self._evaluate(b)
            m = update_function(
                self._formulas, self.settings, self.pace, self._dictionary, self.order,
                self.scale, self.target, self._trust, self._desk.block,
                self._desk.workspace, self._desk.inbox, b, self._reading is not None,
                y, self.multipliers,
            )  # fmt: skip
            if m >= 0:
                return int(m)
            self._dictionary = self._roomier(-m)

    def _roomier(self, wanted: int) -> Dictionary:
        old, m = self._dictionary, self.order
        new = dictionary(roomier(len(old.weights), wanted), self.n_features)
        copy_dictionary(old, new, m)
        return new

    @property
    def function(self) -> Expansion:
        """A copy of the agent's function."""
        kernel = rescaled(self.rules.kernel, self.scale)
        D = self._dictionary
        return Expansion(kernel, D.atoms[:, : self.order].T, D.weights[: self.order])
