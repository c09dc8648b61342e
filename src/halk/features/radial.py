"""Bumps around fixed centres."""

from typing import Any, NamedTuple, Self

import numpy as np

from halk._validation import Matrix, array, integer, require, without_nan
from halk.features.base import FeatureMap
from halk.kernels import Gaussian


class _RadialBasis(NamedTuple):
    centres: tuple[tuple[float, ...], ...]
    bandwidth: Any


class RadialBasis(FeatureMap, _RadialBasis):
    """Gaussian bumps ``exp(-|x - c|^2 / (2 bandwidth^2))`` around centres ``c``.

    Parameters
    ----------
    centres : array (D, p)
    bandwidth : float or one a feature, positive

    Examples
    --------
    >>> RadialBasis([[0.0], [1.0]], bandwidth=1.0).matrix([[0.0]]).round(3)
    array([[1.   , 0.607]])
    """

    __slots__ = ()

    def __new__(cls, centres: Any = ((0.0,),), bandwidth: Any = 1.0) -> Self:
        """Return the validated map."""
        points = without_nan("centres", array("centres", centres, (None, None)))
        require(points.size > 0, "centres", "not be empty", points.shape)
        kernel = Gaussian(bandwidth)
        kernel.check_features(points.shape[1])
        rows = tuple(tuple(row) for row in points.tolist())
        return super().__new__(cls, rows, kernel.bandwidth)

    @classmethod
    def uniform(
        cls, n_centres: int, low: Any, high: Any, bandwidth: Any = 1.0, seed: int = 0
    ) -> Self:
        """Return a map with centres drawn uniformly from a box.

        Parameters
        ----------
        n_centres : int, at least 1
        low, high : float, or one a feature
            The corners of the box.
        bandwidth : float or one a feature, positive
        seed : int

        Examples
        --------
        >>> RadialBasis.uniform(20, low=0.0, high=1.0, bandwidth=0.1).size(1)
        20
        """
        n = integer("n_centres", n_centres, minimum=1)
        low, high = np.broadcast_arrays(np.atleast_1d(low), np.atleast_1d(high))
        low, high = array("low", low, (None,)), array("high", high, (None,))
        require(bool((low < high).all()), "low", "be below high", low.tolist())
        rng = np.random.default_rng(integer("seed", seed))
        return cls(rng.uniform(low, high, size=(n, len(low))), bandwidth)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return a map of one input, and one of three with a bandwidth each."""
        one = cls.uniform(7, 0.0, 1.0, bandwidth=0.2)
        return one, cls.uniform(5, (0.0, 0.0, 0.0), 1.0, (0.3, 0.6, 1.0), seed=1)

    def size(self, n_features: int) -> int:
        """Return the number of centres."""
        return len(self.centres)

    def check_features(self, n_features: int) -> None:
        """Raise ``ValueError`` unless points are as long as the centres."""
        p = len(self.centres[0])
        rule = f"have as many features as the centres ({p})"
        require(n_features == p, "X", rule, n_features)

    def _values(self, X: Matrix) -> Matrix:
        return Gaussian(self.bandwidth)(X, self.centres)
