"""Entries and views of borrowed arrays, without checks.

Numba lets an index be negative, and cuts slices off at the ends of an array. Both are
worked out at run time, for every entry and every view; in loops over a few neighbours
or atoms that is a good part of the instructions. Indices of borrowed arrays count from
zero, and views of them are within. A :class:`Point` is for formulas that users write:
its indices may be negative, as everywhere in Python.
"""

import operator
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, register_model
from numba.np import arrayobj

from halk._jit.borrowing import BorrowedArray, BorrowedModel
from halk._validation import Indices, Matrix, Vector

_Array = TypeVar("_Array", Vector, Indices)

_BYTES = 8
"""Of a number, or an index."""


class Point(BorrowedArray):
    """A borrowed array whose indices may be negative, and those of its views."""


register_model(Point)(BorrowedModel)

POINT = Point(types.float64, 1, "C")


def _from_zero(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return the type of an index, and the index, as one that is never negative."""
    if isinstance(kind, types.Integer):
        return types.uintp, context.cast(builder, value, kind, types.uintp)
    parts = cgutils.unpack_tuple(builder, value, count=len(kind))
    made = [
        _from_zero(context, builder, *part) for part in zip(kind, parts, strict=True)
    ]
    kinds = types.Tuple([part for part, _ in made])
    return kinds, context.make_tuple(builder, kinds, [part for _, part in made])


def _unsigned(context: Any, builder: Any, call: Any, values: Any) -> Any:
    """Return call and arguments of an access with an index that counts from zero."""
    if isinstance(call.args[0], Point):
        return call, values
    kind, index = _from_zero(context, builder, call.args[1], values[1])
    unsigned = signature(call.return_type, call.args[0], kind, *call.args[2:])
    return unsigned, (values[0], index, *values[2:])


@lower_builtin(operator.getitem, BorrowedArray, types.Integer)
def _lower_entry(context: Any, builder: Any, call: Any, values: Any) -> Any:
    access = _unsigned(context, builder, call, values)
    return arrayobj.getitem_arraynd_intp(context, builder, *access)


@lower_builtin(operator.getitem, BorrowedArray, types.UniTuple)
def _lower_entry_of_matrix(context: Any, builder: Any, call: Any, values: Any) -> Any:
    access = _unsigned(context, builder, call, values)
    return arrayobj.getitem_array_tuple(context, builder, *access)


@lower_builtin(operator.setitem, BorrowedArray, types.Integer, types.Any)
@lower_builtin(operator.setitem, BorrowedArray, types.UniTuple, types.Any)
def _lower_write(context: Any, builder: Any, call: Any, values: Any) -> Any:
    access = _unsigned(context, builder, call, values)
    return arrayobj.setitem_array(context, builder, *access)


def part_of(a: _Array, start: int, n: int) -> _Array:
    """Return a view of ``n`` entries from ``start`` on, which must be there."""
    return a[start : start + n]


def matrix_at(a: Vector, start: int, n_rows: int, n_columns: int) -> Matrix:
    """Return a view of a flat array as a matrix, from ``start`` on."""
    return a[start : start + n_rows * n_columns].reshape(n_rows, n_columns)


def row_of(a: Matrix, row: int) -> Vector:
    """Return a row of a matrix, which must be there."""
    return cast(Vector, a[row])


def point_of(a: Matrix, row: int) -> Vector:
    """Return a row of a matrix for a user's formula."""
    return cast(Vector, a[row])


class _PartOf(AbstractTemplate):
    key = part_of

    def generic(self, given: Any, _: Any) -> Any:
        return signature(given[0], given[0], types.intp, types.intp)


class _MatrixAt(AbstractTemplate):
    key = matrix_at

    def generic(self, given: Any, _: Any) -> Any:
        kind = given[0].copy(ndim=2)
        return signature(kind, given[0], types.intp, types.intp, types.intp)


class _RowOf(AbstractTemplate):
    key = row_of

    def generic(self, given: Any, _: Any) -> Any:
        return signature(given[0].copy(ndim=1), given[0], types.intp)


class _PointOf(AbstractTemplate):
    key = point_of

    def generic(self, given: Any, _: Any) -> Any:
        return signature(POINT, given[0], types.intp)


for _template in (_PartOf, _MatrixAt, _RowOf, _PointOf):
    infer_global(_template.key, types.Function(_template))


def _view(context: Any, builder: Any, call: Any, whole: Any, start: Any,
          shape: list[Any]) -> Any:  # fmt: skip
    """Return a view of an array that is contiguous, as is the array itself."""
    size = ir.Constant(start.type, _BYTES)
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(length, strides[0]))
    made = context.make_array(call.return_type)(context, builder)
    arrayobj.populate_array(
        made,
        data=builder.gep(whole.data, [start]),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=size,
        meminfo=whole.meminfo,
        parent=whole.parent,
    )
    if isinstance(call.return_type, BorrowedArray):  # nobody asks: not even copied
        for name in ("meminfo", "parent"):
            setattr(made, name, ir.Constant(getattr(made, name).type, ir.Undefined))
    value = made._getvalue()  # noqa: SLF001
    return impl_ret_borrowed(context, builder, call.return_type, value)


@lower_builtin(part_of, types.Array, types.intp, types.intp)
@lower_builtin(matrix_at, types.Array, types.intp, types.intp, types.intp)
def _lower_view(context: Any, builder: Any, call: Any, values: Any) -> Any:
    whole = context.make_array(call.args[0])(context, builder, values[0])
    return _view(context, builder, call, whole, values[1], list(values[2:]))


@lower_builtin(row_of, types.Array, types.intp)
@lower_builtin(point_of, types.Array, types.intp)
def _lower_row(context: Any, builder: Any, call: Any, values: Any) -> Any:
    whole = context.make_array(call.args[0])(context, builder, values[0])
    length = builder.extract_value(whole.shape, 1)
    start = builder.mul(values[1], length)
    return _view(context, builder, call, whole, start, [length])
