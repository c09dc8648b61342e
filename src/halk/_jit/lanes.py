"""Lanes: a few numbers that go through every operation together.

What a compiler makes of a loop depends on what stands around it; what it makes of lanes
does not. So sums are taken in one order wherever they are taken, an agent alone and the
same agent inside the simulator agree to the last bit, and the hot loops run at the
speed of the machine. Arrays that are read in lanes are padded to full lanes.

Every operation is a plain function of short NumPy arrays, which is what runs when the
compiler is switched off, and an instruction that stands for it in compiled code. The
only difference is that the plain ``fma`` rounds its product.
"""

from typing import Any

import numpy as np

from halk._jit.compilation import compiled
from halk._jit.pages import LARGE, ask_for_large_pages
from halk._validation import Indices, Vector

LANES = 4
"""Numbers side by side; a register of AVX2 holds four doubles."""

_LINE = 8
"""Numbers in a line of memory."""

Lanes = Any
"""``LANES`` numbers; a NumPy array when interpreted."""


@compiled
def in_lanes(n: int) -> int:
    """Return ``n`` rounded up to full lanes."""
    return (n + LANES - 1) // LANES * LANES


@compiled
def padded(n: int) -> int:
    """Return ``n`` rounded up to pairs of lanes: matrices are read two at a time."""
    return (n + 2 * LANES - 1) // (2 * LANES) * (2 * LANES)


def lined_up(shape: int | tuple[int, ...]) -> Any:
    """Return zeros that begin where a line of memory does.

    Lanes that lie across two lines take twice as long to load.
    """
    size = int(np.prod(shape))
    room = np.zeros(size + _LINE)
    if room.nbytes >= LARGE:
        ask_for_large_pages(room.ctypes.data, room.nbytes)
    first = -room.ctypes.data // room.itemsize % _LINE
    return room[first : first + size].reshape(shape)


def load(a: Vector, k: int) -> Lanes:
    """Return ``a[k]`` and the entries after it."""
    return a[k : k + LANES].copy()


def store(a: Vector, k: int, v: Lanes) -> None:
    """Write lanes to ``a[k]`` and the entries after it."""
    a[k : k + LANES] = v


def prefetch(a: Vector, k: int) -> None:
    """Ask for ``a[k]`` and what stands in the same line of memory; changes nothing."""


def prefetch_ahead(a: Vector | Indices, k: int) -> None:
    """Ask for it as what is needed later, after some kilobytes of other things.

    It comes to the second cache only. Many more such requests can be under way at once
    than there is room for in the first, where they would have to wait for each other.
    """


def spread(x: float) -> Lanes:
    """Return ``x`` in every lane."""
    return np.full(LANES, x)


def packed(a: float, b: float, c: float, d: float) -> Lanes:
    """Return four numbers as lanes."""
    return np.array([a, b, c, d])


def put(a: Lanes, place: int, x: float) -> Lanes:
    """Return ``a`` with ``x`` in one lane, or as it is if there is no such lane."""
    return np.where(np.arange(LANES) == place, x, a)


def fma(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """Return ``a b + c``, rounded once when compiled."""
    return a * b + c


def least(a: Lanes, b: Lanes) -> Lanes:
    """Return the smaller of each two; ``b`` where they cannot be compared."""
    return np.where(a < b, a, b)


def root(a: Lanes) -> Lanes:
    """Return square roots."""
    return np.sqrt(a)


def any_below(a: Lanes, b: Lanes) -> bool:
    """Return whether ``a < b`` anywhere."""
    return bool((a < b).any())


def any_at_most(a: Lanes, b: Lanes) -> bool:
    """Return whether ``a <= b`` anywhere."""
    return bool((a <= b).any())


def magnitude(a: Lanes) -> Lanes:
    """Return absolute values."""
    return np.abs(a)


def total(a: Lanes) -> float:
    """Return the sum over the lanes."""
    return float((a[0] + a[2]) + (a[1] + a[3]))


def lane(a: Lanes, place: int) -> float:
    """Return the number in one lane."""
    return float(a[place])


def chosen(a: Lanes, b: Lanes, below: Lanes, otherwise: Lanes) -> Lanes:
    """Return ``below`` where ``a < b``, ``otherwise`` elsewhere."""
    return np.where(a < b, below, otherwise)


def first_of(a: Lanes, n: int) -> Lanes:
    """Return the first ``n`` lanes, with zeros behind, whatever stands there."""
    return np.where(np.arange(LANES) < n, a, 0.0)


def quarter_turns(t: Lanes, sine: Lanes, cosine: Lanes) -> Lanes:
    """Return the sine of an angle that ``n`` quarter turns were taken off.

    ``n`` is hidden in ``t`` as in :func:`two_to_the`; sine and cosine are of the rest.
    """
    return np.choose(t.view(np.int64) % 4, [sine, cosine, -sine, -cosine])


def two_to_the(t: Lanes) -> Lanes:
    """Return ``2^n`` for whole ``n`` hidden in ``t = n + 1.5 * 2^52``.

    A number of that size has its unit in the last bit, so the integer is read off the
    bits, and moved to where a double has its exponent.
    """
    return ((t.view(np.int64) + 1023) << 52).view(np.float64)
