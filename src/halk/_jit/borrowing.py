"""Borrowed arrays: compiled code that uses arrays without counting references.

Numba counts references to arrays with atomic instructions, a dozen of which cost more
than a kernel sum. Whoever calls compiled code holds on to the arrays it hands over, so
inside there is nothing to count: :func:`borrowed` turns arrays into ones of a type that
is not counted, and so are their views, and a named tuple of arrays into its address.
They must not outlive the call.
"""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import (
    lower_builtin,
    lower_cast,
    lower_getattr_generic,
    models,
    register_model,
)


class BorrowedArray(types.Array):
    """An array that somebody else holds on to."""

    def __init__(self, dtype: Any, ndim: int, layout: str, **options: Any) -> None:
        super().__init__(dtype, ndim, layout, **options)
        self.name = f"{type(self).__name__}({self.name})"

    def copy(self, dtype: Any = None, ndim: Any = None, layout: Any = None,
             readonly: Any = None) -> Any:  # fmt: skip
        """Return the type of a view."""
        return type(self)(
            self.dtype if dtype is None else dtype,
            self.ndim if ndim is None else ndim,
            self.layout if layout is None else layout,
        )

    @property
    def key(self) -> Any:
        """What makes two of these types the same."""
        return (type(self).__name__, self.dtype, self.ndim, self.layout)

    def can_convert_from(self, _: Any, other: Any) -> Any:
        """Return whether an array can be lent without a change."""
        is_same = isinstance(other, types.Array) and other.dtype == self.dtype
        is_same = is_same and (other.ndim, other.layout) == (self.ndim, self.layout)
        return Conversion.safe if is_same else None


@register_model(BorrowedArray)
class BorrowedModel(models.StructModel):
    """The members of Numba's own arrays, but the reference count is a mere address."""

    def __init__(self, manager: Any, kind: Any) -> None:
        n = kind.ndim
        members = [
            ("meminfo", types.voidptr),
            ("parent", types.voidptr),
            ("nitems", types.intp),
            ("itemsize", types.intp),
            ("data", types.CPointer(kind.dtype)),
            ("shape", types.UniTuple(types.intp, n)),
            ("strides", types.UniTuple(types.intp, n)),
        ]
        super().__init__(manager, kind, members)


@lower_cast(types.Array, BorrowedArray)
def _lend(_c: Any, _b: Any, _from: Any, _to: Any, value: Any) -> Any:
    return value  # the same members, in the same places


class BorrowedTuple(types.Type):
    """The address of a named tuple whose arrays are borrowed.

    What takes a named tuple of arrays by value takes a hundred arguments.
    """

    def __init__(self, tuple_type: Any) -> None:
        super().__init__(f"Borrowed({tuple_type})")
        self.tuple_type = tuple_type


@register_model(BorrowedTuple)
class _Address(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        place = manager.lookup(kind.tuple_type).get_value_type()
        super().__init__(manager, kind, place.as_pointer())


def borrowed_type(kind: Any) -> Any:
    """Return the type of something lent."""
    if isinstance(kind, types.Array):
        return BorrowedArray(kind.dtype, kind.ndim, kind.layout)
    if isinstance(kind, types.BaseNamedTuple):
        return BorrowedTuple(_with_borrowed_arrays(kind))
    return kind


def _with_borrowed_arrays(kind: Any) -> Any:
    if isinstance(kind, types.BaseNamedTuple):
        parts = tuple(_with_borrowed_arrays(part) for part in kind)
        return types.BaseTuple.from_types(parts, kind.instance_class)
    return borrowed_type(kind)


def borrowed(value: Any) -> Any:
    """Return an array, or a named tuple of arrays, as a borrowed one."""
    return value


class _Borrowed(AbstractTemplate):
    key = borrowed

    def generic(self, given: Any, _: Any) -> Any:
        return signature(borrowed_type(given[0]), *given)


infer_global(borrowed, types.Function(_Borrowed))


@lower_builtin(borrowed, types.Any)
def _lower_borrowed(_c: Any, builder: Any, call: Any, values: Any) -> Any:
    if not isinstance(call.return_type, BorrowedTuple):
        return values[0]
    with builder.goto_entry_block():  # Numba's own way would fill it with zeros first
        place = builder.alloca(values[0].type)
    builder.store(values[0], place)
    return place


@infer_getattr
class _Fields(AttributeTemplate):
    key = BorrowedTuple

    def generic_resolve(self, kind: Any, name: str) -> Any:
        fields = kind.tuple_type.fields
        if name not in fields:
            return None
        part = kind.tuple_type.types[fields.index(name)]
        is_tuple = isinstance(part, types.BaseNamedTuple)
        return BorrowedTuple(part) if is_tuple else part


@lower_getattr_generic(BorrowedTuple)
def _lower_field(_c: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    position = kind.tuple_type.fields.index(name)
    place = cgutils.gep_inbounds(builder, value, 0, position)
    is_tuple = isinstance(kind.tuple_type.types[position], types.BaseNamedTuple)
    return place if is_tuple else builder.load(place)
