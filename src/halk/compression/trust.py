"""What is rounding and what is not, and how far an inverse can be trusted."""

from math import inf

from halk._jit import LANES, internal, least, load, magnitude, spread, store, total
from halk._validation import Matrix
from halk.compression.panels import products
from halk.compression.workspace import Dictionary

ROUNDING = 1e-14
"""Relative error of a squared distance computed with fitting weights of size one.

What a new atom adds to the span, ``s = k(x, x) - k_D(x)' u``, is a difference of terms
as large as ``(1 + |u|_1)^2``, so below this share of that size it is rounding.
"""

EPSILON = 2.0**-52
"""Relative error of a sum of one number: a residual that is no larger is rounding."""

TIE = 1e-9
"""Relative difference of squared distances below which they are the same."""

DRIFT, AGE = 0, 1
"""Columns of an agent's trust: a bound on ``|K Q - I|``, infinite while it is not
known, and the number of steps that were verified one by one since ``Q`` changed."""

PATIENCE = 32
"""Atoms for each of which one step is verified by itself before drift is measured.

Measuring the drift of so many atoms costs what one verified step does, most of which
is its Gram matrix; so it never costs more than it could have saved.
"""


@internal
def is_rounding(s: float, kxx: float, size: float) -> bool:
    """Return whether ``s``, left by weights of 1-norm ``size``, is rounding."""
    return not s > ROUNDING * (1.0 + size) ** 2 * kxx


@internal
def is_trusted(square: float, budget: float, size: float, moved: float) -> bool:
    """Return whether a squared distance is within budget, and not made of rounding.

    ``size`` is that of the weights that were compressed, ``moved`` of the change.
    """
    slack = ROUNDING * size * size
    limit = budget * budget
    blur = 0.1 * ROUNDING * moved * moved
    return square <= limit * (1.0 + 1e-9) + slack and blur <= 0.01 * limit + slack


@internal
def measured_drift(D: Dictionary, m: int, gram: Matrix, scratch: Matrix) -> float:
    """Return at least ``max |K Q - I|``; writes to ``scratch``.

    The product rounds by as much as an inverse that is good has drifted.
    """
    products(D.inverse, m, gram, m, scratch)
    norm, precision = 0.0, 0.0
    for k in range(m):
        norm, precision = max(norm, gram[k, k]), max(precision, D.diagonal[k])
    none = spread(0.0)
    lowest, summed = none, none
    for k in range(m):
        scratch[k, k] -= 1.0
        row = scratch[k]
        for c in range(0, m, LANES):
            size = magnitude(load(row, c))
            lowest, summed = least(none - size, lowest), summed + size
    # what is no number is not the least of anything, but shows in the sum
    if not total(summed) < inf:
        return inf
    worst, last = 0.0, scratch[0]
    store(last, 0, none - lowest)
    for lane in range(LANES):
        worst = max(worst, last[lane])
    return worst + 4.0 * EPSILON * m * norm * precision
