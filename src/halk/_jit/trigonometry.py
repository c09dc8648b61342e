"""Sine and cosine in lanes.

``sin(x)`` is the sine or cosine of ``r``, with either sign, where ``x`` is ``r`` and a
whole number of quarter turns and ``|r| <= pi / 4``. There the Taylor polynomials of
degree 17 and 16 are exact to rounding.
"""

import math
from math import factorial

from halk._jit.compilation import inlined
from halk._jit.lanes import (
    Lanes,
    any_below,
    fma,
    magnitude,
    quarter_turns,
    spread,
)
from halk._jit.singly import one_by_one

_FARTHEST = 2.0**30
"""Angles beyond it are taken to the library, one by one."""

_sines, _cosines = one_by_one(math.sin), one_by_one(math.cos)

_TURNS = 2.0 / math.pi
_ROUNDING = 1.5 * 2.0**52  # adding it rounds to whole numbers
_QUARTER = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33
"""A quarter turn, the digits behind it, and those behind them."""

(_S3, _S5, _S7, _S9, _S11, _S13, _S15, _S17) = (
    (-1.0) ** (n // 2) / factorial(n) for n in range(3, 18, 2)
)
(_C4, _C6, _C8, _C10, _C12, _C14, _C16) = (
    (-1.0) ** (n // 2) / factorial(n) for n in range(4, 17, 2)
)


@inlined
def sine(x: Lanes) -> Lanes:
    """Return ``sin(x)``, with an error below 3e-16."""
    if any_below(spread(_FARTHEST), magnitude(x)):
        return _sines(x)
    return _turned(x, 0.0)


@inlined
def cosine(x: Lanes) -> Lanes:
    """Return ``cos(x)``, with an error below 3e-16."""
    if any_below(spread(_FARTHEST), magnitude(x)):
        return _cosines(x)
    return _turned(x, 1.0)


@inlined
def _turned(x: Lanes, ahead: float) -> Lanes:
    """Return the sine of ``x`` and ``ahead`` quarter turns."""
    t = fma(x, spread(_TURNS), spread(_ROUNDING))
    n = t - spread(_ROUNDING)
    r = fma(n, spread(-_QUARTER[0]), x)
    r = fma(n, spread(-_QUARTER[1]), r)
    r = fma(n, spread(-_QUARTER[2]), r)
    return quarter_turns(t + spread(ahead), _sine(r), _cosine(r))


@inlined
def _sine(r: Lanes) -> Lanes:
    s = r * r
    q = s * s
    p3, p7 = fma(s, spread(_S5), spread(_S3)), fma(s, spread(_S9), spread(_S7))
    p11, p15 = fma(s, spread(_S13), spread(_S11)), fma(s, spread(_S17), spread(_S15))
    p = fma(fma(p15, q, p11), q * q, fma(p7, q, p3))
    return fma(p, s * r, r)


@inlined
def _cosine(r: Lanes) -> Lanes:
    s = r * r
    q = s * s
    p4, p8 = fma(s, spread(_C6), spread(_C4)), fma(s, spread(_C10), spread(_C8))
    p12 = fma(q, spread(_C16), fma(s, spread(_C14), spread(_C12)))
    p = fma(p12, q * q, fma(p8, q, p4))
    return fma(p, q, fma(s, spread(-0.5), spread(1.0)))
