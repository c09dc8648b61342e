"""Online kernel regression by one agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from sklearn.base import RegressorMixin

from halk._online import LOSSES
from halk._validation import Vector
from halk.sklearn.base import Online


class KernelRegressor(RegressorMixin, Online):
    """Online kernel regression, with a model that stays small.

    One agent of :class:`halk.HALK`: stochastic gradient steps in the space of the
    kernel, each followed by compression within a budget.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian", "matern32", "matern52"} or Kernel
        A kernel of :mod:`halk.kernels` keeps its own length scale.
    length_scale : {"median", "scale"} or float
        Of a kernel given by name, for inputs as standardised. ``"median"``: the root
        of half the median squared distance; ``"scale"``: as ``gamma="scale"`` of
        scikit-learn. Both from the first ``warm_up`` rows.
    loss : {"squared", "huber", "absolute", "epsilon_insensitive"} or Loss
        Of targets as standardised.
    step_size, regularization : float
        As of :class:`halk.HALK`.
    epsilon : float
        Compression budget: how far, in the norm of the kernel's space and units of
        the standardised target, a step may end from where it would have gone. Larger
        is smaller and faster.
    parsimony : float, optional
        Instead of ``epsilon``: ``epsilon = parsimony * step_size^(3/2)``.
    n_passes : int
        How often ``fit`` goes over the rows. ``partial_fit`` does once.
    shuffle : bool
        Whether ``fit`` draws a new order for every pass.
    random_state : int, RandomState or None
        Of the shuffling; the method itself draws nothing.
    standardize_inputs, standardize_target : bool
        Remove offset and spread, taken from the first ``warm_up`` rows.
    warm_up : int
        Rows to take scales and length scale from. ``partial_fit`` predicts from the
        first row on: while their number is below ``warm_up``, it keeps the rows, and
        learns them anew at every power of two.

    Attributes
    ----------
    model_ : object
        ``model_.learners[0]`` is the :class:`halk.HALK` inside, in standardised units.
    n_atoms_ : int
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    Of ``warm_up`` rows or more, ``fit`` with ``n_passes=1`` and ``shuffle=False`` is
    ``partial_fit`` in any portions, bit for bit. Of fewer, ``fit`` takes the scales
    from all of them at once.

    Examples
    --------
    >>> import numpy as np
    >>> from halk.sklearn import KernelRegressor
    >>> X = np.linspace(0, 1, 300)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> model = KernelRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    >>> model.partial_fit([[0.5]], [0.1]).predict([[0.5]]).shape
    (1,)
    """

    _target: ClassVar[Mapping[str, Any]] = {"y_numeric": True}

    def __init__(
        self,
        kernel: Any = "gaussian",
        length_scale: Any = "median",
        loss: Any = "squared",
        step_size: float = 0.2,
        regularization: float = 1e-4,
        epsilon: float = 0.05,
        parsimony: float | None = None,
        n_passes: int = 5,
        shuffle: bool = True,
        random_state: Any = None,
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
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.standardize_inputs = standardize_inputs
        self.standardize_target = standardize_target
        self.warm_up = warm_up

    def fit(self, X: Any, y: Any) -> Self:
        """Learn a table from nothing, in ``n_passes`` passes.

        Parameters
        ----------
        X : table (n, n_features)
        y : array (n,)
        """
        sensors, X, y = self._table(X, y, reset=True)
        self._start(sensors, X.shape[1])
        self._pass_over(self._agents(sensors, len(X)), X, y[:, None])
        return self

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn rows on top of what is known, once, in their order.

        Parameters
        ----------
        X : table (n, n_features)
        y : array (n,)
        """
        is_first = not hasattr(self, "model_")
        sensors, X, y = self._table(X, y, reset=is_first)
        if is_first:
            self._start(sensors, X.shape[1])
        self.model_.learn(self._agents(sensors, len(X)), X, y[:, None])
        return self

    def _start(self, sensors: Any, n_features: int) -> None:
        network = self._network(sensors)
        settings = self._settings(network, LOSSES, self.standardize_target)
        self._begin(settings, 1, n_features)

    def predict(self, X: Any) -> Vector:
        """Return predictions (n,) for the rows of a table."""
        return self._outputs(X)[:, 0]
