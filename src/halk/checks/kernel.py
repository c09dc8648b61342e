"""The laws of kernels."""

from typing import Any

import numpy as np

from halk._jit import LANES, compiled, padded, store
from halk._validation import Matrix
from halk.checks.law import check_value, law, law_everywhere
from halk.kernels import Kernel, kernel_lanes, kernel_value, rescaled

_ROUNDING = 1e-10
_SCALES = (0.1, 1.0, 10.0)
_FACTOR = 1.7
_NOTHING = 1e-200
"""Lanes need not tell such values from zero."""


def check_kernel(kernel: Kernel, n_features: int | None = None, seed: int = 0) -> None:
    """Check that ``kernel`` is one: what the theory and the compiled code rely on.

    Symmetric, positive semidefinite, finite, within Cauchy-Schwarz; its Gram matrix is
    its formula, compiled as interpreted; it is a value (equality, hash, pickle, repr);
    and multiplying its bandwidth is dividing its inputs.

    Parameters
    ----------
    kernel : Kernel
    n_features : int, optional
        Length of the points to try; by default 3, or what the kernel takes.
    seed : int
        Of the random points.

    Raises
    ------
    LawError
        With the law, the kernel and a counterexample.

    Notes
    -----
    Passing is no proof: positive semidefiniteness is tried on some sixty points.
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a Kernel, got {kernel!r}")
    rng = np.random.default_rng(seed)
    p = n_features or _accepted(kernel)
    for scale in _SCALES:
        X = scale * rng.normal(size=(20, p))
        X[0], X[-1] = 0.0, X[1]
        _check_gram(kernel, X)
        _check_rescaling(kernel, X)
    check_value(kernel)
    _check_compiled(kernel, X[:8], X[6:12])


def _accepted(kernel: Kernel) -> int:
    """Return a number of features that the kernel takes."""
    for p in [3, *range(1, 33)]:
        try:
            kernel.check_features(p)
        except ValueError:
            continue
        return int(p)
    raise ValueError("n_features must be given for a kernel of more than 32 features")


def _check_gram(kernel: Kernel, X: Matrix) -> None:
    K = _formula(kernel, X, X)
    i, j = np.indices(K.shape)
    law_everywhere(np.isfinite(K), "finite", kernel, k=K, i=i, j=j)
    near = np.abs(K - K.T) <= _ROUNDING * np.abs(K)
    law_everywhere(near, "symmetric", kernel, k_xy=K, k_yx=K.T, x0=X[i, 0], y0=X[j, 0])
    diagonal = np.diag(K)
    law_everywhere(diagonal >= 0, "k(x, x) >= 0", kernel, k_xx=diagonal, x0=X[:, 0])
    is_same = np.isnan(kernel.at_itself) | (diagonal == kernel.at_itself)
    told = np.full(len(X), kernel.at_itself)
    law_everywhere(is_same, "at_itself is k(x, x)", kernel, k_xx=diagonal, told=told)
    bound = np.sqrt(np.outer(diagonal, diagonal))
    within = np.abs(K) <= bound * (1 + _ROUNDING)
    law_everywhere(within, "Cauchy-Schwarz", kernel, k_xy=K, bound=bound)
    values, vectors = np.linalg.eigh(K)
    law(
        values[0] >= -_ROUNDING * np.trace(K),
        "positive semidefinite",
        kernel,
        f"c'Kc = {values[0]:.3g} for c = {vectors[:, 0].round(3).tolist()} at the "
        f"points {X.round(3).tolist()}",
    )


def _formula(kernel: Kernel, X: Matrix, Y: Matrix) -> Matrix:
    """Return the Gram matrix, interpreted, point by point."""
    return np.array([[kernel_value(kernel, x, y) for y in Y] for x in X], dtype=float)


def _check_compiled(kernel: Kernel, X: Matrix, Y: Matrix) -> None:
    K, points = kernel(X, Y), _formula(kernel, X, Y)
    law(K.shape == points.shape, "Gram shape", kernel, f"{K.shape}")
    near = np.abs(K - points) <= _ROUNDING * (np.abs(points) + 1e-300)
    law_everywhere(near, "Gram is the formula", kernel, gram=K, formula=points)
    lanes = _in_lanes(kernel, X, Y)
    near = np.abs(lanes - points) <= _ROUNDING * np.abs(points) + _NOTHING
    law_everywhere(near, "lanes are the formula", kernel, lanes=lanes, formula=points)
    law(
        np.array_equal(kernel(X), kernel(X, X)),
        "Gram of one set",
        kernel,
        "kernel(X) differs from kernel(X, X)",
    )


@compiled
def _fill_lanes(
    kernel: Any, atoms: Matrix, m: int, points: Matrix, out: Matrix, scratch: Matrix
) -> None:
    for r in range(len(out)):
        for k in range(0, m, LANES):
            row = kernel_lanes(kernel, atoms, k, m, points, r, scratch)
            store(out[r], k, row)


def _in_lanes(kernel: Kernel, X: Matrix, Y: Matrix) -> Matrix:
    """Return the Gram matrix as learners compute it."""
    m, p = Y.shape
    atoms, out = np.zeros((p, padded(m))), np.zeros((len(X), padded(m)))
    atoms[:, :m] = Y.T
    points, scratch = np.ascontiguousarray(X.T), np.zeros((2, p))
    _fill_lanes(kernel, atoms, m, points, out, scratch)
    return out[:, :m]


def _check_rescaling(kernel: Kernel, X: Matrix) -> None:
    same = rescaled(kernel, 1.0)
    law(same == kernel, "rescaling by 1", kernel, f"it became {same!r}")
    if not hasattr(kernel, "bandwidth"):
        return
    wide = _formula(rescaled(kernel, _FACTOR), X, X)
    narrow = _formula(kernel, X / _FACTOR, X / _FACTOR)
    near = np.abs(wide - narrow) <= _ROUNDING * np.abs(narrow).max()
    law_everywhere(
        near, f"rescaling by {_FACTOR}", kernel, rescaled=wide, inputs_divided=narrow
    )
