"""What all estimators share: from their parameters and tables to a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from halk._online import Model, Settings, component
from halk._validation import Indices, Matrix, choice, integer
from halk.losses import Loss, as_loss
from halk.network import Network


class Online(BaseEstimator):
    """One agent, or with :class:`halk.sklearn.sensors.Sensors` many of them."""

    model_: Model

    # what a network changes

    def _inputs(self, X: Any) -> tuple[Any, Matrix]:
        """Return whose rows they are, and inputs, checked."""
        return None, validate_data(self, X, reset=False, dtype=np.float64)

    def _table(self, X: Any, y: Any, reset: bool) -> tuple[Any, Matrix, Any]:
        """Return whose rows they are, inputs and targets, checked."""
        X, y = validate_data(self, X, y, reset=reset, dtype=np.float64, **self._target)
        return None, X, y

    def _network(self, sensors: Any) -> Network:
        return Network(1)

    def _agents(self, sensors: Any, n_rows: int) -> Indices:
        return np.zeros(n_rows, np.int64)

    def _options(self) -> dict[str, Any]:
        return {"step_size": self.step_size, "regularization": self.regularization}

    # what a task changes

    _target: ClassVar[Mapping[str, Any]]
    """Of ``validate_data``, for targets."""

    def _settings(
        self, network: Network, losses: Mapping[str, Loss], standardizes_target: bool
    ) -> Settings:
        loss = as_loss(component("loss", self.loss, losses))
        takes_labels = next(iter(losses.values())).takes_labels
        if loss.takes_labels != takes_labels:
            kind = "labels" if takes_labels else "numbers"
            raise ValueError(f"loss must be one of {kind}, got {loss!r}")
        return Settings(
            network, self.kernel, self.length_scale, loss, self.epsilon, self.parsimony,
            self.standardize_inputs, standardizes_target, self.warm_up,
            self._options(),
        )  # fmt: skip

    # learning and predicting

    def _begin(self, settings: Settings, n_outputs: int, n_features: int) -> None:
        self.model_ = Model(settings, n_features, n_outputs)

    def _pass_over(self, agents: Indices, X: Matrix, Y: Matrix) -> None:
        """Learn all rows ``n_passes`` times."""
        n_passes = integer("n_passes", self.n_passes, minimum=1)
        shuffles = choice("shuffle", self.shuffle, (False, True))
        random = check_random_state(self.random_state)
        for k in range(n_passes):
            order = random.permutation(len(X)) if shuffles else np.arange(len(X))
            if k == 0:
                self.model_.settle(X[order], Y[order])
            self.model_.learn(agents[order], X[order], Y[order])

    def _outputs(self, X: Any) -> Matrix:
        check_is_fitted(self)
        sensors, X = self._inputs(X)
        return self.model_.predict(self._agents(sensors, len(X)), X)

    @property
    def n_atoms_(self) -> int:
        """Number of points that the model is made of."""
        check_is_fitted(self)
        return sum(learner.n_atoms for learner in self.model_.learners)
