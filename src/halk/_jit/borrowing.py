"""Borrowed arrays: compiled code that uses arrays without counting references.

Numba counts references to arrays with atomic instructions, a dozen of which cost more
than a kernel sum. Whoever calls compiled code holds on to the arrays it hands over, so
inside there is nothing to count: :func:`borrowed` turns arrays into ones of a type that
is not counted, and so are their views, and a named tuple of arrays into its address.
They must not outlive the call.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
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
from numba.np import arrayobj

from halk._validation import Matrix, Vector


class BorrowedArray(types.Array):
    """An array that somebody else holds on to."""

    def __init__(self, dtype: Any, ndim: int, layout: str, **options: Any) -> None:
        super().__init__(dtype, ndim, layout, **options)
        self.name = f"Borrowed{self.name}"

    def copy(self, dtype: Any = None, ndim: Any = None, layout: Any = None,
             readonly: Any = None) -> Any:  # fmt: skip
        """Return the type of a view."""
        return BorrowedArray(
            self.dtype if dtype is None else dtype,
            self.ndim if ndim is None else ndim,
            self.layout if layout is None else layout,
        )

    @property
    def key(self) -> Any:
        """What makes two of these types the same."""
        return ("borrowed", self.dtype, self.ndim, self.layout)

    def can_convert_from(self, _: Any, other: Any) -> Any:
        """Return whether an array can be lent without a change."""
        is_same = isinstance(other, types.Array) and other.dtype == self.dtype
        is_same = is_same and (other.ndim, other.layout) == (self.ndim, self.layout)
        return Conversion.safe if is_same else None


@register_model(BorrowedArray)
class _Model(models.StructModel):
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
    place = cgutils.alloca_once(builder, values[0].type)
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


def matrix_at(a: Vector, start: int, n_rows: int, n_columns: int) -> Matrix:
    """Return a view of a flat array as a matrix, from ``start`` on."""
    return a[start : start + n_rows * n_columns].reshape(n_rows, n_columns)


class _MatrixAt(AbstractTemplate):
    key = matrix_at

    def generic(self, given: Any, _: Any) -> Any:
        kind = given[0].copy(ndim=2)
        return signature(kind, given[0], types.intp, types.intp, types.intp)


infer_global(matrix_at, types.Function(_MatrixAt))


@lower_builtin(matrix_at, types.Array, types.intp, types.intp, types.intp)
def _lower_matrix_at(context: Any, builder: Any, call: Any, values: Any) -> Any:
    flat = context.make_array(call.args[0])(context, builder, values[0])
    _, start, n_rows, n_columns = values
    size = ir.Constant(start.type, 8)
    made = context.make_array(call.return_type)(context, builder)
    arrayobj.populate_array(
        made,
        data=builder.gep(flat.data, [start]),
        shape=cgutils.pack_array(builder, [n_rows, n_columns]),
        strides=cgutils.pack_array(builder, [builder.mul(n_columns, size), size]),
        itemsize=size,
        meminfo=flat.meminfo,
        parent=flat.parent,
    )
    value = made._getvalue()  # noqa: SLF001
    return impl_ret_borrowed(context, builder, call.return_type, value)
