"""Symmetric matrices in panels: the form in which an agent's inverse is kept.

A panel holds eight columns, row after row, and panel follows upon panel without a gap.
A product then reads memory from end to end, and what is read in order the machine
fetches ahead. What stands behind a matrix in memory is, in the simulator, usually that
of the next agent: a product asks for it line by line while it works, since asked for
all at once most of it would not come. Without both, products wait for memory for most
of their time.

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
    """Fill ``out`` with ``Q v``, and zeros up to full lanes."""
    n = padded(m)
    for k in range(0, m, PANEL):
        low, high, panel = spread(0.0), spread(0.0), k * n
        for c in range(m):
            share, place = spread(v[c]), panel + PANEL * c
            low = fma(load(Q, place), share, low)
            high = fma(load(Q, place + LANES), share, high)
        store(out, k, low)
        store(out, k + LANES, high)


@shared
def products(Q: Vector, m: int, V: Matrix, b: int, out: Matrix) -> None:
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
    Q: Vector, m: int, v0: Vector, v1: Vector, v2: Vector, v3: Vector, r: int,
    out: Matrix,
) -> None:  # fmt: skip
    n = padded(m)
    for k in range(0, m, PANEL):
        low0, high0, low1, high1 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        low2, high2, low3, high3 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        for c in range(m):
            place = k * n + PANEL * c
            low, high = load(Q, place), load(Q, place + LANES)
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
