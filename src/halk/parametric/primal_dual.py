"""Fixed features bound by multipliers: S3 to S9 with ``phi(x)`` for ``k(x, .)``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.parametric.base import Independent, Writes
from halk.parametric.exchange import Exchange, edges_of
from halk.parametric.products import add_rows, squares
from halk.simulator import DOUBLE


class Priced(NamedTuple):
    """What the next step needs to know of agents with weights and multipliers."""

    weights: Matrix  # (V, D)
    multipliers: Vector  # (E,)
    violation: Vector  # (E,)
    asked: Indices  # (E,)


class PrimalDual(Independent):
    """Runs agents that descend and multipliers that ascend the Lagrangian (S2)."""

    def _fresh(self) -> Priced:
        plain = super()._fresh()
        prices = np.zeros(self.setup.network.n_edges)
        return Priced(plain.weights, prices, plain.violation, plain.asked)

    def _moves(self, seen: Exchange) -> Writes:
        mu = self.state.multipliers[seen.edges]
        prices = self.state.multipliers, seen.edges, self._prices(seen, mu)
        R = len(seen.agents)
        g = seen.slope + np.bincount(seen.reader, mu * seen.forth, R)  # S3
        move = self._all_moves if self.setup.settings.is_exact else self._own_moves
        return [(self.state.weights, *move(seen, mu, g)), prices]

    def _own_moves(
        self, seen: Exchange, mu: Vector, g: Vector
    ) -> tuple[Indices, Matrix]:
        """Return who moves and where to, S5 without the neighbours' pulls."""
        curvature = squares(seen.phi) * self._own_curvature(seen.agents)
        eta = self._step_sizes(seen.agents, curvature)
        moved = self._shrunk(self.state.weights[seen.agents], eta)
        rows = np.arange(len(eta))
        add_rows(moved, rows, -eta * g, seen.phi, rows)
        return seen.agents, self._into_ball(moved)

    def _all_moves(
        self, seen: Exchange, mu: Vector, g: Vector
    ) -> tuple[Indices, Matrix]:
        """Return who moves and where to, S5."""
        who = np.concatenate([seen.agents, seen.neighbour])
        touched, place = np.unique(who, return_inverse=True)
        R, n = len(seen.agents), len(touched)
        mine, theirs = place[:R], place[R:]
        squared = squares(seen.phi)
        kappa = np.zeros(n)
        kappa[mine] = squared
        np.maximum.at(kappa, theirs, squared[seen.reader])
        bound = 2.0 * self.setup.proximity.curvature
        curvature = self._own_curvature(touched) + bound * np.bincount(theirs, mu, n)
        eta = self._step_sizes(touched, kappa * curvature)
        moved = self.state.weights[touched]
        moved[mine] = self._shrunk(moved[mine], eta[mine])
        add_rows(moved, mine, -eta[mine] * g, seen.phi, np.arange(R))
        back = mu * seen.back  # S4
        add_rows(moved, theirs, -eta[theirs] * back, seen.phi, seen.reader)
        # a pull of exactly zero is no pull
        is_moved = np.bincount(theirs, np.abs(back), n) > 0.0
        is_moved[mine] = True
        return touched[is_moved], self._into_ball(moved[is_moved])

    def _own_curvature(self, agents: Indices) -> Vector:
        """Return the curvature of agents' own terms, for S9: with a reading or not."""
        edges, reader = edges_of(self.setup.network, agents)
        mu = self.state.multipliers[edges]
        prices = np.bincount(reader, mu, len(agents)).astype(np.float64)
        bound = 2.0 * self.setup.proximity.curvature
        return self.setup.loss.curvature + bound * prices

    def _shrunk(self, rows: Matrix, eta: Vector) -> Matrix:
        return rows * (1.0 - eta * self.setup.settings.regularization)[:, None]

    def _prices(self, seen: Exchange, mu: Vector) -> Vector:
        """Return the multipliers of the edges asked, S6."""
        settings, tolerance = self.setup.settings, self.setup.network.tolerance
        eta = self.setup.paces[seen.agents, 1][seen.reader]
        kept = 1.0 - settings.dual_regularization * eta * eta
        excess = seen.h - tolerance[seen.edges] + settings.tightening
        moved: Vector = np.maximum(mu * kept + eta * excess, 0.0)
        return moved

    @property
    def multipliers(self) -> Vector:
        """Price of every tolerance, (E,)."""
        prices: Vector = self.state.multipliers.copy()
        return prices

    @property
    def bytes_sent(self) -> int:
        """Bytes of all queries and answers so far.

        A query holds the point, and under the exact coupling the asking agent's
        prediction and multiplier; an answer holds the neighbour's prediction.
        """
        query = self.n_features + 2 * self.setup.settings.is_exact
        return DOUBLE * (query + 1) * int(self.state.asked.sum())
