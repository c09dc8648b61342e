"""Learners whose agents hold weights on fixed features."""

from __future__ import annotations

from typing import Any

import numpy as np

from halk import losses
from halk import proximity as proximities
from halk._validation import Matrix, choice
from halk.features import FeatureMap
from halk.learners.base import Learner
from halk.learners.settings import paces, require_component, settings
from halk.parametric import Setup


class FeatureLearner(Learner):
    """A learner with fixed features; what it leaves out has the values below.

    ``model_order`` is the number of features, D for every agent.
    """

    proximity: proximities.Proximity
    step_size: Any
    dual_step_size: Any = None
    regularization: float = 0.0
    dual_regularization: float = 0.0
    tightening: float = 0.0
    coupling: str = "paper"
    step: str = "normalized"
    norm_bound: float | None = None

    def __init__(self, arguments: dict[str, Any], features: FeatureMap) -> None:
        super().__init__(arguments)
        choice("coupling", self.coupling, ("exact", "paper"))
        choice("step", self.step, ("normalized", "plain"))
        example = "features.Monomials(2)"
        require_component("features", features, FeatureMap, example)
        require_component("loss", self.loss, losses.Loss, "losses.Squared()")
        family, example = proximities.Proximity, "proximity.Squared()"
        require_component("proximity", self.proximity, family, example)
        numbers = paces(
            self.network.n_agents, self.step_size, self.dual_step_size, 0.0, None, None
        )
        shared = settings(
            numbers, self.regularization, self.dual_regularization, self.tightening,
            self.norm_bound, self.coupling, self.step, standardize=False,
        )  # fmt: skip
        self._setup = Setup(
            self.network, features, self.loss, self.proximity, shared, numbers
        )

    @property
    def feature_map(self) -> FeatureMap:
        """The map from inputs to features that all agents share."""
        return self._setup.features

    @property
    def weights(self) -> Matrix:
        """A copy of the weights of every agent, (n_agents, D)."""
        if self._executor is None:
            raise ValueError("weights must be learned first: call learn_one")
        weights: Matrix = self._executor.state.weights.copy()
        return weights

    @property
    def bandwidths(self) -> Matrix | None:
        """Bandwidth of the features, for every agent; None where they have none.

        (n_agents,), or (n_agents, n_features) for one a feature.
        """
        bandwidth = getattr(self.feature_map, "bandwidth", None)
        if bandwidth is None:
            return None
        V = self.network.n_agents
        return np.tile(np.asarray(bandwidth, float), (V,) + (1,) * np.ndim(bandwidth))
