"""The arrays that compression works in, and those of one agent's dictionary."""

from typing import NamedTuple

import numpy as np

from halk._jit import lined_up, padded
from halk._validation import Indices, Matrix, Vector

TERMS, MOVED, VERIFIED, PROJECTED, RESCUED = range(5)
COUNTED = (
    "kernel terms at atoms",
    "steps that moved weights alone",
    "steps whose distance was verified with the Gram matrix",
    "steps that changed matrices",
    "of these, steps whose inverse was made anew",
)
"""What is counted, for tests and benchmarks: how much work was done, and avoided."""


class Dictionary(NamedTuple):
    """One agent's function in arrays with room to grow; the first ``m`` count.

    The capacity is a multiple of full lanes. Behind the first ``m``, up to full lanes,
    weights and the columns of ``inverse`` are 0 and the diagonal is -1, so that loops
    in lanes need no exceptions. The Gram matrix ``K`` is not kept: in the steady state
    nothing needs it.
    """

    atoms: Matrix  # (p, capacity)           in columns
    weights: Vector  # (capacity,)
    inverse: Vector  # (capacity^2,)         Q, the inverse of K, in panels
    diagonal: Vector  # (capacity,)          Q_kk
    norms: Vector  # (capacity,)             k(d_k, d_k)^(1/2)


class Block(NamedTuple):
    """New points of one step of one agent, and what the function is pulled there."""

    points: Matrix  # (p, B)      the new points, in columns
    cross: Matrix  # (B, N)       k(d_k, x_b)
    solved: Matrix  # (B, N)      U = cross Q
    gram: Matrix  # (B, B)        k(x_a, x_b)
    coefficients: Vector  # (B,)  their weights in the unprojected function
    values: Vector  # (B,)        the function at the new points
    diagonal: Vector  # (B,)      k(x_b, x_b)


class Workspace(NamedTuple):
    """Scratch of one step of one agent.

    The block has ``b`` points, the union ``n = m + b``: old atoms first, new behind.
    """

    schur: Matrix  # (B, B)       S = block.gram - cross U', then its inverse
    stages: Matrix  # (B, B)      coefficients at every stage of removal; or -L
    prices: Vector  # (B,)        what the cheapest new atom costs then; or 1 / C
    rest: Vector  # (B,)          those coefficients now, or the largest they ever are
    start: Vector  # (N,)         weights of the unprojected function on the union
    weights: Vector  # (N,)       weights while atoms are removed
    precision: Vector  # (N,)     of old atoms with all new ones there: Q_kk + u' T u
    fit: Vector  # (N,)           a fit, in the order of the union
    gram: Matrix  # (N, N)        Gram matrix of the union
    inverse: Matrix  # (N, N)     inverse for the atoms still there
    kept: Indices  # (N,)         which members of the union are still there
    places: Indices  # (N,)       where they go in the dictionary
    members: Indices  # (N,)      who comes to each place
    solution: Vector  # (N,)      weights of a fit
    residual: Vector  # (N,)      what it misses
    fitted: Vector  # (N,)        what it makes of the kernel values
    picked: Indices  # (B,)       which new points count as atoms
    sequence: Indices  # (B,)     new points in the order in which to add them
    drift: Vector  # (1,)         a bound on |K Q - I| while the inverse changes
    none: Vector  # (N,)          zeros, never written
    scratch: Matrix  # (2, p)     two points, for kernels that take points one by one
    counts: Indices  # (5,)       what was done; see COUNTED


def block(n_union: int, n_block: int, n_features: int) -> Block:
    """Return room for ``n_block`` points and their kernel values at the atoms."""
    N, B = padded(n_union), padded(n_block)
    return Block(
        points=lined_up((n_features, B)),
        cross=lined_up((B, N)),
        solved=lined_up((B, N)),
        gram=lined_up((B, B)),
        coefficients=lined_up(B),
        values=lined_up(B),
        diagonal=lined_up(B),
    )


def workspace(n_union: int, n_block: int, n_features: int) -> Workspace:
    """Return scratch for up to ``n_union`` atoms, ``n_block`` of them new."""
    N, B = padded(n_union), padded(n_block)
    return Workspace(
        schur=lined_up((B, B)),
        stages=lined_up((B, B)),
        prices=lined_up(B),
        rest=lined_up(B),
        start=lined_up(N),
        weights=lined_up(N),
        precision=lined_up(N),
        fit=lined_up(N),
        gram=lined_up((N, N)),
        inverse=lined_up((N, N)),
        kept=np.zeros(N, dtype=np.int64),
        places=np.zeros(N, dtype=np.int64),
        members=np.zeros(N, dtype=np.int64),
        solution=lined_up(N),
        residual=lined_up(N),
        fitted=lined_up(N),
        picked=np.zeros(B, dtype=np.int64),
        sequence=np.zeros(B, dtype=np.int64),
        drift=np.zeros(1),
        none=lined_up(N),
        scratch=lined_up((2, n_features)),
        counts=np.zeros(len(COUNTED), dtype=np.int64),
    )


def dictionary(capacity: int, n_features: int) -> Dictionary:
    """Return an empty dictionary with room for ``capacity`` atoms."""
    c = padded(capacity)
    return Dictionary(
        lined_up((n_features, c)),
        lined_up(c),
        lined_up(c * c),
        np.full(c, -1.0),
        lined_up(c),
    )
