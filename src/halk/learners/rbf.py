"""RBF network: bumps at fixed places, and multipliers between neighbours."""

from __future__ import annotations

from typing import Any

from halk import losses
from halk import proximity as proximities
from halk.features import RadialBasis
from halk.learners.fixed_features import FeatureLearner
from halk.learners.linear import PrimalDualAgents
from halk.learners.settings import LOSS, PROXIMITY
from halk.network import Network


class RBFNetwork(FeatureLearner):
    """Online learning of a radial basis network, neighbours bound by multipliers.

    :class:`Linear` on ``features.RadialBasis``: what HALK would be if its atoms were
    chosen before anything is known.

    Parameters
    ----------
    centres : array (D, p), optional
        Where the bumps are. By default drawn uniformly from a box.
    length_scale : float or one per feature, default 1
    n_centres, low, high, seed : int, floats, int
        Number of centres to draw, corners of the box (a number, or one per feature),
        and the seed.

    The others as for :class:`HALK`.

    Examples
    --------
    >>> from halk import Network
    >>> model = RBFNetwork(Network.path(3), length_scale=0.1, n_centres=20)
    >>> model.learn_one([[0.1], [0.2], [0.3]], [1.0, 2.0, 3.0])
    >>> model.model_order
    array([20, 20, 20])
    """

    executor = PrimalDualAgents

    def __init__(
        self,
        network: Network,
        centres: Any = None,
        length_scale: Any = 1.0,
        loss: losses.Loss = LOSS,
        proximity: proximities.Proximity = PROXIMITY,
        n_centres: int = 30,
        low: Any = 0.0,
        high: Any = 1.0,
        seed: int = 0,
        step_size: Any = 0.1,
        dual_step_size: Any = None,
        regularization: float = 1e-5,
        dual_regularization: float = 1e-5,
        tightening: float = 0.0,
        coupling: str = "exact",
        step: str = "normalized",
        norm_bound: float | None = None,
    ) -> None:
        arguments = locals()
        if centres is None:
            features = RadialBasis.uniform(n_centres, low, high, length_scale, seed)
        else:
            features = RadialBasis(centres, length_scale)
        super().__init__(arguments, features)
