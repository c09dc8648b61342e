"""RFF consensus: random Fourier features, and ADMM with censored messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from halk import losses
from halk import proximity as proximities
from halk._core import add_rows
from halk._validation import Indices, Matrix, nonnegative, positive, require
from halk.features import RandomFourier
from halk.learners.fixed_features import (
    FeatureLearner,
    FeatureSetup,
    IndependentAgents,
    RoundTrip,
    Writes,
    find_edges,
    squared_norms,
)
from halk.learners.settings import LOSS, PROXIMITY
from halk.network import Network
from halk.simulator import DOUBLE


class ADMMAgents(IndependentAgents):
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
        self, setup: FeatureSetup, n_features: int, penalty: float, threshold: float,
        decay: float,
    ) -> None:  # fmt: skip
        super().__init__(setup, n_features)
        self.penalty, self.threshold, self.decay = penalty, threshold, decay
        self.state |= {
            "told": np.zeros_like(self.weights),
            "dual": np.zeros_like(self.weights),  # sum over an agent's edges
            "readings": np.zeros(setup.network.n_agents, dtype=np.int64),
            # vectors, and notes that there is nothing new, per neighbour
            "sent": np.zeros(2, dtype=np.int64),
        }

    def _move(self, seen: RoundTrip) -> Writes:
        state = self.state
        active, mine, theirs = self._join(seen)
        moved = self._descend(seen, active, mine)
        told, sent = self._censor(active, moved)
        has_reading = np.zeros(len(active), dtype=bool)
        has_reading[mine] = True
        edges = mine[seen.reader], theirs
        dual = self._ascend(state["dual"][active], told, *edges, has_reading)
        return [
            (self.weights, active, moved),
            (state["told"], active, told),
            (state["dual"], active, dual),
            (state["readings"], seen.agents, state["readings"][seen.agents] + 1),
            (state["sent"], slice(None), state["sent"] + sent),
        ]

    def _descend(self, seen: RoundTrip, active: Indices, mine: Indices) -> Matrix:
        """Return the new weights of those who take part."""
        network, settings = self.setup.network, self.setup.settings
        old, told = self.weights[active], self.state["told"]
        rho, degree = self.penalty, network.degree[active]
        curvature, shrink = 2.0 * rho * degree, np.zeros(len(active))
        if settings.is_normalized:
            curvature[mine] += self.setup.loss.curvature * seen.squared
        eta = self.setup.paces[active, 0]
        eta = eta / (1.0 + eta * curvature)
        shrink[mine] = eta[mine] * settings.regularization
        moved: Matrix = old * (1.0 - shrink)[:, None]
        add_rows(
            moved, mine, -eta[mine] * seen.slope, seen.phi, self._rows[: len(mine)]
        )
        bond = (rho * degree)[:, None] * (2.0 * old - told[active])
        bond += self.state["dual"][active]
        edges, place = find_edges(network, active)
        neighbours = network.neighbours[edges]
        add_rows(bond, place, np.full(len(edges), -rho), told, neighbours)
        moved -= eta[:, None] * bond
        return moved

    def _censor(self, active: Indices, moved: Matrix) -> tuple[Matrix, Indices]:
        """Return what neighbours know after the step, and the messages it took."""
        told = self.state["told"][active]
        times = self.state["readings"][active].astype(float)
        limit = self.threshold * self.decay**times
        is_news = np.sqrt(squared_norms(moved - told)) >= limit
        told[is_news] = moved[is_news]
        degree = self.setup.network.degree[active]
        return told, np.array([degree[is_news].sum(), degree[~is_news].sum()])

    def _ascend(
        self, dual: Matrix, told: Matrix, i: Indices, j: Indices, has_reading: Any
    ) -> Matrix:
        """Return the duals after the step, for its edges (i, j) from a reading."""
        silent = ~has_reading[j]  # their edge is not among those of a reading
        first, second = np.append(i, j[silent]), np.append(j, i[silent])
        dual += (self.penalty * np.bincount(first, minlength=len(dual)))[:, None] * told
        add_rows(dual, first, np.full(len(first), -self.penalty), told, second)
        return dual

    @property
    def bytes_sent(self) -> int:
        """Bytes sent so far: a vector, or one byte for a note, to every neighbour."""
        vectors, notes = (int(number) for number in self.state["sent"])
        return DOUBLE * self.size * vectors + notes


class RFFADMM(FeatureLearner):
    """Online kernel learning by random Fourier features and consensus ADMM.

    Agents must agree on their weights. Each keeps what it last told its neighbours, and
    tells them anew only what has changed enough; `ADMMAgents` has the
    equations. With a threshold of 0 it is DKLA, made online by a linearised step;
    with one above 0, COKE.

    Parameters
    ----------
    n_frequencies, length_scale, seed, proximity
        As for :class:`RFFDiffusion`.
    penalty : float, default 0.1
        ``rho``: how hard neighbours are drawn together.
    threshold : float, default 0
        Weights that moved less than ``threshold * decay^t`` since they were told are
        not told again; a note of one byte says so. t counts the agent's readings.
    decay : float in (0, 1], default 0.99

    The others as for :class:`HALK`.

    References
    ----------
    P. Xu, Y. Wang, X. Chen, Z. Tian, "COKE: communication-censored decentralized kernel
    learning", Journal of Machine Learning Research, 2021.

    Examples
    --------
    >>> from halk import Network
    >>> model = RFFADMM(Network.path(2), n_frequencies=50, threshold=100.0)
    >>> model.learn_one([[0.1], [0.2]], [1.0, 2.0])
    >>> model.bytes_sent
    2
    """

    def __init__(
        self,
        network: Network,
        n_frequencies: int = 100,
        length_scale: Any = 1.0,
        seed: int = 0,
        loss: losses.Loss = LOSS,
        proximity: proximities.Proximity = PROXIMITY,
        penalty: float = 0.1,
        threshold: float = 0.0,
        decay: float = 0.99,
        step_size: Any = 0.5,
        regularization: float = 1e-5,
        step: str = "normalized",
    ) -> None:
        super().__init__(locals(), RandomFourier(n_frequencies, length_scale, seed))
        require(positive("decay", decay) <= 1.0, "decay", "be at most 1", decay)
        self._bond = (
            nonnegative("penalty", penalty),
            nonnegative("threshold", threshold),
            float(decay),
        )

    def _make_executor(self, n_features: int) -> ADMMAgents:
        return ADMMAgents(self._setup, n_features, *self._bond)
