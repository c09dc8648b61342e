"""Whether greedy removal takes all new atoms of a block before any old one.

New atoms are removed from each other first, which takes small matrices only; then every
old atom is compared with what the cheapest new one cost at each stage.
"""

from math import inf

from halk._jit import (
    LANES,
    any_below,
    fma,
    inlined,
    internal,
    least,
    load,
    spread,
    store,
)
from halk._validation import Vector
from halk.compression.algebra import add_scaled, padded_dot, size, sweep
from halk.compression.trust import TIE, is_rounding
from halk.compression.workspace import Block, Dictionary, Workspace

LITTLE = 1e-8
"""What is left of a point, as a share, when it may depend on the others."""


_UNKNOWN = 1e300
"""A precision that bounds nothing."""

ROOTLESS = 2.0
"""``2 (P R)^(1/2) <= s P + R / s`` for any ``s``: a bound that takes no roots."""

OF_P, OF_Q = 2.0 + ROOTLESS + 1.0 / ROOTLESS, 1.0 + 1.0 / ROOTLESS
"""So ``(P^(1/2) + (Q + P)^(1/2))^2`` is at most ``OF_P P + OF_Q Q``."""


@internal
def independent(m: int, block: Block, ws: Workspace, b: int) -> int:
    """Return how many new atoms are independent; ``T`` is left in ``ws.schur``."""
    schur_complement(m, block, ws, b)
    return invert(m, block, ws, b)


@internal
def are_all_cheaper(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, n_new: int,
    spent: float,
) -> bool:  # fmt: skip
    """Return whether at every stage of removal a new atom costs less than any old one.

    ``spent`` is the squared distance once all are gone, ``n_new`` how many new atoms
    are :func:`independent`. False also where the bounds do not tell.
    """
    first = 0 * m
    if n_new == b:
        _fill_precision(D, m, block, ws, b)
        first = _first_in_doubt(D, m, ws, spent)
    else:
        for k in range(0, m, LANES):
            store(ws.precision, k, spread(_UNKNOWN))
    return are_cheaper_by_stages(D, block, ws, b, n_new, first, m)


@internal
def _fill_precision(D: Dictionary, m: int, block: Block, ws: Workspace, b: int) -> None:
    """Fill ``ws.precision`` with ``Q_kk + u' T u`` for column ``k`` of ``U``."""
    diagonal, precision, U, T = D.diagonal, ws.precision, block.solved, ws.schur
    for k in range(0, m, LANES):
        P = load(diagonal, k)
        for a in range(b):
            row, z = T[a], spread(0.0)
            for c in range(b):
                z = fma(spread(row[c]), load(U[c], k), z)
            P = fma(load(U[a], k), z, P)
        store(precision, k, P)


@internal
def _first_in_doubt(D: Dictionary, m: int, ws: Workspace, spent: float) -> int:
    """Return the first old atom, in lanes, for which the order of removal may matter.

    At no stage does the cheapest new atom cost more than all of them, ``spent``; old
    atom ``k`` has a precision of at most ``Q_kk + P_k``, and its weight is at most
    ``(spent P_k)^(1/2)`` away from the last one, ``w``. So it never costs less than
    ``(|w| - (spent P_k)^(1/2))^2 / (Q_kk + P_k)``, and if that is more, it is beyond
    doubt. ``P_k = u' T u`` for column ``k`` of ``U``.
    """
    weights, diagonal, precision = ws.weights, D.diagonal, ws.precision
    of_p, of_q = spread(spent * OF_P), spread(spent * OF_Q)
    for k in range(0, m, LANES):
        w, Q = load(weights, k), load(diagonal, k)
        if any_below(w * w, fma(of_p, load(precision, k) - Q, of_q * Q)):
            return k
    return m


@internal
def schur_complement(m: int, block: Block, ws: Workspace, b: int) -> None:
    """Fill ``S = block.gram - cross U'``."""
    cross, U, S, gram = block.cross, block.solved, ws.schur, block.gram
    for row in range(b):
        for other in range(row + 1):
            left = gram[row, other] - padded_dot(cross[row], U[other], m)
            S[row, other] = left
            S[other, row] = left


@internal
def are_cheaper_by_stages(
    D: Dictionary, block: Block, ws: Workspace, b: int, n_new: int, first: int,
    last: int,
) -> bool:  # fmt: skip
    """Return whether new atoms cost less than the old ones ``first`` up to ``last``.

    With ``n`` new atoms of weights ``c`` left, and ``T`` the inverse of their ``S``,
    new atom ``a`` costs ``c_a^2 / T_aa`` and old atom ``k`` costs
    ``w_k^2 / (Q_kk + u' T u)``, where ``u`` is column ``k`` of ``U`` and ``w_k`` the
    last weight less ``sum_a c_a u_a``. Since ``u' T u <= n sum_a u_a^2 T_aa``, the
    least new cost times ``u' T u`` is at most ``n sum_a (c_a u_a)^2``. So it is at most
    the old one's if

        ``x_k = n sum_a (c_a u_a)^2 + Q_kk min_a c_a^2 / T_aa <= w_k^2``,

    or if ``ws.precision`` times that least cost is: with fewer new atoms left, an old
    one is never more precise.

    For ``c_a`` the largest it ever is, ``4 x_k`` below the square of the last weight
    does for all stages at once. Stage by stage is looked at where it is not.
    """
    if first >= last:
        return True
    price = _remove_one_by_one(ws, b, n_new)
    U, largest, weights, diagonal = block.solved, ws.rest, ws.weights, D.diagonal
    dearest, count = spread(4.0 * price), spread(4.0 * n_new)
    for k in range(first, last, LANES):
        w, squares = load(weights, k), spread(0.0)
        for a in range(b):
            part = spread(largest[a]) * load(U[a], k)
            squares = fma(part, part, squares)
        dear = fma(dearest, load(diagonal, k), count * squares)
        if any_below(w * w, dear) and not _are_dearer(D, block, ws, b, n_new, k):
            return False
    return True


@internal
def _are_dearer(
    D: Dictionary, block: Block, ws: Workspace, b: int, n_new: int, k: int
) -> bool:
    """Return whether old atoms, from ``k`` on, cost more than new ones at all stages.

    Stage ``n``, with as many new atoms left, is in row ``n - 1`` of ``ws.stages``.
    """
    for n in range(1, n_new + 1):
        c, price = ws.stages[n - 1], ws.prices[n - 1]
        if _is_one_as_cheap(D, block, ws, b, c, n, price, k):
            return False
    return True


@inlined
def _is_one_as_cheap(
    D: Dictionary, block: Block, ws: Workspace, b: int, c: Vector, n: int,
    price: float, k: int,
) -> bool:  # fmt: skip
    """Return whether, in lanes from ``k`` on, both bounds are over ``w_k^2``."""
    w, squares, U = load(ws.weights, k), spread(0.0), block.solved
    for a in range(b):
        part = spread(c[a]) * load(U[a], k)
        w, squares = w - part, fma(part, part, squares)
    cost = spread(price)
    x = fma(cost, load(D.diagonal, k), spread(float(n)) * squares)
    return any_below(w * w, least(x, cost * load(ws.precision, k)))


@internal
def invert(m: int, block: Block, ws: Workspace, b: int) -> int:
    """Invert ``S`` in place and absorb the points that depend on the others.

    Returns how many independent new atoms there are; ``ws.picked`` marks them, and
    ``ws.rest`` has the coefficients. Where every point adds to the span of those before
    it the order is theirs.
    """
    S, gram, coefficients = ws.schur, block.gram, block.coefficients
    picked, rest = ws.picked, ws.rest
    for a in range(b):
        rest[a], picked[a] = coefficients[a], 1
    for a in range(b):
        if not S[a, a] > LITTLE * gram[a, a]:
            return _invert_carefully(m, block, ws, b)
        sweep(S, b, a)
    return b


@internal
def _invert_carefully(m: int, block: Block, ws: Workspace, b: int) -> int:
    """Invert as :func:`invert`, the point that adds most to the span first.

    This keeps fitting weights small.
    """
    schur_complement(m, block, ws, b)
    S, U, gram = ws.schur, block.solved, block.gram
    picked, sizes = ws.picked, block.values
    for row in range(b):
        picked[row] = 0
        sizes[row] = size(U[row], m)
    n_new = 0 * b
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
        _absorb(ws, b)
    return n_new


@internal
def _absorb(ws: Workspace, b: int) -> None:
    """Move the coefficients of dependent points onto the new ones they depend on."""
    S, rest, picked = ws.schur, ws.rest, ws.picked
    for row in range(b):
        if picked[row] == 0:
            for other in range(b):
                if picked[other] == 1:
                    rest[other] += rest[row] * S[other, row]
            rest[row] = 0.0


@internal
def _remove_one_by_one(ws: Workspace, b: int, n_new: int) -> float:
    """Remove the new atoms, cheapest first; return the most that one of them costs.

    Row ``n - 1`` of ``ws.stages`` gets the coefficients when ``n`` are left, and
    ``ws.prices`` what the cheapest of them costs. ``ws.rest`` is left with the largest
    that each coefficient ever was.
    """
    stages, prices, largest, price = ws.stages, ws.prices, ws.rest, 0.0
    first = stages[n_new - 1 if n_new > 0 else 0]
    for a in range(b):
        first[a] = largest[a]
        largest[a] = abs(largest[a])
    for n in range(n_new, 0, -1):
        gone, cost = _cheapest_new(ws, stages[n - 1], b)
        prices[n - 1], price = cost, max(price, cost)
        if n > 1:
            following = stages[n - 2]
            _remove_new(ws, stages[n - 1], following, b, gone)
            for a in range(b):
                largest[a] = max(largest[a], abs(following[a]))
    return price


@internal
def _cheapest_new(ws: Workspace, c: Vector, b: int) -> tuple[int, float]:
    """Return which of the new atoms left costs least, and what it costs."""
    picked, T, gone, cheapest = ws.picked, ws.schur, 0 * b, inf
    for a in range(b):
        cost = c[a] * c[a] / T[a, a] if picked[a] == 1 else inf
        if cost <= cheapest:
            gone, cheapest = a, cost
    return gone, cheapest


@internal
def _newest_as_cheap(
    ws: Workspace, c: Vector, b: int, cost: float, spent: float
) -> int:
    """Return the newest of the new atoms that cost no more, up to ties."""
    gone, limit = 0 * b, cost + TIE * (spent + cost)
    for a in range(b):
        if ws.picked[a] == 1 and c[a] * c[a] <= limit * ws.schur[a, a]:
            gone = a
    return gone


@internal
def _remove_new(ws: Workspace, c: Vector, following: Vector, b: int, gone: int) -> None:
    """Remove new atom ``gone``, refit the others and write what they are then."""
    T, picked, weight = ws.schur, ws.picked, c[gone]
    picked[gone] = 0
    sweep(T, b, gone)
    for a in range(b):
        following[a] = c[a] + T[a, gone] * weight if picked[a] == 1 else 0.0


@internal
def thin_out(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, budget: float
) -> tuple[float, int]:
    """Remove new atoms while they surely go next.

    Returns the squared distance, and how many are left. ``ws.picked`` marks them, with
    coefficients in ``ws.rest``; ``ws.weights`` gets the weights of the old atoms.
    """
    # with some in the span of others, up to rounding, all are left to be looked at
    if independent(m, block, ws, b) < b:
        for a in range(b):
            ws.rest[a], ws.picked[a] = block.coefficients[a], 1
        return 0.0, b
    _fill_precision(D, m, block, ws, b)
    c, limit, spent, n_left = ws.rest, budget * budget, 0.0, b
    _move_weights(m, block, ws, b, 1.0)
    for n in range(b, 0, -1):
        _, cost = _cheapest_new(ws, c, b)
        is_next = spent + cost <= limit
        for k in range(0, m, LANES):
            is_next = is_next and not _is_one_as_cheap(D, block, ws, b, c, n, cost, k)
        if not is_next:
            break
        gone = _newest_as_cheap(ws, c, b, cost, spent)
        spent, n_left = spent + c[gone] * c[gone] / ws.schur[gone, gone], n - 1
        _remove_new(ws, c, c, b, gone)
    if n_left == b:  # to the last bit what they were
        for k in range(m):
            ws.weights[k] = ws.start[k]
    else:
        _move_weights(m, block, ws, b, -1.0)
    return spent, n_left


@internal
def _move_weights(m: int, block: Block, ws: Workspace, b: int, sign: float) -> None:
    """Add to the old atoms' weights what new ones come to when they are removed."""
    for a in range(b):
        add_scaled(ws.weights, sign * ws.rest[a], block.solved[a], m)
