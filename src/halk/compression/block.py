"""The early decision: whether the new atoms can go again without touching a matrix.

In the steady state a step moves weights only. Whether this step does is known after one
product ``U = Q k_D(x)`` an atom, in O(m) for one new atom and O(m b^2) for a block: the
Schur complement ``S`` of the block gives the removal costs of new and of old atoms
*after* adding, without adding.
"""

from math import sqrt

import numpy as np

from halk._jit import (
    LANES,
    any_at_most,
    any_below,
    fma,
    inlined,
    internal,
    least,
    load,
    magnitude,
    root,
    spread,
    store,
    total,
)
from halk._validation import Matrix, Vector
from halk.compression.algebra import add_scaled, dot, size, sweep
from halk.compression.panels import products
from halk.compression.trust import DRIFT, TIE, is_rounding, is_trusted
from halk.compression.workspace import Block, Dictionary, Workspace

UNDECIDED, UNVERIFIED, DECIDED = 0, 1, 2
"""Greedy removal must look; or weights alone move, if the distance is verified; or it
is."""


@internal
def merge_duplicates(D: Dictionary, m: int, block: Block, ws: Workspace, b: int) -> int:
    """Add the coefficients of repeated points to the atoms they repeat; return ``b``.

    Points that equal an atom, or an earlier point, bit for bit change no span; those
    with coefficient zero change nothing. ``ws.start`` holds the weights on old atoms.
    """
    # not a literal, which would be compiled for by itself
    n_left: int = np.int64(0)  # type: ignore[assignment]
    coefficients = block.coefficients
    for row in range(b):
        if coefficients[row] == 0.0:
            continue
        twin = _twin(D.atoms, m, block.points, row)
        if twin >= 0:
            ws.start[twin] += coefficients[row]
            continue
        twin = _twin(block.points, n_left, block.points, row)
        if twin >= 0:
            coefficients[twin] += coefficients[row]
            continue
        if n_left != row:
            _copy_row(block, m, row, n_left)
        n_left += 1
    return n_left


@inlined
def _twin(atoms: Matrix, m: int, points: Matrix, row: int) -> int:
    """Return the first of ``m`` atoms that equals a point, or -1."""
    first, x, nearest = atoms[0], spread(points[0, row]), spread(1.0)
    for k in range(0, m, LANES):
        close = load(first, k) - x
        nearest = least(close * close, nearest)
    if any_at_most(nearest, spread(0.0)):
        return _same_point(atoms, m, points, row)
    return -1


@internal
def _same_point(atoms: Matrix, m: int, points: Matrix, row: int) -> int:
    for a in range(m):
        same = True
        for f in range(len(atoms)):
            same = same and atoms[f, a] == points[f, row]
        if same:
            return a
    return -1


@internal
def _copy_row(block: Block, m: int, source: int, target: int) -> None:
    for f in range(len(block.points)):
        block.points[f, target] = block.points[f, source]
    old, new = block.cross[source], block.cross[target]
    for k in range(0, m, LANES):
        store(new, k, load(old, k))
    block.coefficients[target] = block.coefficients[source]
    block.diagonal[target] = block.diagonal[source]


def weights_only(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, budget: float,
    trust: Vector,
) -> int:  # fmt: skip
    """Try to remove all new atoms and no old one; leave the result in ``ws.weights``.

    Returns ``UNDECIDED`` where greedy removal would touch an old atom or keep a new
    one, ``UNVERIFIED`` where the inverse is not yet known to be good enough.
    """
    limit, weights, diagonal = budget * budget, ws.weights, D.diagonal
    products(D.inverse, m, block.cross, b, ws.solved)
    square, size, moved, drift = _all_removed(D, m, block, ws, b)
    spent = square if square > 0.0 else 0.0
    if not spent < limit:
        return UNDECIDED
    left = spread(limit - spent)
    for k in range(0, m, LANES):
        w = load(weights, k)
        if any_at_most(w * w, left * load(diagonal, k)):
            return UNDECIDED
    if b == 1:
        is_path = _is_one_cheaper(D, m, block, ws)
    else:
        is_path = b == 0 or _are_all_cheaper(D, m, block, ws, b, spent)
    if not is_path:
        return UNDECIDED
    if b == 0:  # nothing was removed: there is no distance
        return DECIDED
    is_sure = is_trusted(square + trust[DRIFT] * drift, budget, size, moved)
    return DECIDED if is_sure else UNVERIFIED


@internal
def _all_removed(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int
) -> tuple[float, float, float, float]:
    """Fill ``ws.weights`` with the weights once all new atoms are removed.

    Returns the squared distance, the size of what is removed, that of the change of the
    weights, and how much of ``|K Q - I|`` may be missing in the distance: with
    ``v = cross' c`` and the change ``a = Q v``, the squared distance is
    ``c' gram c - v'a`` plus at most ``|K Q - I| |v|_1 |a|_1``.
    """
    coefficients, gram, cross = block.coefficients, block.gram, block.cross
    start, weights, norms, U = ws.start, ws.weights, D.norms, ws.solved
    square, size = 0.0, 0.0
    for row in range(b):
        c = coefficients[row]
        size += abs(c) * gram[row, row] ** 0.5
        square += c * dot(gram[row], coefficients, b)
    pull, move, moved, inner = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
    for k in range(0, m, LANES):
        v, change = spread(0.0), spread(0.0)
        for row in range(b):
            c = spread(coefficients[row])
            v = fma(c, load(cross[row], k), v)
            change = fma(c, load(U[row], k), change)
        store(weights, k, load(start, k) + change)
        pull, move = pull + magnitude(v), move + magnitude(change)
        moved = fma(magnitude(change), load(norms, k), moved)
        inner = fma(v, change, inner)
    return square - total(inner), size, total(moved), total(pull) * total(move)


@internal
def _is_one_cheaper(D: Dictionary, m: int, block: Block, ws: Workspace) -> bool:
    """Return whether a single new atom costs less to remove than any old one."""
    u, cross, c = ws.solved[0], block.cross[0], block.coefficients[0]
    start, diagonal, kxx = ws.start, D.diagonal, block.gram[0, 0]
    s = kxx - dot(cross, u, m)
    if is_rounding(s, kxx, size(u, m)):
        return True
    square, left = spread(c * c * (1.0 - TIE)), spread(s)
    for k in range(0, m, LANES):
        w, v = load(start, k), load(u, k)
        # c^2 s > w^2 / (Q_kk + u^2 / s), without dividing
        if any_below(w * w, square * fma(left, load(diagonal, k), v * v)):
            return False
    return True


@internal
def _are_all_cheaper(
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
        first, last = _doubtful(D, m, ws, b, spent)
        if first >= last:
            return True
        for k in range(first, last, LANES):
            store(weights, k, load(start, k))
        _invert_factor(ws, b)
    else:
        for k in range(0, m, LANES):
            store(weights, k, load(start, k))
        n_new = _drop_dependent(m, block, ws, b)
    _invert_onto_old(D, m, ws, b, n_new, first, last)
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
    S, L, U, gram = ws.schur, ws.pulled, ws.solved, block.gram
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
    D: Dictionary, m: int, ws: Workspace, b: int, spent: float
) -> tuple[int, int]:
    """Return where the old atoms are for which the order of removal may matter.

    At no stage does the cheapest new atom cost more than all of them, ``spent``; old
    atom ``k`` has a precision of at most ``p = Q_kk + P_k``, and its weight is at most
    ``(spent P_k)^(1/2)`` away from the last one, ``w``. So it never costs less than
    ``(|w| - (spent P_k)^(1/2))^2 / p``, and if that is more, it is beyond doubt.
    ``P_k`` is the squared length of column ``k`` of ``Z = L^-1 U``. Returns the first
    of those left, in lanes, and what is behind the last.
    """
    weights, diagonal, U, L, Z = (
        ws.weights,
        D.diagonal,
        ws.solved,
        ws.pulled,
        ws.inverse,
    )
    first, last = m, 0 * m
    distance, none = spread(spent**0.5), spread(0.0)
    for k in range(0, m, LANES):
        P = spread(0.0)
        for a in range(b):
            z = load(U[a], k)
            for i in range(a):
                z = fma(spread(-L[a, i]), load(Z[i], k), z)
            z = z * spread(L[a, a])
            store(Z[a], k, z)
            P = fma(z, z, P)
        Q = none - least(none - load(diagonal, k), none)  # -1 behind the last atom
        if any_below(magnitude(load(weights, k)), distance * (root(P) + root(Q + P))):
            first, last = k if k < first else first, k + LANES
    return first, last


@internal
def _invert_factor(ws: Workspace, b: int) -> None:
    """Replace ``S`` by its inverse ``T = L'^-1 L^-1``; writes over ``L``."""
    T, L = ws.schur, ws.pulled
    for c in range(
        b
    ):  # column c of L^-1, in place: what is behind it is not read again
        for a in range(c + 1, b):
            left = 0.0
            for i in range(c, a):
                left -= L[a, i] * L[i, c]
            L[a, c] = left * L[a, a]
    for a in range(b):
        for c in range(a + 1):
            inner = 0.0
            for i in range(a, b):
                inner += L[i, a] * L[i, c]
            T[a, c] = inner
            T[c, a] = inner


@internal
def _schur_complement(m: int, block: Block, ws: Workspace, b: int) -> None:
    """Fill ``S = block.gram - cross U'``."""
    cross, U, S, gram = block.cross, ws.solved, ws.schur, block.gram
    rest, coefficients = ws.rest, block.coefficients
    for row in range(b):
        rest[row] = coefficients[row]
        for other in range(row + 1):
            left = gram[row, other] - dot(cross[row], U[other], m)
            S[row, other] = left
            S[other, row] = left


@internal
def _drop_dependent(m: int, block: Block, ws: Workspace, b: int) -> int:
    """Invert ``S`` in place by pivoting; absorb the points that depend on the others.

    The point that adds most to the span goes first, which keeps fitting weights small.
    Returns how many independent new atoms there are; ``ws.picked`` marks them.
    """
    S, U, gram, picked, sizes = ws.schur, ws.solved, block.gram, ws.picked, block.values
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
        _absorb(m, ws, b)
    return n_new


@internal
def _absorb(m: int, ws: Workspace, b: int) -> None:
    """Move the coefficients of dependent points onto what they depend on."""
    for row in range(b):
        if ws.picked[row] == 0:
            coefficient = ws.rest[row]
            add_scaled(ws.solution, coefficient, ws.solved[row], m)
            for other in range(b):
                if ws.picked[other] == 1:
                    share = coefficient * ws.schur[other, row]
                    ws.rest[other] += share
                    add_scaled(ws.solution, -share, ws.solved[other], m)


@internal
def _invert_onto_old(
    D: Dictionary, m: int, ws: Workspace, b: int, n_new: int, first: int, last: int
) -> None:
    """Fill ``R = T U`` and ``ws.precision``, for the old atoms in doubt.

    It is the diagonal of the inverse of the union's Gram matrix: ``Q + U' R``.
    """
    T, U, R, precision = ws.schur, ws.solved, ws.pulled, ws.precision
    if n_new < b:
        _close_gaps(m, ws, b, n_new)
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
def _close_gaps(m: int, ws: Workspace, b: int, n_new: int) -> None:
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
            store(ws.solved[a], k, load(ws.solved[row], k))


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


@internal
def is_within(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, budget: float
) -> bool:
    """Verify the distance with ``K`` in ``ws.gram``: it may not be over budget."""
    square, length, moved = 0.0, 0.0, 0.0
    for row in range(b):
        c = block.coefficients[row]
        length += abs(c) * block.gram[row, row] ** 0.5
        square += c * dot(block.gram[row], block.coefficients, b)
    for k in range(m):
        ws.residual[k] = ws.weights[k] - ws.start[k]
        moved += abs(ws.residual[k]) * D.norms[k]
    for k in range(m):
        pull = dot(ws.gram[k], ws.residual, m)
        for row in range(b):
            pull -= 2.0 * block.coefficients[row] * block.cross[row, k]
        square += ws.residual[k] * pull
    return is_trusted(square, budget, length, moved)
