"""Linear: fixed features, and multipliers between neighbours."""

from __future__ import annotations

from typing import Any

from halk import losses
from halk import proximity as proximities
from halk.features import FeatureMap, Monomials
from halk.learners.executor import Executor
from halk.learners.parametric import FeatureLearner
from halk.learners.settings import LOSS, PROXIMITY
from halk.network import Network
from halk.parametric import PrimalDual

_FEATURES = Monomials(2)


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

    def _make_executor(self, n_features: int) -> Executor:
        return PrimalDual(self._setup, n_features)
