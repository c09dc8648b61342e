"""POLK: one model in the middle, which everybody sends readings to."""

from __future__ import annotations

from halk import kernels, losses
from halk.agent import Agent
from halk.bandwidth import Adaptation
from halk.learners.dictionary import DictionaryLearner
from halk.learners.executor import Executor
from halk.learners.settings import KERNEL, LOSS
from halk.network import Network
from halk.simulator import Pooled


class POLK(DictionaryLearner):
    """Online kernel learning of one function from everybody's readings, pooled.

    Within a step the readings count one after another, in the order of agents, each
    predicted before it is learned. All agents predict with the same function, so they
    never disagree; each needs the whole of it, so ``model_order`` is its order for
    every agent, and ``n_atoms`` its order once. A reading sent costs ``8 (p + 1)``
    bytes.

    Parameters
    ----------
    step_size, epsilon, parsimony, alpha : float
        One number: there is one model.

    The others as for :class:`HALK`.

    References
    ----------
    A. Koppel, G. Warnell, E. Stump, A. Ribeiro, "Parsimonious online learning with
    kernels via sparse projections in function space", Journal of Machine Learning
    Research, 2019.

    Examples
    --------
    >>> from halk import Network
    >>> model = POLK(Network.path(3))
    >>> model.learn_one([[0.0], [0.0], [2.0]], [1.0, 1.0, -1.0])
    >>> model.model_order, model.n_atoms, model.bytes_sent
    (array([2, 2, 2]), 2, 48)
    """

    def __init__(
        self,
        network: Network,
        kernel: kernels.Kernel = KERNEL,
        loss: losses.Loss = LOSS,
        step_size: float = 0.1,
        regularization: float = 1e-5,
        epsilon: float | None = None,
        parsimony: float | None = None,
        alpha: float | None = None,
        step: str = "normalized",
        norm_bound: float | None = None,
        adaptation: Adaptation | None = None,
        standardize: bool | str = False,
    ) -> None:
        super().__init__(locals(), n_models=1)

    def _make_executor(self, n_features: int) -> Executor:
        self._components.kernel.check_features(n_features)
        return Pooled(
            self.network, self._components, self._settings, self._paces, n_features
        )

    def agent(self, agent: int | str, n_features: int | None = None) -> Agent:
        """Refuse: there is one model, and no agent has one of its own."""
        raise TypeError("POLK must be run as a whole: its agents hold no models")
