"""Fixed features in consensus: linearised online ADMM with censored messages."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.parametric.base import Independent, Setup, Writes
from halk.parametric.exchange import Exchange, edges_of
from halk.parametric.products import add_rows, squares
from halk.simulator import DOUBLE

VECTORS, NOTES = 0, 1
"""Columns of what was sent: whole vectors, and notes that there is nothing new."""


class Agreeing(NamedTuple):
    """What the next step needs to know of agents that seek consensus."""

    weights: Matrix  # (V, D)
    told: Matrix  # (V, D)      what the neighbours know of them
    dual: Matrix  # (V, D)      sum over an agent's edges
    readings: Indices  # (V,)   number of readings taken in
    sent: Indices  # (2,)       messages, counted once a neighbour
    violation: Vector  # (E,)
    asked: Indices  # (E,)


class ADMM(Independent):
    """Runs agents that must agree with what their neighbours last told them.

    In a step the agents with a reading and their neighbours take part. With ``z`` what
    an agent told, ``u`` its dual, n its neighbours and rho the penalty,

        w_i <- w_i - s_i ( loss' phi(x_i) + lambda w_i + u_i
                           + rho sum_j (2 w_i - z_i - z_j) ),
        s_i  = 1 / ( 1 / eta + loss'' |phi(x_i)|^2 + 2 rho |n_i| ),

    the terms of the reading only where there is one. Then ``z_i <- w_i``, unless the
    change is below ``threshold * decay^t``, t the agent's number of readings; and for
    every edge with a reading at one end, ``u_i <- u_i + rho (z_i - z_j)``.
    """

    def __init__(
        self,
        setup: Setup,
        n_features: int,
        penalty: float,
        threshold: float,
        decay: float,
    ) -> None:
        super().__init__(setup, n_features)
        self.penalty, self.threshold, self.decay = penalty, threshold, decay

    def _fresh(self) -> Agreeing:
        plain = super()._fresh()
        V = self.setup.network.n_agents
        return Agreeing(
            weights=plain.weights,
            told=np.zeros_like(plain.weights),
            dual=np.zeros_like(plain.weights),
            readings=np.zeros(V, dtype=np.int64),
            sent=np.zeros(2, dtype=np.int64),
            violation=plain.violation,
            asked=plain.asked,
        )

    def _moves(self, seen: Exchange) -> Writes:
        state = self.state
        who = np.concatenate([seen.agents, seen.neighbour])
        active, place = np.unique(who, return_inverse=True)
        mine = place[: len(seen.agents)]
        moved = self._moved(seen, active, mine)
        told, sent = self._told(active, moved)
        others = place[len(mine) :]
        dual = self._duals(state.dual[active], told, mine[seen.reader], others, mine)
        return [
            (state.weights, active, moved),
            (state.told, active, told),
            (state.dual, active, dual),
            (state.readings, seen.agents, state.readings[seen.agents] + 1),
            (state.sent, slice(None), state.sent + sent),
        ]

    def _moved(self, seen: Exchange, active: Indices, mine: Indices) -> Matrix:
        """Return the new weights of those who take part."""
        state, settings, loss = self.state, self.setup.settings, self.setup.loss
        eta, shrink = self.setup.paces[active, 0], np.zeros(len(active))
        degree = self.setup.network.degree[active]
        curvature = 2.0 * self.penalty * degree
        if settings.is_normalized:
            curvature[mine] += loss.curvature * squares(seen.phi)
        eta = eta / (1.0 + eta * curvature)
        shrink[mine] = eta[mine] * settings.regularization
        old = state.weights[active]
        moved: Matrix = old * (1.0 - shrink)[:, None]
        add_rows(moved, mine, -eta[mine] * seen.slope, seen.phi, np.arange(len(mine)))
        bond = (self.penalty * degree)[:, None] * (2.0 * old - state.told[active])
        bond += state.dual[active]
        edges, row = edges_of(self.setup.network, active)
        rho = np.full(len(edges), self.penalty)
        add_rows(bond, row, -rho, state.told, self.setup.network.neighbours[edges])
        moved -= eta[:, None] * bond
        return moved

    def _told(self, active: Indices, moved: Matrix) -> tuple[Matrix, Indices]:
        """Return what neighbours know after the step, and the messages it took."""
        told = self.state.told[active]
        times = self.state.readings[active].astype(float)
        limit = self.threshold * self.decay**times
        is_news = np.sqrt(squares(moved - told)) >= limit
        told[is_news] = moved[is_news]
        degree = self.setup.network.degree[active]
        sent = np.zeros(2, dtype=np.int64)
        sent[VECTORS], sent[NOTES] = degree[is_news].sum(), degree[~is_news].sum()
        return told, sent

    def _duals(
        self, dual: Matrix, told: Matrix, i: Indices, j: Indices, mine: Indices
    ) -> Matrix:
        """Return the duals after the step, for its edges (i, j) from a reading."""
        has_reading = np.zeros(len(dual), dtype=bool)
        has_reading[mine] = True
        silent = ~has_reading[j]  # their edge is not among those of a reading
        first, second = np.append(i, j[silent]), np.append(j, i[silent])
        dual += (self.penalty * np.bincount(first, minlength=len(dual)))[:, None] * told
        add_rows(dual, first, np.full(len(first), -self.penalty), told, second)
        return dual

    @property
    def bytes_sent(self) -> int:
        """Bytes sent so far: a vector, or one byte for a note, to every neighbour."""
        vectors, notes = (int(number) for number in self.state.sent)
        return DOUBLE * self.size * vectors + notes
