"""Functions that are compiled into their callers only.

Numba optimises every function by itself and makes machine code of it, and then again as
a part of each function that calls it, and of each that calls that one. What compiled
code alone calls needs none of it but the last: here it is kept as it was lowered, until
it is linked into something that Python calls or that there is a pointer to. This halves
the time of a first start.
"""

from typing import Any

from llvmlite import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _Codegen:
    """Numba's code generator, for a library that it makes no code of."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, env_name: str, env: Any) -> None:
        """Leave the environment alone; only code that runs by itself has one."""


class _Linked(JITCodeLibrary):  # type: ignore[misc]
    """A library whose module waits to be linked into others."""

    @property
    def codegen(self) -> Any:
        return _Codegen(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class Linker(Compiler):  # type: ignore[misc]
    """The compiler, for functions that compiled code alone calls."""

    def define_pipelines(self) -> Any:
        """Return the usual passes."""
        codegen = self.state.targetctx.codegen()
        self.state.library = _Linked(codegen, self.state.func_id.func_qualname)
        return super().define_pipelines()


class _Inlining(JITCodeLibrary):  # type: ignore[misc]
    """A library in which any call may be inlined.

    A pointer leads to what converts the arguments, which Numba has call the function
    and never inline it. For a small function that is most of the call.
    """

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions:
            for block in function.blocks:
                for instruction in block.instructions:
                    if isinstance(instruction, ir.CallInstr):
                        instruction.attributes.discard("noinline")
        super().add_ir_module(ir_module)


class Inliner(Compiler):  # type: ignore[misc]
    """The compiler, for functions whose pointers are called in every step."""

    def define_pipelines(self) -> Any:
        """Return the usual passes."""
        codegen = self.state.targetctx.codegen()
        self.state.library = _Inlining(codegen, self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()  # as Numba's own is
        return super().define_pipelines()
