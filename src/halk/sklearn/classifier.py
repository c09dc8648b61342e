"""Online kernel classification by one agent, one function per class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from halk._online import (
    LOGISTIC,
    encode_labels,
    learn,
    log_probabilities,
    predict,
)
from halk._validation import Matrix
from halk.learners.search import AUTO
from halk.sklearn.base import Online


class KernelClassifier(ClassifierMixin, Online):
    """Online Gaussian process classification, with a model that stays small.

    Two classes are one function, whose sign decides; more are one function each, that
    class against the rest. A function learns by a parabola above the logistic loss.

    Parameters
    ----------
    kernel, length_scale, forgetting, max_atoms, novelty, shuffle, random_state
        As of :class:`KernelRegressor`.
    noise : "auto" or float
        Variance of log odds is 1 / ``noise`` where nothing is known.

    Attributes
    ----------
    classes_ : array (n_classes,)
    learners_, n_atoms_, n_features_in_, feature_names_in_
        As of :class:`KernelRegressor`; ``learners_`` has one entry per function.

    Examples
    --------
    >>> import numpy as np
    >>> from halk.sklearn import KernelClassifier
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = np.where((X**2).sum(axis=1) < 1.4, "in", "out")
    >>> model = KernelClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    >>> model.predict([[0.0, 0.0], [3.0, 0.0]])
    array(['in', 'out'], dtype='<U3')
    """

    _target: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self,
        kernel: Any = "gaussian",
        length_scale: Any = AUTO,
        noise: Any = AUTO,
        forgetting: float = 1.0,
        max_atoms: int = 120,
        novelty: float = 1e-4,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.noise = noise
        self.forgetting = forgetting
        self.max_atoms = max_atoms
        self.novelty = novelty
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn a table from nothing.

        Parameters
        ----------
        X : table (n, n_features)
        y : array (n,) of two classes or more
        """
        sensors, X, y = self._table(X, y, reset=True)
        check_classification_targets(y)
        self._start(sensors, y, unique_labels(y))
        Y = encode_labels(y, self.classes_)
        self._learn_all(self._agents(sensors, len(X)), X, Y)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn rows on top of what is known, in their order.

        Parameters
        ----------
        X : table (n, n_features)
        y : array (n,)
        classes : array (n_classes,)
            All classes that will ever come; needed in the first call.
        """
        is_first = not hasattr(self, "learners_")
        if is_first and classes is None:
            raise ValueError("classes must be given in the first call of partial_fit")
        sensors, X, y = self._table(X, y, reset=is_first)
        check_classification_targets(y)
        if is_first:
            self._start(sensors, y, unique_labels(classes))
        elif classes is not None and not np.array_equal(
            self.classes_, unique_labels(classes)
        ):
            raise ValueError(
                f"classes must be those of the first call, {self.classes_!r}, "
                f"got {classes!r}"
            )
        Y = encode_labels(y, self.classes_)
        learn(self.learners_, self._agents(sensors, len(X)), X, Y)
        return self

    def _start(self, sensors: Any, y: Any, classes: Any) -> None:
        if len(classes) < 2:
            raise ValueError(
                f"y must hold 2 classes or more, got 1 class: {classes[0]!r}"
            )
        self.classes_ = classes
        n_outputs = 1 if len(classes) == 2 else len(classes)
        self._begin(self._network(sensors, y), n_outputs, loss=LOGISTIC)

    def _odds(self, X: Any) -> Matrix:
        agents, X = self._rows(X)
        return predict(self.learners_, agents, X)

    def decision_function(self, X: Any) -> Matrix:
        """Return log odds (n,) of the second class of two, or (n, n_classes).

        The class with the largest is predicted.
        """
        odds = self._odds(X)
        return odds[:, 0] if odds.shape[1] == 1 else odds

    def predict(self, X: Any) -> Any:
        """Return classes (n,) for the rows of a table."""
        odds = self.decision_function(X)
        best = odds > 0 if odds.ndim == 1 else odds.argmax(axis=1)
        return self.classes_[best.astype(np.int64)]

    def predict_proba(self, X: Any) -> Matrix:
        """Return probabilities (n, n_classes); of more than two classes, normalised."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Matrix:
        """Return the logarithms of probabilities (n, n_classes)."""
        return log_probabilities(self._odds(X))
