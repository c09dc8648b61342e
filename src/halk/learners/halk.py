"""HALK: heterogeneous adaptive learning with kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from halk import kernels, losses
from halk import proximity as proximities
from halk._validation import choice
from halk.bandwidth import Adaptation, Fixed
from halk.learners.base import Learner
from halk.learners.settings import STANDARDIZE, paces, settings
from halk.network import Network
from halk.step import Rules

_KERNEL, _LOSS = kernels.Gaussian(1.0), losses.Squared()
_PROXIMITY = proximities.Squared()


class HALK(Learner):
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
    step_size : float or one an agent, default 0.1
        ``eta``.
    dual_step_size : float or one an agent, optional
        Step size of the multipliers; the same as ``step_size`` by default.
    regularization, dual_regularization : float, default 1e-5
        ``lambda`` and ``delta``.
    tightening : float, default 0
        ``nu``: how much closer than the tolerance neighbours are asked to be.
    epsilon, parsimony, alpha : float or one an agent, optional
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
    bandwidth : Adaptation, optional
        ``bandwidth.LeaveOneOut()`` (S10) or ``bandwidth.LossFollowing()``.
    standardize : {False, "offset", True}
        Remove the running mean of each agent's targets, or mean and spread, and put
        them back in predictions. With True, tolerances count in squares of the agent's
        own spread: meant for sensors of similar range. Multipliers rest for an agent's
        first ten readings.

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
        kernel: kernels.Kernel = _KERNEL,
        loss: losses.Loss = _LOSS,
        proximity: proximities.Proximity = _PROXIMITY,
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
        bandwidth: Adaptation | None = None,
        standardize: bool | str = False,
    ) -> None:
        choice("coupling", coupling, ("exact", "paper"))
        choice("step", step, ("normalized", "plain"))
        choice("standardize", standardize, STANDARDIZE)
        rules = _rules(kernel, loss, proximity, bandwidth, standardize)
        n_agents = getattr(network, "n_agents", 1)
        numbers = paces(n_agents, step_size, dual_step_size, epsilon, parsimony, alpha)
        shared = settings(
            numbers, regularization, dual_regularization, tightening, norm_bound,
            coupling, step, standardize,
        )  # fmt: skip
        super().__init__(network, rules, shared, numbers)
        self.kernel = kernel
        self.loss = loss
        self.proximity = proximity
        self.step_size = _own(step_size)
        self.dual_step_size = _own(dual_step_size)
        self.regularization = regularization
        self.dual_regularization = dual_regularization
        self.tightening = tightening
        self.epsilon = _own(epsilon)
        self.parsimony = _own(parsimony)
        self.alpha = _own(alpha)
        self.coupling = coupling
        self.step = step
        self.norm_bound = norm_bound
        self.bandwidth = bandwidth
        self.standardize = standardize

    def __repr__(self) -> str:
        return (
            f"HALK({self.network!r}, kernel={self.kernel!r}, "
            f"coupling={self.coupling!r}, n_steps={self.n_steps})"
        )


def _own(value: Any) -> Any:
    """Return a copy of an array: changed later, it would not be what was used."""
    return value.copy() if isinstance(value, np.ndarray) else value


def _rules(
    kernel: Any, loss: Any, proximity: Any, bandwidth: Any, standardize: bool | str
) -> Rules:
    """Return the components after checking that they are ones, and fit together."""
    bandwidth = Fixed() if bandwidth is None else bandwidth
    parts = (
        ("kernel", kernel, kernels.Kernel, "kernels.Gaussian(1.0)"),
        ("loss", loss, losses.Loss, "losses.Squared()"),
        ("proximity", proximity, proximities.Proximity, "proximity.Squared()"),
        ("bandwidth", bandwidth, Adaptation, "bandwidth.LeaveOneOut()"),
    )
    for name, value, family, example in parts:
        if not isinstance(value, family):
            kind = family.__name__.lower()
            article = "an" if kind[0] in "aeiou" else "a"
            raise TypeError(
                f"{name} must be {article} {kind} such as {example}, got {value!r}"
            )
    if not isinstance(bandwidth, Fixed) and not hasattr(kernel, "bandwidth"):
        raise ValueError(
            f"bandwidth adaptation needs a kernel with a bandwidth, such as "
            f"Gaussian(1.0); {kernel!r} has none"
        )
    if standardize and loss.takes_labels:
        raise ValueError(
            f"standardize must be False for the {type(loss).__name__} loss, whose "
            f"targets are labels, got {standardize!r}"
        )
    return Rules(kernel, loss, proximity, bandwidth, None)
