"""Compression by its definition, and one evaluation of the bandwidth rule."""

import numpy as np
from numpy.typing import NDArray

from halk.reference.formulas import Array, Kernel, distance

# KOMP in double precision, each as a share: directions too short for least squares,
# rounding in a distance, and the difference between two removal costs that are a tie.
RESOLUTION, ROUNDING, TIE = 1e-6, 1e-12, 1e-9


# Compression (S7) and bandwidth (S10) -----------------------------------------------


def _as_vectors(K: Array) -> Array:
    """Return A with ``A'A = K``: column k is atom k, the RKHS norm is Euclidean.

    Eigenvalues of K below its own rounding are noise, and count as zero.
    """
    values, vectors = np.linalg.eigh(K)
    resolved = values > len(K) * np.finfo(float).eps * values.max(initial=0.0)
    return np.asarray(np.sqrt(values[resolved])[:, None] * vectors[:, resolved].T)


def _refit(A: Array, weights: Array, kept: list[int]) -> tuple[Array, float]:
    """Return the kept atoms' best weights for ``A weights``, and the distance left.

    Best fit = their own weights + the best fit of what the removed ones contributed.
    The matrix K cannot tell directions below `RESOLUTION`, so none are used: weights
    there would be large, and cancel only on paper.
    """
    removed = np.setdiff1d(np.arange(len(weights)), kept)
    lost = A[:, removed] @ weights[removed]
    takeover = np.linalg.lstsq(A[:, kept], lost, rcond=RESOLUTION)[0]
    distance = np.linalg.norm(A[:, kept] @ takeover - lost)
    return weights[kept] + takeover, float(distance)


def _merged(atoms: Array, weights: Array) -> tuple[list[int], Array]:
    """Return the first of each set of equal atoms, and weights (m,) moved to these."""
    _, first, which = np.unique(atoms, axis=0, return_index=True, return_inverse=True)
    total = np.zeros(len(atoms))
    np.add.at(total, first[which.ravel()], weights)
    return sorted(first.tolist()), total


def komp(
    kernel: Kernel, atoms: Array, weights: Array, epsilon: float
) -> tuple[NDArray[np.int64], Array]:
    """Compress f~ to f with ``||f - f~|| <= epsilon`` (S7), by destructive KOMP.

    Again and again remove the atom whose removal, after refitting the others, leaves
    the smallest distance to the original f~; stop when that exceeds epsilon. In a tie
    the largest index goes: the newest atom. Duplicates cost nothing and go first; with
    epsilon 0, only atoms go whose removal costs nothing up to rounding. Return the
    indices (n,) of the atoms that stay, ascending, and their new weights (n,).
    """
    K = kernel(atoms, atoms)
    A = _as_vectors(K)
    rounding = ROUNDING * float(np.abs(weights) @ np.sqrt(np.diag(K)))
    kept, weights = _merged(atoms, weights)
    while kept:
        rests = [[k for k in kept if k != candidate] for candidate in kept]
        costs = np.array([_refit(A, weights, rest)[1] for rest in rests])
        if costs.min() > epsilon + rounding:
            break
        limit = min(costs.min() * (1 + TIE), epsilon) + rounding
        kept = rests[np.flatnonzero(costs <= limit)[-1]]
    return np.array(kept, dtype=np.int64), _refit(A, weights, kept)[0]


def leave_one_out_bandwidth(atoms: Array, bandwidth: float) -> float:
    """Return the bandwidth after one evaluation of the fixed point S10.

    Shifting a row's exponents by its smallest squared distance cancels in the ratio
    and makes the denominator at least 1. A single atom leaves the bandwidth alone.
    """
    m = len(atoms)
    if m < 2:
        return bandwidth
    others = ~np.eye(m, dtype=bool)
    squares = (distance(atoms, atoms, 1.0) ** 2)[others].reshape(m, m - 1)
    shifted = squares - squares.min(axis=1, keepdims=True)
    e = np.exp(-shifted / (2 * bandwidth**2))
    return float(np.sqrt(np.mean((e * squares).sum(axis=1) / e.sum(axis=1))))
