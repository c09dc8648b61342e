"""RFF diffusion: random Fourier features, and neighbours that average."""

from __future__ import annotations

from typing import Any

import numpy as np

from halk import losses
from halk import proximity as proximities
from halk._core import add_rows
from halk.features import RandomFourier
from halk.learners.fixed_features import (
    FeatureLearner,
    FeatureSetup,
    IndependentAgents,
    RoundTrip,
    Writes,
)
from halk.learners.settings import LOSS, PROXIMITY
from halk.network import Network
from halk.simulator import DOUBLE


class DiffusionAgents(IndependentAgents):
    """Runs agents that learn by themselves, then average with their neighbours.

    ``w_i = psi_i + sum_j a_ij (psi_j - psi_i)`` over the neighbours j with a reading,
    with Metropolis weights ``a_ij = 1 / (1 + max(n_i, n_j))`` of degrees n: the weight
    of the silent ones stays with the agent.
    """

    def __init__(self, setup: FeatureSetup, n_features: int) -> None:
        super().__init__(setup, n_features)
        degrees = setup.network.degree[setup.network.edges]
        self._mixing = 1.0 / (1.0 + degrees.max(axis=1).astype(np.float64))

    def _move(self, seen: RoundTrip) -> Writes:
        psi = self._adapt(seen)
        active, mine, hearing = self._join(seen)
        weight = self._mixing[seen.edges]
        mixed = self.weights[active]
        mixed[mine] = psi
        mixed *= (1.0 - np.bincount(hearing, weight, len(active)))[:, None]
        add_rows(mixed, hearing, weight, psi, seen.reader)
        return [(self.weights, active, mixed)]

    @property
    def bytes_sent(self) -> int:
        """Bytes of all weights sent so far, one vector per neighbour and reading."""
        return DOUBLE * self.size * int(self.state["asked"].sum())


class RFFDiffusion(FeatureLearner):
    """Online kernel learning by random Fourier features and diffusion.

    Adapt, then combine: an agent with a reading moves down its loss to ``psi_i`` and
    sends it to its neighbours; who hears something takes the mean

    ``w_i = sum_j a_ij psi_j``

    with Metropolis weights ``a``, those of silent neighbours added to its own. It seeks
    one function for all agents; tolerances are what violations are measured against.

    Parameters
    ----------
    n_frequencies : int, default 100
        Number of random features.
    length_scale : float or one per feature, default 1
        Of the Gaussian kernel that is approximated.
    seed : int
        Of the frequencies, which all agents share.
    proximity : Proximity, default ``Squared()``
        How disagreement is measured; it takes no part in learning.
    step : {"normalized", "plain"}
        S9 without neighbours, or ``step_size`` itself.

    The others as for :class:`HALK`.

    References
    ----------
    P. Bouboulis, S. Chouvardas, S. Theodoridis, "Online distributed learning over
    networks in RKH spaces using random Fourier features", IEEE Transactions on Signal
    Processing, 2018.

    Examples
    --------
    >>> from halk import Network
    >>> model = RFFDiffusion(Network.path(2), n_frequencies=50)
    >>> model.learn_one([[0.1], [0.2]], [1.0, float("nan")])
    >>> model.bytes_sent
    400
    """

    executor = DiffusionAgents

    def __init__(
        self,
        network: Network,
        n_frequencies: int = 100,
        length_scale: Any = 1.0,
        seed: int = 0,
        loss: losses.Loss = LOSS,
        proximity: proximities.Proximity = PROXIMITY,
        step_size: Any = 0.5,
        regularization: float = 1e-5,
        step: str = "normalized",
    ) -> None:
        super().__init__(locals(), RandomFourier(n_frequencies, length_scale, seed))
