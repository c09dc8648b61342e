"""The simulator: owns the arrays, feeds the compiled loop, makes room when asked."""

from typing import Any

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.arena import arena, dictionary_of, enlarged
from halk.bandwidth import N_STATE
from halk.compression import compressor, workspace
from halk.errors import DivergenceError
from halk.expansion import Expansion
from halk.kernels import rescaled
from halk.network import Network
from halk.simulator.arrays import Exchange, Links, Readings, Record, State
from halk.simulator.loop import (
    DIVERGED,
    FINISHED,
    NEEDS_ARENA,
    run,
    values_of,
)
from halk.step import Inbox, Rules, Settings, fresh_targets

_FIRST_CAPACITY = 4


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
    """

    def __init__(
        self,
        network: Network,
        rules: Rules,
        settings: Settings,
        paces: Matrix,
        n_features: int,
    ) -> None:
        V, E = network.n_agents, network.n_edges
        self.rules = rules._replace(compressor=compressor())
        self.settings = settings
        self.paces = paces
        self.n_features = n_features
        self.links = Links(
            # the network's arrays are read-only, which would compile the loop again
            network.indptr.copy(),
            network.neighbours.copy(),
            network.reverse.copy(),
            network.tolerance.copy(),
        )
        self.state = State(
            arena=arena(np.full(V, _FIRST_CAPACITY), n_features),
            multipliers=np.zeros(E),
            scale=np.ones(V),
            target=fresh_targets(V),
            adaptation=np.zeros((V, N_STATE)),
            violation=np.zeros(E),
            asked=np.zeros(E, dtype=np.int64),
        )
        self._talk = Exchange(
            reading=np.full(V, -1),
            own=np.zeros(V),
            answer=np.zeros(E),
            around=np.zeros(V),
            touched=np.zeros(V, dtype=np.int64),
            cursor=np.zeros(5, dtype=np.int64),
        )
        self._n_block = int(network.degree.max(initial=0)) + 1
        self._make_workspace(2 * self._n_block + 16)

    def __getstate__(self) -> dict[str, Any]:
        # the compressor is a pointer into this process: another one makes its own
        return vars(self) | {"rules": self.rules._replace(compressor=None)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.rules = self.rules._replace(compressor=compressor())

    def _make_workspace(self, n_union: int) -> None:
        B = self._n_block
        self._workspace = workspace(n_union, B, self.n_features)
        self._inbox = Inbox(np.zeros(B), np.zeros(B), np.zeros(B), np.zeros(B))

    def run(self, readings: Readings) -> Record:
        """Learn from a stream; return what was seen on the way.

        Raises
        ------
        DivergenceError
            If a prediction leaves the finite numbers; the state is then that of the
            last finite step.
        """
        n_steps = len(readings.start) - 1
        record = Record(
            np.zeros(len(readings.y)), np.zeros(n_steps), np.zeros(n_steps, np.int64)
        )
        self._talk.cursor[:] = 0
        while True:
            status = run(
                self.rules,
                self.settings,
                self.paces,
                self.links,
                self.state,
                readings,
                self._talk,
                self._workspace,
                self._inbox,
                record,
            )
            if status == FINISHED:
                return record
            if status == DIVERGED:
                self._stop(readings)
            self._make_room(status)

    def _make_room(self, status: int) -> None:
        cursor = self._talk.cursor
        wanted = int(cursor[4])
        if status == NEEDS_ARENA:
            agent = int(self._talk.touched[cursor[2]])
            larger = enlarged(self.state.arena, agent, wanted)
            self.state = self.state._replace(arena=larger)
        else:
            self._make_workspace(wanted + wanted // 2 + 8)

    def _stop(self, readings: Readings) -> None:
        t = int(self._talk.cursor[0])
        self._talk.reading[:] = -1
        agents = readings.agent[readings.start[t] : readings.start[t + 1]]
        worst = int(agents[np.argmax(np.abs(self._talk.own[agents]))])
        error = DivergenceError(
            f"learning diverged: a prediction passed 1e50 (agent {worst}, step {t} of "
            f"this call); use step='normalized', or a step size below "
            f"{self.paces[worst, 0]:g}. The model keeps its last finite state"
        )
        error.n_steps = t
        raise error

    def values(self, agents: Indices, X: Matrix) -> Vector:
        """Return the prediction of ``agents[r]`` at ``X[r]``."""
        out = np.empty(len(agents))
        values_of(self.rules, self.state, agents, X, out)
        return out

    def function(self, i: int) -> Expansion:
        """Return a copy of agent ``i``'s function."""
        m = int(self.state.arena.order[i])
        D = dictionary_of(self.state.arena, i)
        kernel = rescaled(self.rules.kernel, float(self.state.scale[i]))
        return Expansion(kernel, D.atoms[:m], D.weights[:m])
