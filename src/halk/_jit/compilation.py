"""Functions compiled to machine code, and generic ones, chosen by a component's type.

Components (kernels, losses, ...) are named tuples, and a formula is chosen by their
type when the calling loop is compiled. The registered bodies are plain Python, so the
same source runs interpreted, for tests and for machines without a compiler.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from numba import config, njit, types
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import overload

from halk._jit.linking import Linker

if TYPE_CHECKING:
    from functools import _SingleDispatchCallable

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

IS_INTERPRETED = bool(getattr(config, "DISABLE_JIT"))  # noqa: B009
"""Whether Numba's compiler is switched off (``NUMBA_DISABLE_JIT=1``)."""

# Numba types these for its compiler, not for the callers of the interpreted twin
_set_item: Any = tuple_setitem


def compiled(function: F) -> F:
    """Compile ``function`` to machine code, cached on disk between processes.

    Fast-math stays off: IEEE arithmetic in source order is what makes an agent alone
    and the same agent inside the simulator agree to the last bit. Other threads run on.
    """
    made = njit(cache=True, error_model="numpy", nogil=True)(function)
    return cast(F, tolerant(made))


_INTERNAL = {
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": Linker,
}


def internal(function: F) -> F:
    """Compile ``function`` for compiled callers only, which it is cached with."""
    return cast(F, njit(**_INTERNAL)(function))


def shared(function: F) -> F:
    """Compile ``function`` for several compiled callers, once."""
    return cast(F, njit(**_INTERNAL)(function))


def inlined(function: F) -> F:
    """Compile ``function`` into everything that calls it: for what works on lanes.

    A call would take lanes through memory, which costs more than most operations.
    """
    return cast(F, njit(forceinline=True, **_INTERNAL)(function))


def tolerant(function: Any) -> Any:
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


def generic_in_lanes(stub: Callable[..., T]) -> "_SingleDispatchCallable[T]":
    """Make ``stub`` generic like :func:`generic`, and compile it like ``inlined``."""
    return _generic(stub, "never", forceinline=True)


def _generic(
    stub: Callable[..., T], inline: Literal["always", "never"], **options: Any
) -> "_SingleDispatchCallable[T]":
    dispatch = singledispatch(stub)

    def select(component: Any, *_: Any) -> Callable[..., Any]:
        return dispatch.dispatch(_python_class(component))

    # strict would also compare annotations, and refuse
    overload(dispatch, jit_options=options, strict=False, inline=inline)(select)
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
