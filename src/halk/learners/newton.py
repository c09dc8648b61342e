"""Second-order HALK: every agent a sparse Gaussian process that learns online."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from halk import losses
from halk._validation import (
    Indices,
    Matrix,
    Vector,
    choice,
    finite_array,
    integer,
    nonnegative,
    per_item,
    positive,
    require,
)
from halk.agent import NewtonAgent, NewtonSettings
from halk.kernels import (
    Gaussian,
    Kernel,
    Labelled,
    Laplacian,
    Matern32,
    Matern52,
    as_kernel,
)
from halk.learners.dictionary import KernelLearner
from halk.learners.executor import Executor
from halk.learners.search import AUTO, Search, Unit, is_auto
from halk.learners.settings import LOSS, STANDARDIZE
from halk.losses import as_loss
from halk.network import Network
from halk.simulator import NewtonSimulator

FAMILIES: dict[str, Any] = {
    "gaussian": Gaussian, "laplacian": Laplacian, "matern32": Matern32,
    "matern52": Matern52,
}  # fmt: skip
"""Kernels that need no number but their length scales."""

UNITS = STANDARDIZE | {"common": (False, False)}
"""What agents remove by themselves, by the argument ``standardize``."""

SOUND = (
    losses.Squared, losses.Huber, losses.Absolute, losses.EpsilonInsensitive,
    losses.Quantile, losses.Logistic,
)  # fmt: skip
"""Losses that a parabola bounds from above."""


class NewtonHALK(KernelLearner):
    """Online Gaussian processes that must stay close to their neighbours.

    The problem of :class:`HALK`, solved by Newton steps with gains that fall as 1/t
    (SPEC section 11): learn every reading once, in any order, and know how sure the
    prediction is. An agent adapts to its reading, then talks: it asks its neighbours
    what they predict there, and how sure they are.

    Parameters
    ----------
    network : Network
        The agents, who talks to whom, and how close neighbours must be: the tolerance
        bounds half the squared difference of predictions, in the target's unit.
    kernel : Kernel, or "gaussian", "laplacian", "matern32", "matern52"
        A kernel as it is, or the family of one with ``length_scale``.
    length_scale : "auto", float or one per feature
        ``"auto"`` finds them with the first readings, 20 per agent (200 for a single
        agent): the best by the likelihood of what is predicted before it is learned.
    noise : "auto", float or one per agent
        Variance of a reading about the field, in units of the prior variance: with
        ``standardize="common"`` a share of the variance of the readings themselves.
    loss : Loss, default ``Squared()``
        Huber, absolute, quantile, epsilon-insensitive and logistic losses are bounded
        by parabolas; for others use :class:`HALK`.
    forgetting : float in (0, 1], default 1
        How much of what was known is kept at each reading; below 1 for fields that
        drift.
    max_atoms : int, default 60
    novelty : float, default 1e-4
        Share of ``k(x, x)`` that the atoms must leave open for a point to become one.
    epsilon : float, default 0
        Budget of compression, spent when atoms were added.
    robust : float or None, default 3
        Standard deviations beyond which a reading, answer or query loses weight; half
        as much again for an agent's first 20 readings. Readings do with the squared
        loss only: others say themselves what a large residual counts.
    regularization : float, default 0
        ``lambda`` of S1 per reading.
    exchange : {"predictions", "readings"}
        What neighbours tell each other. Readings, taken with the tolerance as extra
        noise, need no multipliers, and make intervals right; they suit fields that
        differ smoothly.
    identity : float, default 0
        With ``exchange="readings"``: the kernel falls by ``exp(-identity)`` between
        points of different agents.
    first_multiplier, dual_gain, warm_up, largest_multiplier, tightening : float
        ``mu_0``, ``kappa``, ``t_0``, ``mu_max`` and ``nu`` of the multipliers. They
        start from ``s / (s + 2 tolerance)``, s the variance of the noise, but ``mu_0``
        at most, and from that with ``standardize=True``.
    standardize : {"common", True, "offset", False} or (mean, std)
        Count targets from their mean, in units of their std, and put both back in
        predictions. ``"common"``: one mean and std for all agents, found with the first
        readings. True: those of every agent, measured on its first 50 readings without
        outliers; for fields whose level and range differ from place to place.
        ``"offset"``: every agent's mean. False: targets have a mean of about 0 and a
        std of about 1. Two numbers: the mean and std of all, as past readings have it.
    n_jobs : int, optional
        Threads that share the steps of a large network; one by default.

    Examples
    --------
    >>> import numpy as np
    >>> from halk import Network, NewtonHALK
    >>> model = NewtonHALK(Network.path(3, tolerance=0.01))
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(40, 3, 1))
    >>> model.learn_many(X, np.sin(6 * X[..., 0]))
    >>> mean, std = model.predict(0, [[0.25]], return_std=True)
    >>> np.abs(mean - np.sin(1.5)).max() < 0.01, std.max() < 0.1
    (np.True_, np.True_)
    """

    kernel: Any
    length_scale: Any
    noise: Any
    max_atoms: int
    robust: float | None
    epsilon: float
    exchange: str
    identity: float
    standardize: Any
    n_jobs: int | None

    def __init__(
        self,
        network: Network,
        kernel: Any = "gaussian",
        length_scale: Any = AUTO,
        noise: Any = AUTO,
        loss: losses.Loss = LOSS,
        forgetting: float = 1.0,
        max_atoms: int = 60,
        novelty: float = 1e-4,
        epsilon: float = 0.0,
        robust: float | None = 3.0,
        regularization: float = 0.0,
        exchange: str = "predictions",
        identity: float = 0.0,
        first_multiplier: float = 0.1,
        dual_gain: float = 2.0,
        warm_up: float = 20.0,
        largest_multiplier: float = 10.0,
        tightening: float = 0.0,
        standardize: Any = "common",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(locals())
        self._check_components()
        self._settings = self._make_settings()

    def _check_components(self) -> None:
        loss = as_loss(self.loss)
        if type(loss) not in SOUND:
            names = ", ".join(cls.__name__ for cls in SOUND)
            raise ValueError(
                f"loss must be one that a parabola bounds ({names}), got {loss!r}; "
                f"HALK takes any"
            )
        is_free = self._unit == (0.0, 1.0) and not any(self._removes)
        if loss.takes_labels and not is_free:
            raise ValueError(
                f"standardize must be False for the {type(loss).__name__} loss, whose "
                f"targets are labels, got {self.standardize!r}"
            )
        if not isinstance(self.kernel, str):
            as_kernel(self.kernel)
            is_left_out = is_auto(self.length_scale)
            rule = "be left out where the kernel has its own"
            require(is_left_out, "length_scale", rule, self.length_scale)
        elif choice("kernel", self.kernel, FAMILIES) and not is_auto(self.length_scale):
            self._make_kernel(self.length_scale)
        if not is_auto(self.noise):
            noise = per_item("noise", self.noise, self.network.n_agents, "agent")
            require(bool((noise > 0).all()), "noise", "be positive", self.noise)
        if self.n_jobs is not None:
            integer("n_jobs", self.n_jobs, minimum=1)

    def _make_settings(self) -> NewtonSettings:
        def check(test: Any, *names: str) -> dict[str, Any]:
            return {name: test(name, getattr(self, name)) for name in names}

        numbers = check(positive, "forgetting", "novelty", "warm_up")
        numbers |= check(nonnegative, "regularization", "dual_gain", "tightening")
        numbers |= check(nonnegative, "first_multiplier", "largest_multiplier")
        beta = numbers["forgetting"]
        require(beta <= 1, "forgetting", "be at most 1", beta)
        nonnegative("identity", self.identity)
        choice("exchange", self.exchange, ("predictions", "readings"))
        removes_offset, removes_std = self._removes
        return NewtonSettings(
            **numbers,
            max_atoms=integer("max_atoms", self.max_atoms, minimum=1),
            robust=0.0 if self.robust is None else positive("robust", self.robust),
            budget=nonnegative("epsilon", self.epsilon),
            exchanges_readings=self.exchange == "readings",
            removes_offset=removes_offset,
            removes_std=removes_std,
            unit=self._unit,
        )

    @property
    def _unit(self) -> Any:
        """Mean and std that targets count in, as given; none while they are found."""
        if isinstance(self.standardize, bool | str):
            return 0.0, 1.0
        offset, std = finite_array("standardize", self.standardize, (2,)).tolist()
        return offset, positive("standardize", std)

    @property
    def _removes(self) -> tuple[bool, bool]:
        """Whether agents measure and remove their offset, and std."""
        if not isinstance(self.standardize, bool | str):
            return False, False
        choice("standardize", self.standardize, UNITS)
        return UNITS[self.standardize]

    def _make_kernel(self, length_scale: Any) -> Kernel:
        if not isinstance(self.kernel, str):
            return as_kernel(self.kernel)
        kernel: Kernel = FAMILIES[self.kernel](length_scale)
        return kernel

    def _make_simulator(
        self, n_features: int, length_scale: Any, noise: Any, unit: Unit
    ) -> NewtonSimulator:
        """Return agents that have learned nothing, of certain numbers."""
        kernel = self._make_kernel(length_scale)
        kernel.check_features(n_features)
        if self._settings.exchanges_readings:
            kernel, n_features = Labelled(kernel, self.identity), n_features + 1
        each = per_item("noise", noise, self.network.n_agents, "agent")
        settings = self._settings._replace(unit=unit)
        parts = kernel, as_loss(self.loss), settings, each
        return NewtonSimulator(self.network, *parts, n_features, self.n_jobs or 1)

    def _make_executor(self, n_features: int) -> Executor:
        has_scale = isinstance(self.kernel, str)
        return Search(
            self._make_simulator, n_features, self.network.n_agents,
            self.length_scale if has_scale else None, self.noise,
            AUTO if "standardize" in self._finds else self._unit,
        )  # fmt: skip

    @property
    def _finds(self) -> list[str]:
        """What is found with the first readings."""
        has_unit = self.standardize == "common" and not as_loss(self.loss).takes_labels
        wanted = {
            "length_scale": isinstance(self.kernel, str) and is_auto(self.length_scale),
            "noise": is_auto(self.noise),
            "standardize": has_unit,
        }
        return [name for name, is_wanted in wanted.items() if is_wanted]

    @property
    def _search(self) -> Search:
        if self._executor is None:
            raise ValueError("numbers must be found first: call learn_one or prepare")
        search: Any = self._executor
        return cast(Search, search)

    # learning

    def learn_many(self, X: Any, Y: Any) -> None:
        """Make many steps in one native call.

        The same as ``learn_one`` in a loop, but that length scales and noise are looked
        for once more at the end, while there are few readings.

        Parameters
        ----------
        X : array (n_steps, n_agents, n_features)
        Y : array (n_steps, n_agents)
            NaN where an agent has no reading.
        """
        is_first = self._executor is None
        super().learn_many(X, Y)
        self._search_at_the_end(is_first)

    def learn_readings(self, agents: Any, X: Any, Y: Any) -> None:
        """Learn single readings in the order they came, each in a step of its own.

        Parameters
        ----------
        agents : sequence of int or str, length n
            Whose readings they are, by index or name.
        X : array (n, n_features)
        Y : array (n,)
        """
        is_first = self._executor is None
        super().learn_readings(agents, X, Y)
        self._search_at_the_end(is_first)

    def _search_at_the_end(self, is_first: bool) -> None:
        """Look for numbers once more; many calls of few readings shall stay cheap."""
        if self._executor is not None:
            self._search.search(growth=1.0 if is_first else 1.25)

    def search_again(self) -> None:
        """Look for length scales and noise with the readings so far, if still open."""
        if self._executor is not None:
            self._search.search()

    def set_tolerance(self, tolerance: Any) -> None:
        """Let other tolerances hold from the next step on; what was learned stays.

        Agents that were taken out by :meth:`agent` keep theirs.

        Parameters
        ----------
        tolerance : float or array
            As of :class:`halk.Network`.
        """
        self.network = replace(self.network, tolerance=tolerance)
        if self._executor is not None:
            self._search.set_tolerance(self.network.tolerance)

    # predicting

    def predict(self, agent: int | str, X: Any, return_std: bool = False) -> Any:
        """Return one agent's predictions at many points.

        Parameters
        ----------
        agent : int or str
            Index or name.
        X : array (n, n_features)
        return_std : bool, default False
            Whether to return their standard deviations too, the noise of a reading
            included. Neighbours who tell predictions make them too small: they do not
            say what they know from each other.
        """
        mean = super().predict(agent, X)
        i = self.network.index(agent)
        return (mean, self._stds(np.full(len(mean), i), X)) if return_std else mean

    def predict_readings(self, agents: Any, X: Any, return_std: bool = False) -> Any:
        """Return predictions of many agents, agent ``agents[r]`` at point ``X[r]``.

        Parameters
        ----------
        agents : sequence of int or str, length n
        X : array (n, n_features)
        return_std : bool, default False
            As of :meth:`predict`.
        """
        mean = super().predict_readings(agents, X)
        return (mean, self._stds(self._indices(agents), X)) if return_std else mean

    def _stds(self, agents: Indices, X: Any) -> Vector:
        X = finite_array("X", X, (len(agents), self.n_features))
        if self._executor is None:
            return np.ones(len(agents))
        return self._search.stds(agents, X)

    # looking inside

    def agent(self, agent: int | str, n_features: int | None = None) -> NewtonAgent:
        """Return one agent by itself, untaught, with the settings it has here.

        Agents talk by messages that somebody carries; they follow the trajectory of
        this learner bit for bit. ``n_features`` is needed before the first reading.
        """
        i, n_features = self._agent_of(agent, n_features)
        length_scale, noise, unit = self.length_scale, self.noise, self._unit
        if self._executor is not None:
            length_scale, noise = self.length_scale_, self.noise_
            unit = self._search.unit
        elif self._finds:
            raise ValueError(
                f"{self._finds[0]} must be found first, or given as a number: learn "
                f"readings, then take agents out"
            )
        core = self._make_simulator(n_features, length_scale, noise, unit)
        edges = slice(self.network.indptr[i], self.network.indptr[i + 1])
        return NewtonAgent(
            core.kernel, core.loss, core.settings, float(core.paces[i, 0]),
            self.network.neighbours[edges].tolist(),
            self.network.tolerance[edges].copy(), n_features, i,
        )  # fmt: skip

    @property
    def kernel_(self) -> Any:
        """Kernel in use; the argument itself before the first reading."""
        return self.kernel if self._executor is None else self._search.live.kernel

    @property
    def length_scale_(self) -> Any:
        """Length scales in use: a number, or one per feature; None for own kernels."""
        return self._search.length_scale

    @property
    def noise_(self) -> Any:
        """Noise in use: a number, or one per agent."""
        return self._search.noise

    @property
    def is_settled(self) -> bool:
        """Whether length scales, noise and unit are those that will stay."""
        if self._executor is None:
            return not self._finds
        return self._search.is_over

    @property
    def suspects(self) -> Indices:
        """How many readings of each agent were too far off to be learned whole."""
        if self._executor is None:
            return np.zeros(self.network.n_agents, np.int64)
        return self._search.live.suspects

    @property
    def length_scales(self) -> Matrix | None:
        """Length scale of every agent's kernel; None for kernels without one."""
        scale = None if self._executor is None else self.length_scale_
        if scale is None:
            return None
        shape = (self.network.n_agents, *np.shape(scale))
        return np.broadcast_to(scale, shape).astype(float)
