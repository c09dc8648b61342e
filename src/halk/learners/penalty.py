"""Penalty: a fixed multiplier on every edge."""

from __future__ import annotations

from typing import Any

from halk import kernels, losses
from halk import proximity as proximities
from halk._validation import nonnegative
from halk.bandwidth import Adaptation
from halk.learners.dictionary import DictionaryLearner
from halk.learners.settings import KERNEL, LOSS, PROXIMITY
from halk.network import Network


class Penalty(DictionaryLearner):
    """Online kernel learning with a penalty ``c h(f_i(x_i), f_j(x_i))`` on every edge.

    HALK with all multipliers frozen at ``c``: neighbours are drawn together however
    close they are. Tolerances are what violations are measured against, no more. With
    the default proximity the penalty is ``(c / 2) (f_i(x_i) - f_j(x_i))^2``.

    Parameters
    ----------
    penalty : float, default 0.08
        ``c``; with 0 agents learn alone, as :class:`Alone`.
    coupling : {"paper", "exact"}
        ``"paper"``, the default, moves an agent by its own penalties only, as the
        method was published; ``"exact"`` by its neighbours' too.

    The others as for :class:`HALK`.

    References
    ----------
    A. Koppel, S. Paternain, C. Richard, A. Ribeiro, "Decentralized online learning with
    kernels", IEEE Transactions on Signal Processing, 2018.

    Examples
    --------
    >>> from halk import Network
    >>> Penalty(Network.path(3)).multipliers
    array([0.08, 0.08, 0.08, 0.08])
    """

    def __init__(
        self,
        network: Network,
        kernel: kernels.Kernel = KERNEL,
        loss: losses.Loss = LOSS,
        proximity: proximities.Proximity = PROXIMITY,
        penalty: float = 0.08,
        step_size: Any = 0.1,
        regularization: float = 1e-5,
        epsilon: Any = None,
        parsimony: Any = None,
        alpha: Any = None,
        coupling: str = "paper",
        step: str = "normalized",
        norm_bound: float | None = None,
        adaptation: Adaptation | None = None,
        standardize: bool | str = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(locals(), fixed_multiplier=nonnegative("penalty", penalty))
