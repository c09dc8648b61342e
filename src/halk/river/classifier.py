"""Online kernel classification, one reading at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from river import base

from halk._online import LOGISTIC, log_probabilities, make_learner, predict
from halk._validation import Matrix
from halk.learners import NewtonHALK
from halk.learners.search import AUTO
from halk.network import Network
from halk.river.base import Online
from halk.river.columns import numbers

if TYPE_CHECKING:
    import pandas as pd


class KernelClassifier(Online, base.MiniBatchClassifier):
    """Online kernel classification, with a model that stays small.

    One function per class, that class against the rest; classes may appear at any time.
    Probabilities are logistic values, divided by their sum.

    Parameters
    ----------
    kernel, length_scale, forgetting, max_atoms, novelty
        As of :class:`KernelRegressor`.
    noise : "auto" or float
        Variance of log odds is 1 / ``noise`` where nothing is known.

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
        length_scale: Any = AUTO,
        noise: Any = AUTO,
        forgetting: float = 0.999,
        max_atoms: int = 120,
        novelty: float = 1e-4,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.noise = noise
        self.forgetting = forgetting
        self.max_atoms = max_atoms
        self.novelty = novelty
        self.classes: list[Any] = []
        self._prepare(0)

    def _make_learner(self) -> NewtonHALK:
        return make_learner(self, Network(1), loss=LOGISTIC)

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
        self._learners.append(self._make_learner())

    def _coded(self, labels: list[Any]) -> Matrix:
        return np.array(
            [[1.0 if label == c else -1.0 for c in self.classes] for label in labels]
        )

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probability of every class seen so far."""
        return dict(zip(self.classes, self._probabilities(x)[0].tolist(), strict=True))

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return probabilities for the rows of a frame, one column per class."""
        import pandas as pd  # noqa: PLC0415 (river needs it for frames only)

        return pd.DataFrame(self._probabilities(X), columns=self.classes, index=X.index)

    def _probabilities(self, X: Any) -> Matrix:
        rows = self._values(X)
        if len(self.classes) < 2:
            return np.ones((len(rows), len(self.classes)))
        agents = np.zeros(len(rows), np.int64)
        return np.exp(log_probabilities(predict(self._learners, agents, rows)))
