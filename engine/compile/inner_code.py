"""numba as it is used here: functions that others call stay code for them, and become machine code nowhere else.

numba optimises every compiled function together with all that it calls, and makes machine code of it, although an inner
function is only ever part of its callers: with ten levels of calls the innermost lines are optimised ten times. Here
every function stays as it was written until the entry or routine that it ends up in is optimised, once, as a whole.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
from llvmlite import binding
from numba import _dynfunc as _dynfunc  # type: ignore[attr-defined]
from numba import types
from numba.core import cgutils, config, ir
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel import models
from numba.core.datamodel.registry import default_manager
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.core.types import Type
from numba.extending import intrinsic as intrinsic

from limberjack.engine.compile.compiled import OPTIONS, Compiled


class _WholeTuple(models.TupleModel):  # type: ignore[misc]
    """A tuple that a call hands over as one value. numba would take it apart to every number of each of its arrays."""

    def get_argument_type(self) -> Any:
        return self.get_value_type()

    def as_argument(self, builder: Any, value: Any) -> Any:
        return value

    def from_argument(self, builder: Any, value: Any) -> Any:
        return value


for _kind in (types.NamedTuple, types.NamedUniTuple):
    default_manager.register(_kind, _WholeTuple)

# Names of values grow with every call that is taken in; LLVM reads back its own text only up to a length.
binding.set_option("limberjack", "--non-global-value-max-name-size=1000000")


def _unroll(wanted: bool) -> None:
    """Whether loops of unknown length are unrolled from now on, or become one over vectors and one over what is left.

    Most loops of kernels take a few turns: the velocities of a hinge, the rows of a loop. They would jump over the
    unrolled code, with which a step takes more than the processor's cache of instructions holds.
    """
    binding.set_option("limberjack", f"--unroll-runtime={str(wanted).lower()}")
    binding.set_option("limberjack", f"--force-vector-interleave={0 if wanted else 1}")  # 0: as LLVM sees fit


_unroll(False)

_FLOATS = types.Array(types.float64, 1, "C")
_TYPES: dict[str, Type] = {
    "I": types.Array(types.int64, 1, "C"),
    "F": _FLOATS,
    "V": _FLOATS,
    "M": types.Array(types.float64, 2, "C"),
    "i": types.int64,
    "f": types.float64,
    "b": types.boolean,
    "": types.none,
}


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into its callers, and nothing more."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    def optimised(self, vectors: bool, unroll: bool) -> binding.ModuleRef:
        """Its code with all that it calls, optimised as numba does.

        vectors : whether loops become vectors; unroll : of `Compiled`
        """
        with global_compiler_lock:
            self._ensure_finalized()  # type: ignore[no-untyped-call]
        written = self._final_module
        self._final_module = binding.parse_bitcode(written.as_bitcode())
        config.LOOP_VECTORIZE = self._codegen._loopvect = int(vectors)  # type: ignore[attr-defined,assignment]
        _unroll(unroll)
        JITCodeLibrary._optimize_final_module(self)  # type: ignore[no-untyped-call]
        _unroll(False)
        done, self._final_module = self._final_module, written
        return done


def _without_code(library: Any, description: Any, env: Any) -> Any:
    """What stands for the function where numba wants something to call."""
    name = description.qualname.split(".")[-1]
    module = description.lookup_module()
    return _dynfunc.make_function(module, name, "inner function", 0, env, (library,))  # type: ignore[no-untyped-call]


class _Lowering(Lower):  # type: ignore[misc]
    """numba's lowering, but a table that is named once stays a value, and is no place in memory.

    From a place in memory every look at one array loads all numbers of all arrays of the tables, and LLVM has to take
    that apart again. There is nothing to free either, so that the end of a variable is no code.
    """

    def _find_singly_assigned_variable(self) -> None:
        super()._find_singly_assigned_variable()  # type: ignore[no-untyped-call]
        used: Any = compute_use_defs(self.blocks)  # type: ignore[no-untyped-call]
        dominators: Any = compute_cfg_from_blocks(self.blocks).dominators()  # type: ignore[no-untyped-call]
        assigned = Counter(each.target.name for block in self.blocks.values() for each in block.find_insts(ir.Assign))
        home = {name: begin for begin, names in used.defmap.items() for name in names if assigned[name] == 1}
        once = {name for name in home if isinstance(self.typeof(name), types.BaseNamedTuple)}
        for begin, names in used.usemap.items():  # what is used there and assigned elsewhere, or later
            above = {block for block in dominators[begin] if block < begin}
            once -= {name for name in names if home.get(name) not in above}
        self._singly_assigned_vars |= once - must_use_alloca(self.blocks)  # type: ignore[no-untyped-call]

    def delvar(self, name: str) -> None:
        pass


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):  # type: ignore[misc]
    """Typed numba code to LLVM code, not to machine code."""

    _name = "inner_lowering"

    @property
    def lowering_class(self) -> Any:
        return _Lowering

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


# Compiled code alone calls them: no shells for calls from Python and C, which take every array apart.
_INNER: dict[str, Any] = {
    **OPTIONS,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": InnerCompiler,
}
#: for entries that another one calls
inner: Callable[[Callable], Any] = numba.njit(**_INNER)
kernel: Callable[[Callable[..., Any]], Callable[..., Any]] = numba.njit(forceinline=True, **_INNER)
formula: Callable[[Callable[..., Any]], Callable[..., Any]] = numba.njit(forceinline=True, **OPTIONS)


def optimised(known: Compiled, vectors: bool = True) -> tuple[binding.ModuleRef, str]:
    """Code of an entry or routine with all that it calls, and the name of its function there."""
    signature = tuple(_TYPES[letter] for letter in known.arguments)
    result = _lowered(known, signature)
    return result.library.optimised(vectors, known.unroll), result.fndesc.llvm_func_name


@cache
def _lowered(known: Compiled, signature: tuple[Type, ...]) -> Any:
    """What numba makes of a function, before LLVM's passes over the whole."""
    dispatcher = inner(known.function)
    dispatcher.compile(signature)
    return dispatcher.overloads[signature]


def called_by_name(known: Compiled) -> Any:
    """What compiled code calls: numba's own call of a compiled function, to a name outside of the module."""

    def call(typingctx: Any, *given: Any) -> Any:
        signature = _TYPES[known.returns](*(_TYPES[letter] for letter in known.arguments))

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            convention = context.call_conv
            prototype = convention.get_function_type(signature.return_type, signature.args)
            insert: Any = cgutils.get_or_insert_function
            function = insert(builder.module, prototype, known.symbol)
            return convention.call_function(builder, function, signature.return_type, signature.args, args)[1]

        return signature, codegen

    call.__name__ = call.__qualname__ = known.function.__name__
    written = inspect.signature(known.function)
    context = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    call.__signature__ = written.replace(parameters=[context, *written.parameters.values()])  # type: ignore[attr-defined]
    return intrinsic(call)
