"""The early decision: whether the new atoms can go again without touching a matrix.

In the steady state a step moves weights only. Whether this step does is known after one
product ``U = Q k_D(x)`` an atom, in O(m) for one new atom and O(m b^2) for a block: the
Schur complement ``S`` of the block gives the removal costs of new and of old atoms
*after* adding, without adding.
"""

from halk._jit import compiled
from halk._validation import Matrix, Vector
from halk.compression.workspace import Dictionary, Workspace

ROUNDING = 1e-14
"""Relative error of a squared distance computed with fitting weights of size one.

What a new atom adds to the span, ``s = k(x, x) - k_D(x)' u``, is a difference of terms
as large as ``(1 + |u|_1)^2``, so below this share of that size it is rounding.
"""


@compiled
def is_rounding(s: float, kxx: float, size: float) -> bool:
    """Return whether ``s``, left by weights of 1-norm ``size``, is rounding."""
    return not s > ROUNDING * (1.0 + size) ** 2 * kxx


@compiled
def is_trusted(square: float, budget: float, size: float, moved: float) -> bool:
    """Return whether a squared distance is within budget, and not made of rounding.

    ``size`` is that of the weights that were compressed, ``moved`` of the change.
    """
    slack = ROUNDING * size * size
    limit = budget * budget
    blur = 0.1 * ROUNDING * moved * moved
    return square <= limit * (1.0 + 1e-9) + slack and blur <= 0.01 * limit + slack


@compiled
def merge_duplicates(D: Dictionary, m: int, ws: Workspace, b: int) -> int:
    """Add the coefficients of repeated points to the atoms they repeat; return ``b``.

    Points that equal an atom, or an earlier point, bit for bit change no span; those
    with coefficient zero change nothing. ``ws.start`` holds the weights on old atoms.
    """
    n_left = 0
    for row in range(b):
        if ws.coefficients[row] == 0.0:
            continue
        twin = _position(D.atoms, m, ws.points[row])
        if twin >= 0:
            ws.start[twin] += ws.coefficients[row]
            continue
        twin = _position(ws.points, n_left, ws.points[row])
        if twin >= 0:
            ws.coefficients[twin] += ws.coefficients[row]
            continue
        if n_left != row:
            ws.points[n_left] = ws.points[row]
            ws.cross[n_left, :m] = ws.cross[row, :m]
            ws.coefficients[n_left] = ws.coefficients[row]
        n_left += 1
    return n_left


@compiled
def _position(points: Matrix, n: int, x: Vector) -> int:
    for k in range(n):
        same = True
        for c in range(len(x)):
            if points[k, c] != x[c]:
                same = False
                break
        if same:
            return k
    return -1


@compiled
def weights_only(D: Dictionary, m: int, ws: Workspace, b: int, budget: float) -> bool:
    """Try to remove all new atoms and no old one; leave the result in ``ws.weights``.

    Returns False where greedy removal would touch an old atom or keep a new one, or
    where the distance, verified with ``K``, is over budget; then nothing is decided.
    """
    for k in range(m):
        ws.weights[k] = ws.start[k]
        ws.precision[k] = D.inverse[k, k]
    _schur_complement(D, m, ws, b)
    n_new = _drop_dependent(m, ws, b)
    _invert_onto_old(m, ws, b, n_new)
    spent = 0.0
    for _ in range(n_new):
        old_cost = _cheapest_old(m, ws)
        new = _cheapest_new(ws, n_new)
        cost = ws.rest[new] ** 2 / ws.schur[new, new]
        if cost > old_cost or not spent + cost <= budget * budget:
            return False
        spent += cost
        _remove_new(m, ws, n_new, new)
    for k in range(m):
        ws.precision[k] = D.inverse[k, k]  # what is left of it by now, less rounding
    if spent + _cheapest_old(m, ws) <= budget * budget:
        return False
    return _is_within(D, m, ws, b, budget)


@compiled
def _schur_complement(D: Dictionary, m: int, ws: Workspace, b: int) -> None:
    """Fill ``U = cross Q`` and ``S = block_gram - cross U'``."""
    for row in range(b):
        for k in range(m):
            total = 0.0
            for c in range(m):
                total += D.inverse[k, c] * ws.cross[row, c]
            ws.solved[row, k] = total
    for row in range(b):
        ws.rest[row] = ws.coefficients[row]
        for other in range(row + 1):
            total = ws.block_gram[row, other]
            for k in range(m):
                total -= ws.cross[row, k] * ws.solved[other, k]
            ws.schur[row, other] = total
            ws.schur[other, row] = total


@compiled
def _drop_dependent(m: int, ws: Workspace, b: int) -> int:
    """Invert ``S`` in place by pivoting; absorb the points that depend on the others.

    The point that adds most to the span goes first, which keeps fitting weights small.
    Returns how many independent new atoms there are. ``ws.sequence`` lists all points,
    those first and in the order in which they were taken; ``ws.picked`` marks them.
    """
    S = ws.schur
    for row in range(b):
        ws.picked[row] = 0
        size = 0.0
        for k in range(m):
            size += abs(ws.solved[row, k])
        ws.values[row] = size
    n_new = 0
    while n_new < b:
        pivot = -1
        for row in range(b):
            if ws.picked[row] == 0:
                if is_rounding(S[row, row], ws.block_gram[row, row], ws.values[row]):
                    continue
                if pivot < 0 or S[row, row] > S[pivot, pivot]:
                    pivot = row
        if pivot < 0:
            break
        ws.picked[pivot] = 1
        ws.sequence[n_new] = pivot
        n_new += 1
        sweep(S, b, pivot)
    if n_new < b:
        _absorb(m, ws, b)
        position = n_new
        for row in range(b):
            if ws.picked[row] == 0:
                ws.sequence[position] = row
                position += 1
    return n_new


@compiled
def sweep(S: Matrix, b: int, pivot: int) -> None:
    """Gauss-Jordan step: after sweeping a set, its block of ``S`` is its inverse."""
    scale = 1.0 / S[pivot, pivot]
    for c in range(b):
        S[pivot, c] *= scale
    S[pivot, pivot] = scale
    for row in range(b):
        if row != pivot:
            factor = S[row, pivot]
            S[row, pivot] = 0.0
            for c in range(b):
                S[row, c] -= factor * S[pivot, c]


@compiled
def _absorb(m: int, ws: Workspace, b: int) -> None:
    """Move the coefficients of dependent points onto what they depend on."""
    for row in range(b):
        if ws.picked[row] == 0:
            coefficient = ws.rest[row]
            for k in range(m):
                ws.weights[k] += coefficient * ws.solved[row, k]
            for other in range(b):
                if ws.picked[other] == 1:
                    share = coefficient * ws.schur[other, row]
                    ws.rest[other] += share
                    for k in range(m):
                        ws.weights[k] -= share * ws.solved[other, k]


@compiled
def _invert_onto_old(m: int, ws: Workspace, b: int, n_new: int) -> None:
    """Fill ``R = T U`` and add ``diag(U' T U)`` to the precision of the old atoms."""
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
        for k in range(m):
            ws.solved[a, k] = ws.solved[row, k]
    for a in range(n_new):
        for k in range(m):
            total = 0.0
            for c in range(n_new):
                total += ws.schur[a, c] * ws.solved[c, k]
            ws.pulled[a, k] = total
            ws.precision[k] += total * ws.solved[a, k]
        ws.picked[a] = 1


@compiled
def _cheapest_old(m: int, ws: Workspace) -> float:
    """Return the cost ``w_k^2 / Q_kk`` of the old atom that is removed most cheaply."""
    best = 1e308
    for k in range(m):
        if ws.precision[k] > 0.0:
            best = min(best, ws.weights[k] ** 2 / ws.precision[k])
    return best


@compiled
def _cheapest_new(ws: Workspace, n_new: int) -> int:
    best, cheapest = -1, 0.0
    for a in range(n_new):
        if ws.picked[a] == 1:
            cost = ws.rest[a] ** 2 / ws.schur[a, a]
            if best < 0 or cost <= cheapest:
                best, cheapest = a, cost
    return best


@compiled
def _remove_new(m: int, ws: Workspace, n_new: int, gone: int) -> None:
    """Remove new atom ``gone`` and refit everything else."""
    ws.picked[gone] = 0
    T = ws.schur
    share = ws.rest[gone] / T[gone, gone]
    for k in range(m):
        ws.weights[k] += ws.pulled[gone, k] * share
        ws.precision[k] -= ws.pulled[gone, k] ** 2 / T[gone, gone]
    for a in range(n_new):
        if ws.picked[a] == 1:
            ratio = T[a, gone] / T[gone, gone]
            ws.rest[a] -= ratio * ws.rest[gone]
            for k in range(m):
                ws.pulled[a, k] -= ratio * ws.pulled[gone, k]
            for c in range(n_new):
                if ws.picked[c] == 1:
                    T[a, c] -= ratio * T[gone, c]


@compiled
def _is_within(D: Dictionary, m: int, ws: Workspace, b: int, budget: float) -> bool:
    """Verify the distance with ``K``: a drifted ``Q`` may not spend over budget."""
    square, size, moved = 0.0, 0.0, 0.0
    for row in range(b):
        size += abs(ws.coefficients[row]) * ws.block_gram[row, row] ** 0.5
        for other in range(b):
            both = ws.coefficients[row] * ws.coefficients[other]
            square += both * ws.block_gram[row, other]
    for k in range(m):
        move = ws.weights[k] - ws.start[k]
        moved += abs(move) * D.gram[k, k] ** 0.5
        pull = 0.0
        for c in range(m):
            pull += D.gram[k, c] * (ws.weights[c] - ws.start[c])
        for row in range(b):
            pull -= 2.0 * ws.coefficients[row] * ws.cross[row, k]
        square += move * pull
    return is_trusted(square, budget, size, moved)
