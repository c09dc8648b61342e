"""What all estimators share: from their parameters and tables to learners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from halk._online import learn, make_learner
from halk._validation import Indices, Matrix, choice
from halk.learners import NewtonHALK
from halk.network import Network


class Online(BaseEstimator):
    """One agent, or with :class:`halk.sklearn.sensors.Sensors` many of them."""

    learners_: list[NewtonHALK]

    _target: ClassVar[Mapping[str, Any]]
    """Of ``validate_data``, for targets."""

    # what a network changes

    def _inputs(self, X: Any) -> tuple[Any, Matrix]:
        """Return whose rows they are, and inputs, checked."""
        return None, validate_data(self, X, reset=False, dtype=np.float64)

    def _table(self, X: Any, y: Any, reset: bool) -> tuple[Any, Matrix, Any]:
        """Return whose rows they are, inputs and targets, checked."""
        X, y = validate_data(self, X, y, reset=reset, dtype=np.float64, **self._target)
        return None, X, y

    def _network(self, sensors: Any, y: Any) -> Network:
        return Network(1)

    def _agents(self, sensors: Any, n_rows: int) -> Indices:
        return np.zeros(n_rows, np.int64)

    def _options(self) -> dict[str, Any]:
        return {}

    # learning and predicting

    def _begin(self, network: Network, n_outputs: int, **more: Any) -> None:
        more |= self._options()
        self.learners_ = [make_learner(self, network, **more) for _ in range(n_outputs)]

    def _learn_all(self, agents: Indices, X: Matrix, Y: Matrix) -> None:
        """Learn all rows there are, and look at the end for what suits them best."""
        order = np.arange(len(X))
        if choice("shuffle", self.shuffle, (False, True)):
            order = check_random_state(self.random_state).permutation(len(X))
        learn(self.learners_, agents[order], X[order], Y[order])
        for learner in self.learners_:
            learner.search_again()

    def _rows(self, X: Any) -> tuple[Indices, Matrix]:
        """Return agents and inputs of rows to predict."""
        check_is_fitted(self)
        sensors, X = self._inputs(X)
        return self._agents(sensors, len(X)), X

    @property
    def n_atoms_(self) -> int:
        """Number of points that the model is made of."""
        check_is_fitted(self)
        return sum(learner.n_atoms for learner in self.learners_)
