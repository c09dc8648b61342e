"""The early decision: whether the new atoms can go again without touching a matrix.

In the steady state a step moves weights only. Whether this step does is known after one
product ``U = Q k_D(x)`` an atom, in O(m) for one new atom and O(m b^2) for a block: the
Schur complement ``S`` of the block gives the removal costs of new and of old atoms
*after* adding, without adding.
"""

from halk._jit import (
    LANES,
    any_at_most,
    any_below,
    fma,
    internal,
    load,
    magnitude,
    spread,
    store,
    total,
)
from halk._validation import Vector
from halk.compression.algebra import dot
from halk.compression.few import (
    FEW,
    are_few_cheaper,
    are_few_clearly_cheaper,
    are_few_independent,
    few_left,
    few_removed,
)
from halk.compression.stages import are_all_cheaper, independent
from halk.compression.trust import DRIFT, TIE, is_rounding, is_trusted
from halk.compression.workspace import Block, Dictionary, Workspace

UNDECIDED, UNVERIFIED, DECIDED, DEPENDENT = 0, 1, 2, 3
"""Greedy removal must look; or weights alone move, if the distance is verified; or it
is; or points may repeat, and that must be looked into first."""


def weights_only(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, budget: float,
    trust: Vector, is_merged: bool,
) -> int:  # fmt: skip
    """Try to remove all new atoms and no old one; leave the result in ``ws.weights``.

    ``block.solved`` holds the products with the inverse. Returns ``UNDECIDED`` where
    greedy removal would touch an old atom or keep a new one, ``UNVERIFIED`` where the
    inverse is not yet known to be good enough; and ``DEPENDENT`` where points may
    repeat that were not yet merged.
    """
    if b == 1:
        return _one(D, m, block, ws, budget, trust)
    limit, weights, diagonal = budget * budget, ws.weights, D.diagonal
    are_few = 1 < b <= FEW
    if are_few:
        square, size, moved, drift = few_removed(D, m, block, ws, b)
    else:
        square, size, moved, drift = _all_removed(D, m, block, ws, b)
    spent = square if square > 0.0 else 0.0
    if not spent < limit:
        return UNDECIDED
    left = spread(limit - spent)
    for k in range(0, m, LANES):
        w = load(weights, k)
        if any_at_most(w * w, left * load(diagonal, k)):
            return UNDECIDED
    if b == 0:  # nothing is removed: there is no distance
        return DECIDED
    share = few_left(m, block, ws, b) if are_few else 0.0
    # for four it seldom tells
    if 1 < b < FEW and are_few_clearly_cheaper(D, m, block, ws, b, share):
        is_path = True
    elif are_few and are_few_independent(block, ws, b, share):
        is_path = are_few_cheaper(D, m, block, ws, b, spent)
    else:
        n_new = independent(m, block, ws, b)
        if n_new < b and not is_merged:
            return DEPENDENT
        is_path = are_all_cheaper(D, m, block, ws, b, n_new, spent)
    if not is_path:
        return UNDECIDED
    is_sure = is_trusted(square + trust[DRIFT] * drift, budget, size, moved)
    return DECIDED if is_sure else UNVERIFIED


@internal
def _one(
    D: Dictionary, m: int, block: Block, ws: Workspace, budget: float, trust: Vector
) -> int:
    """Decide about a single new atom: all of the above in two loops.

    It costs ``c^2 s``, an old one ``w^2 / (Q_kk + u^2 / s)``.
    """
    u, cross, norms, c = block.solved[0], block.cross[0], D.norms, block.coefficients[0]
    inner, pull, length, moved = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
    for k in range(0, m, LANES):
        v, fit = load(cross, k), load(u, k)
        inner, pull = fma(v, fit, inner), pull + magnitude(v)
        moved = fma(magnitude(fit), load(norms, k), moved)
        length = length + magnitude(fit)
    limit, kxx, size = budget * budget, block.gram[0, 0], total(length)
    s, square = kxx - total(inner), c * c
    spent = square * s if s > 0.0 else 0.0
    if not spent < limit:
        return UNDECIDED
    # an atom in the span of the others goes whatever they cost
    price = 0.0 if is_rounding(s, kxx, size) else square * (1.0 - TIE)
    start, weights, diagonal = ws.start, ws.weights, D.diagonal
    rest, new, share, far = spread(limit - spent), spread(price), spread(s), spread(c)
    for k in range(0, m, LANES):
        before, fit, Q = load(start, k), load(u, k), load(diagonal, k)
        w = fma(far, fit, before)
        store(weights, k, w)
        if any_at_most(w * w, rest * Q):
            return UNDECIDED
        if any_below(before * before, new * fma(share, Q, fit * fit)):
            return UNDECIDED
    drift = trust[DRIFT] * square * total(pull) * size
    is_sure = is_trusted(
        square * s + drift, budget, abs(c) * kxx**0.5, abs(c) * total(moved)
    )
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
    start, weights, norms, U = ws.start, ws.weights, D.norms, block.solved
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
