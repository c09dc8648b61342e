"""One agent as a state machine without I/O: ask, answer, update.

No clock, no randomness, no socket: whoever runs the agent carries its queries and
answers. The arithmetic is that of the simulator, the same compiled functions on the
same numbers in the same order, so both give the same trajectory to the last bit.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from halk._jit import lent
from halk._validation import (
    Indices,
    Vector,
    array,
    nonnegative,
    positive,
    real,
    require,
    without_nan,
)
from halk.arena import copy_dictionary, roomier
from halk.body import Whole, conclude, fresh_body, move, predict
from halk.compression import (
    NEEDS_DECISION,
    NEEDS_PROJECTION,
    NEEDS_RESCUE,
    Dictionary,
    dictionary,
)
from halk.errors import DivergenceError
from halk.expansion import Expansion
from halk.formulas import Rules, formulas_of
from halk.kernels import rescaled
from halk.step import (
    LARGEST,
    SPREAD,
    Pace,
    Settings,
    adopt,
    desk,
    mover_of,
    observe,
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


class Memory(NamedTuple):
    """What an agent needs to go on: what it has learned, and the step it is in."""

    dictionary: Dictionary
    order: int
    scale: float
    target: Vector  # (6,)
    adaptation: Vector  # (4,)
    multipliers: Vector  # (n_neighbours,)
    violation: Vector  # (n_neighbours,)
    asked: Indices  # (n_neighbours,)
    reading: tuple[Vector, float, float] | None
    """Point, target and prediction of the step that waits for answers."""
    queries: dict[int, Query]
    """What pulls in the next update."""


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
        self.neighbours = [int(j) for j in neighbours]
        ordered = self.neighbours == sorted(set(self.neighbours))
        require(ordered, "neighbours", "be ascending and distinct", neighbours)
        degree = len(self.neighbours)
        tolerance = array("tolerance", tolerance, (degree,)).copy()
        self.n_features = n_features
        self._body = fresh_body(settings, pace, tolerance, n_features)
        self._can_decide = False
        self._can_rescue = False
        self._can_project = False
        self._whole: Any = None
        self._queries: dict[int, Query] = {}
        self._reading: tuple[Vector, float, float] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # what is lent holds pointers into this process: another one makes its own
        return vars(self) | {"_whole": None}

    def _lent(self) -> Any:
        if self._whole is None:
            formulas = formulas_of(
                self.rules, self._can_decide, self._can_rescue, self._can_project
            )
            self._whole = lent(Whole(formulas, mover_of(formulas), self._body))
        return self._whole

    @property
    def settings(self) -> Settings:
        """The numbers it shares with all agents."""
        return self._body.settings

    @property
    def pace(self) -> Pace:
        """Its own step sizes and budget."""
        return self._body.pace

    @property
    def order(self) -> int:
        """Number of atoms."""
        return int(self._body.order[0])

    @property
    def scale(self) -> float:
        """What it multiplies the bandwidth of the kernel by."""
        return float(self._body.scale[0])

    @property
    def target(self) -> Vector:
        """Running statistics of its target; to be read."""
        return self._body.target

    @property
    def adaptation(self) -> Vector:
        """What the bandwidth adaptation remembers; the log of the scale first."""
        return self._body.adaptation

    @property
    def tolerance(self) -> Vector:
        """How far the neighbours may be, (n_neighbours,)."""
        return self._body.tolerance

    @property
    def multipliers(self) -> Vector:
        """Price of every tolerance, (n_neighbours,)."""
        return self._body.multipliers

    @property
    def violation(self) -> Vector:
        """Sum of ``h - tolerance`` over the steps that asked, (n_neighbours,)."""
        return self._body.violation

    @property
    def asked(self) -> Indices:
        """Number of those steps, (n_neighbours,)."""
        return self._body.asked

    def predict(self, x: Any) -> float:
        """Return the prediction at one point, in the unit of the target."""
        return self._value(self._point(x))

    def _point(self, x: Any) -> Vector:
        return without_nan("x", array("x", x, (self.n_features,)))

    def _value(self, x: Vector) -> float:
        self._make_room(1)
        self._body.desk.block.points[:, 0] = x
        return float(predict(self._lent()))

    def _make_room(self, n_block: int) -> None:
        # one more than the union: adaptation looks at the atoms and a point
        if self.order + n_block >= len(self._body.desk.workspace.start):
            degree, n_union = len(self.neighbours), 2 * (self.order + n_block)
            place = desk(n_union, degree + 1, degree, self.n_features)
            self._replace(desk=place)

    def _replace(self, **parts: Any) -> None:
        self._body, self._whole = self._body._replace(**parts), None

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
            self._body.dictionary.weights[: self.order] *= ratio
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
        self._queries.pop(neighbour, None)  # an earlier one is out of date
        if self.settings.is_exact and query.multiplier > 0:
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
        self._move(answers)
        if self._reading is not None:
            x, y, own = self._reading
            self._body.desk.block.points[:, 0] = x
            conclude(self._lent(), own, y, self._around(answers))
        self._reading = None
        self._queries = {}

    def _around(self, answers: Mapping[int, Answer]) -> float:
        # summed in order of the neighbours, as the simulator does
        logs = [answers[j].log_scale for j in self.neighbours if j in answers]
        return sum(logs) / len(logs) if logs else np.nan

    def _fill_inbox(self, answers: Mapping[int, Answer]) -> int:
        self._make_room(1 + len(self.neighbours))
        place, b = self._body.desk, 0
        points, inbox = place.block.points, place.inbox
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

    def _move(self, answers: Mapping[int, Answer]) -> None:
        y = 0.0 if self._reading is None else self._reading[1]
        while True:
            b = self._fill_inbox(answers)
            m = int(move(self._lent(), b, self._reading is not None, y))
            if m >= 0:
                return
            if m == NEEDS_PROJECTION:
                self._can_project, self._whole = True, None
                continue
            if m == NEEDS_DECISION:
                self._can_decide, self._whole = True, None
                continue
            if m == NEEDS_RESCUE:
                self._can_rescue, self._whole = True, None
                continue
            old = self._body.dictionary
            new = dictionary(roomier(len(old.weights), -m), self.n_features)
            copy_dictionary(old, new, self.order)
            self._replace(dictionary=new)

    @property
    def memory(self) -> Memory:
        """What it needs to go on; to be read, arrays are not copied."""
        body = self._body
        return Memory(
            body.dictionary, self.order, self.scale, body.target, body.adaptation,
            body.multipliers, body.violation, body.asked, self._reading,
            dict(self._queries),
        )  # fmt: skip

    def recall(self, memory: Memory) -> None:
        """Go on from the memory of an agent that had the same settings.

        From here both give the same bits. Copies what it takes.
        """
        order = memory.order
        new = dictionary(roomier(0, order + 4), self.n_features)
        copy_dictionary(memory.dictionary, new, order)
        self._replace(dictionary=new, trust=np.array([np.inf, 0.0]))
        body = self._body
        body.order[0], body.scale[0] = order, memory.scale
        body.target[:], body.adaptation[:] = memory.target, memory.adaptation
        body.multipliers[:], body.asked[:] = memory.multipliers, memory.asked
        body.violation[:] = memory.violation
        self._reading, self._queries = memory.reading, dict(memory.queries)

    @property
    def function(self) -> Expansion:
        """A copy of the agent's function."""
        kernel = rescaled(self.rules.kernel, self.scale)
        D = self._body.dictionary
        return Expansion(kernel, D.atoms[:, : self.order].T, D.weights[: self.order])
