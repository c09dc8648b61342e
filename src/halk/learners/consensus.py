"""Consensus: neighbours must agree."""

from typing import ClassVar

from halk.learners.halk import HALK


class Consensus(HALK):
    """HALK with every tolerance zero: one function for all, where agents have data.

    Arguments as for :class:`HALK`. The tolerances of the network are not used; the
    violation of an edge is its mean disagreement ``h`` itself.

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
