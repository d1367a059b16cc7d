"""How inner functions are compiled: without being made fast on their own.

numba makes every function fast when it is compiled, and again inside each function that calls it. An inner function is
only ever run as a part of a kernel, so the first time is wasted: it is left out, which saves a fifth of the waiting.
"""

from __future__ import annotations

from typing import Any

from numba.core import config
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call, unused-ignore]
class PlainLowering(NativeLowering):  # type: ignore[misc, unused-ignore]
    """numba's last step, with its optimiser switched off meanwhile. Only one function is compiled at a time."""

    _name = "seriatim_plain_lowering"

    def run_pass(self, state: Any) -> bool:
        settings: Any = config
        usual = settings.OPT
        settings.OPT = type(usual)(0)
        try:
            return bool(super().run_pass(state))  # type: ignore[no-untyped-call, unused-ignore]
        finally:
            settings.OPT = usual


class InnerCompiler(CompilerBase):  # type: ignore[misc, unused-ignore]
    """numba's usual steps with the last one replaced."""

    def define_pipelines(self) -> list[Any]:
        steps: Any = DefaultPassBuilder
        manager: Any = PassManager
        usual, made = steps.define_nopython_pipeline(self.state), manager("seriatim inner function")
        for step, description in usual.passes:
            made.add_pass(PlainLowering if step is NativeLowering else step, description)
        made.finalize()
        return [made]
