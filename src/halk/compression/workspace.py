"""The arrays that compression works in, and those of one agent's dictionary."""

from typing import NamedTuple

import numpy as np

from halk._validation import Indices, Matrix, Vector


class Dictionary(NamedTuple):
    """One agent's function in arrays with room to grow; the first ``m`` count.

    ``gram`` holds ``K = k(d_k, d_l)`` and ``inverse`` its inverse ``Q``. Both
    are kept: ``Q`` decides, ``K`` verifies what ``Q`` decided.
    """

    atoms: Matrix  # (capacity, p)
    weights: Vector  # (capacity,)
    gram: Matrix  # (capacity, capacity)
    inverse: Matrix  # (capacity, capacity)


class Workspace(NamedTuple):
    """Scratch of one step of one agent: a block of new points, and the union.

    The block has ``b`` points, the union ``n = m + b``: old atoms first, new behind.
    """

    points: Matrix  # (B, p)      the new points
    coefficients: Vector  # (B,)  their weights in the unprojected function
    values: Vector  # (B,)        the function at the new points
    cross: Matrix  # (B, N)       k(d_k, x_b)
    block_gram: Matrix  # (B, B)  k(x_a, x_b)
    solved: Matrix  # (B, N)      U = cross Q
    schur: Matrix  # (B, B)       S = block_gram - cross U', then its inverse T
    pulled: Matrix  # (B, N)      R = T U
    rest: Vector  # (B,)          coefficients while new atoms are removed
    start: Vector  # (N,)         weights of the unprojected function on the union
    weights: Vector  # (N,)       weights while atoms are removed
    precision: Vector  # (N,)     diagonal of the inverse of the union's Gram matrix
    gram: Matrix  # (N, N)        Gram matrix of the union
    inverse: Matrix  # (N, N)     inverse for the atoms still there, in their order
    kept: Indices  # (N,)         which members of the union are still there
    places: Indices  # (N,)       where they go in the dictionary
    members: Indices  # (N,)      who comes to each place
    solution: Vector  # (N,)      weights of a fit
    residual: Vector  # (N,)      what it misses
    picked: Indices  # (B,)       which new points count as atoms
    sequence: Indices  # (B,)     new points in the order in which to add them

    def fits(self, n_union: int, n_block: int) -> bool:
        """Return whether a union and a block of these sizes find room."""
        return n_union <= len(self.start) and n_block <= len(self.rest)


def workspace(n_union: int, n_block: int, n_features: int) -> Workspace:
    """Return scratch for up to ``n_union`` atoms, ``n_block`` of them new."""
    N, B = n_union, n_block
    return Workspace(
        points=np.zeros((B, n_features)),
        coefficients=np.zeros(B),
        values=np.zeros(B),
        cross=np.zeros((B, N)),
        block_gram=np.zeros((B, B)),
        solved=np.zeros((B, N)),
        schur=np.zeros((B, B)),
        pulled=np.zeros((B, N)),
        rest=np.zeros(B),
        start=np.zeros(N),
        weights=np.zeros(N),
        precision=np.zeros(N),
        gram=np.zeros((N, N)),
        inverse=np.zeros((N, N)),
        kept=np.zeros(N, dtype=np.int64),
        places=np.zeros(N, dtype=np.int64),
        members=np.zeros(N, dtype=np.int64),
        solution=np.zeros(N),
        residual=np.zeros(N),
        picked=np.zeros(B, dtype=np.int64),
        sequence=np.zeros(B, dtype=np.int64),
    )


def dictionary(capacity: int, n_features: int) -> Dictionary:
    """Return an empty dictionary with room for ``capacity`` atoms."""
    return Dictionary(
        np.zeros((capacity, n_features)),
        np.zeros(capacity),
        np.zeros((capacity, capacity)),
        np.zeros((capacity, capacity)),
    )
