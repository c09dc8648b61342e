"""RFF diffusion: random Fourier features, and neighbours that average."""

from __future__ import annotations

from typing import Any

from halk import losses
from halk import proximity as proximities
from halk.features import RandomFourier
from halk.learners.executor import Executor
from halk.learners.parametric import FeatureLearner
from halk.learners.settings import LOSS, PROXIMITY
from halk.network import Network
from halk.parametric import Diffusion


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
    bandwidth : float or one a feature, default 1
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

    def __init__(
        self,
        network: Network,
        n_frequencies: int = 100,
        bandwidth: Any = 1.0,
        seed: int = 0,
        loss: losses.Loss = LOSS,
        proximity: proximities.Proximity = PROXIMITY,
        step_size: Any = 0.5,
        regularization: float = 1e-5,
        step: str = "normalized",
    ) -> None:
        super().__init__(locals(), RandomFourier(n_frequencies, bandwidth, seed))

    def _make_executor(self, n_features: int) -> Executor:
        return Diffusion(self._setup, n_features)
