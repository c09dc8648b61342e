"""Pointers to compiled functions, and components as plain numbers.

A compiled caller is compiled anew for every type of argument it meets, with all that it
calls. What runs the agents calls kernels, losses and proximities through pointers and
hands them their parameters as an array of numbers: it is compiled once for all of them,
and a new combination costs the compilation of its formulas only.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import cfunc, typeof, types
from numba.core.errors import NumbaError
from numba.extending import lower_builtin, type_callable

from halk._jit.borrowing import borrowed_type
from halk._jit.compilation import IS_INTERPRETED
from halk._jit.linking import Inliner
from halk._jit.views import POINT
from halk._validation import Vector

F = TypeVar("F", bound=Callable[..., Any])

# Numba types this for its compiler, not for callers
_type_of: Any = typeof

_POINT_FUNCTION = types.float64(POINT, POINT)


def pointer(
    returns: Any, *examples: Any, cache: bool = True, is_hot: bool = False
) -> Callable[[F], Any]:
    """Compile a function of arguments like ``examples`` into a pointer to call.

    Its arrays are borrowed ones. Without ``cache`` nothing is left on disk: for what
    holds a user's own code. One that is hot is compiled twice, so that one call reaches
    it instead of two.
    """

    def decorate(function: F) -> Any:
        if IS_INTERPRETED:
            return function
        result, *arguments = (
            borrowed_type(_type_of(example)) for example in (returns, *examples)
        )
        compile_it = cfunc(
            result(*arguments),
            cache=cache,
            error_model="numpy",
            # what it calls is inlined too: calls take arrays through memory
            forceinline=True,
            **({"pipeline_class": Inliner} if is_hot else {}),
        )
        return compile_it(function)

    return decorate


def parameters(component: Any) -> Vector:
    """Return the numbers that a component holds, in order, its parts' included."""
    return np.array(list(_numbers(component)))


def _numbers(part: Any) -> Any:
    if isinstance(part, tuple):
        for inner in part:
            yield from _numbers(inner)
    elif isinstance(part, float):
        yield part


def skeleton(component: Any) -> Any:
    """Return the component with ones for numbers: what its formula is chosen by."""
    if isinstance(component, tuple):
        return tuple.__new__(type(component), [skeleton(part) for part in component])
    return 1.0 if isinstance(component, float) else component


def is_ours(component: Any) -> bool:
    """Return whether no part of a component is a user's own code."""
    if isinstance(component, tuple):
        own = type(component) is tuple or type(component).__module__.startswith("halk.")
        return own and all(is_ours(part) for part in component)
    return isinstance(component, float)


def filled(component: Any, theta: Vector) -> Any:
    """Return the component with the numbers of ``theta``; see :func:`parameters`."""
    numbers = iter(theta.tolist())

    def fill(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple.__new__(type(part), [fill(inner) for inner in part])
        return next(numbers) if isinstance(part, float) else part

    return fill(component)


@type_callable(filled)
def _type_filled(_: Any) -> Any:
    return lambda component, theta: component


@lower_builtin(filled, types.BaseTuple, types.Array)
def _lower_filled(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    array = context.make_array(signature.args[1])(context, builder, values[1])
    position = 0

    def fill(kind: Any, value: Any) -> Any:
        nonlocal position
        if isinstance(kind, types.BaseTuple):
            parts = [
                fill(inner, builder.extract_value(value, place))
                for place, inner in enumerate(kind)
            ]
            return context.make_tuple(builder, kind, parts)
        if not isinstance(kind, types.Float):
            return value
        index = context.get_constant(types.intp, position)
        position += 1
        return builder.load(builder.gep(array.data, [index]))

    return fill(signature.args[0], values[0])


def point_function(function: Callable[..., float]) -> Any:
    """Compile a function of two points into a pointer that compiled code can call.

    A pointer is never stale in the disk cache, which registered formulas of a user's
    own module would be.
    """
    if IS_INTERPRETED:
        return function
    try:
        # division by zero gives infinity, as in NumPy: there is nobody to raise it to
        return cfunc(_POINT_FUNCTION, error_model="numpy")(function)
    except NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines()]
        reason = next((line for line in lines[1:] if line), lines[0])
        raise TypeError(
            f"function must be compilable: a float from two vectors, written with "
            f"loops, indexing and math; the compiler says: {reason}"
        ) from None
