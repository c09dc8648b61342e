"""Sums and products of vectors in lanes: the small loops of the fast path.

Their plain twins are NumPy's; tests compare them. Rows have room for full lanes.
"""

from halk._jit import (
    LANES,
    fma,
    inlined,
    load,
    magnitude,
    put,
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
def padded_dot(a: Vector, b: Vector, n: int) -> float:
    """Return ``<a, b>`` over the first ``n``; behind, up to full lanes, one is zero."""
    lanes = spread(0.0)
    for k in range(0, n, LANES):
        lanes = fma(load(a, k), load(b, k), lanes)
    return total(lanes)


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
def combine(A: Matrix, shares: Vector, n: int, out: Vector) -> None:
    """Fill ``out`` with ``sum_a shares[a] A[a]`` for the first ``n`` rows and columns.

    For a symmetric matrix it is the product; what stands behind in ``out`` is nothing.
    """
    for k in range(0, n, 2 * LANES):
        low, high = spread(0.0), spread(0.0)
        for a in range(n):
            row, share = A[a], spread(shares[a])
            low = fma(load(row, k), share, low)
            high = fma(load(row, k + LANES), share, high)
        store(out, k, low)
        store(out, k + LANES, high)


@shared
def sweep(S: Matrix, b: int, pivot: int) -> None:
    """Gauss-Jordan step: after sweeping a set, its block of ``S`` is its inverse.

    Swept again, an index leaves the set. No number is written by itself: lanes that
    are read after it would have to wait.
    """
    top, inverse = S[pivot], 1.0 / S[pivot, pivot]
    for row in range(b):
        if row != pivot:
            own, factor = S[row], S[row, pivot] * inverse
            ratio = spread(factor)
            for c in range(0, b, LANES):
                left = load(own, c) - ratio * load(top, c)
                store(own, c, put(left, pivot - c, -factor))
    for c in range(0, b, LANES):
        store(top, c, put(spread(inverse) * load(top, c), pivot - c, inverse))
