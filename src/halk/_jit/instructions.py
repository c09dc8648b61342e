"""The instructions that stand for operations on lanes in compiled code.

What each of them does is said, in NumPy, in :mod:`halk._jit.lanes`.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typeconv import Conversion
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import lower_builtin, lower_cast, models, register_model

from halk._jit.lanes import (
    LANES,
    any_at_most,
    any_below,
    chosen,
    first_of,
    fma,
    lane,
    least,
    load,
    magnitude,
    packed,
    prefetch,
    prefetch_ahead,
    put,
    quarter_turns,
    root,
    spread,
    store,
    total,
    two_to_the,
)

_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
_INTEGERS = ir.VectorType(ir.IntType(64), LANES)


_NUMBER = types.Float, types.Integer


class LanesType(types.Type):
    """Lanes to the compiler; a number becomes one where it must, the same in all."""

    def __init__(self) -> None:
        super().__init__("Lanes")

    def can_convert_from(self, _: Any, other: Any) -> Any:
        """Return how well a number can stand for lanes."""
        return Conversion.safe if isinstance(other, _NUMBER) else None

    def unify(self, _: Any, other: Any) -> Any:
        """Return what a variable is that holds lanes at one time, else a number."""
        return self if isinstance(other, _NUMBER) else None


LANES_TYPE = LanesType()


@register_model(LanesType)
class _Model(models.PrimitiveModel):
    """A vector in registers; in memory that others lay out, in a list say, numbers.

    There a vector would not be aligned as the processor expects it.
    """

    def __init__(self, manager: Any, frontend: Any) -> None:
        super().__init__(manager, frontend, _DOUBLES)

    def get_data_type(self) -> Any:
        return ir.ArrayType(ir.DoubleType(), LANES)

    def as_data(self, builder: Any, value: Any) -> Any:
        numbers = ir.Constant(self.get_data_type(), ir.Undefined)
        for n in range(LANES):
            number = builder.extract_element(value, ir.Constant(ir.IntType(32), n))
            numbers = builder.insert_value(numbers, number, n)
        return numbers

    def from_data(self, builder: Any, value: Any) -> Any:
        numbers = [builder.extract_value(value, n) for n in range(LANES)]
        return joined(builder, numbers)


@infer_getattr
class _NoAttributes(AttributeTemplate):
    """What asks for attributes is a formula of numbers; even ``hasattr`` is."""

    key = LanesType

    def generic_resolve(self, _: Any, name: str) -> Any:
        raise TypingError(f"lanes have no attribute {name}")


def _typed(function: Callable[..., Any], result: Any, *arguments: Any) -> Any:
    """Return a decorator for what to emit where compiled code calls ``function``."""

    class Template(AbstractTemplate):
        key = function

        def generic(self, given: Any, _: Any) -> Any:
            fits = len(given) == len(arguments) and all(
                map(isinstance, given, arguments)
            )
            return signature(result, *given) if fits else None

    infer_global(function, types.Function(Template))
    return lower_builtin(function, *arguments)


def _address(context: Any, builder: Any, call: Any, values: Any) -> Any:
    data = context.make_array(call.args[0])(context, builder, values[0]).data
    index = context.cast(builder, values[1], call.args[1], types.intp)
    return builder.bitcast(builder.gep(data, [index]), _DOUBLES.as_pointer())


def _called(builder: Any, name: str, values: Any) -> Any:
    """Emit a call of one of LLVM's own functions on lanes."""
    kind = ir.FunctionType(_DOUBLES, [_DOUBLES] * len(values))
    name = f"llvm.{name}.v{LANES}f64"
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, values)


def joined(builder: Any, values: Any, kind: Any = _DOUBLES) -> Any:
    """Emit lanes of these values."""
    lanes = ir.Constant(kind, ir.Undefined)
    for n, value in enumerate(values):
        place = ir.Constant(ir.IntType(32), n)
        lanes = builder.insert_element(lanes, value, place)
    return lanes


@_typed(load, LANES_TYPE, types.Array, types.Integer)
def _(context: Any, builder: Any, call: Any, values: Any) -> Any:
    # arrays are aligned to doubles, not to lanes
    return builder.load(_address(context, builder, call, values), align=8)


@_typed(store, types.none, types.Array, types.Integer, LanesType)
def _(context: Any, builder: Any, call: Any, values: Any) -> Any:
    place = _address(context, builder, call, values)
    builder.store(values[2], place, align=8)
    return context.get_dummy_value()


def _emit_request(nearness: int) -> Callable[..., Any]:
    def emit(context: Any, builder: Any, call: Any, values: Any) -> Any:
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        request = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch")
        place = builder.bitcast(_address(context, builder, call, values), byte)
        # to read, how near, data
        builder.call(request, [place, flag(0), flag(nearness), flag(1)])
        return context.get_dummy_value()

    return emit


for _request, _nearness in ((prefetch, 3), (prefetch_ahead, 2)):
    _typed(_request, types.none, types.Array, types.Integer)(_emit_request(_nearness))


@_typed(spread, LANES_TYPE, types.Float)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    return joined(builder, [values[0]] * LANES)


@_typed(packed, LANES_TYPE, *[types.Float] * LANES)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    return joined(builder, values)


@_typed(put, LANES_TYPE, LanesType, types.Integer, types.Float)
def _(context: Any, builder: Any, call: Any, values: Any) -> Any:
    place = context.cast(builder, values[1], call.args[1], types.int64)
    lanes = ir.Constant(_INTEGERS, list(range(LANES)))
    is_there = builder.icmp_signed(
        "==", lanes, joined(builder, [place] * LANES, _INTEGERS)
    )
    return builder.select(is_there, joined(builder, [values[2]] * LANES), values[0])


@_typed(fma, LANES_TYPE, LanesType, LanesType, LanesType)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    return _called(builder, "fma", values)


@_typed(root, LANES_TYPE, LanesType)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    return _called(builder, "sqrt", values)


@_typed(least, LANES_TYPE, LanesType, LanesType)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", *values), *values)


@_typed(magnitude, LANES_TYPE, LanesType)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    return _called(builder, "fabs", values)


def _any(builder: Any, is_so: Any) -> Any:
    bits = ir.IntType(LANES)
    return builder.icmp_unsigned("!=", builder.bitcast(is_so, bits), bits(0))


@_typed(any_below, types.boolean, LanesType, LanesType)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    return _any(builder, builder.fcmp_ordered("<", *values))


@_typed(any_at_most, types.boolean, LanesType, LanesType)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    return _any(builder, builder.fcmp_ordered("<=", *values))


@_typed(total, types.float64, LanesType)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    one, two, three, four = (
        builder.extract_element(values[0], ir.Constant(ir.IntType(32), n))
        for n in range(LANES)
    )
    return builder.fadd(builder.fadd(one, three), builder.fadd(two, four))


@_typed(lane, types.float64, LanesType, types.Integer)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    return builder.extract_element(*values)


@_typed(chosen, LANES_TYPE, *[LanesType] * 4)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", *values[:2]), *values[2:])


@_typed(first_of, LANES_TYPE, LanesType, types.Integer)
def _(context: Any, builder: Any, call: Any, values: Any) -> Any:
    n = context.cast(builder, values[1], call.args[1], types.int64)
    places = ir.Constant(_INTEGERS, list(range(LANES)))
    is_there = builder.icmp_signed("<", places, joined(builder, [n] * LANES, _INTEGERS))
    return builder.select(is_there, values[0], ir.Constant(_DOUBLES, [0.0] * LANES))


@_typed(quarter_turns, LANES_TYPE, *[LanesType] * 3)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    n, zero = builder.bitcast(values[0], _INTEGERS), ir.Constant(_INTEGERS, None)

    def has_bit(bit: int) -> Any:
        masked = builder.and_(n, ir.Constant(_INTEGERS, [bit] * LANES))
        return builder.icmp_signed("!=", masked, zero)

    turned = builder.select(has_bit(1), values[2], values[1])
    return builder.select(has_bit(2), builder.fneg(turned), turned)


@lower_cast(types.Float, LanesType)
@lower_cast(types.Integer, LanesType)
def _cast(context: Any, builder: Any, given: Any, _: Any, value: Any) -> Any:
    number = context.cast(builder, value, given, types.float64)
    return joined(builder, [number] * LANES)


@_typed(two_to_the, LANES_TYPE, LanesType)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    bits = builder.bitcast(values[0], _INTEGERS)
    exponent = builder.add(bits, ir.Constant(_INTEGERS, [1023] * LANES))
    place = builder.shl(exponent, ir.Constant(_INTEGERS, [52] * LANES))
    return builder.bitcast(place, _DOUBLES)
