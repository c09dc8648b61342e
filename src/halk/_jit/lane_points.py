"""Points whose features are lanes: what a formula of two points is given in lanes."""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import lower_builtin, models, register_model
from numba.np import arrayobj

from halk._jit.instructions import LANES_TYPE, joined
from halk._jit.lanes import LANES
from halk._jit.views import Point
from halk._validation import Matrix


class PointType(types.Type):
    """A point whose features are lanes: of several atoms, or the same in all lanes."""

    def __init__(self, is_same: bool) -> None:
        super().__init__(f"Point in lanes({is_same=})")
        self.is_same = is_same


SEVERAL, SAME = PointType(False), PointType(True)
_VECTOR = Point(types.float64, 1, "A")
_BYTES = 8
"""Of a number."""


@register_model(PointType)
class _PointModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        members = [
            ("data", types.CPointer(types.float64)),
            ("stride", types.intp),  # numbers from a feature to the next
            ("length", types.intp),
            ("count", types.intp),  # how many lanes have a point
        ]
        super().__init__(manager, kind, members)


@infer_getattr
class _NoAttributes(AttributeTemplate):
    """What asks for attributes is for ordinary points; even ``hasattr`` is."""

    key = PointType

    def generic_resolve(self, _: Any, name: str) -> Any:
        raise TypingError(f"points in lanes have no attribute {name}")


def several(atoms: Matrix, k: int, n: int) -> Any:
    """Return the ``n`` atoms in columns from ``k`` on, one a lane, as a point.

    Where they are fewer than lanes, the first is in all others: a formula is asked for
    nothing but atoms.
    """
    return atoms[:, [k + place if place < n else k for place in range(LANES)]]


def same(points: Matrix, r: int, n: int) -> Any:
    """Return the point in column ``r``, the same in every lane."""
    return points[:, [r] * LANES]


def _register(function: Callable[..., Any], kind: PointType) -> None:
    class Template(AbstractTemplate):
        key = function

        def generic(self, given: Any, _: Any) -> Any:
            return signature(kind, given[0], types.intp, types.intp)

    infer_global(function, types.Function(Template))

    @lower_builtin(function, types.Array, types.intp, types.intp)
    def _(context: Any, builder: Any, call: Any, values: Any) -> Any:
        matrix = context.make_array(call.args[0])(context, builder, values[0])
        length, stride = cgutils.unpack_tuple(builder, matrix.shape, 2)
        point = cgutils.create_struct_proxy(kind)(context, builder)
        point.data = builder.gep(matrix.data, [values[1]])
        point.stride, point.length, point.count = stride, length, values[2]
        return point._getvalue()  # noqa: SLF001


_register(several, SEVERAL)
_register(same, SAME)


class _Length(AbstractTemplate):
    key = len

    def generic(self, given: Any, _: Any) -> Any:
        fits = len(given) == 1 and isinstance(given[0], PointType)
        return signature(types.intp, given[0]) if fits else None


class _Feature(AbstractTemplate):
    key = operator.getitem

    def generic(self, given: Any, _: Any) -> Any:
        fits = isinstance(given[0], PointType) and isinstance(given[1], types.Integer)
        return signature(LANES_TYPE, given[0], types.intp) if fits else None


infer_global(len, types.Function(_Length))
infer_global(operator.getitem, types.Function(_Feature))


@lower_builtin(len, PointType)
def _lower_length(context: Any, builder: Any, call: Any, values: Any) -> Any:
    return cgutils.create_struct_proxy(call.args[0])(context, builder, values[0]).length


@lower_builtin(operator.getitem, PointType, types.intp)
def _lower_feature(context: Any, builder: Any, call: Any, values: Any) -> Any:
    point = cgutils.create_struct_proxy(call.args[0])(context, builder, values[0])
    f = values[1]
    is_from_behind = builder.icmp_signed("<", f, f.type(0))
    f = builder.select(is_from_behind, builder.add(f, point.length), f)
    place = builder.gep(point.data, [builder.mul(f, point.stride)])
    if call.args[0].is_same:
        return context.cast(builder, builder.load(place), types.float64, LANES_TYPE)
    kind = context.get_value_type(LANES_TYPE)
    lanes = builder.load(builder.bitcast(place, kind.as_pointer()), align=8)
    first = builder.extract_element(lanes, ir.IntType(32)(0))
    places = ir.VectorType(point.count.type, LANES)
    is_there = builder.icmp_signed(
        "<",
        ir.Constant(places, list(range(LANES))),
        joined(builder, [point.count] * LANES, places),
    )
    return builder.select(is_there, lanes, joined(builder, [first] * LANES))


def one_of(point: Any, place: int) -> Any:
    """Return the point in one lane, as an ordinary vector."""
    return point[:, place]


class _OneOf(AbstractTemplate):
    key = one_of

    def generic(self, given: Any, _: Any) -> Any:
        return signature(_VECTOR, given[0], types.intp)


infer_global(one_of, types.Function(_OneOf))


@lower_builtin(one_of, PointType, types.intp)
def _lower_one(context: Any, builder: Any, call: Any, values: Any) -> Any:
    kind = call.args[0]
    point = cgutils.create_struct_proxy(kind)(context, builder, values[0])
    size = ir.Constant(point.stride.type, _BYTES)
    vector = context.make_array(_VECTOR)(context, builder)
    arrayobj.populate_array(
        vector,
        data=point.data if kind.is_same else builder.gep(point.data, [values[1]]),
        shape=cgutils.pack_array(builder, [point.length]),
        strides=cgutils.pack_array(builder, [builder.mul(point.stride, size)]),
        itemsize=size,
        meminfo=None,
    )
    return vector._getvalue()  # noqa: SLF001
