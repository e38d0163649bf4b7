"""Functions that only other compiled functions call, compiled as far as their callers need them.

numba optimises every compiled function together with all that it calls, and makes machine code of it, although an inner
function is only ever part of its callers: with ten levels of calls the innermost lines are optimised ten times. Here an
inner function stays as it was written until the entry that it ends up in is optimised, once, as a whole.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

# Names of values grow with every call that is taken in; LLVM reads back its own text only up to a length.
binding.set_option("limberjack", "--non-global-value-max-name-size=1000000")


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into its callers, and nothing more."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0


def _without_code(library: Any, description: Any, env: Any) -> Any:
    """What stands for the function where numba wants something to call."""
    name = description.qualname.split(".")[-1]
    module = description.lookup_module()
    return _dynfunc.make_function(module, name, "inner function", 0, env, (library,))  # type: ignore[no-untyped-call]


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):  # type: ignore[misc]
    """Typed numba code to LLVM code, not to machine code."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        library = _InnerLibrary(context.codegen(), state.func_id.func_qualname)  # type: ignore[no-untyped-call]
        state["library"] = library
        context.get_executable = _without_code
        try:
            return bool(super().run_pass(state))  # type: ignore[no-untyped-call]
        finally:
            del context.get_executable


class InnerCompiler(CompilerBase):  # type: ignore[misc]
    """numba's compiler with that last step."""

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state, "inner")  # type: ignore[no-untyped-call]
        pipeline.passes = [(_InnerLowering if step is NativeLowering else step, why) for step, why in pipeline.passes]
        pipeline.finalize()
        return [pipeline]
