"""How numba is used here: a function that others call becomes part of their machine code, and has none of its own.

By default numba optimises every compiled function together with all functions that it calls, and generates machine code
for it. With ten levels of calls it optimises the innermost lines ten times. Here no inner function is optimised by
itself: numba optimises each entry or routine once, with all that it calls.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
from llvmlite import binding
from llvmlite.ir import Constant
from numba import _dynfunc as _dynfunc  # type: ignore[attr-defined]
from numba import types
from numba.core import cgutils, config, ir
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel import models
from numba.core.datamodel.registry import default_manager
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.core.types import Type
from numba.extending import intrinsic as intrinsic
from numba.np import arrayobj

from limberjack.engine.compile.compiled import OPTIMISED_ELSEWHERE, OPTIMISED_FOR, OPTIONS, Compiled
from limberjack.engine.compile.targets import host


class _WholeTuple(models.TupleModel):  # type: ignore[misc]
    """A tuple that a call passes as one value. numba would split it into every field of each of its arrays."""

    def get_argument_type(self) -> Any:
        return self.get_value_type()

    def as_argument(self, builder: Any, value: Any) -> Any:
        return value

    def from_argument(self, builder: Any, value: Any) -> Any:
        return value


for _kind in (types.NamedTuple, types.NamedUniTuple):
    default_manager.register(_kind, _WholeTuple)

# Names of values grow with every inlined call; LLVM parses its own text only up to a limit of length.
binding.set_option("limberjack", "--non-global-value-max-name-size=1000000")
# Loops that clear or copy a few numbers stay loops: a call takes longer, and so does all that waits for it.
for _call in ("memset", "memcpy"):
    binding.set_option("limberjack", f"--disable-loop-idiom-{_call}")


def _unroll(wanted: bool) -> None:
    """Set whether LLVM unrolls loops of unknown length, or makes of them one over vectors and one over the remainder.

    Most loops in kernels have few iterations: the velocities of a hinge, the rows of a closed chain. They would skip
    the unrolled code, and with that code a step would not fit into the processor's instruction cache.
    """
    binding.set_option("limberjack", f"--unroll-runtime={str(wanted).lower()}")
    binding.set_option("limberjack", f"--force-vector-interleave={0 if wanted else 1}")  # 0: LLVM decides


_unroll(False)


def _not_from_the_end(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """The index of an array as it is. With numba's, negative ones count from the end: two operations more for each
    access to a table, and a comparison in loops. Kernels have none; raises IndexError for one that is written out."""
    if isinstance(index, Constant) and isinstance(index.constant, int) and index.constant < 0:
        raise IndexError(f"in kernels an index does not count from the end: {index.constant}")
    return context.cast(builder, index, kind, types.intp)


arrayobj.fix_integer_index = _not_from_the_end

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
    """Code that is only linked into its callers."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    def written(self) -> bytes:
        """The bitcode of the function with all that it calls, before numba's passes over the whole."""
        with global_compiler_lock:
            self._ensure_finalized()  # type: ignore[no-untyped-call]
        return bytes(self._final_module.as_bitcode())

    def optimised(self, code: bytes, vectors: bool) -> binding.ModuleRef:
        """The code of `written`, perhaps of another process, optimised with numba's passes.

        vectors : whether loops become vectors
        """
        self._final_module = binding.parse_bitcode(code)
        config.LOOP_VECTORIZE = self._codegen._loopvect = int(vectors)  # type: ignore[attr-defined,assignment]
        JITCodeLibrary._optimize_final_module(self)  # type: ignore[no-untyped-call]
        return self._final_module


def _without_code(library: Any, description: Any, env: Any) -> Any:
    """A placeholder for the function where numba requires a callable."""
    name = description.qualname.split(".")[-1]
    module = description.lookup_module()
    return _dynfunc.make_function(module, name, "inner function", 0, env, (library,))  # type: ignore[no-untyped-call]


class _Lowering(Lower):  # type: ignore[misc]
    """numba's lowering, except that a table that is assigned once stays a value instead of a variable in memory.

    From memory, every access to one array would load all fields of all arrays of the table, and LLVM would have to undo
    that. Nothing needs to be freed either, so `delvar` emits no code.
    """

    def _find_singly_assigned_variable(self) -> None:
        super()._find_singly_assigned_variable()  # type: ignore[no-untyped-call]
        used: Any = compute_use_defs(self.blocks)  # type: ignore[no-untyped-call]
        dominators: Any = compute_cfg_from_blocks(self.blocks).dominators()  # type: ignore[no-untyped-call]
        assigned = Counter(each.target.name for block in self.blocks.values() for each in block.find_insts(ir.Assign))
        home = {name: begin for begin, names in used.defmap.items() for name in names if assigned[name] == 1}
        once = {name for name in home if isinstance(self.typeof(name), types.BaseNamedTuple)}
        for begin, names in used.usemap.items():  # assigned later, or in a block that does not dominate
            above = {block for block in dominators[begin] if block < begin}
            once -= {name for name in names if home.get(name) not in above}
        self._singly_assigned_vars |= once - must_use_alloca(self.blocks)  # type: ignore[no-untyped-call]

    def delvar(self, name: str) -> None:
        pass


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):  # type: ignore[misc]
    """Lowers typed numba code to LLVM code, without machine code."""

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
    """numba's compiler with `_InnerLowering` as its last step."""

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state, "inner")  # type: ignore[no-untyped-call]
        pipeline.passes = [(_InnerLowering if step is NativeLowering else step, why) for step, why in pipeline.passes]
        pipeline.finalize()
        return [pipeline]


# Only compiled code calls these functions, so they need no wrappers for Python and C, which split every array.
_INNER: dict[str, Any] = {
    **OPTIONS,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": InnerCompiler,
}
#: for entries that other entries call
inner: Callable[[Callable], Any] = numba.njit(**_INNER)
kernel: Callable[[Callable[..., Any]], Callable[..., Any]] = numba.njit(forceinline=True, **_INNER)
formula: Callable[[Callable[..., Any]], Callable[..., Any]] = numba.njit(forceinline=True, **OPTIONS)


def lowered(known: Compiled) -> tuple[bytes, str]:
    """Bitcode of an entry or routine with all that it calls, not optimised as a whole, and the name of its function."""
    signature = tuple(_TYPES[letter] for letter in known.arguments)
    dispatcher = inner(known.function)
    dispatcher.compile(signature)
    result = dispatcher.overloads[signature]
    return result.library.written(), result.fndesc.llvm_func_name


@cache
def _generator(features: str) -> Any:
    """numba's passes and code generator for a processor with these changes to its features."""
    before, config.CPU_FEATURES = config.CPU_FEATURES, features  # type: ignore[attr-defined]
    try:
        return JITCPUCodegen("limberjack")  # type: ignore[no-untyped-call]
    finally:
        config.CPU_FEATURES = before  # type: ignore[attr-defined]


def optimised(code: bytes, known: Compiled, vectors: bool, wide: bool) -> binding.ModuleRef:
    """The code of `lowered` after LLVM's passes over the whole.

    vectors : whether loops become vectors, wide : of 512 bits
    """
    _, *features = OPTIMISED_FOR.get(host().partition("-")[0], OPTIMISED_ELSEWHERE)
    _unroll(known.unroll)
    try:
        generator = _generator(features[wide])
        return _InnerLibrary(generator, "whole").optimised(code, vectors)  # type: ignore[no-untyped-call]
    finally:
        _unroll(False)


def called_by_name(known: Compiled) -> Any:
    """A callable for compiled code: numba's call of a compiled function, to a name outside the module."""

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
