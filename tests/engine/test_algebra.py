"""Products in lanes against NumPy's ``@``: every shape that lanes do not fill."""

from typing import Any

import numpy as np
import pytest

from halk._jit import compiled, in_lanes, padded
from halk.compression import PANEL, copy_panels, dictionary, square, write_square
from halk.compression.algebra import add_scaled, combine, dot, size, sweep
from halk.compression.panels import pack, product, products, unpack
from halk.compression.trust import measured_drift

ROUNDING = 1e-13
GUARD = 7.0
"""What stands behind the room that a product may write to."""


@compiled
def dot_of(a: Any, b: Any, n: int) -> float:
    return dot(a, b, n)


@compiled
def size_of(a: Any, n: int) -> float:
    return size(a, n)


@compiled
def add_scaled_to(a: Any, factor: float, b: Any, n: int) -> None:
    add_scaled(a, factor, b, n)


@compiled
def product_of(Q: Any, m: int, v: Any, out: Any) -> None:
    product(Q, m, v, out)


@compiled
def products_of(Q: Any, m: int, V: Any, b: int, out: Any) -> None:
    products(Q, m, V, b, out)


@compiled
def combined(A: Any, shares: Any, n: int, out: Any) -> None:
    combine(A, shares, n, out)


@compiled
def drift_of(D: Any, m: int, gram: Any, scratch: Any) -> float:
    return measured_drift(D, m, gram, scratch)


def holding(Q: Any) -> Any:
    """Return a dictionary with ``Q`` for an inverse."""
    m = len(Q)
    D = dictionary(m, 1)._replace(inverse=in_panels(Q))
    D.diagonal[:m] = Q.diagonal()
    return D


@compiled
def swept(S: Any, b: int) -> None:
    for pivot in range(b):
        sweep(S, b, pivot)


def symmetric(rng: np.random.Generator, m: int) -> tuple[Any, Any]:
    """Return a symmetric matrix, and the same in a larger one, zeros to its right."""
    Q = rng.normal(size=(m, m))
    Q += Q.T
    return Q, in_panels(Q)


def in_panels(Q: Any) -> Any:
    """Return a matrix in panels; what stands in rows behind is never read."""
    m, n = len(Q), padded(len(Q))
    room = np.full(n * n, np.nan)
    for k in range(n):
        for row in range(m):
            place = k // PANEL * PANEL * n + PANEL * row + k % PANEL
            room[place] = Q[k, row] if k < m else 0.0
    return room


@pytest.mark.parametrize("n", range(41))
def test_vectors(n: int, rng: np.random.Generator) -> None:
    a, b = rng.normal(size=(2, n)) * 10.0 ** rng.integers(-3, 4, size=(2, n))
    u, v = np.full((2, in_lanes(n) + 4), np.nan)
    u[:n], v[:n] = a, b
    assert abs(dot_of(u, v, n) - a @ b) <= ROUNDING * (np.abs(a) @ np.abs(b))
    u[n : in_lanes(n)] = v[n : in_lanes(n)] = 0.0
    assert size_of(u, n) == pytest.approx(np.abs(a).sum(), rel=ROUNDING)
    add_scaled_to(u, 0.3, v, n)
    bound = ROUNDING * (np.abs(a) + 0.3 * np.abs(b))
    assert (np.abs(u[:n] - (a + 0.3 * b)) <= bound).all()
    assert (u[n : in_lanes(n)] == 0.0).all()
    assert np.isnan(u[in_lanes(n) :]).all()


@pytest.mark.parametrize("m", range(1, 41))
def test_matrices(m: int, rng: np.random.Generator) -> None:
    Q, room = symmetric(rng, m)
    wide = padded(m)
    for b in range(1, 10):
        V, tall = rng.normal(size=(b, m)), in_lanes(b)
        given, out = np.full((tall, wide), np.nan), np.full((tall + 1, wide + 4), GUARD)
        given[:b, :m] = V
        products_of(room, m, given, b, out)
        assert (np.abs(out[:b, :m] - V @ Q) <= ROUNDING * np.abs(V) @ np.abs(Q)).all()
        assert (out[:b, m:wide] == 0.0).all()
        assert (out[:b, wide:] == GUARD).all()
        assert (out[tall] == GUARD).all()
        one = np.full(wide + 4, GUARD)
        product_of(room, m, given[b - 1], one)
        np.testing.assert_array_equal(one, out[b - 1])  # alone or in four, same bits


@pytest.mark.parametrize("n", [0, *range(1, 18), 33])
def test_combination_of_rows(n: int, rng: np.random.Generator) -> None:
    A, shares = rng.normal(size=(n, n)), rng.normal(size=n)
    room = np.full((padded(n) + 1, padded(n)), np.nan)
    room[:n, :n] = A
    out = np.full(padded(n) + 4, GUARD)
    combined(room, shares, n, out)
    error = np.abs(out[:n] - shares @ A)
    assert (error <= ROUNDING * np.abs(shares) @ np.abs(A)).all()
    assert (out[padded(n) :] == GUARD).all()


@pytest.mark.parametrize("m", [1, 2, 7, 8, 9, 30])
@pytest.mark.parametrize("damage", [0.0, 1e-9, 1e-3, 10.0])
def test_drift(m: int, damage: float, rng: np.random.Generator) -> None:
    x = np.sort(rng.uniform(size=m)) + np.arange(m)
    K = np.exp(-((x[:, None] - x) ** 2))
    Q = np.linalg.inv(K)
    Q = (Q + Q.T) / 2 + damage * np.eye(m)[::-1]
    gram, scratch = np.zeros((2, padded(m), padded(m)))
    gram[:m, :m] = K
    exact = K.astype(np.longdouble) @ Q.astype(np.longdouble) - np.eye(m)
    expected, slack = float(np.abs(exact).max()), 1e-15 * m * np.abs(Q).max()
    got = drift_of(holding(Q), m, gram, scratch)
    assert expected <= got <= expected + 2.0 * slack
    assert damage == 0.0 or got > 0.1 * damage


def test_drift_of_no_numbers_is_not_small() -> None:
    """An inverse that has become NaN must not pass for a good one."""
    gram, scratch = np.zeros((2, 8, 8))
    gram[:2, :2] = np.eye(2)
    assert not drift_of(holding(np.full((2, 2), np.nan)), 2, gram, scratch) < 1.0


@pytest.mark.parametrize("b", range(1, 14))
def test_sweeping_all_inverts(b: int, rng: np.random.Generator) -> None:
    A = rng.normal(size=(b, b))
    S = np.zeros((padded(b), padded(b)))
    S[:b, :b] = A @ A.T + np.eye(b)
    expected = np.linalg.inv(S[:b, :b])
    swept(S, b)
    np.testing.assert_allclose(S[:b, :b], expected, rtol=1e-9, atol=1e-12)


@compiled
def sweep_one(S: Any, b: int, pivot: int) -> None:
    sweep(S, b, pivot)


@pytest.mark.parametrize("b", [1, 2, 3, 5, 8, 11])
def test_what_is_swept_again_leaves_the_set(b: int, rng: np.random.Generator) -> None:
    """The inverse is then that of the others, as if it had never been in."""
    A, S = rng.normal(size=(b, b)), np.zeros((padded(b), padded(b)))
    S[:b, :b] = A @ A.T + np.eye(b)
    gone = b // 2
    others = np.delete(np.arange(b), gone)
    expected = np.linalg.inv(S[np.ix_(others, others)]) if b > 1 else np.empty((0, 0))
    swept(S, b)
    sweep_one(S, b, gone)
    np.testing.assert_allclose(S[np.ix_(others, others)], expected, rtol=1e-9)


@compiled
def unpacked(Q: Any, m: int, out: Any) -> None:
    unpack(Q, m, out)


@compiled
def packed_into(A: Any, members: Any, m: int, Q: Any) -> None:
    pack(A, members, m, Q)


@pytest.mark.parametrize("m", [*range(1, 10), 15, 16, 17, 33])
def test_panels_there_and_back(m: int, rng: np.random.Generator) -> None:
    """Matrices come out of panels as they went in, however they went."""
    Q, room = symmetric(rng, m)
    np.testing.assert_array_equal(square(room, m), Q)
    out = np.full((padded(m), padded(m)), GUARD)
    unpacked(room, m, out)
    np.testing.assert_array_equal(out[:m, :m], Q)
    assert (out[m:] == GUARD).all()
    larger = np.full(len(room) + 100, np.nan)
    copy_panels(room, m, larger)
    assert np.isnan(larger[len(room) :]).all()
    written = np.full(len(room), np.nan)
    write_square(written, Q)
    members, chosen = rng.permutation(m), np.full(room.shape, np.nan)
    packed_into(out, members, m, chosen)
    np.testing.assert_array_equal(square(chosen, m), Q[np.ix_(members, members)])
    for panels in (larger, written):
        np.testing.assert_array_equal(square(panels, m), Q)
    for panels in (room, larger, written, chosen):  # columns behind the last are zero
        whole = square(panels, padded(m))
        assert (whole[:m, m:] == 0.0).all()
