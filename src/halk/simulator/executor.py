"""The simulator: owns the arrays, feeds the compiled loop, makes room when asked."""

from typing import Any

import numpy as np

from halk._jit import lent
from halk._validation import Indices, Matrix, Vector
from halk.arena import dictionary_of, enlarged, mover_to_tail
from halk.compression import COUNTED
from halk.errors import HalkError
from halk.expansion import Expansion
from halk.formulas import Rules, formulas_of
from halk.kernels import rescaled
from halk.network import Network
from halk.simulator.arrays import (
    DIVERGED,
    FINISHED,
    NEEDS_ARENA,
    NEEDS_DECIDER,
    NEEDS_PROJECTOR,
    NEEDS_RESCUER,
    NEEDS_ROOM,
    Engine,
    Post,
    Readings,
    Record,
    State,
    fresh_exchange,
    fresh_state,
    fresh_trust,
    links_of,
    room_for_pulls,
    room_to_keep,
    writable,
)
from halk.simulator.listening import listener_of
from halk.simulator.loop import run, values_of
from halk.simulator.threads import WORTH_SHARING, Crew
from halk.simulator.traffic import bytes_an_edge, divergence
from halk.step import ADOPTED, Desk, Settings, desk, mover_of


class Simulator:
    """Runs all agents of a network in one process.

    Parameters
    ----------
    network : Network
    rules : Rules
        Kernel, loss, proximity and bandwidth adaptation.
    settings : Settings
        The numbers all agents share.
    paces : array (V, 3)
        Step size, dual step size and budget of every agent.
    n_features : int
    price : float, optional
        What all multipliers are from the start, for dual step sizes of zero. At price
        zero agents have nothing to do with each other; their neighbours' predictions
        are still looked at, for the record.
    n_threads : int, default 1
        For steps of thousands of readings; the numbers are the same with any number.
    """

    def __init__(
        self,
        network: Network,
        rules: Rules,
        settings: Settings,
        paces: Matrix,
        n_features: int,
        price: float | None = None,
        n_threads: int = 1,
    ) -> None:
        self.rules = rules
        self.settings = settings
        self.paces = paces
        self.n_features = n_features
        self.links = links_of(network)
        self.price = price
        self.n_threads = n_threads
        self._state = fresh_state(network, n_features)
        self._state.multipliers[:] = price or 0.0
        if price == 0.0:  # nobody to adopt offset and spread from
            self._state.target[:, ADOPTED] = 1.0
        self._talk = fresh_exchange(network, n_features)
        self._degree = int(network.degree.max(initial=0))
        self._is_torn = False
        self._desks: list[Desk] = []
        self._posts: list[Any] = []
        self._make_desks(16, 2)
        self._can_move = False
        self._can_decide = False
        self._can_rescue = False
        self._can_project = False

    def __getstate__(self) -> dict[str, Any]:
        # what is lent holds pointers into this process: another one makes its own
        none = np.zeros(0)
        talk = self._talk._replace(kept=none, solved=none, pulls=np.zeros((0, 0)))
        return vars(self) | {"_posts": [], "_talk": talk}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # arrays from a file that is mapped into memory may be read-only
        vars(self).update({name: writable(value) for name, value in state.items()})
        self._make_room_to_keep(self._room[0])
        pulls = room_for_pulls(len(self.links.neighbour), self.n_features)
        self._talk = self._talk._replace(pulls=pulls)

    def _make_room_to_keep(self, n_union: int) -> None:
        n_rows = len(self._state.scale) + len(self.links.neighbour)
        kept, solved = room_to_keep(n_rows, n_union), room_to_keep(n_rows, n_union)
        self._talk = self._talk._replace(kept=kept, solved=solved)

    @property
    def state(self) -> State:
        """What the next step needs to know of all agents."""
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state = state
        self._talk.trust[:] = fresh_trust(len(state.scale))
        n_union, n_block = self._room
        largest = int(state.arena.order.max(initial=0)) + n_block
        self._make_desks(max(n_union, largest), n_block)

    def _lent(self) -> list[Any]:
        """Return the posts of all threads, made when needed."""
        if not self._posts:
            formulas = formulas_of(
                self.rules, self._can_decide, self._can_rescue, self._can_project
            )
            engine = Engine(
                formulas,
                mover_of(formulas),
                listener_of(formulas.rows, self.settings),
                mover_to_tail(self._can_move),
                self.settings,
                self.paces,
                self.links,
                self._state,
                self._talk,
            )
            self._posts = [lent(Post(engine, place)) for place in self._desks]
        return self._posts

    def _make_desks(self, n_union: int, n_block: int) -> None:
        counts = np.sum([place.workspace.counts for place in self._desks], axis=0)
        self._room = n_union, n_block
        self._desks = [
            desk(n_union, n_block, self._degree, self.n_features)
            for _ in range(self.n_threads)
        ]
        self._desks[0].workspace.counts[:] += counts.astype(np.int64)
        self._posts = []

    @property
    def counts(self) -> dict[str, int]:
        """How much work was done so far; see ``halk.compression.COUNTED``."""
        counts = np.sum([place.workspace.counts for place in self._desks], axis=0)
        return dict(zip(COUNTED, counts.tolist(), strict=True))

    @property
    def steps_made(self) -> int:
        """How many steps of the last stream were made."""
        return int(self._talk.cursor[0])

    def run(self, readings: Readings, record: Record | None = None) -> Record:
        """Learn from a stream; return what was seen on the way.

        ``record`` is room to write it to, if there is some.

        Raises
        ------
        DivergenceError
            If a prediction leaves the finite numbers; the state is then that of the
            last finite step.
        """
        if self._is_torn:
            raise HalkError(
                "this model stopped in the middle of a step for lack of memory; load "
                "its last checkpoint"
            )
        n_steps = len(readings.start) - 1
        if record is None:
            R, T = len(readings.y), n_steps
            record = Record(np.zeros(R), np.zeros(T), np.zeros(T, np.int64))
        self._talk.cursor[:] = 0
        try:
            self._drive(readings, record)
        except KeyboardInterrupt:
            if self._talk.cursor[1]:  # finish the step that is under way, then stop
                steps = readings.start[: self.steps_made + 2]
                self._drive(readings._replace(start=steps), record)
            raise
        return record

    def _drive(self, readings: Readings, record: Record) -> None:
        """Run the compiled loop to its end, making room when it asks."""
        status = NEEDS_ROOM
        is_shared = self.n_threads > 1 and self._is_large(readings)
        while status != FINISHED:
            if is_shared:
                status = self._crew().run(readings, record, self._talk.cursor)
            else:
                status = run(self._lent()[0], readings, record)
            if status == DIVERGED:
                self._stop()
            if status != FINISHED:
                self._make_room(status)

    def _is_large(self, readings: Readings) -> bool:
        return bool(np.diff(readings.start).max(initial=0) >= WORTH_SHARING)

    def _crew(self) -> Crew:
        n_agents, is_exact = len(self._state.scale), self.settings.is_exact
        return Crew(self._lent, self._make_room, n_agents, is_exact, self.n_threads)

    def _make_room(self, status: int) -> None:
        cursor = self._talk.cursor
        wanted, n_block = int(cursor[4]), int(cursor[5])
        try:
            if status == NEEDS_ARENA and not self._can_move:
                self._can_move = True
            elif status == NEEDS_ARENA:
                agent = int(self._talk.touched[cursor[2]])
                larger = enlarged(self._state.arena, agent, wanted)
                self._state = self._state._replace(arena=larger)
            elif status == NEEDS_PROJECTOR:
                self._can_project = True
            elif status == NEEDS_DECIDER:
                self._can_decide = True
            elif status == NEEDS_RESCUER:
                self._can_rescue = True
            else:
                n_block = max(n_block + n_block // 4, self._room[1])
                n_union = max(wanted + wanted // 2, self._room[0], n_block)
                self._make_room_to_keep(n_union)
                self._make_desks(n_union, n_block)
            self._posts = []
            self._lent()
        except MemoryError:
            self._is_torn = True
            raise

    def _stop(self) -> None:
        """Forget the step that diverged, and say so."""
        self._talk.reading[:] = -1
        agent = int(self._talk.cursor[4])
        raise divergence(agent, self.steps_made, float(self.paces[agent, 0]))

    def set_tolerance(self, tolerance: Vector) -> None:
        """Let other tolerances hold from the next step on, (E,)."""
        self.links.tolerance[:] = tolerance

    def values(self, agents: Indices, X: Matrix) -> Vector:
        """Return the prediction of ``agents[r]`` at ``X[r]``."""
        out = np.empty(len(agents))
        values_of(self._lent()[0], agents, X, out)
        return out

    def function(self, i: int) -> Expansion:
        """Return a copy of agent ``i``'s function."""
        m = int(self.state.arena.order[i])
        D = dictionary_of(self.state.arena, i)
        kernel = rescaled(self.rules.kernel, float(self.state.scale[i]))
        return Expansion(kernel, D.atoms[:, :m].T, D.weights[:m])

    @property
    def model_order(self) -> Indices:
        """Number of atoms of every agent, (V,)."""
        return self.state.arena.order.copy()

    @property
    def n_atoms(self) -> int:
        """Number of atoms held in all."""
        return int(self.state.arena.order.sum())

    @property
    def multipliers(self) -> Vector:
        """Price of every tolerance, (E,)."""
        return self.state.multipliers.copy()

    @property
    def violations(self) -> Vector:
        """Running mean of ``h - tolerance`` an edge, (E,); 0 for one never asked."""
        return self.state.violation / np.maximum(self.state.asked, 1)

    @property
    def bytes_sent(self) -> int:
        """Bytes of all queries and answers so far; headers do not count."""
        each = bytes_an_edge(self.rules, self.settings, self.n_features, self.price)
        return each * int(self.state.asked.sum())
