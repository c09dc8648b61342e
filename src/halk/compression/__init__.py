"""Compression: destructive orthogonal matching pursuit within an error budget (S7).

``block`` decides in O(m) whether a step needs to touch a matrix at all, ``greedy`` does
the removal when it must, ``workspace`` holds the arrays of both.
"""

from halk.compression.block import ROUNDING, merge_duplicates, weights_only
from halk.compression.compress import compress, compressed, compressor
from halk.compression.greedy import commit, project
from halk.compression.workspace import Dictionary, Workspace, dictionary, workspace

__all__ = [
    "ROUNDING",
    "Dictionary",
    "Workspace",
    "commit",
    "compress",
    "compressed",
    "compressor",
    "dictionary",
    "merge_duplicates",
    "project",
    "weights_only",
    "workspace",
]
