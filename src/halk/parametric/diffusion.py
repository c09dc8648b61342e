"""Fixed features bound by mixing: adapt, then combine."""

from __future__ import annotations

import numpy as np

from halk._validation import Vector
from halk.network import Network
from halk.parametric.base import Independent, Setup, Writes
from halk.parametric.exchange import Exchange
from halk.parametric.products import add_rows
from halk.simulator import DOUBLE


def metropolis(network: Network) -> Vector:
    """Return the mixing weight of every edge, ``1 / (1 + max(n_i, n_j))``, (E,)."""
    i, j = network.edges.T
    most = np.maximum(network.degree[i], network.degree[j]).astype(np.float64)
    weights: Vector = 1.0 / (1.0 + most)
    return weights


class Diffusion(Independent):
    """Runs agents that learn by themselves, then average with their neighbours.

    ``w_i = psi_i + sum_j a_ij (psi_j - psi_i)`` over the neighbours j with a reading:
    the weight of the silent ones stays with the agent.
    """

    def __init__(self, setup: Setup, n_features: int) -> None:
        super().__init__(setup, n_features)
        self._mixing = metropolis(setup.network)

    def _moves(self, seen: Exchange) -> Writes:
        psi = self._adapted(seen)
        who = np.concatenate([seen.agents, seen.neighbour])
        touched, place = np.unique(who, return_inverse=True)
        mine, hearing = place[: len(psi)], place[len(psi) :]
        weight = self._mixing[seen.edges]
        mixed = self.state.weights[touched]
        mixed[mine] = psi
        mixed *= (1.0 - np.bincount(hearing, weight, len(touched)))[:, None]
        add_rows(mixed, hearing, weight, psi, seen.reader)
        return [(self.state.weights, touched, mixed)]

    @property
    def bytes_sent(self) -> int:
        """Bytes of all weights sent so far, one vector a neighbour and reading."""
        return DOUBLE * self.size * int(self.state.asked.sum())
