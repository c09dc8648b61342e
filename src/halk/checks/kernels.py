"""The laws of kernels, of feature maps, and of compressing what kernels span."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from halk._validation import Matrix
from halk.checks.law import check_value, law, near
from halk.features import FeatureMap
from halk.function import Function
from halk.kernels import Gaussian, Kernel, as_kernel, rescale

_ROUNDING = 1e-10
_NATIVE = 1e-13
_NOTHING = 1e-200  # the core need not tell such values from zero
_FACTOR = 1.7

Compressor = Callable[[Function, float], Function]


def check_kernel(kernel: Any, n_features: int | None = None, seed: int = 0) -> None:
    """Check that ``kernel`` is one: what the theory and the core rely on.

    Symmetric, positive semidefinite, finite, within Cauchy-Schwarz; every entry of its
    matrix depends on its own two points only; ``diagonal`` is that of the matrix; the
    core computes the same, near, far and at equal points, with any length scale; a
    length scale matters; and it is a value (equality, hash, pickle, repr).

    Passing is no proof: positive semidefiniteness is tried on some sixty points.

    Parameters
    ----------
    kernel : Kernel, or function ``k(X, Y)``
    n_features : int, optional
        Length of the points to try; by default 3, or what the kernel takes.
    seed : int
        Of the random points.
    """
    kernel = as_kernel(kernel)
    rng, p = np.random.default_rng(seed), n_features or _find_n_features(kernel)
    same, wide = rescale(kernel, 1.0), rescale(kernel, _FACTOR)
    for scale in (0.1, 1.0, 10.0):
        X = scale * rng.normal(size=(20, p))
        X[0], X[-1] = 0.0, X[1]
        is_same = np.array_equal(_check_gram(kernel, X), _check_gram(wide, X))
        is_moved = not (is_same and hasattr(kernel, "length_scale"))
        law(is_moved, f"rescaling by {_FACTOR}", kernel, "its values stay the same")
    law(same == kernel, "rescaling by 1", kernel, f"it became {same!r}")
    check_value(kernel)
    K, pairs = _evaluate(kernel, X[:8], X[6:12]), product(X[:8], X[6:12])
    one = np.reshape([_evaluate(kernel, x[None], y[None]) for x, y in pairs], K.shape)
    law(near(one, K, _ROUNDING), "matrix is pointwise", kernel, matrix=K, pointwise=one)
    is_same = np.array_equal(kernel(X), kernel(X, X))
    law(is_same, "Gram of one set", kernel, "kernel(X) differs from kernel(X, X)")
    for far, scale in product((1.0, 30.0, 1e4, 1e9), (1.0, _FACTOR)):
        _check_native(kernel, X, far * X, scale)


def _find_n_features(kernel: Kernel) -> int:
    """Return a number of features that the kernel takes."""
    for p in [3, *range(1, 33)]:
        try:
            kernel.check_features(p)
        except ValueError:
            continue
        return int(p)
    raise ValueError("n_features must be given for a kernel of more than 32 features")


def _evaluate(kernel: Kernel, X: Matrix, Y: Matrix) -> Matrix:
    """Return the matrix after checking its shape, its dtype and the inputs."""
    before, shape = np.vstack([X, Y]), (len(X), len(Y))
    K = np.asarray(kernel.matrix(X, Y))
    is_same = np.array_equal(np.vstack([X, Y]), before)
    law(is_same, "leaves inputs alone", kernel, "it wrote to them")
    law(K.shape == shape, "shape", kernel, f"it is {K.shape}, not {shape}")
    law(K.dtype.kind in "fiub", "real numbers", kernel, f"its dtype is {K.dtype}")
    return K.astype(np.float64)


def _check_gram(kernel: Kernel, X: Matrix) -> Matrix:
    """Return the Gram matrix of X after checking it."""
    K = _evaluate(kernel, X, X)
    i, j = np.indices(K.shape)
    law(np.isfinite(K), "finite", kernel, k=K, i=i, j=j)
    is_same = near(K.T, K, _ROUNDING)
    law(is_same, "symmetric", kernel, k_xy=K, k_yx=K.T, x0=X[i, 0], y0=X[j, 0])
    k_xx, diagonal = np.diag(K), kernel.diagonal(X)
    law(k_xx >= 0, "k(x, x) >= 0", kernel, k_xx=k_xx, x0=X[:, 0])
    is_same = near(diagonal, k_xx, _ROUNDING)
    law(is_same, "diagonal is k(x, x)", kernel, k_xx=k_xx, diagonal=diagonal)
    bound = np.sqrt(np.outer(k_xx, k_xx))
    within = np.abs(K) <= bound * (1 + _ROUNDING)
    law(within, "Cauchy-Schwarz", kernel, k_xy=K, bound=bound)
    values, vectors = np.linalg.eigh(K)
    where = f"c'Kc = {values[0]:.3g} for c = {vectors[:, 0].round(3).tolist()} at the "
    where += f"points {X.round(3).tolist()}"
    law(values[0] >= -_ROUNDING * np.trace(K), "positive semidefinite", kernel, where)
    return K


def _check_native(kernel: Kernel, X: Matrix, Y: Matrix, scale: float) -> None:
    """Compare with what the core computes, as long as that is finite."""
    wide = rescale(kernel, scale)
    with np.errstate(over="ignore", invalid="ignore"):
        K = _evaluate(wide, X, Y)
        bound = np.sqrt(np.outer(wide.diagonal(X), wide.diagonal(Y)))
    if not np.isfinite([K, bound]).all():
        return
    native = kernel.native(X.shape[1]).matrix(X, Y, scale)
    # An exponent of size n has n times the rounding; terms that cancel have their own.
    size = np.abs(K) * (1.0 + np.abs(np.log(np.abs(K) + _NOTHING)))
    rounding = _NATIVE * (bound if K.min() < 0 else size) + _NOTHING
    is_same, name = np.abs(native - K) <= rounding, "native is the formula"
    law(is_same, name, kernel, native=native, formula=K, x0=X[:, :1], y0=Y[:, 0])


def check_features(features: FeatureMap, n_features: int = 1, seed: int = 0) -> None:
    """Check that a feature map keeps the promises that learners rely on.

    Its ``size`` is right; features are finite and depend on their own point only; it is
    a value (equality, hash, pickle, repr). It is tried on points of ``n_features``.
    """
    check_value(features)
    X = np.random.default_rng(seed).normal(size=(9, n_features))
    before, first = X.copy(), features.matrix(X)
    law(np.array_equal(X, before), "leaves inputs alone", features, "it wrote to X")
    shape = (9, features.size(n_features))
    where = f"features of 9 points have shape {first.shape}, not {shape}"
    law(first.shape == shape, "size", features, where)
    law(np.isfinite(first), "finite", features, feature=first)
    rows = np.vstack([features.matrix(x[None]) for x in X])
    law(rows == first, "row by row", features, alone=rows, together=first)


def check_compressor(
    compress: Compressor = Function.compress,
    kernel: Kernel | None = None,
    n_features: int = 1,
    seed: int = 0,
) -> None:
    """Check that ``compress(function, budget)`` keeps what S7 promises.

    The distance is within the budget (up to rounding); atoms are a subset; the kernel
    stays and the argument is not modified; a budget of zero keeps the function, one
    above the norm leaves nothing. Functions are random, with exact and near
    duplicates among their atoms.
    """
    rng, kernel = np.random.default_rng(seed), kernel or Gaussian(0.3)
    for n_atoms in (0, 1, 7, 30):
        atoms = rng.uniform(size=(n_atoms, n_features))
        atoms[n_atoms // 2 : n_atoms // 2 + 2] = atoms[:2]
        atoms[-2:] = atoms[:2] + 1e-9
        f = Function(kernel, atoms, rng.normal(size=n_atoms))
        for budget in (0.0, 1e-6, 1e-3, 0.1, 1.0):
            _check_compression(compress, f, budget)
        rest = compress(f, 2.0 * f.norm + 1.0)
        where = f"{rest.order} of {f.order} atoms left with a budget above the norm"
        law(rest.order == 0, "a huge budget leaves nothing", compress, where)


def _check_compression(compress: Compressor, f: Function, budget: float) -> None:
    atoms, weights = f.atoms.copy(), f.weights.copy()
    g = compress(f, budget)
    where = f"{f.order} atoms, budget {budget:g}"
    is_same = np.array_equal(f.atoms, atoms) and np.array_equal(f.weights, weights)
    law(is_same, "the argument is not modified", compress, where)
    law(g.kernel == f.kernel, "the kernel stays", compress, f"{g.kernel!r}")
    known, rows = ([row.tobytes() for row in h.atoms] for h in (f, g))
    law(set(rows) <= set(known), "atoms are a subset", compress, where)
    law(len(set(rows)) == len(rows), "no duplicates", compress, where)
    size = float(np.abs(weights) @ np.sqrt(f.kernel.diagonal(atoms)))
    both, difference = np.vstack([atoms, g.atoms]), np.append(weights, -g.weights)
    distance = Function(f.kernel, both, difference).norm
    is_within = distance <= budget * (1 + 1e-3) + 1e-6 * size
    where = f"{where}: the distance is {distance:.6g}"
    law(is_within, "within budget", compress, where)
