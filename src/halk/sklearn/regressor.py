"""Online kernel regression by one agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from sklearn.base import RegressorMixin

from halk._online import learn, loss_of_numbers
from halk.learners.search import AUTO
from halk.sklearn.base import Online


class KernelRegressor(RegressorMixin, Online):
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
    learners_ : list
        ``learners_[0]`` is the :class:`halk.NewtonHALK` inside; its ``length_scale_``
        and ``noise_`` are those found.
    n_atoms_ : int
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
        self.kernel = kernel
        self.length_scale = length_scale
        self.noise = noise
        self.loss = loss
        self.forgetting = forgetting
        self.max_atoms = max_atoms
        self.novelty = novelty
        self.robust = robust
        self.standardize = standardize
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn a table from nothing.

        Parameters
        ----------
        X : table (n, n_features)
        y : array (n,)
        """
        sensors, X, y = self._table(X, y, reset=True)
        self._start(sensors, y)
        self._learn_all(self._agents(sensors, len(X)), X, y[:, None])
        return self

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn rows on top of what is known, in their order.

        Parameters
        ----------
        X : table (n, n_features)
        y : array (n,)
        """
        is_first = not hasattr(self, "learners_")
        sensors, X, y = self._table(X, y, reset=is_first)
        if is_first:
            self._start(sensors, y)
        learn(self.learners_, self._agents(sensors, len(X)), X, y[:, None])
        return self

    def _start(self, sensors: Any, y: Any) -> None:
        self._begin(
            self._network(sensors, y), 1, loss=loss_of_numbers(self.loss),
            robust=self.robust, standardize=self.standardize,
        )  # fmt: skip

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return predictions (n,) for the rows of a table.

        Parameters
        ----------
        X : table (n, n_features)
        return_std : bool
            Whether to return standard deviations (n,) too, the noise of a target
            included.
        """
        agents, X = self._rows(X)
        return self.learners_[0].predict_readings(agents, X, return_std)
