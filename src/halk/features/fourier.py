"""Random Fourier features."""

from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np

from halk._validation import Matrix, Vector, integer
from halk.features.base import FeatureMap
from halk.kernels import Gaussian


class _RandomFourier(NamedTuple):
    n_frequencies: int
    bandwidth: Any
    seed: int


class RandomFourier(FeatureMap, _RandomFourier):
    """Cosines of random frequencies, ``sqrt(2 / D) cos(w'x + b)``.

    With ``w`` normal of deviation ``1 / bandwidth`` and ``b`` uniform, inner products
    approach ``Gaussian(bandwidth)`` like ``1 / sqrt(D)``. Frequencies depend on the
    seed and on the length of the input, on nothing else.

    Parameters
    ----------
    n_frequencies : int, at least 1
        ``D``.
    bandwidth : float or one a feature, positive
    seed : int

    References
    ----------
    A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NIPS, 2007.

    Examples
    --------
    >>> phi = RandomFourier(2000, bandwidth=1.0).matrix([[0.0], [1.0]])
    >>> (phi @ phi.T).round(1)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    __slots__ = ()

    def __new__(
        cls, n_frequencies: int = 100, bandwidth: Any = 1.0, seed: int = 0
    ) -> Self:
        """Return the validated map."""
        n = integer("n_frequencies", n_frequencies, minimum=1)
        width = Gaussian(bandwidth).bandwidth
        return super().__new__(cls, n, width, integer("seed", seed))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return a map for any input, and one with a bandwidth a feature."""
        return cls(30, 0.3), cls(20, (0.5, 2.0, 1.0), seed=1)

    def size(self, n_features: int) -> int:
        """Return the number of frequencies."""
        return self.n_frequencies

    def check_features(self, n_features: int) -> None:
        """Raise ``ValueError`` unless there is a bandwidth for every feature."""
        Gaussian(self.bandwidth).check_features(n_features)

    def _values(self, X: Matrix) -> Matrix:
        n, p = X.shape
        frequencies, phases = _drawn(self.n_frequencies, self.seed, p)
        angle = np.tile(phases, (n, 1))
        widths = np.broadcast_to(self.bandwidth, (p,))
        # a matrix product would differ in the last bit between numbers of points
        for k in range(p):
            angle += X[:, k, None] / widths[k] * frequencies[k]
        return float(np.sqrt(2.0 / self.n_frequencies)) * np.cos(angle)


@lru_cache(maxsize=64)
def _drawn(n_frequencies: int, seed: int, n_features: int) -> tuple[Matrix, Vector]:
    """Return standard normal frequencies (p, D) and phases (D,)."""
    rng = np.random.default_rng(seed)
    frequencies = rng.standard_normal((n_features, n_frequencies))
    return frequencies, rng.uniform(0.0, 2.0 * np.pi, n_frequencies)
