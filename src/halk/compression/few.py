"""The early decision for two to four new atoms, written out.

Blocks are small, and of another size in every step: loops over their rows are short,
and a processor that guesses where they end is wrong most of the time. Here nothing is
guessed: there are always four rows, and those that are not there are zero. What is
computed is what :mod:`halk.compression.block` and :mod:`halk.compression.stages` do for
blocks of any size, and their tests hold it to the same.
"""

from typing import Any

from halk._jit import (
    LANES,
    any_below,
    fma,
    inlined,
    internal,
    least,
    load,
    magnitude,
    spread,
    store,
    total,
)
from halk._validation import Matrix, Vector
from halk.compression.stages import (
    LITTLE,
    OF_P,
    OF_Q,
    are_cheaper_by_stages,
    invert,
)
from halk.compression.trust import ROUNDING
from halk.compression.workspace import Block, Dictionary, Workspace

FEW = 4
"""Most rows of a block that is worked on here."""


@inlined
def _row(A: Matrix, a: int, b: int, none: Vector) -> Vector:
    """Return row ``a`` of the ``b`` that are there, or zeros."""
    return A[a] if a < b else none


@inlined
def _number(c: float, a: int, b: int) -> float:
    """Return ``c`` if row ``a`` is one of the ``b`` that are there, or zero."""
    return c if a < b else 0.0


@internal
def few_removed(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int
) -> tuple[float, float, float, float]:
    """Fill ``ws.weights`` and return what ``block._all_removed`` does."""
    c, none = block.coefficients, ws.none
    start, weights, norms = ws.start, ws.weights, D.norms
    c0, c1, c2, c3 = c[0], c[1], _number(c[2], 2, b), _number(c[3], 3, b)
    k0, k1 = block.cross[0], block.cross[1]
    k2, k3 = _row(block.cross, 2, b, none), _row(block.cross, 3, b, none)
    u0, u1 = block.solved[0], block.solved[1]
    u2, u3 = _row(block.solved, 2, b, none), _row(block.solved, 3, b, none)
    s0, s1, s2, s3 = spread(c0), spread(c1), spread(c2), spread(c3)
    pull, move, moved, inner = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
    for k in range(0, m, LANES):
        v = fma(s1, load(k1, k), s0 * load(k0, k))
        v = v + fma(s3, load(k3, k), s2 * load(k2, k))
        change = fma(s1, load(u1, k), s0 * load(u0, k))
        change = change + fma(s3, load(u3, k), s2 * load(u2, k))
        store(weights, k, load(start, k) + change)
        pull, move = pull + magnitude(v), move + magnitude(change)
        moved = fma(magnitude(change), load(norms, k), moved)
        inner = fma(v, change, inner)
    square, size = _square_and_size(block.gram, c0, c1, c2, c3, b)
    return square - total(inner), size, total(moved), total(pull) * total(move)


@inlined
def _square_and_size(
    G: Matrix, c0: float, c1: float, c2: float, c3: float, b: int
) -> tuple[float, float]:
    """Return ``c' G c``, and the sum of the sizes of what is removed."""
    size = abs(c0) * G[0, 0] ** 0.5 + abs(c1) * G[1, 1] ** 0.5
    square = c0 * (c0 * G[0, 0] + 2.0 * c1 * G[1, 0]) + c1 * c1 * G[1, 1]
    if b > 2:
        size += abs(c2) * G[2, 2] ** 0.5
        square += c2 * (c2 * G[2, 2] + 2.0 * (c0 * G[2, 0] + c1 * G[2, 1]))
    if b > 3:
        size += abs(c3) * G[3, 3] ** 0.5
        others = c0 * G[3, 0] + c1 * G[3, 1] + c2 * G[3, 2]
        square += c3 * (c3 * G[3, 3] + 2.0 * others)
    return square, size


@internal
def few_left(m: int, block: Block, ws: Workspace, b: int) -> float:
    """Fill ``S = block.gram - cross U'``.

    Returns the share of ``k(x, x)`` that must be left of a point so that it surely is
    independent of the others.
    """
    none = ws.none
    k0, k1 = block.cross[0], block.cross[1]
    k2, k3 = _row(block.cross, 2, b, none), _row(block.cross, 3, b, none)
    u0, u1 = block.solved[0], block.solved[1]
    u2, u3 = _row(block.solved, 2, b, none), _row(block.solved, 3, b, none)
    d00, d10, d20, d30 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
    d11, d21, d31, lengths = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
    d22, d32, d33 = spread(0.0), spread(0.0), spread(0.0)
    for k in range(0, m, LANES):
        a0, a1, a2, a3 = load(k0, k), load(k1, k), load(k2, k), load(k3, k)
        v = load(u0, k)
        d00, d10, d20 = fma(a0, v, d00), fma(a1, v, d10), fma(a2, v, d20)
        d30, lengths = fma(a3, v, d30), lengths + magnitude(v)
        v = load(u1, k)
        d11, d21, d31 = fma(a1, v, d11), fma(a2, v, d21), fma(a3, v, d31)
        lengths = lengths + magnitude(v)
        v = load(u2, k)
        d22, d32, lengths = fma(a2, v, d22), fma(a3, v, d32), lengths + magnitude(v)
        v = load(u3, k)
        d33, lengths = fma(a3, v, d33), lengths + magnitude(v)
    S, G, size = ws.schur, block.gram, 1.0 + total(lengths)
    _write(S, 0, 0, G[0, 0] - total(d00))
    _write(S, 1, 0, G[1, 0] - total(d10))
    _write(S, 1, 1, G[1, 1] - total(d11))
    _write(S, 2, 0, _number(G[2, 0], 2, b) - total(d20))
    _write(S, 2, 1, _number(G[2, 1], 2, b) - total(d21))
    _write(S, 2, 2, (G[2, 2] if b > 2 else 1.0) - total(d22))
    _write(S, 3, 0, _number(G[3, 0], 3, b) - total(d30))
    _write(S, 3, 1, _number(G[3, 1], 3, b) - total(d31))
    _write(S, 3, 2, _number(G[3, 2], 3, b) - total(d32))
    _write(S, 3, 3, (G[3, 3] if b > 3 else 1.0) - total(d33))
    return max(LITTLE, ROUNDING * size * size)


@inlined
def _write(S: Matrix, a: int, c: int, value: float) -> None:
    S[a, c] = value
    S[c, a] = value


@internal
def are_few_independent(block: Block, ws: Workspace, b: int, share: float) -> bool:
    """Factor ``S = L C L'``; False if little is left of a point, see :func:`few_left`.

    ``ws.stages`` gets minus ``L`` below its unit diagonal, ``ws.prices`` ``1 / C``.
    """
    S, L, inverse, G = ws.schur, ws.stages, ws.prices, block.gram
    s10, s20, s30 = S[1, 0], S[2, 0], S[3, 0]
    p0, floor = S[0, 0], share * G[0, 0]
    if not p0 > floor:
        return False
    i0 = 1.0 / p0
    l10, l20, l30 = s10 * i0, s20 * i0, s30 * i0
    p1, s21, s31 = S[1, 1] - l10 * s10, S[2, 1] - l20 * s10, S[3, 1] - l30 * s10
    if not p1 > share * G[1, 1]:
        return False
    i1 = 1.0 / p1
    l21, l31 = s21 * i1, s31 * i1
    p2, s32 = S[2, 2] - l20 * s20 - l21 * s21, S[3, 2] - l30 * s20 - l31 * s21
    if not p2 > share * (G[2, 2] if b > 2 else 1.0):
        return False
    i2 = 1.0 / p2
    l32 = s32 * i2
    p3 = S[3, 3] - l30 * s30 - l31 * s31 - l32 * s32
    if not p3 > share * (G[3, 3] if b > 3 else 1.0):
        return False
    inverse[0], inverse[1], inverse[2], inverse[3] = i0, i1, i2, 1.0 / p3
    L[1, 0], L[2, 0], L[3, 0] = -l10, -l20, -l30
    L[2, 1], L[3, 1], L[3, 2] = -l21, -l31, -l32
    return True


@inlined
def _grown_squares(c: Vector, S: Matrix, b: int) -> tuple[Any, Any, Any, Any, Any]:
    """Return ``4^b c_a^2`` of all four rows, and the largest ``4^b c_a^2 S_aa``."""
    growth = 16.0 if b == 2 else (64.0 if b == 3 else 256.0)
    c0, c1 = growth * c[0] * c[0], growth * c[1] * c[1]
    c2, c3 = growth * _number(c[2], 2, b) ** 2, growth * _number(c[3], 3, b) ** 2
    price = max(c0 * S[0, 0], c1 * S[1, 1], c2 * S[2, 2], c3 * S[3, 3])
    return spread(c0), spread(c1), spread(c2), spread(c3), spread(price)


@internal
def are_few_clearly_cheaper(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, share: float
) -> bool:
    """Return whether all new atoms go first, by a bound that needs no factor.

    The cheapest new atom goes first, so no other coefficient becomes more than twice as
    large when it does: with ``n`` left they are up to ``2^(b - n)`` times what they
    were, and ``n 4^(b - n) <= 4^(b - 1)``. What ``stages.are_cheaper_by_stages`` asks
    is so if

        ``4^b (sum_a (c_a u_a)^2 + Q_kk max_a c_a^2 S_aa) <= w_k^2``.

    False also if a point may repeat an atom.
    """
    S, G, none = ws.schur, block.gram, ws.none
    is_new = S[0, 0] > share * G[0, 0] and S[1, 1] > share * G[1, 1]
    is_new = is_new and (b < 3 or S[2, 2] > share * G[2, 2])
    if not (is_new and (b < 4 or S[3, 3] > share * G[3, 3])):
        return False
    u0, u1 = block.solved[0], block.solved[1]
    u2, u3 = _row(block.solved, 2, b, none), _row(block.solved, 3, b, none)
    c0, c1, c2, c3, price = _grown_squares(block.coefficients, S, b)
    weights, diagonal = ws.weights, D.diagonal
    for k in range(0, m, LANES):
        z0, z1, z2, z3 = load(u0, k), load(u1, k), load(u2, k), load(u3, k)
        near = fma(z1 * z1, c1, z0 * z0 * c0) + fma(z3 * z3, c3, z2 * z2 * c2)
        w = load(weights, k)
        if any_below(w * w, fma(price, load(diagonal, k), near)):
            return False
    return True


@internal
def are_few_cheaper(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, spent: float
) -> bool:
    """Return what ``stages.are_all_cheaper`` does, of points that are independent.

    The bound of ``stages._first_in_doubt``: column ``k`` of ``L^-1 U`` is ``z``, and
    ``P_k = sum_a z_a^2 / C_a``. It or :func:`are_few_clearly_cheaper` must tell.
    """
    L, inverse, none = ws.stages, ws.prices, ws.none
    u0, u1 = block.solved[0], block.solved[1]
    u2, u3 = _row(block.solved, 2, b, none), _row(block.solved, 3, b, none)
    l10, l20, l21 = spread(L[1, 0]), spread(L[2, 0]), spread(L[2, 1])
    l30, l31, l32 = spread(L[3, 0]), spread(L[3, 1]), spread(L[3, 2])
    i0, i1 = spread(inverse[0]), spread(inverse[1])
    i2, i3 = spread(inverse[2]), spread(inverse[3])
    weights, diagonal, precision = ws.weights, D.diagonal, ws.precision
    first, last = m, 0 * m
    of_p, of_q = spread(spent * OF_P), spread(spent * OF_Q)
    c0, c1, c2, c3, price = _grown_squares(block.coefficients, ws.schur, b)
    for k in range(0, m, LANES):
        z0 = load(u0, k)
        z1 = fma(l10, z0, load(u1, k))
        z2 = fma(l21, z1, fma(l20, z0, load(u2, k)))
        z3 = fma(l32, z2, fma(l31, z1, fma(l30, z0, load(u3, k))))
        P = fma(z1 * z1, i1, z0 * z0 * i0) + fma(z3 * z3, i3, z2 * z2 * i2)
        w, Q = load(weights, k), load(diagonal, k)
        store(precision, k, Q + P)
        dear = fma(of_p, P, of_q * Q)
        if any_below(w * w, dear):
            z1, z2, z3 = load(u1, k), load(u2, k), load(u3, k)
            pairs = fma(z1 * z1, c1, z0 * z0 * c0), fma(z3 * z3, c3, z2 * z2 * c2)
            other = fma(price, Q, pairs[0] + pairs[1])
            if any_below(w * w, least(dear, other)):
                first, last = k if k < first else first, k + LANES
    if first >= last:
        return True
    n_new = invert(m, block, ws, b)
    return are_cheaper_by_stages(D, block, ws, b, n_new, first, last)
