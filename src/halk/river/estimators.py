"""Online kernel regression and classification, one reading at a time."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from river import base, proba

from halk._adapters import Adapter, log_probabilities
from halk._validation import Matrix, Vector, real
from halk.learners import NewtonHALK
from halk.learners.search import AUTO, is_auto
from halk.river.columns import FeatureColumns, read_features

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 20
"""Values that tell the std of a feature which comes after the search."""

WIDE = 1.5
"""Its length scale over that std and the root of the number of features."""


class DictLearner(Adapter):
    """Mixin: learners whose inputs grow with the features seen."""

    kernel: Any
    length_scale: Any

    def _begin(self) -> None:
        """Check the parameters; begin with one learner and no feature."""
        self._columns = FeatureColumns()
        self.learners_ = [self._make_learner()]

    @property
    def _raw_memory_usage(self) -> int:
        """Bytes of the model itself, as it is stored.

        River would count the modules that all models share.
        """
        return len(pickle.dumps(self, protocol=5))

    def _learn(self, names: list[Any], values: Matrix, Y: Matrix) -> None:
        begin = 0
        rows: list[Matrix] = []
        for at, row in enumerate(values):
            waiting = self._columns.observe(names, row)
            if waiting:  # a portion ends before a new column
                self._learn_portion(rows, Y[begin:at])
                rows, begin = [], at
                self._add_features([name for name in waiting if self._is_ready(name)])
            rows.append(self._columns.place(names, row[None]))
        self._learn_portion(rows, Y[begin:])

    def _learn_portion(self, rows: list[Matrix], Y: Matrix) -> None:
        if rows and len(self._columns):
            self._learn_rows(np.concatenate(rows), Y)

    def _is_ready(self, name: Any) -> bool:
        """Return whether a feature can have a column: its length scale can be told."""
        if not isinstance(self.kernel, str) or not is_auto(self.length_scale):
            return True
        if not all(learner.is_settled for learner in self.learners_):
            return True  # the next search will find it
        count, _, std = self._columns.summarize(name)
        return count >= ENOUGH and std > 0.0

    def _add_features(self, names: list[Any]) -> None:
        if not names:
            return
        self._columns.add(names)
        _, means, stds = np.array([self._columns.summarize(name) for name in names]).T
        scales = WIDE * np.sqrt(len(self._columns)) * np.where(stds > 0.0, stds, 1.0)
        self.learners_ = [
            _add_inputs(learner, self._make_learner(), means, scales)
            for learner in self.learners_
        ]

    def _place(self, X: Any) -> Matrix:
        """Return rows to predict."""
        return self._columns.place(*read_features(X))


def _add_inputs(
    learner: NewtonHALK, fresh: NewtonHALK, values: Any, scales: Any
) -> NewtonHALK:
    """Return a learner of more features, which had ``values`` in all readings before.

    Where they have them again it predicts what it did.
    """
    if learner.n_features is None:
        return learner
    state = learner.state_dict()
    for name in ("atoms", "kept_x"):
        if name in state:
            same = np.tile(values, (len(state[name]), 1))
            state[name] = np.hstack([state[name], same])
    if "found_length_scale" in state:
        found = [state["found_length_scale"], scales]
        state["found_length_scale"] = np.concatenate(found)
    n_features = learner.n_features + len(values)
    fresh.load_state_dict(learner.n_steps, n_features, state)
    return fresh


class KernelRegressor(DictLearner, base.MiniBatchRegressor):
    """Online kernel regression, with a model that stays small.

    One agent of :class:`halk.NewtonHALK`: every reading is learned once, and is not
    kept. Length scales, one per feature, noise and the target's unit are found with the
    first 200 readings, so inputs need no scaler.

    Every feature gets a column when it is first learned from. Missing in a reading, it
    counts as its mean so far; a feature that is new counts as having had the same value
    in all readings before, so functions do not change by its appearing. One that
    appears after the first 200 readings is waited for until 20 values tell its std.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian", "matern32", "matern52"} or a halk kernel
        A kernel of :mod:`halk.kernels`, or of your own, keeps its length scale.
    length_scale : "auto" or float
        Of a kernel given by name, for all features.
    noise : "auto" or float
        Variance of a target about the function, as a share of the target's variance.
    loss : {"squared", "huber", "absolute", "epsilon_insensitive"} or a halk loss
        Of targets in units of their standard deviation.
    forgetting : float in (0, 1]
        How much of what was known is kept at each reading; 1 for what never drifts.
    max_atoms : int
        Size of the model; time goes with its square.
    novelty : float
        Share of its variance that an input must have left to join the model.
    robust : float or None
        Standard deviations beyond which a reading loses weight; with the squared loss.

    Attributes
    ----------
    n_atoms_ : int
    length_scale_, noise_
        In use, after the first reading: those found, or given.
    learners_ : list
        ``learners_[0]`` is the :class:`halk.NewtonHALK` inside.

    Examples
    --------
    >>> from halk.river import KernelRegressor
    >>> from river import datasets, evaluate, metrics
    >>> model = KernelRegressor()
    >>> score = evaluate.progressive_val_score(
    ...     datasets.TrumpApproval(), model, metrics.MAE()
    ... )
    >>> score.get() < 0.5
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        length_scale: Any = AUTO,
        noise: Any = AUTO,
        loss: Any = "squared",
        forgetting: float = 0.999,
        max_atoms: int = 120,
        novelty: float = 1e-4,
        robust: float | None = 5.0,
    ) -> None:
        self._store(locals())
        self._begin()

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn one reading."""
        self._learn(*read_features(x), np.array([[real("y", y)]]))

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn the rows of a frame in their order, as ``learn_one`` would."""
        Y = np.array([[real("y", value)] for value in y.tolist()])
        self._learn(*read_features(X), Y.reshape(len(X), 1))

    def predict_one(self, x: dict[Any, Any], with_dist: bool = False) -> Any:
        """Return the prediction; 0 before the first reading.

        As a normal distribution (``river.proba.Gaussian``) if ``with_dist``, the noise
        of a target included.
        """
        mean, std = self._predict(x)
        if not with_dist:
            return float(mean[0])
        # Without a public way to make one, river's own models do this too.
        make: Any = proba.Gaussian._from_state  # noqa: SLF001
        return make(1, float(mean[0]), float(std[0]) ** 2, 0)

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Return the predictions for the rows of a frame."""
        import pandas as pd  # noqa: PLC0415 (river needs it for frames only)

        return pd.Series(self._predict(X)[0], index=X.index)

    def _predict(self, X: Any) -> tuple[Vector, Vector]:
        rows = self._place(X)
        if not len(self._columns):
            return np.zeros(len(rows)), np.ones(len(rows))
        predicted: tuple[Vector, Vector]
        predicted = self.learners_[0].predict(0, rows, return_std=True)
        return predicted


class KernelClassifier(DictLearner, base.MiniBatchClassifier):
    """Online kernel classification, with a model that stays small.

    One function per class, that class against the rest; classes may appear at any time.
    Probabilities are logistic values, divided by their sum.

    Parameters
    ----------
    kernel, length_scale, forgetting, max_atoms, novelty
        As of :class:`KernelRegressor`.
    noise : "auto" or float
        Variance of log odds is 1 / ``noise`` where nothing is known.

    Attributes
    ----------
    classes : list
        Those seen so far.
    n_atoms_, length_scale_, noise_, learners_
        As of :class:`KernelRegressor`; of several classes lists, one entry per class.

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
        self._store(locals())
        self._begin()
        self.learners_.clear()  # until the first class
        self.classes: list[Any] = []

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn one reading; a class that is new is added."""
        self._learn_labels(*read_features(x), [y])

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn the rows of a frame in their order, as ``learn_one`` would."""
        self._learn_labels(*read_features(X), y.tolist())

    def _learn_labels(self, names: list[Any], values: Matrix, y: list[Any]) -> None:
        first = {label: at for at, label in reversed(list(enumerate(y)))}
        new = {at for label, at in first.items() if label not in self.classes}
        # A class begins where it is first seen, so a portion ends before it.
        for begin, end in pairwise(sorted({0, *new, len(y)})):
            if begin in new:
                self.classes.append(y[begin])
                self.learners_.append(self._make_learner())
            is_it = [[label == c for c in self.classes] for label in y[begin:end]]
            self._learn(names, values[begin:end], np.where(is_it, 1.0, -1.0))

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probability of every class seen so far."""
        return dict(zip(self.classes, self._probabilities(x)[0].tolist(), strict=True))

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return probabilities for the rows of a frame, one column per class."""
        import pandas as pd  # noqa: PLC0415 (river needs it for frames only)

        return pd.DataFrame(self._probabilities(X), columns=self.classes, index=X.index)

    def _probabilities(self, X: Any) -> Matrix:
        rows = self._place(X)
        if len(self.classes) < 2:
            return np.ones((len(rows), len(self.classes)))
        return np.exp(log_probabilities(self._predict_rows(rows)))
