"""Boxes: many arrays that cross the border to compiled code as one."""

from typing import Any

from numba import types
from numba.experimental import structref

from halk._jit.compilation import IS_INTERPRETED, compiled

if IS_INTERPRETED:

    class Box:
        """A value of any type; ``value`` is what is inside."""

        def __init__(self, value: Any) -> None:
            self.value = value

else:

    @structref.register
    class _BoxType(types.StructRef):  # type: ignore[misc]
        def preprocess_fields(self, fields: Any) -> Any:
            return tuple((name, types.unliteral(kind)) for name, kind in fields)

    class Box(structref.StructRefProxy):  # type: ignore[misc, no-redef]
        """A value of any type; ``value`` is what is inside, for compiled code.

        Taking a named tuple of arrays apart for a call costs microseconds; handing
        over a box costs a pointer.
        """

    structref.define_proxy(Box, _BoxType, ["value"])


@compiled
def boxed(value: Any) -> Any:
    """Return a box with ``value`` inside; made by compiled code, which is cached."""
    return Box(value)
