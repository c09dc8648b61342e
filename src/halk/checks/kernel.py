"""The laws of kernels."""

from typing import Any

import numpy as np

from halk._validation import Matrix
from halk.checks.law import check_value, law, law_everywhere
from halk.kernels import Kernel, as_kernel, rescale

_ROUNDING = 1e-10
_NATIVE = 1e-13
_NOTHING = 1e-200
"""The core need not tell such values from zero."""
_SCALES = (0.1, 1.0, 10.0)
_FACTOR = 1.7


def check_kernel(kernel: Any, n_features: int | None = None, seed: int = 0) -> None:
    """Check that ``kernel`` is one: what the theory and the core rely on.

    Symmetric, positive semidefinite, finite, within Cauchy-Schwarz; every entry of its
    matrix depends on its own two points only; ``diagonal`` is that of the matrix; the
    core computes the same, near, far and at equal points, with any length scale; a
    length scale matters; and it is a value (equality, hash, pickle, repr).

    Parameters
    ----------
    kernel : Kernel, or function ``k(X, Y)``
    n_features : int, optional
        Length of the points to try; by default 3, or what the kernel takes.
    seed : int
        Of the random points.

    Notes
    -----
    Passing is no proof: positive semidefiniteness is tried on some sixty points.
    """
    kernel = as_kernel(kernel)
    rng = np.random.default_rng(seed)
    p = n_features or _accepted(kernel)
    for scale in _SCALES:
        X = scale * rng.normal(size=(20, p))
        X[0], X[-1] = 0.0, X[1]
        before, K = X.copy(), _formula(kernel, X, X)
        law(np.array_equal(X, before), "leaves inputs alone", kernel, "it wrote to X")
        _check_gram(kernel, X, K)
        _check_rescaling(kernel, X, K)
    check_value(kernel)
    _check_pointwise(kernel, X[:8], X[6:12])
    _check_native(kernel, X)


def _accepted(kernel: Kernel) -> int:
    """Return a number of features that the kernel takes."""
    for p in [3, *range(1, 33)]:
        try:
            kernel.check_features(p)
        except ValueError:
            continue
        return int(p)
    raise ValueError("n_features must be given for a kernel of more than 32 features")


def _formula(kernel: Kernel, X: Matrix, Y: Matrix) -> Matrix:
    K = np.asarray(kernel.matrix(X, Y))
    wanted = (len(X), len(Y))
    law(K.shape == wanted, "shape", kernel, f"it is {K.shape}, not {wanted}")
    law(K.dtype.kind in "fiub", "real numbers", kernel, f"its dtype is {K.dtype}")
    return K.astype(np.float64)


def _check_gram(kernel: Kernel, X: Matrix, K: Matrix) -> None:
    i, j = np.indices(K.shape)
    law_everywhere(np.isfinite(K), "finite", kernel, k=K, i=i, j=j)
    near = np.abs(K - K.T) <= _ROUNDING * np.abs(K)
    law_everywhere(near, "symmetric", kernel, k_xy=K, k_yx=K.T, x0=X[i, 0], y0=X[j, 0])
    k_xx, told = np.diag(K), kernel.diagonal(X)
    law_everywhere(k_xx >= 0, "k(x, x) >= 0", kernel, k_xx=k_xx, x0=X[:, 0])
    near = np.abs(k_xx - told) <= _ROUNDING * k_xx
    law_everywhere(near, "diagonal is k(x, x)", kernel, k_xx=k_xx, diagonal=told)
    bound = np.sqrt(np.outer(k_xx, k_xx))
    within = np.abs(K) <= bound * (1 + _ROUNDING)
    law_everywhere(within, "Cauchy-Schwarz", kernel, k_xy=K, bound=bound)
    values, vectors = np.linalg.eigh(K)
    what = f"c'Kc = {values[0]:.3g} for c = {vectors[:, 0].round(3).tolist()} at the "
    what += f"points {X.round(3).tolist()}"
    is_psd = values[0] >= -_ROUNDING * np.trace(K)
    law(is_psd, "positive semidefinite", kernel, what)


def _check_pointwise(kernel: Kernel, X: Matrix, Y: Matrix) -> None:
    K = _formula(kernel, X, Y)
    one = np.array([[_formula(kernel, x[None], y[None])[0, 0] for y in Y] for x in X])
    near = np.abs(K - one) <= _ROUNDING * np.abs(one)
    law_everywhere(near, "matrix is pointwise", kernel, matrix=K, pointwise=one)
    is_same = np.array_equal(kernel(X), kernel(X, X))
    law(is_same, "Gram of one set", kernel, "kernel(X) differs from kernel(X, X)")


def _check_native(kernel: Kernel, X: Matrix) -> None:
    """Compare with what the core computes, near and, as long as it is finite, far."""
    wide = rescale(kernel, _FACTOR)
    for far in (1.0, 30.0, 1e4, 1e9):
        Y = far * X
        with np.errstate(over="ignore", invalid="ignore"):
            formulas = {1.0: _formula(kernel, X, Y), _FACTOR: _formula(wide, X, Y)}
            largest = np.abs([kernel.diagonal(Y), wide.diagonal(Y)]).max()
        if not np.isfinite([*formulas.values()]).all() or not largest < np.inf:
            break
        for scale, K in formulas.items():
            native = kernel.native(X.shape[1]).matrix(X, Y, scale)
            # an exponent of size n has n times the rounding; where terms may cancel,
            # theirs counts
            size = np.abs(K) * (1.0 + np.abs(np.log(np.abs(K) + _NOTHING)))
            if K.min() < 0.0:
                size = np.sqrt(np.outer(kernel.diagonal(X), kernel.diagonal(Y)))
            near = np.abs(native - K) <= _NATIVE * size + _NOTHING
            seen = {"native": native, "formula": K, "x0": X[:, :1], "y0": Y[:, 0]}
            law_everywhere(near, "native is the formula", kernel, **seen)


def _check_rescaling(kernel: Kernel, X: Matrix, K: Matrix) -> None:
    same = rescale(kernel, 1.0)
    law(same == kernel, "rescaling by 1", kernel, f"it became {same!r}")
    wide = rescale(kernel, _FACTOR)
    _check_gram(wide, X, _formula(wide, X, X))
    if hasattr(kernel, "length_scale"):
        moved = not np.array_equal(_formula(wide, X, X), K)
        law(moved, f"rescaling by {_FACTOR}", kernel, "its values stay the same")
