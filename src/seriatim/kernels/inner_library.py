"""Compile a function that only kernels call just far enough to be linked into them.

numba turns each function into machine code on its own, and then once more as a part of every function that calls it.
Nothing but kernels calls an inner function, so the first of these is work for nobody: a quarter of the time that a
kernel takes to compile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _NoEntry:
    """Stands for the code generator where numba makes a function ready for calls from Python: there are none."""

    def set_env(self, name: str, env: Any) -> None:
        """Leave the function's environment to the kernel that it is linked into."""


class InnerLibrary(JITCodeLibrary):  # type: ignore[misc, unused-ignore]
    """The code of one inner function and of those it calls, optimised but not turned into machine code."""

    @property
    def codegen(self) -> Any:
        return _NoEntry()

    def finalize(self) -> None:
        """Link in the functions that this one calls; whoever links this one in gets them too."""
        self._raise_if_finalized()  # type: ignore[no-untyped-call, unused-ignore]
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._optimize_final_module()  # type: ignore[no-untyped-call, unused-ignore]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is no entry of this name."""
        del name
        return 0


class InnerCompiler(Compiler):  # type: ignore[misc, unused-ignore]
    """numba's compiler, putting what it makes into an :class:`InnerLibrary`."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        self.state.library = InnerLibrary(self.state.targetctx.codegen(), func.__qualname__)  # type: ignore[no-untyped-call, unused-ignore]
        return super().compile_extra(func)  # type: ignore[no-untyped-call, unused-ignore]


class KernelCompiler(Compiler):  # type: ignore[misc, unused-ignore]
    """numba's compiler, which also hands a kernel the environments of the inner functions in it."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        made = super().compile_extra(func)  # type: ignore[no-untyped-call, unused-ignore]
        for environment in made._find_referenced_environments():
            made.codegen.set_env(environment.env_name, environment)
        return made
