"""Alone: every agent by itself."""

from __future__ import annotations

from typing import Any

from halk import kernels, losses
from halk import proximity as proximities
from halk.bandwidth import Adaptation
from halk.learners.dictionary import DictionaryLearner
from halk.learners.settings import KERNEL, LOSS, PROXIMITY
from halk.network import Network


class Alone(DictionaryLearner):
    """Online kernel learning by agents that do not talk.

    Every function is, bit for bit, that of HALK on a network without edges. The
    network says whose disagreement is measured, and against which tolerance.

    Parameters
    ----------
    network, kernel, loss, proximity, step_size, ...
        As for :class:`HALK`.

    Examples
    --------
    >>> from halk import Network
    >>> model = Alone(Network.path(2, tolerance=0.1))
    >>> model.learn_one([[0.0], [0.0]], [1.0, -1.0])
    >>> model.bytes_sent
    0
    """

    def __init__(
        self,
        network: Network,
        kernel: kernels.Kernel = KERNEL,
        loss: losses.Loss = LOSS,
        proximity: proximities.Proximity = PROXIMITY,
        step_size: Any = 0.1,
        regularization: float = 1e-5,
        epsilon: Any = None,
        parsimony: Any = None,
        alpha: Any = None,
        step: str = "normalized",
        norm_bound: float | None = None,
        adaptation: Adaptation | None = None,
        standardize: bool | str = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(locals(), fixed_multiplier=0.0)
