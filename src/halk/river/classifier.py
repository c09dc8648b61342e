"""Online kernel classification, one reading at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from river import base

from halk._online import LABEL_LOSSES
from halk._online.labels import log_shares
from halk._validation import Matrix
from halk.river.base import Online
from halk.river.columns import numbers

if TYPE_CHECKING:
    import pandas as pd


class KernelClassifier(Online, base.MiniBatchClassifier):
    """Online kernel classification, with a model that stays small.

    One function a class, that class against the rest; classes may appear at any time.
    Probabilities are logistic values, divided by their sum.

    Parameters
    ----------
    loss : {"logistic", "hinge"} or a halk loss
        Probabilities need the logistic one; of the hinge they only rank.
    kernel, length_scale, step_size, regularization, epsilon, parsimony
        As of :class:`KernelRegressor`.
    standardize_inputs, warm_up
        As of :class:`KernelRegressor`.

    Examples
    --------
    >>> from halk.river import KernelClassifier
    >>> from river import datasets, evaluate, metrics
    >>> score = evaluate.progressive_val_score(
    ...     datasets.Phishing(), KernelClassifier(), metrics.Accuracy()
    ... )
    >>> score.get() > 0.88
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        length_scale: Any = "median",
        loss: Any = "logistic",
        step_size: float = 3.0,
        regularization: float = 1e-4,
        epsilon: float = 0.1,
        parsimony: float | None = None,
        standardize_inputs: bool = True,
        warm_up: int = 256,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.loss = loss
        self.step_size = step_size
        self.regularization = regularization
        self.epsilon = epsilon
        self.parsimony = parsimony
        self.standardize_inputs = standardize_inputs
        self.warm_up = warm_up
        self.classes: list[Any] = []
        self._prepare(LABEL_LOSSES, standardizes_target=False)

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn one reading; a class that is new is added."""
        self._learn_rows(*numbers(x), [y])

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn the rows of a frame in their order, as ``learn_one`` would."""
        self._learn_rows(*numbers(X), y.tolist())

    def _learn_rows(self, names: list[Any], values: Matrix, labels: list[Any]) -> None:
        begin = 0
        # A class begins where it is first seen, so a portion ends before it.
        for at in range(len(labels) + 1):
            is_end = at == len(labels)
            if is_end or labels[at] not in self.classes:
                if at > begin:
                    Y = self._coded(labels[begin:at])
                    self._learn(names, values[begin:at], Y)
                if not is_end:
                    self._add(labels[at])
                begin = at

    def _add(self, label: Any) -> None:
        self.classes.append(label)
        self._model.add_class()

    def _coded(self, labels: list[Any]) -> Matrix:
        return np.array(
            [[1.0 if label == c else -1.0 for c in self.classes] for label in labels]
        )

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probability of every class seen so far."""
        return dict(zip(self.classes, self._shares(x)[0].tolist(), strict=True))

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return probabilities for the rows of a frame, one column a class."""
        import pandas as pd  # noqa: PLC0415 (river needs it for frames only)

        return pd.DataFrame(self._shares(X), columns=self.classes, index=X.index)

    def _shares(self, X: Any) -> Matrix:
        values = self._values(X)
        if len(self.classes) < 2:
            return np.ones_like(values)
        return np.exp(log_shares(values))
