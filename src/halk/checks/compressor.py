"""The laws of compression."""

from collections.abc import Callable

import numpy as np

from halk.checks.law import law
from halk.function import Function
from halk.kernels import Gaussian, Kernel

_BUDGETS = (0.0, 1e-6, 1e-3, 0.1, 1.0)

Compressor = Callable[[Function, float], Function]


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
        for budget in _BUDGETS:
            _check_one(compress, f, budget)
        rest = compress(f, 2.0 * f.norm + 1.0)
        what = f"{rest.order} of {f.order} atoms left with a budget above the norm"
        law(rest.order == 0, "a huge budget leaves nothing", compress, what)


def _check_one(compress: Compressor, f: Function, budget: float) -> None:
    atoms, weights = f.atoms.copy(), f.weights.copy()
    g = compress(f, budget)
    where = f"{f.order} atoms, budget {budget:g}"
    is_same = np.array_equal(f.atoms, atoms) and np.array_equal(f.weights, weights)
    law(is_same, "the argument is not modified", compress, where)
    law(g.kernel == f.kernel, "the kernel stays", compress, f"{g.kernel!r}")
    known = {row.tobytes() for row in f.atoms}
    rows = [row.tobytes() for row in g.atoms]
    law(len(rows) <= f.order, "no more atoms", compress, f"{where}: {len(rows)} left")
    law(set(rows) <= known, "atoms are a subset", compress, where)
    law(len(set(rows)) == len(rows), "no duplicates", compress, where)
    size = float(np.abs(f.weights) @ np.sqrt(f.kernel.diagonal(f.atoms)))
    distance = _distance(f, g)
    is_within = distance <= budget * (1 + 1e-3) + 1e-6 * size
    what = f"{where}: the distance is {distance:.6g}"
    law(is_within, "within budget", compress, what)


def _distance(f: Function, g: Function) -> float:
    """Return ``||f - g||``, dense, summed in extended precision."""
    atoms = np.vstack([f.atoms, g.atoms])
    z = np.concatenate([f.weights, -g.weights]).astype(np.longdouble)
    if not len(z):
        return 0.0
    square = z @ f.kernel(atoms).astype(np.longdouble) @ z
    return float(np.sqrt(max(float(square), 0.0)))
