"""Estimators of one agent, and what those of a network share with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from halk._adapters import Adapter, log_probabilities
from halk._validation import Indices, Matrix, choice, require
from halk.learners import NewtonHALK
from halk.learners.search import AUTO
from halk.network import Network


class OnlineEstimator(Adapter, BaseEstimator):
    """``fit`` and ``partial_fit``, by one agent or, with ``SensorColumn``, by many."""

    _target: ClassVar[Mapping[str, Any]] = {}
    """Options of ``validate_data`` for targets."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn a table from nothing.

        Parameters
        ----------
        X : table (n, n_features)
        y : array (n,), of a classifier with two classes or more
        """
        X, Y, agents = self._begin_or_go_on(X, y, is_first=True)
        order = np.arange(len(X))
        if choice("shuffle", self.shuffle, (False, True)):
            order = check_random_state(self.random_state).permutation(len(X))
        self._learn_rows(X[order], Y[order], agents[order])
        for learner in self.learners_:  # in case there were too few rows to settle
            learner.search_again()
        return self

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn rows on top of what is known, in their order.

        Parameters
        ----------
        X : table (n, n_features)
        y : array (n,)
        """
        is_first = not hasattr(self, "learners_")
        self._learn_rows(*self._begin_or_go_on(X, y, is_first))
        return self

    def _begin_or_go_on(
        self, X: Any, y: Any, is_first: bool, classes: Any = None
    ) -> tuple[Matrix, Matrix, Indices]:
        """Return inputs, outputs and agents of rows; make the learners if first."""
        sensors, X, y = self._check_table(X, y, reset=is_first)
        if is_first:
            n_outputs = self._count_outputs(y if classes is None else classes)
            network = self._make_network(sensors, y)
            self.learners_ = [self._make_learner(network) for _ in range(n_outputs)]
        return X, self._encode(y), self._find_agents(sensors, len(X))

    def _check_rows(self, X: Any) -> tuple[Matrix, Indices]:
        """Return inputs and agents of rows to predict."""
        check_is_fitted(self)
        sensors, X = self._check_inputs(X)
        return X, self._find_agents(sensors, len(X))

    def _fitted_learners(self) -> list[NewtonHALK]:
        check_is_fitted(self)
        return self.learners_

    # what a classifier changes

    def _count_outputs(self, y: Any) -> int:
        return 1

    def _encode(self, y: Any) -> Matrix:
        """Return outputs (n, n_outputs)."""
        Y: Matrix = y[:, None]
        return Y

    # what a network changes

    def _check_inputs(self, X: Any) -> tuple[Any, Matrix]:
        """Return whose rows they are, and inputs."""
        return None, validate_data(self, X, reset=False, dtype=np.float64)

    def _check_table(self, X: Any, y: Any, reset: bool) -> tuple[Any, Matrix, Any]:
        """Return whose rows they are, inputs and targets."""
        X, y = validate_data(self, X, y, reset=reset, dtype=np.float64, **self._target)
        return None, X, y

    def _make_network(self, sensors: Any, y: Any) -> Network:
        return Network(1)

    def _find_agents(self, sensors: Any, n_rows: int) -> Indices:
        return np.zeros(n_rows, np.int64)


class KernelRegressor(RegressorMixin, OnlineEstimator):
    """Online Gaussian process regression, with a model that stays small.

    One agent of :class:`halk.NewtonHALK`: every row is learned once. Length scales, one
    per feature, noise and the target's unit are found with the first 200 rows, which
    are kept until then, so inputs need no scaling.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian", "matern32", "matern52"} or Kernel
        A kernel of :mod:`halk.kernels`, or of your own, keeps its length scale.
    length_scale : "auto", float or one per feature
        Of a kernel given by name.
    noise : "auto" or float
        Variance of a target about the function, as a share of the target's variance.
    loss : {"squared", "huber", "absolute", "epsilon_insensitive"} or Loss
        Of targets in units of their standard deviation.
    forgetting : float in (0, 1]
        How much of what was known is kept at each row; below 1 if what is to be learned
        drifts, with ``shuffle=False``.
    max_atoms : int
        Size of the model; time goes with its square.
    novelty : float
        Share of its variance that a row's input must have left to join the model.
    robust : float or None
        Standard deviations beyond which a row loses weight; with the squared loss.
    standardize : {"common", True, "offset", False}
        Whether to count targets from their mean in units of their standard deviation,
        as of :class:`halk.NewtonHALK`.
    shuffle : bool
        Whether ``fit`` learns rows in an order drawn by ``random_state``. Rows that are
        sorted are learned worse: the first ones choose length scales.
    random_state : int, RandomState or None

    Attributes
    ----------
    n_atoms_ : int
    length_scale_, noise_
        In use: those found, or given.
    learners_ : list
        ``learners_[0]`` is the :class:`halk.NewtonHALK` inside.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    ``partial_fit`` looks for length scales whenever the number of rows has doubled, up
    to 200, in whatever portions rows come. ``fit`` without shuffling is the same, but
    for one more look at the end if rows are fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from halk.sklearn import KernelRegressor
    >>> X = np.linspace(0, 1, 300)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> model = KernelRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.999)
    True
    >>> mean, std = model.predict([[0.5], [1.5]], return_std=True)
    >>> bool(std[0] < 0.1 < std[1])
    True
    """

    _target: ClassVar[Mapping[str, Any]] = {"y_numeric": True}

    def __init__(
        self,
        kernel: Any = "gaussian",
        length_scale: Any = AUTO,
        noise: Any = AUTO,
        loss: Any = "squared",
        forgetting: float = 1.0,
        max_atoms: int = 120,
        novelty: float = 1e-4,
        robust: float | None = 3.0,
        standardize: bool | str = "common",
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return predictions (n,) for the rows of a table.

        Parameters
        ----------
        X : table (n, n_features)
        return_std : bool
            Whether to return standard deviations (n,) too, the noise of a target
            included.
        """
        X, agents = self._check_rows(X)
        return self.learners_[0].predict_readings(agents, X, return_std)


class KernelClassifier(ClassifierMixin, OnlineEstimator):
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
    n_atoms_, length_scale_, noise_, learners_, n_features_in_, feature_names_in_
        As of :class:`KernelRegressor`; ``learners_`` has one entry per function, and so
        have ``length_scale_`` and ``noise_`` if these are several.

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
        self._store(locals())

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
        if classes is None:
            if is_first:
                rule = "be given in the first call of partial_fit"
                raise ValueError(f"classes must {rule}")
        elif not is_first:
            is_same = np.array_equal(self.classes_, unique_labels(classes))
            rule = f"be those of the first call, {self.classes_!r}"
            require(is_same, "classes", rule, classes)
        self._learn_rows(*self._begin_or_go_on(X, y, is_first, classes))
        return self

    def _count_outputs(self, y: Any) -> int:
        check_classification_targets(y)
        classes = unique_labels(y)
        if len(classes) < 2:
            raise ValueError(
                f"y must hold 2 classes or more, got 1 class: {classes[0]!r}"
            )
        self.classes_ = classes
        return 1 if len(classes) == 2 else len(classes)

    def _encode(self, y: Any) -> Matrix:
        """Return labels (n, 1) of the second of two classes, or (n, n_classes)."""
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y must hold classes among {list(self.classes_)!r}, "
                f"got {y[unknown][0]!r}"
            )
        kept = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return np.where(y[:, None] == kept, 1.0, -1.0)

    def decision_function(self, X: Any) -> Matrix:
        """Return log odds (n,) of the second class of two, or (n, n_classes).

        The class with the largest is predicted.
        """
        log_odds = self._predict_rows(*self._check_rows(X))
        return log_odds[:, 0] if log_odds.shape[1] == 1 else log_odds

    def predict(self, X: Any) -> Any:
        """Return classes (n,) for the rows of a table."""
        log_odds = self.decision_function(X)
        best = log_odds > 0 if log_odds.ndim == 1 else log_odds.argmax(axis=1)
        return self.classes_[best.astype(np.int64)]

    def predict_proba(self, X: Any) -> Matrix:
        """Return probabilities (n, n_classes); of more than two classes, normalised."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Matrix:
        """Return the logarithms of probabilities (n, n_classes)."""
        return log_probabilities(self._predict_rows(*self._check_rows(X)))
