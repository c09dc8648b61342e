"""HALK: heterogeneous adaptive learning with kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from halk import kernels, losses
from halk import proximity as proximities
from halk.bandwidth import Adaptation
from halk.learners.dictionary import DictionaryLearner
from halk.learners.settings import KERNEL, LOSS, PROXIMITY, budgets
from halk.network import Network


class HALK(DictionaryLearner):
    """Online kernel learning by agents that must stay close to their neighbours.

    Every agent learns a function of its own from its own readings, and is held within
    a tolerance of its neighbours' by multipliers (S1 to S10).

    Parameters
    ----------
    network : Network
        The agents, who talks to whom, and how close neighbours must be.
    kernel : Kernel, default ``Gaussian(1.0)``
    loss : Loss, default ``Squared()``
    proximity : Proximity, default ``Squared()``
        The distance ``h`` of two neighbours' predictions that the tolerance bounds.
    step_size : float or one per agent, default 0.1
        ``eta``.
    dual_step_size : float or one per agent, optional
        Step size of the multipliers; the same as ``step_size`` by default.
    regularization, dual_regularization : float, default 1e-5
        ``lambda`` and ``delta``.
    tightening : float, default 0
        ``nu``: how much closer than the tolerance neighbours are asked to be.
    epsilon, parsimony, alpha : float or one per agent, optional
        The compression budget, in one of three ways: ``epsilon`` itself,
        ``epsilon = parsimony * eta^(3/2)``, or ``epsilon = alpha * eta``. Without any,
        ``epsilon = 0.01``.
    coupling : {"exact", "paper"}
        ``"exact"`` descends the Lagrangian; ``"paper"`` leaves out what an agent owes
        to its neighbours' constraints, as the paper's update does, and does not
        converge to the solution.
    step : {"normalized", "plain"}
        ``"normalized"`` (S9) is stable for any step size; ``"plain"`` is the paper's.
    norm_bound : float, optional
        Largest norm of a function (S8).
    adaptation : Adaptation, optional
        How every agent finds its own length scale:
        ``bandwidth.LeaveOneOut()`` (S10) or ``bandwidth.LossFollowing()``.
    standardize : {False, "offset", True}
        Remove the running mean of each agent's targets, or mean and std, and put them
        back in predictions. With True, tolerances count in squares of the agent's own
        std: meant for sensors of similar range. Multipliers rest for an agent's
        first ten readings.
    n_jobs : int, optional
        Threads that share the steps of a large network, of 2000 readings or more; one
        by default. The numbers learned are the same.

    Examples
    --------
    >>> import numpy as np
    >>> from halk import HALK, Network, kernels
    >>> model = HALK(Network.path(3, tolerance=0.01), kernel=kernels.Gaussian(0.2))
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(500, 3, 1))
    >>> model.learn_many(X, np.sin(6 * X[..., 0]))
    >>> np.abs(model.predict(0, [[0.25]]) - np.sin(1.5)).max() < 0.1
    np.True_
    """

    def __init__(
        self,
        network: Network,
        kernel: kernels.Kernel = KERNEL,
        loss: losses.Loss = LOSS,
        proximity: proximities.Proximity = PROXIMITY,
        step_size: Any = 0.1,
        dual_step_size: Any = None,
        regularization: float = 1e-5,
        dual_regularization: float = 1e-5,
        tightening: float = 0.0,
        epsilon: Any = None,
        parsimony: Any = None,
        alpha: Any = None,
        coupling: str = "exact",
        step: str = "normalized",
        norm_bound: float | None = None,
        adaptation: Adaptation | None = None,
        standardize: bool | str = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(locals())

    def set_tolerance(self, tolerance: Any) -> None:
        """Let other tolerances hold from the next step on; what was learned stays.

        Agents that were taken out by :meth:`agent` keep theirs.
        ``violations`` go on counting: every step with the tolerance that held in it.

        Parameters
        ----------
        tolerance : float or array
            As of :class:`halk.Network`.

        Examples
        --------
        >>> from halk import HALK, Network
        >>> model = HALK(Network.path(3, tolerance=0.01))
        >>> model.set_tolerance(0.5)
        >>> model.network.tolerance
        array([0.5, 0.5, 0.5, 0.5])
        """
        self.network = replace(self.network, tolerance=tolerance)
        if self._executor is not None and self._tolerance is None:
            executor: Any = self._executor
            executor.set_tolerance(self.network.tolerance)

    def set_epsilon(self, epsilon: Any) -> None:
        """Let another budget of compression hold from the next step on.

        Parameters
        ----------
        epsilon : float or array (n_agents,)
        """
        budget = budgets(epsilon, None, None, self._paces[:, 0])
        self.epsilon, self.parsimony, self.alpha = epsilon, None, None
        self._paces[:, 2] = budget
        if self._executor is not None:
            executor: Any = self._executor
            executor.set_budget(budget)
