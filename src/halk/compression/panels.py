"""Symmetric matrices in panels: the form in which an agent's inverse is kept.

A panel holds eight columns, row after row, and panel follows upon panel without a gap,
so a product reads memory from end to end. It is made where kernel values are, which ask
for the matrix line by line while they are computed: asked for all at once most of it
would not come, and a product would wait for memory for most of its time.

A matrix of ``m`` rows, with ``n`` the next multiple of eight, takes ``n^2`` numbers:
entry ``(k, l)`` stands at ``k // 8 * 8 n + 8 l + k % 8``. Columns behind ``m`` are
zero; rows behind it do not matter.

The plain twin of the products is NumPy's ``@`` on :func:`square`.
"""

import numpy as np

from halk._jit import (
    LANES,
    compiled,
    fma,
    load,
    padded,
    shared,
    spread,
    store,
)
from halk._validation import Indices, Matrix, Vector

PANEL = 2 * LANES
"""Columns of a panel."""


def square(Q: Vector, m: int) -> Matrix:
    """Return a copy of ``Q`` as an ordinary matrix."""
    n = padded(m)
    rows = Q[: n * n].reshape(n // PANEL, n, PANEL).transpose(1, 0, 2)
    return np.asarray(rows.reshape(n, n)[:m, :m])


def write_square(Q: Vector, A: Matrix) -> None:
    """Write a symmetric matrix into panels."""
    m, n = len(A), padded(len(A))
    room = np.zeros((n, n))
    room[:m, :m] = A
    Q[: n * n] = room.reshape(n, n // PANEL, PANEL).transpose(1, 0, 2).ravel()


@shared
def unpack(Q: Vector, m: int, out: Matrix) -> None:
    """Fill ``out`` with the ordinary matrix."""
    n = padded(m)
    for k in range(0, m, PANEL):
        for c in range(m):
            place = k * n + PANEL * c
            store(out[c], k, load(Q, place))
            store(out[c], k + LANES, load(Q, place + LANES))


@shared
def pack(A: Matrix, members: Indices, m: int, Q: Vector) -> None:
    """Fill ``Q`` with rows and columns ``members`` of ``A``, ``m`` of them."""
    n = padded(m)
    for k in range(0, m, PANEL):
        for c in range(m):
            row, place = A[members[c]], k * n + PANEL * c
            for lane in range(PANEL):
                is_there = k + lane < m
                Q[place + lane] = row[members[k + lane]] if is_there else 0.0


@compiled
def copy_panels(source: Vector, m: int, target: Vector) -> None:
    """Copy a matrix of ``m`` rows."""
    for k in range(padded(m) ** 2):
        target[k] = source[k]


@shared
def product(Q: Vector, m: int, v: Vector, out: Vector) -> None:
    """Fill ``out`` with ``Q v``, and zeros up to full lanes.

    Two panels at a time: a sum waits for its last term, four of them less so.
    """
    n = padded(m)
    for k in range(0, n, 2 * PANEL):
        low0, high0, low1, high1 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        panel = k * n
        # what would be behind the last panel is read from there, and not written
        has_next = k + PANEL < n
        ahead = PANEL * n if has_next else 0
        for c in range(m):
            share, place = spread(v[c]), panel + PANEL * c
            low0 = fma(load(Q, place), share, low0)
            high0 = fma(load(Q, place + LANES), share, high0)
            low1 = fma(load(Q, place + ahead), share, low1)
            high1 = fma(load(Q, place + ahead + LANES), share, high1)
        store(out, k, low0)
        store(out, k + LANES, high0)
        if has_next:
            store(out, k + PANEL, low1)
            store(out, k + PANEL + LANES, high1)


@shared
def products(Q: Vector, m: int, V: Matrix, b: int, out: Matrix) -> None:
    """Fill the first ``b`` rows of ``out`` with ``Q v`` for the rows of ``V``.

    Two rows at a time: what is loaded of ``Q`` serves both.
    """
    paired = b // 2 * 2
    for r in range(0, paired, 2):
        _two_products(Q, m, V[r], V[r + 1], out[r], out[r + 1])
    if paired < b:
        product(Q, m, V[paired], out[paired])


@shared
def _two_products(
    Q: Vector, m: int, v: Vector, w: Vector, out_v: Vector, out_w: Vector
) -> None:
    n = padded(m)
    for k in range(0, n, 2 * PANEL):
        low0, high0, low1, high1 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        low2, high2, low3, high3 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        panel = k * n
        has_next = k + PANEL < n
        ahead = PANEL * n if has_next else 0
        for c in range(m):
            one, two, place = spread(v[c]), spread(w[c]), panel + PANEL * c
            low, high = load(Q, place), load(Q, place + LANES)
            low0, high0 = fma(low, one, low0), fma(high, one, high0)
            low2, high2 = fma(low, two, low2), fma(high, two, high2)
            low, high = load(Q, place + ahead), load(Q, place + ahead + LANES)
            low1, high1 = fma(low, one, low1), fma(high, one, high1)
            low3, high3 = fma(low, two, low3), fma(high, two, high3)
        store(out_v, k, low0)
        store(out_v, k + LANES, high0)
        store(out_w, k, low2)
        store(out_w, k + LANES, high2)
        if has_next:
            store(out_v, k + PANEL, low1)
            store(out_v, k + PANEL + LANES, high1)
            store(out_w, k + PANEL, low3)
            store(out_w, k + PANEL + LANES, high3)
