"""Compilation to machine code: the only module that imports Numba.

Components (kernels, losses, ...) are named tuples, and a formula is chosen by their
type when the calling loop is compiled. The registered bodies are plain Python, so the
same source runs interpreted, for tests and for machines without a compiler.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from numba import cfunc, config, njit, typeof, types
from numba.core.errors import NumbaError
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import overload

if TYPE_CHECKING:
    from functools import _SingleDispatchCallable

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

IS_INTERPRETED = bool(getattr(config, "DISABLE_JIT"))  # noqa: B009
"""Whether Numba's compiler is switched off (``NUMBA_DISABLE_JIT=1``)."""

# Numba types these for its compiler, not for the callers of the interpreted twin
_set_item: Any = tuple_setitem
_type_of: Any = typeof

_POINT = types.Array(types.float64, 1, "C")
_POINT_FUNCTION = types.float64(_POINT, _POINT)


def compiled(function: F) -> F:
    """Compile ``function`` to machine code, cached on disk between processes.

    Fast-math stays off: IEEE arithmetic in source order is what makes an agent alone
    and the same agent inside the simulator agree to the last bit.
    """
    return cast(F, _tolerant(njit(cache=True, error_model="numpy")(function)))


def _tolerant(function: Any) -> Any:
    """Let the disk cache forget what it cannot read.

    Its index names the classes that a function was compiled for; one from a user's own
    module would otherwise stop every process that cannot import that module.
    """
    file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    if file is not None:
        load = file._load_index  # noqa: SLF001

        def load_index() -> Any:
            try:
                return load()
            except (ImportError, AttributeError):
                return {}

        file._load_index = load_index  # noqa: SLF001
    return function


def _python_class(numba_type: Any) -> type:
    """Return the Python class that a Numba type stands for, for dispatch."""
    if hasattr(numba_type, "instance_class"):
        return cast(type, numba_type.instance_class)
    if isinstance(numba_type, types.Float):
        return float
    return tuple if isinstance(numba_type, types.BaseTuple) else object


def generic(stub: Callable[..., T]) -> "_SingleDispatchCallable[T]":
    """Make ``stub`` generic in its first argument, interpreted and compiled alike.

    ``stub`` itself is the fallback for types without a formula of their own; register
    formulas with ``@stub.register``. Formulas are inlined where they are used: a call
    in the innermost loop would cost more than most of them. A formula with a loop puts
    it into a function of its own; Numba cannot inline it twice without complaint.
    """
    return _generic(stub, "always")


def generic_procedure(stub: Callable[..., T]) -> "_SingleDispatchCallable[T]":
    """Make ``stub`` generic like :func:`generic`, but called, not inlined."""
    return _generic(stub, "never")


def _generic(
    stub: Callable[..., T], inline: Literal["always", "never"]
) -> "_SingleDispatchCallable[T]":
    dispatch = singledispatch(stub)

    def select(component: Any, *_: Any) -> Callable[..., Any]:
        return dispatch.dispatch(_python_class(component))

    # strict would also compare annotations, and refuse
    overload(dispatch, strict=False, inline=inline)(select)
    return dispatch


def scaled_tuple(values: tuple[float, ...], factor: float) -> tuple[float, ...]:
    """Multiply every entry of ``values`` by ``factor``."""
    return tuple(value * factor for value in values)


@overload(scaled_tuple)
def _scaled_tuple(values: Any, factor: Any) -> Callable[..., Any]:
    def scaled(values: Any, factor: Any) -> Any:
        out = values
        for k in range(len(values)):
            out = _set_item(out, k, values[k] * factor)
        return out

    return scaled


def pointer(returns: Any, *examples: Any) -> Callable[[F], Any]:
    """Compile a function of arguments like ``examples`` into a pointer to call.

    A compiled caller optimises everything it calls anew, for every kernel and loss it
    meets. What depends on neither is compiled once behind a pointer instead: that
    takes seconds off the first step of every new combination.
    """

    def decorate(function: F) -> Any:
        if IS_INTERPRETED:
            return function
        result, *arguments = (_type_of(example) for example in (returns, *examples))
        return cfunc(result(*arguments), cache=True)(function)

    return decorate


def point_function(function: Callable[..., float]) -> Any:
    """Compile a function of two points into a pointer that compiled code can call.

    A pointer is never stale in the disk cache, which registered formulas of a user's
    own module would be.
    """
    if IS_INTERPRETED:
        return function
    try:
        return cfunc(_POINT_FUNCTION)(function)
    except NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines()]
        reason = next((line for line in lines[1:] if line), lines[0])
        raise TypeError(
            f"function must be compilable: a float from two vectors, written with "
            f"loops, indexing and math; the compiler says: {reason}"
        ) from None
