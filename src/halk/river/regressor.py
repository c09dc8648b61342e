"""Online kernel regression, one reading at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from river import base, proba

from halk._online import loss_of_numbers, make_learner
from halk._validation import Vector, real
from halk.learners import NewtonHALK
from halk.learners.search import AUTO
from halk.network import Network
from halk.river.base import Online
from halk.river.columns import numbers

if TYPE_CHECKING:
    import pandas as pd


class KernelRegressor(Online, base.MiniBatchRegressor):
    """Online kernel regression, with a model that stays small.

    One agent of :class:`halk.NewtonHALK`: every reading is learned once, and is not
    kept. Length scales, one per feature, noise and the target's unit are found with the
    first 200 readings, so inputs need no scaler.

    Every feature gets a column when it is first learned from. Missing in a reading, it
    counts as its mean so far; a feature that is new counts as having had the same value
    in all readings before, so functions do not change by its appearing. One that
    appears after the first 200 readings is waited for until 20 values tell its spread.

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
        self.kernel = kernel
        self.length_scale = length_scale
        self.noise = noise
        self.loss = loss
        self.forgetting = forgetting
        self.max_atoms = max_atoms
        self.novelty = novelty
        self.robust = robust
        self._prepare(1)

    def _make_learner(self) -> NewtonHALK:
        loss = loss_of_numbers(self.loss)
        return make_learner(self, Network(1), loss=loss, robust=self.robust)

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn one reading."""
        self._learn(*numbers(x), np.array([[real("y", y)]]))

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

    def _predict(self, X: Any) -> tuple[Vector, Vector]:
        rows = self._values(X)
        if not len(self._columns):
            return np.zeros(len(rows)), np.ones(len(rows))
        predicted: tuple[Vector, Vector]
        predicted = self._learners[0].predict(0, rows, return_std=True)
        return predicted

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn the rows of a frame in their order, as ``learn_one`` would."""
        Y = np.array([[real("y", value)] for value in y.tolist()])
        self._learn(*numbers(X), Y.reshape(len(X), 1))

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Return the predictions for the rows of a frame."""
        import pandas as pd  # noqa: PLC0415 (river needs it for frames only)

        return pd.Series(self._predict(X)[0], index=X.index)
