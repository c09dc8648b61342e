"""Linear: fixed features, and multipliers between neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from halk import losses
from halk import proximity as proximities
from halk._core import add_rows
from halk._validation import Indices, Matrix, Vector
from halk.features import FeatureMap, Monomials
from halk.learners.fixed_features import (
    FeatureLearner,
    FeatureSetup,
    IndependentAgents,
    RoundTrip,
    Writes,
    find_edges,
)
from halk.learners.settings import LOSS, PROXIMITY
from halk.network import Network
from halk.simulator import DOUBLE

_FEATURES = Monomials(2)


class PrimalDualAgents(IndependentAgents):
    """Runs agents that descend, and multipliers that ascend, the Lagrangian (S2).

    S3 to S6, S8 and S9 with ``phi(x)`` for ``k(x, .)``.
    """

    def __init__(self, setup: FeatureSetup, n_features: int) -> None:
        super().__init__(setup, n_features)
        self.state["multipliers"] = np.zeros(setup.network.n_edges)

    def _move(self, seen: RoundTrip) -> Writes:
        mu = self.state["multipliers"][seen.edges]
        g = seen.slope + np.bincount(seen.reader, mu * seen.d1h, len(seen.slope))  # S3
        step = self._step_exact if self.setup.settings.is_exact else self._step_own
        return [
            (self.weights, *step(seen, mu, g)),
            (self.state["multipliers"], seen.edges, self._ascend(seen, mu)),
        ]

    def _step_own(self, seen: RoundTrip, mu: Vector, g: Vector) -> tuple[Any, Matrix]:
        """Return who moves and where to, S5 without the neighbours' pulls."""
        curvature = seen.squared * self._own_curvature(seen.agents)
        eta = self._step_sizes(seen.agents, curvature)
        moved = self._shrink(self.weights[seen.agents], eta)
        rows = self._rows[: len(eta)]
        add_rows(moved, rows, -eta * g, seen.phi, rows)
        return seen.agents, self._project(moved)

    def _step_exact(self, seen: RoundTrip, mu: Vector, g: Vector) -> tuple[Any, Matrix]:
        """Return who moves and where to, S5."""
        active, mine, theirs = self._join(seen)
        n, squared = len(active), seen.squared
        kappa = np.zeros(n)
        kappa[mine] = squared
        np.maximum.at(kappa, theirs, squared[seen.reader])
        bound = 2.0 * self.setup.proximity.curvature
        curvature = self._own_curvature(active) + bound * np.bincount(theirs, mu, n)
        eta = self._step_sizes(active, kappa * curvature)
        moved = self.weights[active]
        moved[mine] = self._shrink(moved[mine], eta[mine])
        add_rows(moved, mine, -eta[mine] * g, seen.phi, self._rows[: len(mine)])
        pull = mu * seen.d2h  # S4
        add_rows(moved, theirs, -eta[theirs] * pull, seen.phi, seen.reader)
        # a pull of exactly zero is no pull
        is_moved = np.bincount(theirs, np.abs(pull), n) > 0.0
        is_moved[mine] = True
        return active[is_moved], self._project(moved[is_moved])

    def _own_curvature(self, agents: Indices) -> Vector:
        """Return the curvature of agents' own terms, for S9: with a reading or not."""
        edges, place = find_edges(self.setup.network, agents)
        mu = self.state["multipliers"][edges]
        total = np.bincount(place, mu, len(agents)).astype(np.float64)
        return self.setup.loss.curvature + 2.0 * self.setup.proximity.curvature * total

    def _ascend(self, seen: RoundTrip, mu: Vector) -> Vector:
        """Return the multipliers of the edges asked, S6."""
        settings, tolerance = self.setup.settings, self.setup.network.tolerance
        eta = self.setup.paces[seen.agents, 1][seen.reader]
        kept = 1.0 - settings.dual_regularization * eta * eta
        excess = seen.h - tolerance[seen.edges] + settings.tightening
        moved: Vector = np.maximum(mu * kept + eta * excess, 0.0)
        return moved

    @property
    def bytes_sent(self) -> int:
        """Bytes of all queries and answers so far.

        A query holds the point, and under the exact coupling the asking agent's
        prediction and multiplier; an answer holds the neighbour's prediction.
        """
        query = self.n_features + 2 * self.setup.settings.is_exact
        return DOUBLE * (query + 1) * int(self.state["asked"].sum())


class Linear(FeatureLearner):
    """Online learning of weights on fixed features, neighbours bound by multipliers.

    HALK with ``w'phi(x)`` in place of a kernel expansion: S3 to S6 and S8 to S9 with
    ``phi(x)`` for ``k(x, .)``, and nothing to compress.

    Parameters
    ----------
    features : FeatureMap, default ``Monomials(2)``
        ``phi``, the same for all agents: ``features.Monomials(3)``,
        ``features.Sine()``, ...

    The others as for :class:`HALK`.

    References
    ----------
    A. Koppel, B. M. Sadler, A. Ribeiro, "Proximity without consensus in online
    multiagent optimization", IEEE Transactions on Signal Processing, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from halk import Network
    >>> model = Linear(Network.path(2), step_size=0.5)
    >>> X = np.random.default_rng(0).uniform(size=(2000, 2, 1))
    >>> model.learn_many(X, (X[..., 0] - 0.5) ** 2)
    >>> model.predict(0, [[0.0], [0.5], [1.0]]).round(1)
    array([0.2, 0. , 0.2])
    """

    executor = PrimalDualAgents

    def __init__(
        self,
        network: Network,
        features: FeatureMap = _FEATURES,
        loss: losses.Loss = LOSS,
        proximity: proximities.Proximity = PROXIMITY,
        step_size: Any = 0.1,
        dual_step_size: Any = None,
        regularization: float = 1e-5,
        dual_regularization: float = 1e-5,
        tightening: float = 0.0,
        coupling: str = "exact",
        step: str = "normalized",
        norm_bound: float | None = None,
    ) -> None:
        super().__init__(locals(), features)
