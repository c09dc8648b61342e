"""Whether greedy removal takes all new atoms of a block before any old one.

First by a bound that holds for every order of removal; stage by stage only for the old
atoms that it leaves in doubt.
"""

from math import sqrt

from halk._jit import (
    LANES,
    any_below,
    fma,
    internal,
    least,
    load,
    magnitude,
    root,
    spread,
    store,
)
from halk.compression.algebra import add_scaled, padded_dot, size, sweep
from halk.compression.trust import TIE, is_rounding
from halk.compression.workspace import Block, Dictionary, Workspace


@internal
def are_all_cheaper(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, spent: float
) -> bool:
    """Return whether at every stage of removal a new atom costs less than any old one.

    ``spent`` is the squared distance once all are gone.
    """
    _schur_complement(m, block, ws, b)
    weights, start = ws.solution, ws.start
    # not a literal, which would be compiled for by itself
    first, last, n_new = 0 * m, m, b
    if _factor(m, block, ws, b):
        _invert_factor(ws, b)
        first, last = _doubtful(D, m, block, ws, b, spent)
        if first >= last:
            return True
        for k in range(first, last, LANES):
            store(weights, k, load(start, k))
        _multiply_factors(ws, b)
    else:
        for k in range(0, m, LANES):
            store(weights, k, load(start, k))
        n_new = _drop_dependent(m, block, ws, b)
    _invert_onto_old(D, m, block, ws, b, n_new, first, last)
    so_far = 0.0
    for _ in range(n_new):
        new = _cheapest_new(ws, n_new)
        cost = ws.rest[new] ** 2 / ws.schur[new, new]
        so_far += cost
        if _is_old_cheaper(ws, cost - TIE * so_far, first, last):
            return False
        _remove_new(ws, n_new, new, first, last)
    return True


@internal
def _factor(m: int, block: Block, ws: Workspace, b: int) -> bool:
    """Fill ``ws.pulled`` with the factor ``L`` of ``S = L L'``, its diagonal inverted.

    Returns False if a point depends on the others, up to rounding.
    """
    S, L, U, gram = ws.schur, ws.pulled, block.solved, block.gram
    for a in range(b):
        for c in range(a + 1):
            left = S[a, c]
            for i in range(c):
                left -= L[a, i] * L[c, i]
            if c < a:
                L[a, c] = left * L[c, c]
            elif is_rounding(left, gram[a, a], size(U[a], m)):
                return False
            else:
                L[a, a] = 1.0 / sqrt(left)
    return True


@internal
def _doubtful(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, spent: float
) -> tuple[int, int]:
    """Return where the old atoms are for which the order of removal may matter.

    At no stage does the cheapest new atom cost more than all of them, ``spent``; old
    atom ``k`` has a precision of at most ``p = Q_kk + P_k``, and its weight is at most
    ``(spent P_k)^(1/2)`` away from the last one, ``w``. So it never costs less than
    ``(|w| - (spent P_k)^(1/2))^2 / p``, and if that is more, it is beyond doubt.
    ``P_k`` is the squared length of column ``k`` of ``L^-1 U``. Returns the first of
    those left, in lanes, and what is behind the last.
    """
    weights, diagonal, U, W = ws.weights, D.diagonal, block.solved, ws.pulled
    first, last = m, 0 * m
    distance, none = spread(spent**0.5), spread(0.0)
    for k in range(0, m, LANES):
        P = none
        for a in range(b):
            z = none
            for i in range(a + 1):
                z = fma(spread(W[a, i]), load(U[i], k), z)
            P = fma(z, z, P)
        Q = none - least(none - load(diagonal, k), none)  # -1 behind the last atom
        if any_below(magnitude(load(weights, k)), distance * (root(P) + root(Q + P))):
            first, last = k if k < first else first, k + LANES
    return first, last


@internal
def _invert_factor(ws: Workspace, b: int) -> None:
    """Replace the factor by its inverse; its diagonal is that already."""
    L = ws.pulled
    for c in range(b):  # in place: what is behind a column is not read again
        for a in range(c + 1, b):
            left = 0.0
            for i in range(c, a):
                left -= L[a, i] * L[i, c]
            L[a, c] = left * L[a, a]


@internal
def _multiply_factors(ws: Workspace, b: int) -> None:
    """Fill ``T = W' W``, the inverse of ``S``, from that of its factor."""
    T, W = ws.schur, ws.pulled
    for a in range(b):
        for c in range(a + 1):
            inner = 0.0
            for i in range(a, b):
                inner += W[i, a] * W[i, c]
            T[a, c] = inner
            T[c, a] = inner


@internal
def _schur_complement(m: int, block: Block, ws: Workspace, b: int) -> None:
    """Fill ``S = block.gram - cross U'``."""
    cross, U, S, gram = block.cross, block.solved, ws.schur, block.gram
    rest, coefficients = ws.rest, block.coefficients
    for row in range(b):
        rest[row] = coefficients[row]
        for other in range(row + 1):
            left = gram[row, other] - padded_dot(cross[row], U[other], m)
            S[row, other] = left
            S[other, row] = left


@internal
def _drop_dependent(m: int, block: Block, ws: Workspace, b: int) -> int:
    """Invert ``S`` in place by pivoting; absorb the points that depend on the others.

    The point that adds most to the span goes first, which keeps fitting weights small.
    Returns how many independent new atoms there are; ``ws.picked`` marks them.
    """
    S, U, gram = ws.schur, block.solved, block.gram
    picked, sizes = ws.picked, block.values
    for row in range(b):
        picked[row] = 0
        sizes[row] = size(U[row], m)
    n_new = 0
    while n_new < b:
        pivot = b  # for none
        for row in range(b):
            if picked[row] == 0:
                if is_rounding(S[row, row], gram[row, row], sizes[row]):
                    continue
                if pivot == b or S[row, row] > S[pivot, pivot]:
                    pivot = row
        if pivot == b:
            break
        picked[pivot] = 1
        n_new += 1
        sweep(S, b, pivot)
    if n_new < b:
        _absorb(m, block, ws, b)
    return n_new


@internal
def _absorb(m: int, block: Block, ws: Workspace, b: int) -> None:
    """Move the coefficients of dependent points onto what they depend on."""
    for row in range(b):
        if ws.picked[row] == 0:
            coefficient = ws.rest[row]
            add_scaled(ws.solution, coefficient, block.solved[row], m)
            for other in range(b):
                if ws.picked[other] == 1:
                    share = coefficient * ws.schur[other, row]
                    ws.rest[other] += share
                    add_scaled(ws.solution, -share, block.solved[other], m)


@internal
def _invert_onto_old(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, n_new: int, first: int,
    last: int,
) -> None:  # fmt: skip
    """Fill ``R = T U`` and ``ws.precision``, for the old atoms in doubt.

    It is the diagonal of the inverse of the union's Gram matrix: ``Q + U' R``.
    """
    T, U, R, precision = ws.schur, block.solved, ws.pulled, ws.precision
    if n_new < b:
        _close_gaps(m, block, ws, b, n_new)
    for a in range(n_new):
        ws.picked[a] = 1
    for k in range(first, last, LANES):
        diagonal = load(D.diagonal, k)
        for a in range(n_new):
            lanes = spread(0.0)
            for c in range(n_new):
                lanes = fma(spread(T[a, c]), load(U[c], k), lanes)
            store(R[a], k, lanes)
            diagonal = fma(lanes, load(U[a], k), diagonal)
        store(precision, k, diagonal)


@internal
def _close_gaps(m: int, block: Block, ws: Workspace, b: int, n_new: int) -> None:
    """Move the rows of independent points together."""
    position = 0
    for row in range(b):
        if ws.picked[row] == 1:
            ws.kept[position] = row
            position += 1
    for a in range(n_new):
        row = ws.kept[a]
        ws.rest[a] = ws.rest[row]
        for c in range(n_new):
            ws.schur[a, c] = ws.schur[row, ws.kept[c]]
        for k in range(0, m, LANES):
            store(block.solved[a], k, load(block.solved[row], k))


@internal
def _is_old_cheaper(ws: Workspace, cost: float, first: int, last: int) -> bool:
    """Return whether an old atom is removed for less: ``w_k^2 / Q_kk < cost``."""
    price, weights, precision = spread(cost), ws.solution, ws.precision
    for k in range(first, last, LANES):
        w = load(weights, k)
        if any_below(w * w, price * load(precision, k)):
            return True
    return False


@internal
def _cheapest_new(ws: Workspace, n_new: int) -> int:
    best, cheapest = -1, 0.0
    picked, rest, T = ws.picked, ws.rest, ws.schur
    for a in range(n_new):
        if picked[a] == 1:
            cost = rest[a] ** 2 / T[a, a]
            if best < 0 or cost <= cheapest:
                best, cheapest = a, cost
    return best


@internal
def _remove_new(ws: Workspace, n_new: int, gone: int, first: int, last: int) -> None:
    """Remove new atom ``gone`` and refit everything else that is in doubt."""
    T, R, picked, rest = ws.schur, ws.pulled, ws.picked, ws.rest
    removed, pivot, precision = R[gone], T[gone, gone], ws.precision
    weights, share, moved = (
        ws.solution,
        spread(-1.0 / pivot),
        spread(rest[gone] / pivot),
    )
    picked[gone] = 0
    for k in range(first, last, LANES):
        r = load(removed, k)
        store(weights, k, fma(moved, r, load(weights, k)))
        store(precision, k, fma(share * r, r, load(precision, k)))
    for a in range(n_new):
        if picked[a] == 1:
            ratio = T[a, gone] / pivot
            rest[a] -= ratio * rest[gone]
            left = spread(-ratio)
            for k in range(first, last, LANES):
                store(R[a], k, fma(left, load(removed, k), load(R[a], k)))
            add_scaled(T[a], -ratio, T[gone], n_new)
