"""Consensus: neighbours must agree."""

from typing import Any, ClassVar

import numpy as np

from halk._validation import Vector
from halk.learners.halk import HALK


class Consensus(HALK):
    """HALK with every tolerance zero: one function for all, where agents have data.

    Arguments as for :class:`HALK`. The tolerances of the network are only what
    violations are measured against, as for every learner.

    Examples
    --------
    >>> from halk import Network
    >>> model = Consensus(Network.path(2, tolerance=10.0))
    >>> for _ in range(2):
    ...     model.learn_one([[0.0], [0.0]], [1.0, -1.0])
    >>> bool((model.multipliers > 0).all())
    True
    """

    _tolerance: ClassVar[float | None] = 0.0

    @property
    def violations(self) -> Vector:
        """Running mean of ``h - tolerance`` per edge; 0 for an edge never asked."""
        if self._executor is None:
            return super().violations
        # the executor, whose tolerances are 0, has the mean of h
        executor: Any = self._executor
        tolerance = np.where(executor.asked, self.network.tolerance, 0.0)
        return super().violations - tolerance
