"""Greedy removal where the inverse cannot be trusted: slower, and sure.

Gram matrices of close atoms are ill-conditioned by nature, and an inverse that was
updated a thousand times drifts. Here it is made anew, and what is removed is verified
atom by atom.
"""

from math import sqrt

import numpy as np

from halk._jit import internal, shared
from halk.compression.algebra import add_scaled, dot
from halk.compression.greedy import (
    cheapest,
    fill_union,
    grow,
    has_drifted,
    is_within,
    remove,
    shrink,
    solve,
)
from halk.compression.workspace import Block, Workspace


def rescue(m: int, block: Block, ws: Workspace, b: int, budget: float) -> int:
    """Compress the union within ``budget``; return how many atoms are left.

    As ``project``, but from the Gram matrix alone.
    """
    n = m + b
    fill_union(m, block, ws, b)
    n_kept = shrink(ws, rebuild(ws, n), budget, 0.0)
    if not is_within(ws, n, n_kept, budget):
        n_kept = _shrink_carefully(ws, n, budget)
    if has_drifted(ws, n_kept):
        n_kept = refit(ws, n, n_kept)
    return n_kept


@shared
def rebuild(ws: Workspace, n: int) -> int:
    """Make the inverse anew from the union's Gram matrix; return the atoms kept."""
    _pivot(ws, n)
    # not a literal, which would be compiled for by itself
    n_kept: int = np.int64(0)  # type: ignore[assignment]
    ws.drift[0] = 0.0
    for a in range(n):
        k = ws.members[a]
        if ws.gram[k, k] > 0.0:
            solve(ws, n, n_kept, k)
            n_kept = grow(ws, n_kept, k, ws.start[k])
    return n_kept


@internal
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


@internal
def _shrink_carefully(ws: Workspace, n: int, budget: float) -> int:
    """Remove atoms one at a time with a fresh fit and a verified distance each."""
    n_kept = rebuild(ws, n)
    while n_kept > 0:
        gone = cheapest(ws, n_kept, 0.0)
        if gone < 0:
            break
        member = ws.kept[gone]
        remove(ws, n_kept, gone)
        n_kept = refit(ws, n, n_kept - 1)
        if not is_within(ws, n, n_kept, budget):
            ws.kept[n_kept] = member
            return refit(ws, n, n_kept + 1)
    return n_kept


@shared
def refit(ws: Workspace, n: int, n_kept: int) -> int:
    """Make the inverse of the kept atoms anew and project the whole union on them.

    Kept atoms that turn out to depend on the others are dropped.
    """
    n_fresh: int = np.int64(0)  # type: ignore[assignment]
    ws.drift[0] = 0.0
    for a in range(n_kept):
        member = ws.kept[a]  # read before the slot is written: n_fresh <= a
        if ws.gram[member, member] > 0.0:  # else it is the zero function
            solve(ws, n, n_fresh, member)
            n_fresh = grow(ws, n_fresh, member, ws.start[member])
    for k in range(n):
        ws.places[k] = 1  # still to be projected
    for a in range(n_fresh):
        ws.weights[a] = ws.start[ws.kept[a]]
        ws.places[ws.kept[a]] = 0
    for k in range(n):
        if ws.places[k] == 1 and ws.start[k] != 0.0 and ws.gram[k, k] > 0.0:
            solve(ws, n, n_fresh, k)
            add_scaled(ws.weights, ws.start[k], ws.solution, n_fresh)
    return n_fresh
