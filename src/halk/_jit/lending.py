"""Lending named tuples of arrays to compiled code, from Python.

Numba takes a named tuple apart at every call, array by array, which costs microseconds
a call and seconds to compile. :func:`lent` writes down once, in memory, what compiled
code would make of it, and hands over the address.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import typeof, types
from numba.extending import NativeValue, unbox

from halk._jit.borrowing import BorrowedArray, BorrowedTuple, borrowed_type
from halk._jit.compilation import IS_INTERPRETED

_WORD = 8


class Lent:
    """A named tuple in memory, as compiled code reads it.

    Holds on to the arrays. Numbers are copied: what is to change is in arrays.
    """

    def __init__(self, value: Any) -> None:
        self.value = value
        kind = _kinds.get(type(value))
        if kind is None or not _fits(kind.tuple_type, value):
            kind = _kinds[type(value)] = borrowed_type(typeof(value))
        self._numba_type_ = kind
        self._memory = np.zeros(_extent(kind.tuple_type)[0], np.uint8)
        _write(self._memory, 0, kind.tuple_type, value)
        self.address = self._memory.ctypes.data


_kinds: dict[type, Any] = {}
"""Types of what was lent last, by class: to work one out takes milliseconds."""


def _fits(kind: Any, value: Any) -> bool:
    """Return whether a value is of a type, part by part."""
    if isinstance(kind, types.BaseTuple):
        parts = zip(kind, value, strict=True)
        return all(_fits(part, inner) for part, inner in parts)
    if isinstance(kind, BorrowedArray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        found = value.ndim, value.dtype.name, layout
        return found == (kind.ndim, kind.dtype.name, kind.layout)
    if isinstance(kind, types.FunctionType):
        return hasattr(value, "address")
    names = {types.Boolean: bool, types.Float: float, types.Integer: int}
    return any(isinstance(kind, k) and type(value) is t for k, t in names.items())


def lent(value: Any) -> Any:
    """Return a named tuple for a call of compiled code."""
    return value if IS_INTERPRETED else Lent(value)


@unbox(BorrowedTuple)
def _unbox(kind: Any, lent_value: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(lent_value, "address")
    number = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    place = c.context.get_value_type(kind)
    return NativeValue(c.builder.bitcast(number, place))


def _words(kind: Any) -> int:
    """Return how many words a type that is not a tuple takes, 0 for a single byte."""
    if isinstance(kind, BorrowedArray):
        return 5 + 2 * int(kind.ndim)
    if isinstance(kind, types.FunctionType):
        return 3
    return 0 if isinstance(kind, types.Boolean) else 1


@cache
def _extent(kind: Any) -> tuple[int, int]:
    """Return size and alignment of a type in bytes."""
    if not isinstance(kind, types.BaseTuple):
        words = _words(kind)
        return (words * _WORD, _WORD) if words else (1, 1)
    offset, alignment = 0, 1
    for part in kind:
        size, step = _extent(part)
        offset = -(-offset // step) * step + size
        alignment = max(alignment, step)
    return -(-offset // alignment) * alignment, alignment


def _write(memory: Any, offset: int, kind: Any, value: Any) -> None:
    if isinstance(kind, types.BaseTuple):
        for part, inner in zip(kind, value, strict=True):
            size, step = _extent(part)
            offset = -(-offset // step) * step
            _write(memory, offset, part, inner)
            offset += size
    elif isinstance(kind, BorrowedArray):
        data = value.ctypes.data
        words = [0, 0, value.size, value.itemsize, data, *value.shape, *value.strides]
        _put(memory, offset, np.array(words, np.int64))
    elif isinstance(kind, types.FunctionType):
        _put(memory, offset, np.array([value.address, 0, 0], np.int64))
    elif isinstance(kind, types.Boolean):
        memory[offset] = bool(value)
    else:
        is_float = isinstance(kind, types.Float)
        _put(memory, offset, np.array([value], np.float64 if is_float else np.int64))


def _put(memory: Any, offset: int, words: Any) -> None:
    content = words.view(np.uint8)
    memory[offset : offset + len(content)] = content
