"""Greedy removal for real: grow the dictionary by the new atoms, shrink it again.

Works on the union of old and new atoms in the workspace and touches the dictionary only
when everything is decided and verified, so a call that finds no room changes nothing.
"""

from math import sqrt

from halk._jit import compiled, padded
from halk.compression.algebra import add_scaled, dot
from halk.compression.trust import is_rounding, is_trusted
from halk.compression.workspace import Block, Dictionary, Workspace

DRIFT = 1e-5
"""Largest ``|Q K - I|`` on a sampled column before the inverse is made anew."""

REFINEMENTS = 4
"""Most steps of iterative refinement; two are the rule."""


@compiled
def project(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, budget: float
) -> int:
    """Compress the union within ``budget``; return how many atoms are left.

    The Gram matrix of the old atoms is in ``ws.gram``. The kept atoms are in ``ws.kept``, their weights and inverse in ``ws.weights`` and
    ``ws.inverse``; ``commit`` moves them into the dictionary.
    """
    n = m + b
    _fill_union(m, block, ws, b)
    for k in range(m):
        ws.kept[k] = k
        ws.weights[k] = ws.start[k]
        for c in range(m):
            ws.inverse[k, c] = D.inverse[k, c]
    n_kept, is_sound = m, True
    for a in range(b):
        n_kept, is_sound = _grow(ws, n, n_kept, m + ws.sequence[a], is_sound)
    if not is_sound:
        n_kept = rebuild(ws, n)
    n_kept = _shrink(ws, n_kept, budget)
    if not _is_within(ws, n, n_kept, budget):
        n_kept = _shrink_carefully(ws, n, budget)
    if _has_drifted(ws, n_kept):
        n_kept = refit(ws, n, n_kept)
    return n_kept


@compiled
def _fill_union(m: int, block: Block, ws: Workspace, b: int) -> None:
    for row in range(b):
        ws.start[m + row] = block.coefficients[row]
        for k in range(m):
            ws.gram[m + row, k] = block.cross[row, k]
            ws.gram[k, m + row] = block.cross[row, k]
        for other in range(b):
            ws.gram[m + row, m + other] = block.gram[row, other]


@compiled
def _solve(ws: Workspace, n: int, n_kept: int, k: int) -> float:
    """Fit union member ``k`` by the kept atoms; return the largest residual.

    Iterative refinement against ``K`` makes the fit as good as a backward stable
    solver's although the inverse is ill-conditioned. ``ws.solution`` holds the fit,
    ``ws.residual`` what it misses of the kernel values. ``ws.precision`` holds the fit
    in the order of the union: rows of ``K`` are read from end to end.
    """
    fit = ws.precision
    for c in range(n):
        fit[c] = 0.0
    for a in range(n_kept):
        ws.solution[a] = 0.0
        ws.residual[a] = ws.gram[k, ws.kept[a]]
    worst = 1e308
    for step in range(REFINEMENTS):
        for a in range(n_kept):
            ws.solution[a] += dot(ws.inverse[a], ws.residual, n_kept)
        for a in range(n_kept):
            fit[ws.kept[a]] = ws.solution[a]
        before, worst = worst, 0.0
        for a in range(n_kept):
            member = ws.kept[a]
            missed = ws.gram[k, member] - dot(ws.gram[member], fit, n)
            ws.residual[a] = missed
            worst = max(worst, abs(missed) / ws.gram[member, member] ** 0.5)
        if step > 0 and not 2.0 * worst < before:
            break
    return worst / sqrt(ws.gram[k, k])


@compiled
def _left_over(ws: Workspace, n_kept: int, k: int) -> float:
    """Return the squared distance that the fit of ``k`` leaves, 0 if rounding."""
    left, size = ws.gram[k, k], 0.0
    for a in range(n_kept):
        left -= ws.solution[a] * (ws.gram[k, ws.kept[a]] + ws.residual[a])
        scale = ws.gram[ws.kept[a], ws.kept[a]] / ws.gram[k, k]
        size += abs(ws.solution[a]) * scale**0.5
    return 0.0 if is_rounding(left, ws.gram[k, k], size) else left


@compiled
def _grow(
    ws: Workspace, n: int, n_kept: int, k: int, is_sound: bool
) -> tuple[int, bool]:
    """Add union member ``k``, or absorb it if it is in the span of what is there.

    Returns the new count, and False once a fit shows that the inverse is no inverse.
    """
    if not ws.gram[k, k] > 0.0:
        return n_kept, is_sound  # k(x, x) = 0: the atom is the zero function
    is_sound = _solve(ws, n, n_kept, k) <= DRIFT and is_sound
    s = _left_over(ws, n_kept, k)
    if s == 0.0:
        for a in range(n_kept):
            ws.weights[a] += ws.start[k] * ws.solution[a]
        return n_kept, is_sound
    for a in range(n_kept):
        add_scaled(ws.inverse[a], ws.solution[a] / s, ws.solution, n_kept)
        ws.inverse[a, n_kept] = -ws.solution[a] / s
        ws.inverse[n_kept, a] = -ws.solution[a] / s
    ws.inverse[n_kept, n_kept] = 1.0 / s
    ws.kept[n_kept] = k
    ws.weights[n_kept] = ws.start[k]
    return n_kept + 1, is_sound


@compiled
def rebuild(ws: Workspace, n: int) -> int:
    """Make the inverse anew from the union's Gram matrix; return the atoms kept."""
    _pivot(ws, n)
    n_kept = 0
    for a in range(n):
        n_kept, _ = _grow(ws, n, n_kept, ws.members[a], True)
    return n_kept


@compiled
def _pivot(ws: Workspace, n: int) -> None:
    """List the union in ``ws.members``, what adds most to the span first.

    Pivoted Cholesky factorisation, with ``ws.inverse`` for scratch. In another order
    fits can have weights of thousands, and what they leave drowns in their rounding.
    """
    for k in range(n):
        ws.members[k] = k
        ws.residual[k] = ws.gram[k, k]
    for step in range(n):
        best = step
        for a in range(step, n):
            k, top = ws.members[a], ws.members[best]
            if ws.residual[k] * ws.gram[top, top] > ws.residual[top] * ws.gram[k, k]:
                best = a
        pivot = ws.members[best]
        ws.members[best] = ws.members[step]
        ws.members[step] = pivot
        if not ws.residual[pivot] > 0.0:
            break
        root = sqrt(ws.residual[pivot])
        for a in range(step + 1, n):
            k = ws.members[a]
            left = ws.gram[k, pivot] - dot(ws.inverse[k], ws.inverse[pivot], step)
            ws.inverse[k, step] = left / root
            ws.residual[k] -= ws.inverse[k, step] ** 2


@compiled
def _cheapest(ws: Workspace, n_kept: int) -> int:
    """Return the position of the atom with the smallest ``w_k^2 / Q_kk``."""
    best, cheapest = -1, 0.0
    for a in range(n_kept):
        if ws.inverse[a, a] > 0.0:
            cost = ws.weights[a] ** 2 / ws.inverse[a, a]
            if best < 0 or cost <= cheapest:
                best, cheapest = a, cost
    return best


@compiled
def _remove(ws: Workspace, n_kept: int, gone: int) -> None:
    """Remove the atom at a position, refit the others, close the gap."""
    Q = ws.inverse
    pivot = Q[gone, gone]
    share = ws.weights[gone] / pivot
    for a in range(n_kept):
        ws.solution[a] = Q[a, gone]
    for a in range(n_kept):
        ws.weights[a] -= ws.solution[a] * share
        add_scaled(Q[a], -ws.solution[a] / pivot, ws.solution, n_kept)
    for a in range(gone, n_kept - 1):
        ws.weights[a] = ws.weights[a + 1]
        ws.kept[a] = ws.kept[a + 1]
        for c in range(n_kept):
            Q[a, c] = Q[a + 1, c]
    for a in range(n_kept - 1):
        for c in range(gone, n_kept - 1):
            Q[a, c] = Q[a, c + 1]


@compiled
def _shrink(ws: Workspace, n_kept: int, budget: float) -> int:
    """Remove atoms, cheapest first, while the squared costs stay within budget."""
    spent = 0.0
    while n_kept > 0:
        gone = _cheapest(ws, n_kept)
        if gone < 0:
            break
        spent += ws.weights[gone] ** 2 / ws.inverse[gone, gone]
        if not spent <= budget * budget:
            break
        _remove(ws, n_kept, gone)
        n_kept -= 1
    return n_kept


@compiled
def squared_distance(ws: Workspace, n: int, n_kept: int) -> float:
    """Return ``||f - f~||^2`` of the kept atoms' function to the unprojected one."""
    for k in range(n):
        ws.residual[k] = -ws.start[k]
    for a in range(n_kept):
        ws.residual[ws.kept[a]] += ws.weights[a]
    total = 0.0
    for k in range(n):
        total += ws.residual[k] * dot(ws.gram[k], ws.residual, n)
    return total


@compiled
def _is_within(ws: Workspace, n: int, n_kept: int, budget: float) -> bool:
    square = squared_distance(ws, n, n_kept)
    size, moved = 0.0, 0.0
    for k in range(n):
        moved += abs(ws.residual[k]) * ws.gram[k, k] ** 0.5
        size += abs(ws.start[k]) * ws.gram[k, k] ** 0.5
    return is_trusted(square, budget, size, moved)


@compiled
def _shrink_carefully(ws: Workspace, n: int, budget: float) -> int:
    """Remove atoms one at a time with a fresh fit and a verified distance each."""
    n_kept = rebuild(ws, n)
    while n_kept > 0:
        gone = _cheapest(ws, n_kept)
        if gone < 0:
            break
        member = ws.kept[gone]
        _remove(ws, n_kept, gone)
        n_kept = refit(ws, n, n_kept - 1)
        if not _is_within(ws, n, n_kept, budget):
            ws.kept[n_kept] = member
            return refit(ws, n, n_kept + 1)
    return n_kept


@compiled
def refit(ws: Workspace, n: int, n_kept: int) -> int:
    """Make the inverse of the kept atoms anew and project the whole union on them.

    Kept atoms that turn out to depend on the others are dropped.
    """
    n_fresh = 0
    for a in range(n_kept):
        member = ws.kept[a]  # read before the slot is written: n_fresh <= a
        n_fresh, _ = _grow(ws, n, n_fresh, member, True)
    for k in range(n):
        ws.places[k] = 1  # still to be projected
    for a in range(n_fresh):
        ws.weights[a] = ws.start[ws.kept[a]]
        ws.places[ws.kept[a]] = 0
    for k in range(n):
        if ws.places[k] == 1 and ws.start[k] != 0.0:
            _solve(ws, n, n_fresh, k)
            add_scaled(ws.weights, ws.start[k], ws.solution, n_fresh)
    return n_fresh


@compiled
def _has_drifted(ws: Workspace, n_kept: int) -> bool:
    """Look at ``|Q K - I|`` on the column most at risk, of the largest ``Q_kk``."""
    if n_kept == 0:
        return False
    sample = 0
    for a in range(n_kept):
        if ws.inverse[a, a] > ws.inverse[sample, sample]:
            sample = a
    for c in range(n_kept):
        ws.solution[c] = ws.gram[ws.kept[sample], ws.kept[c]]
    worst = 0.0
    for a in range(n_kept):
        off = dot(ws.inverse[a], ws.solution, n_kept) - (1.0 if a == sample else 0.0)
        worst = max(worst, abs(off))
    return not worst <= DRIFT


@compiled
def commit(D: Dictionary, m: int, block: Block, ws: Workspace, n_kept: int) -> None:
    """Move the kept atoms into the dictionary, in the order in which they came."""
    for k in range(len(ws.places)):
        ws.places[k] = 0
    for a in range(n_kept):
        ws.places[ws.kept[a]] = 1
    place = 0
    for k in range(len(ws.places)):
        if ws.places[k] == 1:
            ws.places[k] = place
            place += 1
    for a in range(n_kept):
        ws.members[ws.places[ws.kept[a]]] = a
    for place in range(n_kept):
        a = ws.members[place]
        source = ws.kept[a]
        for f in range(len(D.atoms)):
            if source >= m:
                D.atoms[f, place] = block.points[f, source - m]
            else:
                D.atoms[f, place] = D.atoms[f, source]
        D.weights[place] = ws.weights[a]
        D.norms[place] = sqrt(ws.gram[source, source])
        for c in range(n_kept):
            D.inverse[place, c] = ws.inverse[a, ws.members[c]]
        D.diagonal[place] = D.inverse[place, place]
    pad(D, n_kept)


@compiled
def pad(D: Dictionary, m: int) -> None:
    """Fill up to full lanes behind the first ``m``."""
    for k in range(m, padded(m)):
        D.weights[k] = 0.0
        D.diagonal[k] = -1.0
        D.norms[k] = 0.0
        for f in range(len(D.atoms)):
            D.atoms[f, k] = 0.0
        for c in range(m):
            D.inverse[c, k] = 0.0
