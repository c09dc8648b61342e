"""The decision about a few new atoms against plain NumPy, number by number."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from halk._jit import borrowed, compiled
from halk.compression import block, dictionary, workspace, write_square
from halk.compression.few import (
    FEW,
    are_few_cheaper,
    are_few_clearly_cheaper,
    are_few_independent,
    few_left,
    few_removed,
)
from halk.kernels import Gaussian

KERNEL, SPACING = Gaussian(0.3), 0.35
GARBAGE = 1e300
"""What stands in rows that are not there: they must not be read."""


@compiled
def removed(D: Any, m: int, points: Any, ws: Any, b: int) -> Any:
    return few_removed(borrowed(D), m, borrowed(points), borrowed(ws), b)


@compiled
def left(m: int, points: Any, ws: Any, b: int) -> bool:
    least = few_left(m, borrowed(points), borrowed(ws), b)
    return are_few_independent(borrowed(points), borrowed(ws), b, least)


@compiled
def clearly(D: Any, m: int, points: Any, ws: Any, b: int) -> bool:
    least = few_left(m, borrowed(points), borrowed(ws), b)
    return are_few_clearly_cheaper(
        borrowed(D), m, borrowed(points), borrowed(ws), b, least
    )


@compiled
def cheaper(D: Any, m: int, points: Any, ws: Any, b: int, spent: float) -> bool:
    return are_few_cheaper(borrowed(D), m, borrowed(points), borrowed(ws), b, spent)


class Case(NamedTuple):
    """A block of new points beside a dictionary, for the engine and for NumPy."""

    D: Any
    block: Any
    ws: Any
    K: Any  # of the atoms
    cross: Any
    G: Any  # of the points
    w: Any
    c: Any


def case(rng: np.random.Generator, m: int, b: int, size: float) -> Case:
    atoms = np.arange(m)[:, None] * SPACING + 0.05 * rng.normal(size=(m, 1))
    points = rng.uniform(-0.2, m * SPACING, size=(b, 1))
    K, cross, G = KERNEL(atoms), KERNEL(points, atoms), KERNEL(points)
    w = rng.uniform(0.3, 1.0, size=m) * rng.choice([-1.0, 1.0], size=m)
    c = size * rng.normal(size=b)
    D, B, ws = dictionary(m, 1), block(m + FEW, FEW, 1), workspace(m + FEW, FEW, 1)
    Q = np.linalg.inv(K)
    write_square(D.inverse, Q)
    D.diagonal[:m], D.norms[:m], ws.start[:m] = Q.diagonal(), 1.0, w
    for rows in (B.cross, B.solved, B.gram):
        rows[b:] = GARBAGE
    B.coefficients[b:] = GARBAGE
    B.cross[:b, :m], B.solved[:b, :m] = cross, cross @ Q
    B.gram[:b, :b], B.coefficients[:b] = G, c
    return Case(D, B, ws, K, cross, G, w, c)


def takes_new_atoms_first(given: Case) -> bool:
    """Return whether greedy removal takes all new atoms before any old one."""
    m, weights = len(given.w), np.concatenate([given.w, given.c])
    K = np.block([[given.K, given.cross.T], [given.cross, given.G]])
    kept = np.arange(len(weights))
    while len(kept) > m:
        Q = np.linalg.inv(K[np.ix_(kept, kept)])
        costs = weights**2 / Q.diagonal()
        gone = int(costs.argmin())
        if kept[gone] < m:
            return False
        weights = np.delete(weights - Q[gone] * weights[gone] / Q[gone, gone], gone)
        kept = np.delete(kept, gone)
    return True


@pytest.mark.parametrize("m", [4, 7, 13])
@pytest.mark.parametrize("b", [2, 3, 4])
def test_numbers_are_those_of_numpy(b: int, m: int, rng: np.random.Generator) -> None:
    for _ in range(20):
        given = case(rng, m, b, 0.1)
        U, c = given.cross @ np.linalg.inv(given.K), given.c
        v, change = c @ given.cross, c @ U
        square, size, moved, drift = removed(given.D, m, given.block, given.ws, b)
        assert square == pytest.approx(c @ given.G @ c - v @ change, abs=1e-13)
        assert size == pytest.approx(np.abs(c).sum())
        assert moved == pytest.approx(np.abs(change).sum())
        assert drift == pytest.approx(np.abs(v).sum() * np.abs(change).sum())
        np.testing.assert_allclose(given.ws.weights[:m], given.w + change, rtol=1e-12)
        left(m, given.block, given.ws, b)
        S = given.G - given.cross @ U.T
        np.testing.assert_allclose(given.ws.schur[:b, :b], S, atol=1e-13)


@pytest.mark.parametrize("b", [2, 3, 4])
def test_what_it_says_is_what_greedy_removal_does(
    b: int, rng: np.random.Generator
) -> None:
    """Never yes where an old atom would go first; and mostly yes else."""
    clear, said, true = [], [], []
    for _ in range(400):
        given = case(rng, 9, b, 10.0 ** rng.uniform(-2.0, 0.3))
        square, *_ = removed(given.D, 9, given.block, given.ws, b)
        if left(9, given.block, given.ws, b):
            spent = max(square, 0.0)
            clear.append(clearly(given.D, 9, given.block, given.ws, b))
            said.append(cheaper(given.D, 9, given.block, given.ws, b, spent))
            true.append(takes_new_atoms_first(given))
    yes, is_so = np.array(said), np.array(true)
    assert not (yes & ~is_so).any()
    assert not (np.array(clear) & ~is_so).any()
    assert sum(clear) > 50
    assert yes[is_so].mean() > 0.75
    assert (~is_so).sum() > 20


@pytest.mark.parametrize("b", [2, 3, 4])
@pytest.mark.parametrize("kind", ["an atom", "another point"])
def test_points_that_repeat_are_not_independent(
    b: int, kind: str, rng: np.random.Generator
) -> None:
    given = case(rng, 6, b, 0.1)
    assert left(6, given.block, given.ws, b)
    B, Q = given.block, np.linalg.inv(given.K)
    if kind == "an atom":
        B.cross[b - 1, :6] = given.K[2]
        B.gram[b - 1, : b - 1] = B.gram[: b - 1, b - 1] = given.cross[: b - 1, 2]
    else:
        B.cross[b - 1, :6] = given.cross[0]
        B.gram[b - 1, : b - 1] = B.gram[: b - 1, b - 1] = given.G[0, : b - 1]
    B.solved[b - 1, :6] = B.cross[b - 1, :6] @ Q
    assert not left(6, B, given.ws, b)
    given.ws.weights[:6] = 1e6  # whatever they cost
    assert clearly(given.D, 6, B, given.ws, b) == (kind == "another point")
