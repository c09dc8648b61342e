"""NLMS: one straight line per agent, the least that any method must beat."""

from __future__ import annotations

from typing import Any

from halk import proximity as proximities
from halk._validation import Indices, Vector
from halk.features import Identity
from halk.learners.fixed_features import FeatureLearner, IndependentAgents
from halk.learners.settings import LOSS, PROXIMITY
from halk.network import Network

_TINY = 1e-12
"""Keeps a step finite at features of zero, which it does not move along anyway."""


class RelativeAgents(IndependentAgents):
    """Runs agents by themselves with steps ``eta / |phi(x)|^2``, for squared loss."""

    def _step_sizes(self, agents: Indices, curvature: Vector) -> Vector:
        eta: Vector = self.setup.paces[agents, 0] / (_TINY + curvature)
        return eta


class NLMS(FeatureLearner):
    """Normalised least mean squares on the input itself, every agent by itself.

    ``w <- w + step_size (y - w'phi) phi / |phi|^2`` with ``phi = (1, x)``.

    Parameters
    ----------
    network : Network
        Says whose disagreement is measured, and against which tolerance.
    step_size : float or one per agent, default 0.5
        Share of the error at a reading that is taken away; stable below 2.
    intercept : bool, default True
        Whether ``phi`` begins with a one.
    proximity : Proximity, default ``Squared()``
        How disagreement is measured.

    Examples
    --------
    >>> from halk import Network
    >>> model = NLMS(Network(1), step_size=1.0)
    >>> model.learn_one([[1.0]], [3.0])
    >>> model.weights
    array([[1.5, 1.5]])
    """

    executor = RelativeAgents
    loss = LOSS

    def __init__(
        self,
        network: Network,
        step_size: Any = 0.5,
        intercept: bool = True,
        proximity: proximities.Proximity = PROXIMITY,
    ) -> None:
        super().__init__(locals(), Identity(intercept))
