"""Ordinary arithmetic on lanes: a user's formula, compiled for four atoms at a time.

Our own formulas say what they do with lanes. A user's is written for numbers; here are
the operators and functions it may be written with, so that the compiler can put lanes
where it has numbers. What is not here (a comparison, above all) it cannot: then the
formula stays one of numbers.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, overload

from halk._jit.compilation import inlined
from halk._jit.exponential import exponential
from halk._jit.instructions import LANES_TYPE, LanesType
from halk._jit.lanes import (
    chosen,
    lane,
    magnitude,
    packed,
    root,
    spread,
)
from halk._jit.singly import one_by_one
from halk._jit.trigonometry import cosine, sine

_ONE_BY_ONE = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erfc", "expm1",
    "gamma", "lgamma", "log", "log10", "log1p", "log2", "sinh", "tan", "tanh",
)  # fmt: skip
"""Functions that are called for every lane."""


def _accept(operation: Callable[..., Any], instruction: str) -> None:
    """Let an operator take lanes, on one side or both, and numbers with them."""

    class Template(AbstractTemplate):
        key = operation

        def generic(self, given: Any, _: Any) -> Any:
            kinds = LanesType, types.Float, types.Integer
            fits = LANES_TYPE in given and all(isinstance(a, kinds) for a in given)
            return signature(LANES_TYPE, LANES_TYPE, LANES_TYPE) if fits else None

    infer_global(operation, types.Function(Template))

    @lower_builtin(operation, LanesType, LanesType)
    def _(_c: Any, builder: Any, _s: Any, values: Any) -> Any:
        return getattr(builder, instruction)(*values)


for _operations, _instruction in (
    ((operator.add, operator.iadd), "fadd"),
    ((operator.sub, operator.isub), "fsub"),
    ((operator.mul, operator.imul), "fmul"),
    ((operator.truediv, operator.itruediv), "fdiv"),
):
    for _operation in _operations:
        _accept(_operation, _instruction)


def _instead(function: Callable[..., Any], in_lanes: Callable[..., Any]) -> None:
    """Let ``in_lanes`` stand for a function of one number where it is given lanes."""

    @overload(function, strict=False)
    def _(a: Any) -> Any:
        # what is given back is read by the compiler: it must be a Python function
        return (lambda a: in_lanes(a)) if isinstance(a, LanesType) else None  # noqa: PLW0108


@inlined
def _negative(a: Any) -> Any:
    return spread(-1.0) * a


@inlined
def _itself(a: Any) -> Any:
    return a


for _function, _in_lanes in (
    (operator.neg, _negative),
    (operator.pos, _itself),
    (float, _itself),
    (abs, magnitude),
    (math.fabs, magnitude),
    (math.sqrt, root),
    (math.exp, exponential),
    (math.sin, sine),
    (math.cos, cosine),
    (np.abs, magnitude),
    (np.sqrt, root),
    (np.exp, exponential),
    (np.sin, sine),
    (np.cos, cosine),
):
    _instead(_function, _in_lanes)

for _name in _ONE_BY_ONE:
    _instead(getattr(math, _name), one_by_one(getattr(math, _name)))


@overload(operator.pow, prefer_literal=True, strict=False)
@overload(math.pow, prefer_literal=True, strict=False)
def _power(a: Any, b: Any) -> Any:
    if not isinstance(a, LanesType) or not isinstance(b, types.Float | types.Integer):
        return None
    exponent = getattr(b, "literal_value", None)
    if exponent == 2:
        return lambda a, b: a * a
    if exponent == 3:
        return lambda a, b: a * a * a
    if exponent == 4:
        return lambda a, b: (a * a) * (a * a)

    def power(a: Any, b: Any) -> Any:
        e = float(b)  # a whole exponent, below zero, would make zero raise an exception
        return packed(
            lane(a, 0) ** e, lane(a, 1) ** e, lane(a, 2) ** e, lane(a, 3) ** e
        )

    return power


@inlined
def _larger_of(a: Any, b: Any) -> Any:
    return chosen(a, b, b, a)


@inlined
def _smaller_of(a: Any, b: Any) -> Any:
    return chosen(b, a, b, a)


def _of_two(a: Any, b: Any) -> bool:
    kinds = LanesType, types.Float, types.Integer
    return isinstance(a, kinds) and isinstance(b, kinds) and LANES_TYPE in (a, b)


@overload(max, strict=False)
def _larger(a: Any, b: Any) -> Any:
    if _of_two(a, b):
        return lambda a, b: _larger_of(spread(0.0) + a, spread(0.0) + b)
    return None


@overload(min, strict=False)
def _smaller(a: Any, b: Any) -> Any:
    if _of_two(a, b):
        return lambda a, b: _smaller_of(spread(0.0) + a, spread(0.0) + b)
    return None
