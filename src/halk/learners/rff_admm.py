"""RFF consensus: random Fourier features, and ADMM with censored messages."""

from __future__ import annotations

from typing import Any

from halk import losses
from halk import proximity as proximities
from halk._validation import nonnegative, positive, require
from halk.features import RandomFourier
from halk.learners.executor import Executor
from halk.learners.parametric import FeatureLearner
from halk.learners.settings import LOSS, PROXIMITY
from halk.network import Network
from halk.parametric import ADMM


class RFFADMM(FeatureLearner):
    """Online kernel learning by random Fourier features and consensus ADMM.

    Agents must agree on their weights. Each keeps what it last told its neighbours, and
    tells them anew only what has changed enough; :class:`halk.parametric.ADMM` has the
    equations. With a threshold of 0 it is DKLA, made online by a linearised step;
    with one above 0, COKE.

    Parameters
    ----------
    n_frequencies, bandwidth, seed, proximity
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
        bandwidth: Any = 1.0,
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
        super().__init__(locals(), RandomFourier(n_frequencies, bandwidth, seed))
        require(positive("decay", decay) <= 1.0, "decay", "be at most 1", decay)
        self._bond = (
            nonnegative("penalty", penalty),
            nonnegative("threshold", threshold),
            float(decay),
        )

    def _make_executor(self, n_features: int) -> Executor:
        return ADMM(self._setup, n_features, *self._bond)
