"""Compression through its laws, and compressors that break them."""

from typing import Any

import numpy as np
import pytest

from halk import checks, reference
from halk.errors import LawError
from halk.function import Function
from halk.kernels import Custom, Gaussian, Kernel, Laplacian, Linear, Polynomial

KERNELS = [Gaussian(0.05), Gaussian(0.3), Gaussian(50.0), Laplacian(0.3), Linear()]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n_features", [1, 2])
def test_laws(kernel: Kernel, n_features: int) -> None:
    checks.check_compressor(kernel=kernel, n_features=n_features)


def test_laws_where_atoms_must_depend() -> None:
    checks.check_compressor(kernel=Polynomial(2), seed=3)
    checks.check_compressor(kernel=Custom.examples()[0], seed=4)


@pytest.mark.parametrize("budget", [1e-3, 0.03, 0.3])
def test_agrees_with_the_reference(budget: float, rng: np.random.Generator) -> None:
    atoms, weights = rng.uniform(size=(15, 2)), rng.normal(size=15)

    def gram(X: Any, Y: Any) -> Any:
        return reference.gaussian(X, Y, 0.3)

    kept, expected = reference.komp(gram, atoms, weights, budget)
    f = Function(Gaussian(0.3), atoms, weights).compress(budget)
    np.testing.assert_array_equal(f.atoms, atoms[kept])
    np.testing.assert_allclose(f.weights, expected, rtol=1e-6, atol=1e-8)


def test_a_zero_function_needs_no_atoms() -> None:
    f = Function(Gaussian(0.3), [[0.0], [1.0]], [0.0, 0.0])
    assert f.compress(0.0).order == 0


def test_opposite_duplicates_cancel() -> None:
    f = Function(Gaussian(0.3), [[0.5], [0.5], [2.0]], [1.0, -1.0, 0.5])
    g = f.compress(0.0)
    np.testing.assert_array_equal(g.atoms, [[2.0]])
    np.testing.assert_allclose(g.weights, [0.5])


# Broken ones --------------------------------------------------------------------------


def careless(f: Function, budget: float) -> Function:
    """Drop the second half of the atoms, whatever that costs."""
    n = f.order // 2
    return Function(f.kernel, f.atoms[:n], f.weights[:n])


def miserly(f: Function, budget: float) -> Function:
    """Merge duplicates only."""
    return f.compress(0.0)


def wandering(f: Function, budget: float) -> Function:
    g = f.compress(budget)
    return Function(f.kernel, g.atoms + 1e-12, g.weights)


def lazy(f: Function, budget: float) -> Function:
    return f


def widening(f: Function, budget: float) -> Function:
    g = f.compress(budget)
    return Function(Gaussian(9.0), g.atoms, g.weights)


def spoiling(f: Function, budget: float) -> Function:
    g = f.compress(budget)
    f.weights.flags.writeable = True
    f.weights[:] = 0.0
    return g


def unfitted(f: Function, budget: float) -> Function:
    """Remove as many as may go, but refit nothing."""
    g = f.compress(budget)
    where = [int(np.flatnonzero((f.atoms == a).all(axis=1))[0]) for a in g.atoms]
    return Function(f.kernel, g.atoms, f.weights[where])


@pytest.mark.parametrize(
    ("compress", "broken"),
    [
        (careless, "within budget: .* the distance is"),
        (unfitted, "within budget"),
        (miserly, "a huge budget leaves nothing"),
        (wandering, "atoms are a subset"),
        (lazy, "no duplicates|a huge budget leaves nothing"),
        (widening, "the kernel stays"),
        (spoiling, "the argument is not modified"),
    ],
)
def test_checks_find_broken_compressors(compress: Any, broken: str) -> None:
    with pytest.raises(LawError, match=broken):
        checks.check_compressor(compress)
