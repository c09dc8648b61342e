"""The exponential function in lanes.

Compilers do not turn calls of the library's ``exp`` into lanes. Here is one they need
not: ``exp(x) = 2^n exp(r)``, with ``n`` whole and ``|r| <= log(2) / 2``, where the
Taylor polynomial of degree 12 is exact to rounding.
"""

from math import factorial

import numpy as np

from halk._jit.compilation import inlined
from halk._jit.lanes import (
    Lanes,
    any_below,
    fma,
    least,
    magnitude,
    spread,
    two_to_the,
)
from halk._jit.singly import one_by_one

FARTHEST = 700.0
"""Beyond it ``exp(-a)`` counts as ``exp(-700)``, 1e-304: there is no underflow."""

_exponentials = one_by_one(np.exp)

_LOG2_E = 1.4426950408889634
_ROUNDING = 1.5 * 2.0**52  # adding it rounds to whole numbers
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10

(_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12) = (
    1.0 / factorial(n) for n in range(2, 13)
)


@inlined
def decay(a: Lanes) -> Lanes:
    """Return ``exp(-a)`` for ``a >= 0``, with a relative error below 1e-15."""
    return _power(spread(0.0) - least(a, spread(FARTHEST)))


@inlined
def exponential(x: Lanes) -> Lanes:
    """Return ``exp(x)``, with a relative error below 1e-15.

    Beyond 700, in either direction, numbers are taken to the library, one by one.
    """
    if any_below(spread(FARTHEST), magnitude(x)):
        return _exponentials(x)
    return _power(x)


@inlined
def _power(x: Lanes) -> Lanes:
    """Return ``exp(x)`` for ``x`` from -700 to 700.

    The polynomial is evaluated in pairs of terms (Estrin): term after term, each would
    have to wait for the one before.
    """
    t = fma(x, spread(_LOG2_E), spread(_ROUNDING))
    n = t - spread(_ROUNDING)
    r = fma(n, spread(-_LN2_HIGH), x)
    r = fma(n, spread(-_LN2_LOW), r)
    r2 = r * r
    p0 = r + spread(1.0)
    p2 = fma(r, spread(_C3), spread(_C2))
    p4 = fma(r, spread(_C5), spread(_C4))
    p6 = fma(r, spread(_C7), spread(_C6))
    p8 = fma(r, spread(_C9), spread(_C8))
    p10 = fma(r, spread(_C11), spread(_C10))
    r4 = r2 * r2
    p0 = fma(p2, r2, p0)
    p4 = fma(p6, r2, p4)
    p8 = fma(r4, spread(_C12), fma(p10, r2, p8))
    return fma(p8, r4 * r4, fma(p4, r4, p0)) * two_to_the(t)
