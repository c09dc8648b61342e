"""Greedy removal for real: grow the dictionary by the new atoms, shrink it again.

Works on the union of old and new atoms in the workspace and touches the dictionary only
when everything is decided and verified, so a call that finds no room changes nothing.
Where the inverse turns out to be none it gives up, and ``rescue`` takes over.
"""

from math import sqrt

from halk._jit import internal, shared
from halk.compression.algebra import add_scaled, combine, dot, sweep
from halk.compression.drift import drift_of_grown, drift_of_shrunk
from halk.compression.panels import unpack
from halk.compression.stages import schur_complement, thin_out
from halk.compression.trust import EPSILON, TIE, is_rounding, is_trusted
from halk.compression.workspace import Block, Dictionary, Workspace

LARGEST_DRIFT = 1e-5
"""Largest ``|Q K - I|`` on a sampled column before the inverse is made anew."""

REFINEMENTS = 4
"""Most steps of iterative refinement; one or two are the rule."""


def project(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, budget: float
) -> int:
    """Compress the union within ``budget``; return how many atoms are left, or -1.

    The Gram matrix of the old atoms is in ``ws.gram``, products with the inverse in
    ``block.solved``, and what is believed of it in ``ws.drift``, before and after. The
    kept atoms are in ``ws.kept``, their weights and inverse in ``ws.weights`` and
    ``ws.inverse``; ``commit`` moves them into the dictionary. -1 says that the inverse
    cannot be trusted; then nothing is decided.
    """
    n, n_kept = m + b, m
    fill_union(m, block, ws, b)
    spent = _begin(D, m, block, ws, b, budget)
    for k in range(m):
        ws.kept[k] = k
    unpack(D.inverse, m, ws.inverse)
    for a in range(b):
        row = ws.sequence[a]
        k = m + row
        # else it is removed already, or is the zero function
        if ws.picked[row] == 1 and ws.gram[k, k] > 0.0:
            if not solve(ws, n, n_kept, k) <= LARGEST_DRIFT:
                return -1
            n_kept = grow(ws, n_kept, k, ws.rest[row])
    n_kept = shrink(ws, n_kept, budget, spent)
    if not is_within(ws, n, n_kept, budget) or has_drifted(ws, n_kept):
        return -1
    return n_kept


@internal
def _begin(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, budget: float
) -> float:
    """Remove the new atoms that go first; return the squared distance that is spent.

    ``ws.picked`` marks those left, ``ws.rest`` has their coefficients, ``ws.weights``
    the weights of the old atoms, and ``ws.sequence`` the order in which to add them.
    """
    for row in range(b):
        ws.sequence[row], ws.picked[row] = row, 1
        ws.rest[row] = block.coefficients[row]
    for k in range(m):
        ws.weights[k] = ws.start[k]
    if b < 2:
        return 0.0
    spent, n_left = thin_out(D, m, block, ws, b, budget)
    if n_left > 1:
        _sort(block, ws, b)
        _spread_out(m, block, ws, b)
    return spent


@internal
def _sort(block: Block, ws: Workspace, b: int) -> None:
    """Fill ``ws.sequence`` with the new points in the order of their features.

    Who they came from must not matter, not even to the order of rounding.
    """
    points, sequence = block.points, ws.sequence
    for row in range(b):
        place = row
        while place > 0:
            other, f = sequence[place - 1], 0
            while f < len(points) - 1 and points[f, row] == points[f, other]:
                f += 1
            if points[f, row] >= points[f, other]:
                break
            sequence[place] = other
            place -= 1
        sequence[place] = row


@internal
def _spread_out(m: int, block: Block, ws: Workspace, b: int) -> None:
    """Reorder ``ws.sequence``: each time the point that adds most to the span.

    Close points one after the other would make for fits with large weights, and large
    rounding.
    """
    S, gram, sequence = ws.schur, block.gram, ws.sequence
    schur_complement(m, block, ws, b)
    for place in range(b):
        best = place
        for a in range(place + 1, b):
            k, top = sequence[a], sequence[best]
            if S[k, k] * gram[top, top] > S[top, top] * gram[k, k]:
                best = a
        pivot = sequence[best]
        for a in range(best, place, -1):  # the others keep their order
            sequence[a] = sequence[a - 1]
        sequence[place] = pivot
        if not S[pivot, pivot] > 0.0:
            break
        sweep(S, b, pivot)


@shared
def fill_union(m: int, block: Block, ws: Workspace, b: int) -> None:
    """Add the new points to weights and Gram matrix of the union."""
    K, start, cross, gram = ws.gram, ws.start, block.cross, block.gram
    coefficients = block.coefficients
    for row in range(b):
        new, values = K[m + row], cross[row]
        start[m + row] = coefficients[row]
        for k in range(m):
            new[k] = values[k]
            K[k, m + row] = values[k]
        for other in range(b):
            new[m + other] = gram[row, other]


@shared
def solve(ws: Workspace, n: int, n_kept: int, k: int) -> float:
    """Fit union member ``k`` by the kept atoms; return the largest residual.

    Iterative refinement against ``K`` makes the fit as good as a backward stable
    solver's although the inverse is ill-conditioned. ``ws.solution`` holds the fit,
    ``ws.residual`` what it misses of the kernel values. ``ws.fit`` holds the fit
    in the order of the union: rows of ``K`` are read from end to end.
    """
    K, kept, fit, fitted = ws.gram, ws.kept, ws.fit, ws.fitted
    solution, residual, own = ws.solution, ws.residual, K[k]
    for c in range(n):
        fit[c] = 0.0
    for a in range(n_kept):
        solution[a] = 0.0
        residual[a] = own[kept[a]]
    worst = 1e308
    for step in range(REFINEMENTS):
        combine(ws.inverse, residual, n_kept, fitted)
        length = 1.0
        for a in range(n_kept):
            solution[a] += fitted[a]
            fit[kept[a]] = solution[a]
            length += abs(solution[a])
        combine(K, fit, n, fitted)
        before, worst = worst, 0.0
        for a in range(n_kept):
            member = kept[a]
            missed = own[member] - fitted[member]
            residual[a] = missed
            square = missed * missed / K[member, member]
            if not square <= worst:  # nor is what is no number small
                worst = square
        rounding = EPSILON * length
        is_rounding = worst <= rounding * rounding * own[k]
        if is_rounding or (step > 0 and not 4.0 * worst < before):
            break
    return sqrt(worst / own[k])


@internal
def _left_over(ws: Workspace, n_kept: int, k: int) -> float:
    """Return the squared distance that the fit of ``k`` leaves, 0 if rounding."""
    K, kept, solution, residual = ws.gram, ws.kept, ws.solution, ws.residual
    own, kxx, left, size = K[k], K[k, k], K[k, k], 0.0
    for a in range(n_kept):
        member, share = kept[a], solution[a]
        left -= share * (own[member] + residual[a])
        size += abs(share) * sqrt(K[member, member] / kxx)
    return 0.0 if is_rounding(left, kxx, size) else left


@shared
def grow(ws: Workspace, n_kept: int, k: int, weight: float) -> int:
    """Add union member ``k``, or absorb it if it is in the span of what is there.

    ``ws.solution`` holds its fit. Returns the new count.
    """
    Q, weights, solution = ws.inverse, ws.weights, ws.solution
    s = _left_over(ws, n_kept, k)
    if s == 0.0:
        add_scaled(weights, weight, solution, n_kept)
        return n_kept
    drift_of_grown(ws, n_kept, k, s)
    last = Q[n_kept]
    for a in range(n_kept):
        share = solution[a] / s
        add_scaled(Q[a], share, solution, n_kept)
        Q[a, n_kept] = -share
        last[a] = -share
    last[n_kept] = 1.0 / s
    ws.kept[n_kept] = k
    weights[n_kept] = weight
    return n_kept + 1


@shared
def cheapest(ws: Workspace, n_kept: int, spent: float) -> int:
    """Return the position of the atom with the smallest ``w_k^2 / Q_kk``, -1 for none.

    In a tie, which rounding must not decide, the newest goes; ``spent`` is the squared
    distance so far.
    """
    Q, weights, kept, best, least = ws.inverse, ws.weights, ws.kept, -1, 1e308
    for a in range(n_kept):
        w, q = weights[a], Q[a, a]
        if q > 0.0:
            cost = w * w / q
            least = cost if cost < least else least
    limit = least + TIE * (spent + least)
    for a in range(n_kept):
        w, q = weights[a], Q[a, a]
        is_least = q > 0.0 and w * w <= limit * q
        if is_least and (best < 0 or kept[a] > kept[best]):
            best = a
    return best


@shared
def remove(ws: Workspace, n_kept: int, gone: int) -> None:
    """Remove the atom at a position, refit the others; the last takes its place."""
    Q, weights, kept, fit, last = (
        ws.inverse,
        ws.weights,
        ws.kept,
        ws.solution,
        n_kept - 1,
    )
    drift_of_shrunk(ws, n_kept, gone)
    row, end = Q[gone], Q[last]
    pivot = row[gone]
    share = weights[gone] / pivot
    for a in range(n_kept):
        fit[a] = row[a]
    add_scaled(weights, -share, fit, n_kept)
    for a in range(n_kept):
        add_scaled(Q[a], -fit[a] / pivot, fit, n_kept)
    weights[gone] = weights[last]
    kept[gone] = kept[last]
    for c in range(n_kept):
        row[c] = end[c]
    for a in range(n_kept):
        Q[a, gone] = Q[a, last]


@shared
def shrink(ws: Workspace, n_kept: int, budget: float, spent: float) -> int:
    """Remove atoms, cheapest first, while the squared costs stay within budget."""
    limit = budget * budget
    while n_kept > 0:
        gone = cheapest(ws, n_kept, spent)
        if gone < 0:
            break
        w = ws.weights[gone]
        spent += w * w / ws.inverse[gone, gone]
        if not spent <= limit:
            break
        remove(ws, n_kept, gone)
        n_kept -= 1
    return n_kept


@shared
def squared_distance(ws: Workspace, n: int, n_kept: int) -> float:
    """Return ``||f - f~||^2`` of the kept atoms' function to the unprojected one."""
    residual, start, kept, weights = ws.residual, ws.start, ws.kept, ws.weights
    for k in range(n):
        residual[k] = -start[k]
    for a in range(n_kept):
        residual[kept[a]] += weights[a]
    combine(ws.gram, residual, n, ws.fitted)
    return dot(residual, ws.fitted, n)


@shared
def is_within(ws: Workspace, n: int, n_kept: int, budget: float) -> bool:
    """Return whether what the kept atoms are from the union is within budget."""
    square = squared_distance(ws, n, n_kept)
    K, residual, start, size, moved = ws.gram, ws.residual, ws.start, 0.0, 0.0
    for k in range(n):
        norm = sqrt(K[k, k])
        moved += abs(residual[k]) * norm
        size += abs(start[k]) * norm
    return is_trusted(square, budget, size, moved)


@shared
def has_drifted(ws: Workspace, n_kept: int) -> bool:
    """Look at ``|Q K - I|`` on the column most at risk, of the largest ``Q_kk``."""
    if n_kept == 0:
        return False
    Q, kept, column, off = ws.inverse, ws.kept, ws.solution, ws.fitted
    sample = 0
    for a in range(n_kept):
        if Q[a, a] > Q[sample, sample]:
            sample = a
    row = ws.gram[kept[sample]]
    for c in range(n_kept):
        column[c] = row[kept[c]]
    combine(Q, column, n_kept, off)
    off[sample] -= 1.0
    worst = 0.0
    for a in range(n_kept):
        if not abs(off[a]) <= worst:  # nor is what is no number small
            worst = abs(off[a])
    return not worst <= LARGEST_DRIFT
