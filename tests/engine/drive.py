"""Small compiled functions: what only compiled code can call, for tests to call."""

from typing import Any

import numpy as np

from halk._jit import borrowed, compiled
from halk.compression import Block, Dictionary, Workspace, block, dictionary, workspace
from halk.compression.rows import Rows, rows_of


@compiled
def fill_rows(
    rows: Rows, scale: float, D: Dictionary, m: int, block: Block, b: int, ws: Workspace
) -> None:
    """Fill kernel values and values of the function at the points of a block."""
    lent, scratch = borrowed(rows), borrowed(ws.scratch)
    old = borrowed(D)
    lent.fill(lent.theta, scale, old, m, borrowed(block), b, scratch, old.inverse)


@compiled
def fill_grams(
    rows: Rows, scale: float, D: Dictionary, m: int, block: Block, b: int, ws: Workspace
) -> None:
    """Fill the Gram matrices of the atoms and of the block, and its diagonal."""
    lent, scratch = borrowed(rows), borrowed(ws.scratch)
    points = borrowed(block)
    atoms, gram = borrowed(D.atoms), borrowed(ws.gram)
    lent.fill_gram(lent.theta, scale, atoms, m, gram, scratch)
    lent.fill_gram(lent.theta, scale, points.points, b, points.gram, scratch)
    lent.fill_diagonal(lent.theta, scale, points, b, scratch)


class Rowed:
    """A function and a block of points, with kernel values as the engine makes them.

    Behind the first ``m`` atoms stands what may stand there: weights of zero.
    """

    def __init__(
        self, kernel: Any, atoms: Any, weights: Any, X: Any, scale: float = 1.0
    ) -> None:
        (m, p), b = atoms.shape, len(X)
        D, B, ws = dictionary(m, p), block(m + b, b, p), workspace(m + b, b, p)
        D.atoms[:, :m], D.weights[:m], B.points[:, :b] = atoms.T, weights, X.T
        rows = rows_of(kernel)
        fill_rows(rows, scale, D, m, B, b, ws)
        fill_grams(rows, scale, D, m, B, b, ws)
        self.cross, self.values = B.cross[:b, :m], B.values[:b]
        self.gram, self.block_gram = ws.gram[:m, :m], B.gram[:b, :b]
        self.diagonal = B.diagonal[:b]


def fresh_trust() -> Any:
    """Return trust in an inverse of which nothing is known."""
    return np.array([np.inf, 0.0])
