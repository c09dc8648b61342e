"""Feature maps: a fixed number of functions of the input, for linear models on them.

To add one: a frozen dataclass with ``size`` and ``_values``, and its name below.
"""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar, Self

import numpy as np

from halk._validation import (
    Matrix,
    Vector,
    array,
    choice,
    finite_array,
    integer,
    per_item,
    positive,
    require,
)
from halk.component import Component
from halk.kernels import Gaussian, Lengths, as_lengths

__all__ = [
    "FeatureMap",
    "Identity",
    "Monomials",
    "RadialBasis",
    "RandomFourier",
    "Sine",
]

_LARGEST = 1e50
"""Features beyond this would leave the finite numbers when squared and weighed."""


class FeatureMap(Component):
    """A function ``phi`` from points to vectors: immutable, validated, without state.

    What one point is mapped to does not depend on the others, bit for bit.
    """

    def matrix(self, X: Any) -> Matrix:
        """Return the features of every point, (n, p) to (n, D)."""
        X = finite_array("X", X, (None, None))
        self.check_features(X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._values(X)
        size = max(values.max(initial=0.0), -values.min(initial=0.0))
        if not size <= _LARGEST:
            raise ValueError(
                f"X must have features below {_LARGEST:g} in size, got {size:g}; "
                f"rescale it"
            )
        return values

    def size(self, n_features: int) -> int:
        """Return D, the number of features made of an input of this length."""
        raise NotImplementedError

    def check_features(self, n_features: int) -> None:
        """Raise ``ValueError`` if the map cannot take points of this length."""

    def _values(self, X: Matrix) -> Matrix:
        raise NotImplementedError


@dataclass(frozen=True)
class Identity(FeatureMap):
    """The input itself, after a constant one if ``intercept``.

    Examples
    --------
    >>> Identity().matrix([[2.0, 3.0]])
    array([[1., 2., 3.]])
    """

    intercept: bool = True

    _checks: ClassVar = {"intercept": partial(choice, options=(True, False))}
    _examples = (), (False,)

    def size(self, n_features: int) -> int:
        """Return ``p + 1``, or ``p`` without an intercept."""
        return n_features + self.intercept

    def _values(self, X: Matrix) -> Matrix:
        return np.hstack([np.ones((len(X), 1)), X]) if self.intercept else X.copy()


@dataclass(frozen=True)
class Monomials(FeatureMap):
    """The powers ``1, t, ..., t^degree`` of an input.

    Of several inputs: one, then the powers of the first, of the second, ...; no
    products of different inputs.

    Examples
    --------
    >>> Monomials(3).matrix([[2.0]])
    array([[1., 2., 4., 8.]])
    """

    degree: int = 2

    _checks: ClassVar = {"degree": partial(integer, minimum=1)}
    _examples = (2,), (3,)

    def size(self, n_features: int) -> int:
        """Return ``1 + p degree``."""
        return 1 + n_features * self.degree

    def _values(self, X: Matrix) -> Matrix:
        # repeated products: bit for bit the same for arrays of any length
        powers = np.repeat(X[:, :, None], self.degree, axis=2).cumprod(axis=2)
        return np.hstack([np.ones((len(X), 1)), powers.reshape(len(X), -1)])


@dataclass(frozen=True)
class Sine(FeatureMap):
    """An input and its sine, ``t, sin(frequency t)``, of one input after another.

    Examples
    --------
    >>> Sine().matrix([[0.5]]).round(3)
    array([[0.5  , 0.479]])
    """

    frequency: float = 1.0

    _checks: ClassVar = {"frequency": positive}

    def size(self, n_features: int) -> int:
        """Return ``2 p``."""
        return 2 * n_features

    def _values(self, X: Matrix) -> Matrix:
        both = np.stack([X, np.sin(self.frequency * X)], axis=2)
        return both.reshape(len(X), -1)


@dataclass(frozen=True)
class RandomFourier(FeatureMap):
    """Cosines of random frequencies, ``sqrt(2 / D) cos(w'x + b)``.

    With ``w`` normal of standard deviation ``1 / length_scale`` and ``b`` uniform,
    inner products approach ``Gaussian(length_scale)`` like ``1 / sqrt(D)``. Frequencies
    depend on the seed and on the length of the input, on nothing else.

    Parameters
    ----------
    n_frequencies : int, at least 1
        ``D``.
    length_scale : float or one per feature, positive
    seed : int

    References
    ----------
    A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NIPS, 2007.

    Examples
    --------
    >>> phi = RandomFourier(2000, length_scale=1.0).matrix([[0.0], [1.0]])
    >>> (phi @ phi.T).round(1)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    n_frequencies: int = 100
    length_scale: Lengths = 1.0
    seed: int = 0

    _checks: ClassVar = {
        "n_frequencies": partial(integer, minimum=1), "length_scale": as_lengths,
        "seed": integer,
    }  # fmt: skip
    _examples = (30, 0.3), (20, (0.5, 2.0, 1.0), 1)

    def size(self, n_features: int) -> int:
        """Return the number of frequencies."""
        return self.n_frequencies

    def check_features(self, n_features: int) -> None:
        """Raise ``ValueError`` unless there is a length scale for every feature."""
        per_item("length_scale", self.length_scale, n_features, "feature")

    def _values(self, X: Matrix) -> Matrix:
        n, p = X.shape
        frequencies, phases = _draw(self.n_frequencies, self.seed, p)
        angle = np.tile(phases, (n, 1))
        lengths = np.broadcast_to(self.length_scale, (p,))
        # feature by feature: bit for bit the same for any number of points
        for k in range(p):
            angle += X[:, k, None] / lengths[k] * frequencies[k]
        return float(np.sqrt(2.0 / self.n_frequencies)) * np.cos(angle)


@lru_cache(maxsize=64)
def _draw(n_frequencies: int, seed: int, n_features: int) -> tuple[Matrix, Vector]:
    """Return standard normal frequencies (p, D) and phases (D,)."""
    rng = np.random.default_rng(seed)
    frequencies = rng.standard_normal((n_features, n_frequencies))
    return frequencies, rng.uniform(0.0, 2.0 * np.pi, n_frequencies)


def _rows(name: str, value: Any) -> tuple[tuple[float, ...], ...]:
    points = finite_array(name, value, (None, None))
    require(points.size > 0, name, "not be empty", points.shape)
    return tuple(map(tuple, points.tolist()))


@dataclass(frozen=True)
class RadialBasis(FeatureMap):
    """Gaussian bumps ``exp(-|x - c|^2 / (2 length_scale^2))`` around centres ``c``.

    Parameters
    ----------
    centres : array (D, p)
    length_scale : float or one per feature, positive

    Examples
    --------
    >>> RadialBasis([[0.0], [1.0]], length_scale=1.0).matrix([[0.0]]).round(3)
    array([[1.   , 0.607]])
    """

    centres: tuple[tuple[float, ...], ...] = ((0.0,),)
    length_scale: Lengths = 1.0

    _checks: ClassVar = {"centres": _rows, "length_scale": as_lengths}
    _examples: ClassVar[tuple[Any, ...]] = (
        (((0.1,), (0.5,), (0.9,)), 0.2),
        (((0.0, 0.5, 1.0), (1.0, 0.2, 0.3)), (0.3, 0.6, 1.0)),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        per_item("length_scale", self.length_scale, len(self.centres[0]), "feature")

    @classmethod
    def uniform(
        cls, n_centres: int, low: Any, high: Any, length_scale: Any = 1.0, seed: int = 0
    ) -> Self:
        """Return a map with centres drawn uniformly from a box.

        Parameters
        ----------
        n_centres : int, at least 1
        low, high : float, or one per feature
            The corners of the box.
        length_scale : float or one per feature, positive
        seed : int

        Examples
        --------
        >>> RadialBasis.uniform(20, low=0.0, high=1.0, length_scale=0.1).size(1)
        20
        """
        n = integer("n_centres", n_centres, minimum=1)
        low, high = np.broadcast_arrays(np.atleast_1d(low), np.atleast_1d(high))
        low, high = array("low", low, (None,)), array("high", high, (None,))
        require(bool((low < high).all()), "low", "be below high", low.tolist())
        rng = np.random.default_rng(integer("seed", seed))
        centres: Any = rng.uniform(low, high, size=(n, len(low)))
        return cls(centres, length_scale)

    def size(self, n_features: int) -> int:
        """Return the number of centres."""
        return len(self.centres)

    def check_features(self, n_features: int) -> None:
        """Raise ``ValueError`` unless points are as long as the centres."""
        p = len(self.centres[0])
        rule = f"have as many features as the centres ({p})"
        require(n_features == p, "X", rule, n_features)

    def _values(self, X: Matrix) -> Matrix:
        return Gaussian(self.length_scale).matrix(X, np.array(self.centres))
