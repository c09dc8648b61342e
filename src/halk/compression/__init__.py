"""Compression: destructive orthogonal matching pursuit within an error budget (S7).

``block`` decides in O(m) whether a step needs to touch a matrix at all (``merge``,
``few`` and ``stages`` are its parts), ``greedy`` does the removal when it must and
``commit`` writes it down, ``trust`` says when a decision needs to be verified and
``drift`` how far an inverse can be believed, ``algebra`` and ``panels`` have the loops
in lanes, ``workspace`` the arrays of all.
"""

from halk.compression.block import weights_only
from halk.compression.commit import commit, pad
from halk.compression.compress import (
    NEEDS_DECISION,
    NEEDS_PROJECTION,
    NEEDS_RESCUE,
    Procedures,
    compress,
    compress_arrays,
    compressed,
    procedures,
)
from halk.compression.merge import merge_duplicates
from halk.compression.panels import PANEL, copy_panels, square, write_square
from halk.compression.rescue import rebuild
from halk.compression.trust import AGE, DRIFT, ROUNDING
from halk.compression.workspace import (
    COUNTED,
    TERMS,
    Block,
    Dictionary,
    Workspace,
    block,
    dictionary,
    workspace,
)

__all__ = [
    "AGE",
    "COUNTED",
    "DRIFT",
    "NEEDS_DECISION",
    "NEEDS_PROJECTION",
    "NEEDS_RESCUE",
    "PANEL",
    "ROUNDING",
    "TERMS",
    "Block",
    "Dictionary",
    "Procedures",
    "Workspace",
    "block",
    "commit",
    "compress",
    "compress_arrays",
    "compressed",
    "copy_panels",
    "dictionary",
    "merge_duplicates",
    "pad",
    "procedures",
    "rebuild",
    "square",
    "weights_only",
    "workspace",
    "write_square",
]
