"""Online kernel classification by one agent, one function a class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from halk._online import LABEL_LOSSES, component
from halk._online.labels import coded, log_shares
from halk._validation import Matrix
from halk.losses import Logistic
from halk.sklearn.base import Online


def _is_logistic(classifier: Any) -> bool:
    return isinstance(component("loss", classifier.loss, LABEL_LOSSES), Logistic)


class KernelClassifier(ClassifierMixin, Online):
    """Online kernel classification, with a model that stays small.

    Two classes are one function, whose sign decides; more are one function each, that
    class against the rest.

    Parameters
    ----------
    loss : {"logistic", "hinge"} or Loss
        Probabilities need the logistic one.
    kernel, length_scale, step_size, regularization, epsilon, parsimony
        As of :class:`KernelRegressor`.
    n_passes, shuffle, random_state, standardize_inputs, warm_up
        As of :class:`KernelRegressor`.

    Attributes
    ----------
    classes_ : array (n_classes,)
    model_, n_atoms_, n_features_in_, feature_names_in_
        As of :class:`KernelRegressor`; ``model_.learners`` has one entry a function.

    Examples
    --------
    >>> import numpy as np
    >>> from halk.sklearn import KernelClassifier
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = np.where((X**2).sum(axis=1) < 1.4, "in", "out")
    >>> model = KernelClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.93)
    True
    >>> model.predict([[0.0, 0.0], [3.0, 0.0]])
    array(['in', 'out'], dtype='<U3')
    """

    _target: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self,
        kernel: Any = "gaussian",
        length_scale: Any = "median",
        loss: Any = "logistic",
        step_size: float = 3.0,
        regularization: float = 1e-4,
        epsilon: float = 0.1,
        parsimony: float | None = None,
        n_passes: int = 5,
        shuffle: bool = True,
        random_state: Any = None,
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
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.standardize_inputs = standardize_inputs
        self.warm_up = warm_up

    def fit(self, X: Any, y: Any) -> Self:
        """Learn a table from nothing, in ``n_passes`` passes.

        Parameters
        ----------
        X : table (n, n_features)
        y : array (n,) of two classes or more
        """
        sensors, X, y = self._table(X, y, reset=True)
        check_classification_targets(y)
        self._start(sensors, X.shape[1], unique_labels(y))
        Y = coded(y, self.classes_)
        self._pass_over(self._agents(sensors, len(X)), X, Y)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn rows on top of what is known, once, in their order.

        Parameters
        ----------
        X : table (n, n_features)
        y : array (n,)
        classes : array (n_classes,)
            All classes that will ever come; needed in the first call.
        """
        is_first = not hasattr(self, "model_")
        if is_first and classes is None:
            raise ValueError("classes must be given in the first call of partial_fit")
        sensors, X, y = self._table(X, y, reset=is_first)
        check_classification_targets(y)
        if is_first:
            self._start(sensors, X.shape[1], unique_labels(classes))
        elif classes is not None and not np.array_equal(
            self.classes_, unique_labels(classes)
        ):
            raise ValueError(
                f"classes must be those of the first call, {self.classes_!r}, "
                f"got {classes!r}"
            )
        Y = coded(y, self.classes_)
        self.model_.learn(self._agents(sensors, len(X)), X, Y)
        return self

    def _start(self, sensors: Any, n_features: int, classes: Any) -> None:
        if len(classes) < 2:
            raise ValueError(
                f"y must hold 2 classes or more, got 1 class: {classes[0]!r}"
            )
        self.classes_ = classes
        n_outputs = 1 if len(classes) == 2 else len(classes)
        settings = self._settings(self._network(sensors), LABEL_LOSSES, False)
        self._begin(settings, n_outputs, n_features)

    def decision_function(self, X: Any) -> Matrix:
        """Return values (n,), above 0 for the second class of two, or (n, n_classes).

        The class with the largest value is predicted.
        """
        values = self._outputs(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Any:
        """Return classes (n,) for the rows of a table."""
        values = self.decision_function(X)
        best = values > 0 if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[best.astype(np.int64)]

    @available_if(_is_logistic)
    def predict_proba(self, X: Any) -> Matrix:
        """Return probabilities (n, n_classes); of more than two classes, normalised."""
        return np.exp(log_shares(self._outputs(X)))

    @available_if(_is_logistic)
    def predict_log_proba(self, X: Any) -> Matrix:
        """Return the logarithms of probabilities (n, n_classes)."""
        return log_shares(self._outputs(X))
