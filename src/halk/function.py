"""Functions in a reproducing kernel Hilbert space: weighted sums of atoms."""

from __future__ import annotations

from typing import Any

import numpy as np

from halk import _core
from halk._validation import Vector, finite_array, nonnegative, require
from halk.kernels import Kernel, as_kernel


class Function:
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
    >>> f = Function(Gaussian(1.0), [[0.0], [2.0]], [1.0, -1.0])
    >>> f([[1.0]])
    array([0.])
    >>> round(f.norm, 4)
    1.3151
    """

    def __init__(self, kernel: Kernel, atoms: Any, weights: Any) -> None:
        self.kernel = as_kernel(kernel)
        self.atoms = finite_array("atoms", atoms, (None, None)).copy()
        n_atoms, n_features = self.atoms.shape
        self.weights = finite_array("weights", weights, (n_atoms,)).copy()
        self.kernel.check_features(n_features)
        self.atoms.flags.writeable = False
        self.weights.flags.writeable = False

    def __call__(self, X: Any) -> Vector:
        """Return the values at every row of ``X`` (n, p)."""
        X = finite_array("X", X, (None, self.atoms.shape[1]))
        values: Vector = self.kernel.matrix(X, self.atoms) @ self.weights
        return values

    def inner(self, other: Function) -> float:
        """Return the inner product with a function of the same kernel."""
        require(other.kernel == self.kernel, "kernel", "be the same", other.kernel)
        gram = self.kernel.matrix(self.atoms, other.atoms)
        return float(self.weights @ gram @ other.weights)

    def compress(self, budget: float) -> Function:
        r"""Return a function of fewer atoms within an RKHS distance.

        .. math:: \| f - \tilde f \|_{\mathcal H} \le \epsilon \qquad (S7)

        Parameters
        ----------
        budget : float, not negative
            Largest admissible distance; zero removes what changes nothing.

        Returns
        -------
        Function
            Its atoms are a subset of this one's.

        Notes
        -----
        Greedy: the atom whose removal, after refitting the others, costs least goes
        first. O(m^3) time for a whole function; inside a learner a step costs O(m^2).

        Examples
        --------
        >>> from halk.kernels import Gaussian
        >>> f = Function(Gaussian(1.0), [[0.0], [0.01], [5.0]], [1.0, 1.0, 1e-3])
        >>> f.compress(0.1).order
        1
        """
        budget = nonnegative("budget", budget)
        kernel = self.kernel.native(self.atoms.shape[1])
        kept, weights = _core.compress(kernel, self.atoms, self.weights, budget)
        return Function(self.kernel, self.atoms[kept], weights)

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
        return f"Function({self.kernel!r}, {self.order} atoms)"
