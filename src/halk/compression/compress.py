"""KOMP with pre-fitting, from the unprojected function to the compressed one (S7)."""

from functools import lru_cache
from typing import Any

import numpy as np

from halk._jit import compiled, pointer
from halk._validation import nonnegative
from halk.compression.block import merge_duplicates, weights_only
from halk.compression.greedy import commit, project
from halk.compression.workspace import Dictionary, Workspace, dictionary, workspace
from halk.expansion import Expansion
from halk.kernels import kernel_value


@lru_cache(maxsize=1)
def compressor() -> Any:
    """Return the compiled kernel-free part of compression, for ``compress``.

    It takes the arguments of :func:`compress` from ``D`` on, with the Gram matrix of
    the block filled in. Compiled when first asked for, not when imported.
    """
    return pointer(0, dictionary(1, 1), 0, workspace(1, 1, 1), 0, 0.0)(_compress)


def _compress(D: Dictionary, m: int, ws: Workspace, b: int, budget: float) -> int:
    if weights_only(D, m, ws, b, budget):
        for k in range(m):
            D.weights[k] = ws.weights[k]
        return m
    n_kept = project(D, m, ws, b, budget)
    if n_kept > len(D.weights):
        return -n_kept
    commit(D, m, ws, n_kept)
    return n_kept


@compiled
def compress(
    kernel: Any,
    compressor: Any,
    D: Dictionary,
    m: int,
    ws: Workspace,
    b: int,
    budget: float,
) -> int:
    """Compress the function of ``m`` atoms and ``b`` new points within ``budget``.

    The weights of the unprojected function are in ``ws.start`` (old atoms) and
    ``ws.coefficients`` (new points), kernel values in ``ws.cross``.

    Returns the number of atoms left, with ``D`` updated; or, where ``D`` has too little
    room, minus that number, with ``D`` untouched.
    """
    b = merge_duplicates(D, m, ws, b)
    for row in range(b):
        for other in range(row + 1):
            value = kernel_value(kernel, ws.points[row], ws.points[other])
            ws.block_gram[row, other] = value
            ws.block_gram[other, row] = value
    return compressor(D, m, ws, b, budget)  # type: ignore[no-any-return]


def compressed(expansion: Expansion, budget: float) -> Expansion:
    r"""Return an expansion of fewer atoms within an RKHS distance.

    .. math:: \| f - \tilde f \|_{\mathcal H} \le \epsilon \qquad (S7)

    Parameters
    ----------
    expansion : Expansion of n atoms
    budget : float, not negative
        Largest admissible distance; zero removes what changes nothing.

    Returns
    -------
    Expansion
        Its atoms are a subset of those of the argument, which is not modified.

    Notes
    -----
    Greedy: the atom whose removal, after refitting the others, costs least goes first.
    O(n^3) time for a whole expansion; inside a learner a step costs O(m^2).

    Examples
    --------
    >>> from halk.kernels import Gaussian
    >>> f = Expansion(Gaussian(1.0), [[0.0], [0.01], [5.0]], [1.0, 1.0, 1e-3])
    >>> compressed(f, 0.1).atoms
    array([[0.01]])
    """
    budget = nonnegative("budget", budget)
    n, p = expansion.atoms.shape
    D, ws = dictionary(n, p), workspace(max(n, 1), max(n, 1), p)
    ws.points[:n] = expansion.atoms
    ws.coefficients[:n] = expansion.weights
    m = compress(expansion.kernel, compressor(), D, 0, ws, n, budget)
    return Expansion(expansion.kernel, D.atoms[:m], np.array(D.weights[:m]))
