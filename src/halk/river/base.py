"""What both estimators share: a model whose inputs grow with the features seen."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np

from halk._online import Model, Settings, component
from halk._validation import Matrix
from halk.losses import Loss, as_loss
from halk.network import Network
from halk.river.columns import Columns, numbers


class Online:
    """Mixin: one agent that takes dicts."""

    kernel: Any
    length_scale: Any
    loss: Any
    step_size: float
    regularization: float
    epsilon: float
    parsimony: float | None
    standardize_inputs: bool
    warm_up: int

    def _prepare(self, known: Mapping[str, Loss], standardizes_target: bool) -> None:
        """Check the parameters and begin with nothing learned."""
        loss = as_loss(component("loss", self.loss, known))
        takes_labels = next(iter(known.values())).takes_labels
        if loss.takes_labels != takes_labels:
            kind = "labels" if takes_labels else "numbers"
            raise ValueError(f"loss must be one of {kind}, got {loss!r}")
        options = {"step_size": self.step_size, "regularization": self.regularization}
        settings = Settings(
            Network(1), self.kernel, self.length_scale, loss, self.epsilon,
            self.parsimony, self.standardize_inputs, standardizes_target,
            self.warm_up, options,
        )  # fmt: skip
        self._columns = Columns()
        self._model = Model(settings, 0, 0 if takes_labels else 1)

    @property
    def _raw_memory_usage(self) -> int:
        """Bytes of the model itself, as it is stored.

        River would count the modules that all models share.
        """
        return len(pickle.dumps(self, protocol=5))

    @property
    def n_atoms(self) -> int:
        """Number of points that the model is made of."""
        return sum(learner.n_atoms for learner in self._model.learners)

    def _learn(self, names: list[Any], values: Matrix, Y: Matrix) -> None:
        self._columns.add(names)
        if len(self._columns) > len(self._model.inputs.count):
            self._model.add_features(len(self._columns))
        if len(self._columns):
            X = self._columns.placed(names, values)
            self._model.learn(np.zeros(len(X), np.int64), X, Y)

    def _values(self, X: Any) -> Matrix:
        rows = self._columns.placed(*numbers(X))
        return self._model.predict(np.zeros(len(rows), np.int64), rows)
