"""Points that repeat atoms, or each other, bit for bit: they change weights alone."""

import numpy as np

from halk._jit import LANES, any_at_most, inlined, internal, least, load, spread, store
from halk._validation import Matrix
from halk.compression.workspace import Block, Dictionary, Workspace


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
    for k in range(0, m, LANES):
        store(block.cross[target], k, load(block.cross[source], k))
        store(block.solved[target], k, load(block.solved[source], k))
    block.coefficients[target] = block.coefficients[source]
    block.diagonal[target] = block.diagonal[source]
