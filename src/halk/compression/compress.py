"""KOMP with pre-fitting, from the unprojected function to the compressed one (S7)."""

from collections.abc import Iterator
from functools import cache
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from halk._jit import LANES, Helper, borrowed, compiled, internal, load, pointer, store
from halk._validation import Vector, nonnegative
from halk.compression.block import (
    DECIDED,
    DEPENDENT,
    UNDECIDED,
    UNVERIFIED,
    is_within,
    weights_only,
)
from halk.compression.commit import commit
from halk.compression.greedy import project
from halk.compression.merge import merge_duplicates
from halk.compression.panels import products
from halk.compression.rescue import rescue
from halk.compression.rows import Rows, rows_of
from halk.compression.trust import AGE, DRIFT, PATIENCE, measured_drift
from halk.compression.workspace import (
    MOVED,
    PROJECTED,
    RESCUED,
    VERIFIED,
    Block,
    Dictionary,
    Workspace,
    block,
    dictionary,
    workspace,
)
from halk.expansion import Expansion


class Procedures(NamedTuple):
    """The parts of compression that are compiled by themselves, as pointers."""

    project: Any  # grow the dictionary, remove atoms
    commit: Any  # move what is left into the dictionary; how far Q is from an inverse
    decide: Any  # whether weights alone move
    verify: Any  # whether they may
    rescue: Any  # remove atoms where the inverse cannot be trusted


_helper = Helper(__name__, "compile_parts")
_compiling = RLock()
"""Learners in two threads may need a part at once; one of them makes it."""


def compile_parts() -> Iterator[str]:
    """Compile the parts that a first start needs last, in the order of their need."""
    procedures(can_decide=False, can_rescue=False)
    yield "project"
    procedures(can_decide=True, can_rescue=False)
    yield "decide"


def procedures(
    can_decide: bool = True, can_rescue: bool = True, can_project: bool = True
) -> Procedures:
    """Return the parts of compression, compiled when first asked for.

    Two of them are large and not needed by everybody: a young dictionary has nothing to
    decide, and rescue from an inverse that drifted is hardly ever needed. Another
    process may be compiling the largest one. Without them, ``compress`` asks for them.
    """
    with _compiling:
        return _procedures(can_decide, can_rescue, can_project)


@cache
def _procedures(can_decide: bool, can_rescue: bool, can_project: bool) -> Procedures:
    if not can_project:
        can_project = not _helper.is_at_work(project)
    elif can_decide:
        _helper.wait_for("decide")
    else:
        _helper.wait_for("project")
    D, B, ws, trust = dictionary(1, 1), block(1, 1, 1), workspace(1, 1, 1), np.zeros(2)
    verified = pointer(False, D, 0, B, ws, 0, 0.0, trust)
    return Procedures(
        project=pointer(0, D, 0, B, ws, 0, 0.0)(
            project if can_project else _no_projection
        ),
        commit=pointer(0.0, D, 0, B, ws, 0)(_commit if can_project else _no_commit),
        decide=pointer(0, D, 0, B, ws, 0, 0.0, trust, True, is_hot=True)(
            weights_only if can_decide else _no_decision
        ),
        verify=verified(_verify if can_decide else _no_verdict),
        rescue=pointer(0, 0, B, ws, 0, 0.0)(rescue if can_rescue else _no_rescue),
    )


ABSENT = -3
"""What the stand-in of a procedure that is not there returns."""


def _no_projection(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, budget: float
) -> int:
    return ABSENT


def _commit(D: Dictionary, m: int, block: Block, ws: Workspace, n_kept: int) -> float:
    return commit(D, m, block, ws, n_kept)


def _no_commit(
    D: Dictionary, m: int, block: Block, ws: Workspace, n_kept: int
) -> float:
    return np.inf


def _no_decision(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, budget: float,
    trust: Vector, is_merged: bool,
) -> int:  # fmt: skip
    return ABSENT


def _no_verdict(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, budget: float,
    trust: Vector,
) -> bool:  # fmt: skip
    return False


def _no_rescue(m: int, block: Block, ws: Workspace, b: int, budget: float) -> int:
    return ABSENT


def _verify(
    D: Dictionary, m: int, block: Block, ws: Workspace, b: int, budget: float,
    trust: Vector,
) -> bool:  # fmt: skip
    """Return whether the distance is within budget, with ``K`` in ``ws.gram``."""
    ws.counts[VERIFIED] += 1
    trust[AGE] += 1.0
    if not is_within(D, m, block, ws, b, budget):
        return False
    if trust[AGE] * PATIENCE >= m:
        trust[DRIFT] = measured_drift(D, m, ws.gram, ws.inverse)
    return True


YOUNG = 4
"""Atoms below which there is nothing to decide: to project is as fast."""

SOME = 8
"""Most points that are decided about before it is looked which of them repeat."""

NEEDS_DECISION, NEEDS_RESCUE, NEEDS_PROJECTION = -(2**40), -(2**41), -(2**42)
"""``compress`` needs a procedure that is not there."""


@internal
def compress(
    rows: Rows,
    procedures: Procedures,
    scale: float,
    D: Dictionary,
    m: int,
    block: Block,
    ws: Workspace,
    b: int,
    budget: float,
    trust: Vector,
) -> int:
    """Compress the function of ``m`` atoms and ``b`` new points within ``budget``.

    The weights of the unprojected function are in ``ws.start`` (old atoms) and
    ``block.coefficients`` (new points), kernel values in ``block.cross`` and
    ``block.diagonal``, products of the former with the inverse in ``block.solved``.

    Returns the number of atoms left, with ``D`` updated; or, where ``D`` has too little
    room, minus that number; or what else it needs. ``D`` is then untouched.
    """
    # To look for points that repeat takes longer than to decide about some of them, and
    # where one does repeat they depend on each other: it is looked for afterwards then.
    is_merged, outcome = m < YOUNG or not 1 < b <= SOME, DEPENDENT
    while True:
        if is_merged:
            n, b = b, merge_duplicates(D, m, block, ws, b)
            if b == n and outcome == UNDECIDED:
                break
        outcome = _decided(
            rows, procedures, scale, D, m, block, ws, b, budget, trust, is_merged
        )
        if is_merged or outcome not in (UNDECIDED, DEPENDENT):
            break
        is_merged = True
    if outcome == ABSENT:
        return NEEDS_DECISION
    if outcome != DECIDED:
        rows.fill_gram(rows.theta, scale, D.atoms, m, ws.gram, ws.scratch)
    if outcome == DECIDED or (
        outcome == UNVERIFIED and procedures.verify(D, m, block, ws, b, budget, trust)
    ):
        ws.counts[MOVED] += outcome == DECIDED
        old, new = D.weights, ws.weights
        for k in range(0, m, LANES):
            store(old, k, load(new, k))
        return m
    return _replace_atoms(procedures, D, m, block, ws, b, budget, trust)


@internal
def _decided(
    rows: Rows, procedures: Procedures, scale: float, D: Dictionary, m: int,
    block: Block, ws: Workspace, b: int, budget: float, trust: Vector, is_merged: bool,
) -> int:  # fmt: skip
    """Fill the Gram matrix of the block; return whether weights alone move."""
    if b == 1:
        block.gram[0, 0] = block.diagonal[0]
    else:
        rows.fill_gram(rows.theta, scale, block.points, b, block.gram, ws.scratch)
    if m < YOUNG:
        return UNDECIDED
    outcome: int = procedures.decide(D, m, block, ws, b, budget, trust, is_merged)
    return outcome


@internal
def _replace_atoms(
    procedures: Procedures, D: Dictionary, m: int, block: Block, ws: Workspace, b: int,
    budget: float, trust: Vector,
) -> int:  # fmt: skip
    """Change the atoms of the dictionary; returns as :func:`compress` does."""
    ws.drift[0] = trust[DRIFT] if m > 0 else 0.0
    n_kept: int = procedures.project(D, m, block, ws, b, budget)
    if n_kept == ABSENT:
        return NEEDS_PROJECTION
    ws.counts[PROJECTED] += 1
    if n_kept < 0:
        n_kept = procedures.rescue(m, block, ws, b, budget)
        if n_kept == ABSENT:
            return NEEDS_RESCUE
        ws.counts[RESCUED] += 1
    if n_kept > len(D.weights):
        return -n_kept
    trust[DRIFT], trust[AGE] = procedures.commit(D, m, block, ws, n_kept), 0.0
    return n_kept


@compiled
def compress_arrays(
    rows: Rows, procedures: Procedures, D: Dictionary, m: int, block: Block,
    ws: Workspace, b: int, budget: float, trust: Vector,
) -> int:  # fmt: skip
    """Compress as :func:`compress` does, called from Python."""
    kernel, points, place = borrowed(rows), borrowed(block), borrowed(ws)
    kernel.fill_diagonal(kernel.theta, 1.0, points, b, place.scratch)
    old = borrowed(D)
    products(old.inverse, m, points.cross, b, points.solved)
    return compress(
        kernel, borrowed(procedures), 1.0, old, m, points, place, b, budget,
        borrowed(trust),
    )  # fmt: skip


def compressed(expansion: Expansion, budget: float) -> Expansion:
    r"""Return an expansion of fewer atoms within an RKHS distance.

    .. math:: \| f - \tilde f \|_{\mathcal H} \le \epsilon \qquad (S7)

    Parameters
    ----------
    expansion : Expansion of n atoms
    budget : float, not negative
        Largest admissible distance; zero removes what changes nothing.

    Returns
    -------
    Expansion
        Its atoms are a subset of those of the argument, which is not modified.

    Notes
    -----
    Greedy: the atom whose removal, after refitting the others, costs least goes first.
    O(n^3) time for a whole expansion; inside a learner a step costs O(m^2).

    Examples
    --------
    >>> from halk.kernels import Gaussian
    >>> f = Expansion(Gaussian(1.0), [[0.0], [0.01], [5.0]], [1.0, 1.0, 1e-3])
    >>> compressed(f, 0.1).atoms
    array([[0.01]])
    """
    budget = nonnegative("budget", budget)
    n, p = expansion.atoms.shape
    room = max(n, 1)
    D, B, ws = dictionary(n, p), block(room, room, p), workspace(room, room, p)
    B.points[:, :n] = expansion.atoms.T
    B.coefficients[:n] = expansion.weights
    trust = np.array([np.inf, 0.0])
    rows, parts = rows_of(expansion.kernel), procedures()
    m = compress_arrays(rows, parts, D, 0, B, ws, n, budget, trust)
    return Expansion(expansion.kernel, D.atoms[:, :m].T, D.weights[:m])
