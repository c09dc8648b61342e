"""Large pages for large arrays.

A network of 100,000 agents reads gigabytes in every step, a few kilobytes at a time.
With pages of 4 kB the processor looks up where they are for most of what it reads; with
pages of 2 MB hardly ever. NumPy asks for them for arrays that come as they are, not for
zeros. Where the system has none, nothing happens.
"""

import ctypes
import sys
from functools import cache
from typing import Any

LARGE = 2**22
"""Bytes from which it is worth it."""

_PAGE = 2**12
_MADV_HUGEPAGE = 14


@cache
def _advise() -> Any:
    """Return the system's function, or None."""
    if not sys.platform.startswith("linux"):
        return None
    function = getattr(ctypes.CDLL(None), "madvise", None)
    if function is not None:
        function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return function


def ask_for_large_pages(address: int, n_bytes: int) -> None:
    """Let the system take large pages for an array that was not yet written to."""
    advise = _advise()
    if advise is not None:
        first = -(-address // _PAGE) * _PAGE
        advise(first, (address + n_bytes - first) // _PAGE * _PAGE, _MADV_HUGEPAGE)
