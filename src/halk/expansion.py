"""Functions in a reproducing kernel Hilbert space: weighted sums of atoms."""

from __future__ import annotations

from typing import Any

import numpy as np

from halk._jit import compiled
from halk._validation import Matrix, Vector, array, require, without_nan
from halk.kernels import Kernel, kernel_value


@compiled
def value_at(kernel: Any, atoms: Matrix, weights: Vector, m: int, x: Vector) -> float:
    """Return ``f(x)``, the sum of ``w_k k(d_k, x)`` over the first ``m`` atoms."""
    total = 0.0
    for k in range(m):
        total += weights[k] * kernel_value(kernel, atoms[k], x)
    return total


@compiled
def values_at(
    kernel: Any, atoms: Matrix, weights: Vector, X: Matrix, out: Vector
) -> None:
    """Fill ``out`` with ``f`` at every row of ``X``."""
    for row in range(len(X)):
        out[row] = value_at(kernel, atoms, weights, len(weights), X[row])


class Expansion:
    """A function ``f = sum_k w_k k(d_k, .)``; a value, never modified.

    Parameters
    ----------
    kernel : Kernel
    atoms : array (m, p)
        The points ``d_k``.
    weights : array (m,)

    Examples
    --------
    >>> from halk.kernels import Gaussian
    >>> f = Expansion(Gaussian(1.0), [[0.0], [2.0]], [1.0, -1.0])
    >>> f([[1.0]])
    array([0.])
    >>> round(f.norm, 4)
    1.3151
    """

    def __init__(self, kernel: Kernel, atoms: Any, weights: Any) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a kernel, got {kernel!r}")
        self.kernel = kernel
        self.atoms = without_nan("atoms", array("atoms", atoms, (None, None))).copy()
        n_atoms, n_features = self.atoms.shape
        self.weights = without_nan(
            "weights", array("weights", weights, (n_atoms,))
        ).copy()
        kernel.check_features(n_features)
        self.atoms.flags.writeable = False
        self.weights.flags.writeable = False

    def __call__(self, X: Any) -> Vector:
        """Return the values at every row of ``X`` (n, p)."""
        X = without_nan("X", array("X", X, (None, self.atoms.shape[1])))
        out = np.empty(len(X))
        # compiled code is specialised for writable arrays only
        values_at(self.kernel, self.atoms.copy(), self.weights.copy(), X, out)
        return out

    def inner(self, other: Expansion) -> float:
        """Return the inner product with a function of the same kernel."""
        require(other.kernel == self.kernel, "kernel", "be the same", other.kernel)
        gram = self.kernel(self.atoms, other.atoms)
        return float(self.weights @ gram @ other.weights)

    @property
    def norm(self) -> float:
        """The RKHS norm; how rough and large the function is."""
        return float(np.sqrt(max(self.inner(self), 0.0)))

    @property
    def order(self) -> int:
        """The number of atoms."""
        return len(self.weights)

    def __len__(self) -> int:
        return self.order

    def __repr__(self) -> str:
        return f"Expansion({self.kernel!r}, {self.order} atoms)"
