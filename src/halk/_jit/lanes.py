"""Lanes: a few numbers that go through every operation together.

What a compiler makes of a loop depends on what stands around it; what it makes of lanes
does not. So sums are taken in one order wherever they are taken, an agent alone and the
same agent inside the simulator agree to the last bit, and the hot loops run at the
speed of the machine. Arrays that are read in lanes are padded to full lanes.

Every operation is a plain function of short NumPy arrays, which is what runs when the
compiler is switched off, and an instruction that stands for it in compiled code. The
only difference is that the plain ``fma`` rounds its product.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast, models, register_model

from halk._jit.compilation import compiled
from halk._jit.pages import LARGE, ask_for_large_pages
from halk._validation import Indices, Vector

LANES = 4
"""Numbers side by side; a register of AVX2 holds four doubles."""

_LINE = 8
"""Numbers in a line of memory."""

Lanes = Any
"""``LANES`` numbers; a NumPy array when interpreted."""

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
    def __init__(self, manager: Any, frontend: Any) -> None:
        super().__init__(manager, frontend, _DOUBLES)


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


def _joined(builder: Any, values: Any, kind: Any = _DOUBLES) -> Any:
    lanes = ir.Constant(kind, ir.Undefined)
    for lane, value in enumerate(values):
        place = ir.Constant(ir.IntType(32), lane)
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
    return _joined(builder, [values[0]] * LANES)


@_typed(packed, LANES_TYPE, *[types.Float] * LANES)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    return _joined(builder, values)


@_typed(put, LANES_TYPE, LanesType, types.Integer, types.Float)
def _(context: Any, builder: Any, call: Any, values: Any) -> Any:
    place = context.cast(builder, values[1], call.args[1], types.int64)
    lanes = ir.Constant(_INTEGERS, list(range(LANES)))
    is_there = builder.icmp_signed(
        "==", lanes, _joined(builder, [place] * LANES, _INTEGERS)
    )
    return builder.select(is_there, _joined(builder, [values[2]] * LANES), values[0])


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
        builder.extract_element(values[0], ir.Constant(ir.IntType(32), lane))
        for lane in range(LANES)
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
    is_there = builder.icmp_signed(
        "<", places, _joined(builder, [n] * LANES, _INTEGERS)
    )
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
    return _joined(builder, [number] * LANES)


@_typed(two_to_the, LANES_TYPE, LanesType)
def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
    bits = builder.bitcast(values[0], _INTEGERS)
    exponent = builder.add(bits, ir.Constant(_INTEGERS, [1023] * LANES))
    place = builder.shl(exponent, ir.Constant(_INTEGERS, [52] * LANES))
    return builder.bitcast(place, _DOUBLES)
