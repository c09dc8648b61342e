"""The family of feature maps."""

from typing import Any

import numpy as np

from halk._validation import Matrix, array, without_nan
from halk.component import Component

_LARGEST = 1e50
"""Features beyond this would leave the finite numbers when squared and weighed."""


class FeatureMap(Component):
    """A function ``phi`` from points to vectors: immutable, validated, without state.

    What one point is mapped to does not depend on the others, to the last bit.
    """

    __slots__ = ()

    def matrix(self, X: Any) -> Matrix:
        """Return the features of every point, (n, p) to (n, D)."""
        X = without_nan("X", array("X", X, (None, None)))
        self.check_features(X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._values(X)
        size = np.abs(values).max(initial=0.0)
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
