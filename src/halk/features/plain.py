"""Feature maps without randomness or centres."""

from typing import NamedTuple, Self

import numpy as np

from halk._validation import Matrix, choice, integer, positive
from halk.features.base import FeatureMap


class Identity(FeatureMap, NamedTuple("_Identity", [("intercept", bool)])):
    """The input itself, after a constant one if ``intercept``.

    Examples
    --------
    >>> Identity().matrix([[2.0, 3.0]])
    array([[1., 2., 3.]])
    """

    __slots__ = ()

    def __new__(cls, intercept: bool = True) -> Self:
        """Return the validated map."""
        choice("intercept", intercept, (True, False))
        return super().__new__(cls, intercept)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return the map with and without intercept."""
        return cls(), cls(False)

    def size(self, n_features: int) -> int:
        """Return ``p + 1``, or ``p`` without an intercept."""
        return n_features + self.intercept

    def _values(self, X: Matrix) -> Matrix:
        return np.hstack([np.ones((len(X), 1)), X]) if self.intercept else X.copy()


class Monomials(FeatureMap, NamedTuple("_Monomials", [("degree", int)])):
    """The powers ``1, t, ..., t^degree`` of an input.

    Of several inputs: one, then the powers of the first, of the second, ...; no
    products of different inputs.

    Examples
    --------
    >>> Monomials(3).matrix([[2.0]])
    array([[1., 2., 4., 8.]])
    """

    __slots__ = ()

    def __new__(cls, degree: int = 2) -> Self:
        """Return the validated map."""
        return super().__new__(cls, integer("degree", degree, minimum=1))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Return the quadratic and the cubic map."""
        return cls(2), cls(3)

    def size(self, n_features: int) -> int:
        """Return ``1 + p degree``."""
        return 1 + n_features * self.degree

    def _values(self, X: Matrix) -> Matrix:
        # repeated products: a power differs in the last bit between array lengths
        powers = np.repeat(X[:, :, None], self.degree, axis=2).cumprod(axis=2)
        return np.hstack([np.ones((len(X), 1)), powers.reshape(len(X), -1)])


class Sine(FeatureMap, NamedTuple("_Sine", [("frequency", float)])):
    """An input and its sine, ``t, sin(frequency t)``, of one input after another.

    Examples
    --------
    >>> Sine().matrix([[0.5]]).round(3)
    array([[0.5  , 0.479]])
    """

    __slots__ = ()

    def __new__(cls, frequency: float = 1.0) -> Self:
        """Return the validated map."""
        return super().__new__(cls, positive("frequency", frequency))

    def size(self, n_features: int) -> int:
        """Return ``2 p``."""
        return 2 * n_features

    def _values(self, X: Matrix) -> Matrix:
        both = np.stack([X, np.sin(self.frequency * X)], axis=2)
        return both.reshape(len(X), -1)
