"""Compilation to machine code: the only package that imports Numba."""

from halk._jit import announcement  # noqa: F401
from halk._jit.borrowing import borrowed, matrix_at
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
from halk._jit.exponential import decay
from halk._jit.lanes import (
    LANES,
    Lanes,
    any_at_most,
    any_below,
    fma,
    in_lanes,
    least,
    load,
    magnitude,
    packed,
    padded,
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

__all__ = [
    "IS_INTERPRETED",
    "LANES",
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
    "load",
    "magnitude",
    "matrix_at",
    "packed",
    "padded",
    "parameters",
    "point_function",
    "pointer",
    "root",
    "scaled_tuple",
    "shared",
    "skeleton",
    "spread",
    "store",
    "total",
]
