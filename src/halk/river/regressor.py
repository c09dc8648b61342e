"""Online kernel regression, one reading at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from river import base

from halk._online import LOSSES
from halk._validation import real
from halk.river.base import Online
from halk.river.columns import numbers

if TYPE_CHECKING:
    import pandas as pd


class KernelRegressor(Online, base.MiniBatchRegressor):
    """Online kernel regression, with a model that stays small.

    One agent of :class:`halk.HALK`: a gradient step in the space of the kernel a
    reading, followed by compression within a budget.

    Every feature gets a column when it is first learned from. Missing in a reading, it
    counts as its mean (0 if inputs are not standardised); a feature that is new counts
    as missing in all readings before, so functions do not change by its appearing. One
    that appears after the first ``warm_up`` readings is scaled by its own first
    ``warm_up`` values as they come.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian", "matern32", "matern52"} or a halk kernel
        A kernel of :mod:`halk.kernels` keeps its own length scale.
    length_scale : {"median", "scale"} or float
        Of a kernel given by name, for inputs as standardised. ``"median"``: the root
        of half the median squared distance; ``"scale"``: the root of half the number
        of features, times their spread. Both from the first ``warm_up`` readings.
    loss : {"squared", "huber", "absolute", "epsilon_insensitive"} or a halk loss
    step_size, regularization : float
        As of :class:`halk.HALK`.
    epsilon : float
        Compression budget; larger is smaller and faster.
    parsimony : float, optional
        Instead of ``epsilon``: ``epsilon = parsimony * step_size^(3/2)``.
    standardize_inputs, standardize_target : bool
        Remove offset and spread, taken from the first ``warm_up`` readings. Where
        they drift, put a scaler before, or set a smaller number.
    warm_up : int
        Readings to take scales and length scale from. They are kept until then, and
        learned anew at every power of two; predictions are made from the first on.

    Examples
    --------
    >>> from halk.river import KernelRegressor
    >>> from river import datasets, evaluate, metrics
    >>> model = KernelRegressor()
    >>> score = evaluate.progressive_val_score(
    ...     datasets.TrumpApproval(), model, metrics.MAE()
    ... )
    >>> score.get() < 1.0
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        length_scale: Any = "median",
        loss: Any = "squared",
        step_size: float = 0.2,
        regularization: float = 1e-4,
        epsilon: float = 0.05,
        parsimony: float | None = None,
        standardize_inputs: bool = True,
        standardize_target: bool = True,
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
        self.standardize_target = standardize_target
        self.warm_up = warm_up
        self._prepare(LOSSES, standardize_target)

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn one reading."""
        self._learn(*numbers(x), np.array([[real("y", y)]]))

    def predict_one(self, x: dict[Any, Any]) -> float:
        """Return the prediction; 0 before the first reading."""
        return float(self._values(x)[0, 0])

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn the rows of a frame in their order, as ``learn_one`` would."""
        Y = np.array([[real("y", value)] for value in y.tolist()])
        self._learn(*numbers(X), Y.reshape(len(X), 1))

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Return the predictions for the rows of a frame."""
        import pandas as pd  # noqa: PLC0415 (river needs it for frames only)

        return pd.Series(self._values(X)[:, 0], index=X.index)
