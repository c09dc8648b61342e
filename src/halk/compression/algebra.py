"""Products of vectors and matrices in lanes: the blocked loops of the fast path.

Their plain twins are NumPy's ``@``; tests compare them. Rows have room for full lanes.
"""

from halk._jit import (
    LANES,
    fma,
    inlined,
    load,
    magnitude,
    shared,
    spread,
    store,
    total,
)
from halk._validation import Matrix, Vector


@inlined
def dot(a: Vector, b: Vector, n: int) -> float:
    """Return ``<a, b>`` over the first ``n``; what stands behind does not matter."""
    full = n // LANES * LANES
    lanes = spread(0.0)
    for k in range(0, full, LANES):
        lanes = fma(load(a, k), load(b, k), lanes)
    result = total(lanes)
    for k in range(full, n):
        result += a[k] * b[k]
    return result


@inlined
def size(a: Vector, n: int) -> float:
    """Return ``|a|_1`` over the first ``n``; zeros stand behind, up to full lanes."""
    lanes = spread(0.0)
    for k in range(0, n, LANES):
        lanes = lanes + magnitude(load(a, k))
    return total(lanes)


@inlined
def add_scaled(a: Vector, factor: float, b: Vector, n: int) -> None:
    """Add ``factor b`` to ``a``, over full lanes from the first ``n`` on."""
    share = spread(factor)
    for k in range(0, n, LANES):
        store(a, k, fma(share, load(b, k), load(a, k)))


@shared
def product(Q: Matrix, m: int, v: Vector, out: Vector) -> None:
    """Fill ``out`` with ``Q v`` for the first ``m`` of a symmetric ``Q``.

    Columns of ``Q`` behind ``m`` are zero, and so are then those entries of ``out``.
    """
    for k in range(0, m, 2 * LANES):
        low, high = spread(0.0), spread(0.0)
        for c in range(m):
            row, share = Q[c], spread(v[c])
            low = fma(load(row, k), share, low)
            high = fma(load(row, k + LANES), share, high)
        store(out, k, low)
        store(out, k + LANES, high)


@shared
def products(Q: Matrix, m: int, V: Matrix, b: int, out: Matrix) -> None:
    """Fill the first ``b`` rows of ``out`` with ``Q v`` for the rows of ``V``.

    Four rows at a time: what is loaded of ``Q`` serves all of them. For three, or two,
    a row or two behind them, which there is room for, go with them.
    """
    grouped = (b + 2) // 4 * 4
    for r in range(0, grouped, 4):
        _four_products(Q, m, V[r], V[r + 1], V[r + 2], V[r + 3], r, out)
    for r in range(grouped, b):
        product(Q, m, V[r], out[r])


@shared
def _four_products(
    Q: Matrix, m: int, v0: Vector, v1: Vector, v2: Vector, v3: Vector, r: int,
    out: Matrix,
) -> None:  # fmt: skip
    for k in range(0, m, 2 * LANES):
        low0, high0, low1, high1 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        low2, high2, low3, high3 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        for c in range(m):
            low, high = load(Q[c], k), load(Q[c], k + LANES)
            s0, s1, s2, s3 = spread(v0[c]), spread(v1[c]), spread(v2[c]), spread(v3[c])
            low0, high0 = fma(low, s0, low0), fma(high, s0, high0)
            low1, high1 = fma(low, s1, low1), fma(high, s1, high1)
            low2, high2 = fma(low, s2, low2), fma(high, s2, high2)
            low3, high3 = fma(low, s3, low3), fma(high, s3, high3)
        store(out[r], k, low0)
        store(out[r], k + LANES, high0)
        store(out[r + 1], k, low1)
        store(out[r + 1], k + LANES, high1)
        store(out[r + 2], k, low2)
        store(out[r + 2], k + LANES, high2)
        store(out[r + 3], k, low3)
        store(out[r + 3], k + LANES, high3)


@shared
def sweep(S: Matrix, b: int, pivot: int) -> None:
    """Gauss-Jordan step: after sweeping a set, its block of ``S`` is its inverse."""
    top = S[pivot]
    scale = 1.0 / top[pivot]
    for c in range(0, b, LANES):
        store(top, c, spread(scale) * load(top, c))
    top[pivot] = scale
    for row in range(b):
        if row != pivot:
            factor = S[row, pivot]
            S[row, pivot] = 0.0
            add_scaled(S[row], -factor, top, b)
