"""Compilation to machine code: the only package that imports Numba."""

from halk._jit import announcement, garbage  # noqa: F401
from halk._jit.borrowing import borrowed
from halk._jit.compilation import (
    IS_INTERPRETED,
    compiled,
    generic,
    generic_in_lanes,
    generic_procedure,
    inlined,
    internal,
    scaled_tuple,
    shared,
)
from halk._jit.elsewhere import Helper
from halk._jit.exponential import FARTHEST, decay
from halk._jit.lanes import (
    LANES,
    Lanes,
    any_at_most,
    any_below,
    fma,
    in_lanes,
    least,
    lined_up,
    load,
    magnitude,
    packed,
    padded,
    prefetch,
    root,
    spread,
    store,
    total,
)
from halk._jit.lending import lent
from halk._jit.pointers import (
    filled,
    is_ours,
    parameters,
    point_function,
    pointer,
    skeleton,
)
from halk._jit.views import matrix_at, part_of, point_of

__all__ = [
    "FARTHEST",
    "IS_INTERPRETED",
    "LANES",
    "Helper",
    "Lanes",
    "any_at_most",
    "any_below",
    "borrowed",
    "compiled",
    "decay",
    "filled",
    "fma",
    "generic",
    "generic_in_lanes",
    "generic_procedure",
    "in_lanes",
    "inlined",
    "internal",
    "is_ours",
    "least",
    "lent",
    "lined_up",
    "load",
    "magnitude",
    "matrix_at",
    "packed",
    "padded",
    "parameters",
    "part_of",
    "point_function",
    "point_of",
    "pointer",
    "prefetch",
    "root",
    "scaled_tuple",
    "shared",
    "skeleton",
    "spread",
    "store",
    "total",
]
