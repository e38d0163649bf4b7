"""Routines: long code that several entries need, compiled once and apart from them, and only where a model needs it.

numba links all that an entry calls into the entry and compiles it there again. A routine is code of its own in the
on-disk cache: entries call it by name. The name leads to a jump through a slot, so that entries run without the
routines that their model does not use; `compile_routines` compiles them and fills the slots.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import binding
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.core.types import Type
from numba.extending import intrinsic

from limberjack.engine.compile.kernel import UNWRAPPED, cached

INTS, FLOATS = types.Array(types.int64, 1, "C"), types.Array(types.float64, 1, "C")
MATRIX = types.Array(types.float64, 2, "C")
WHOLE, REAL, FLAG, NOTHING = types.int64, types.float64, types.boolean, types.none
#: what every routine takes first: Plant.ints, Plant.floats, Work
VECTORS = (INTS, FLOATS, FLOATS)

PREFIX = "limberjack_"
_INSTRUMENTS = "limberjack.engine.kernels.sensors."


@dataclass(frozen=True)
class Routine:
    """One routine: the function as written, its types, and the slot that its address goes into."""

    function: Callable[..., Any]
    arguments: tuple[Type, ...]
    returns: Type
    slot: ctypes.c_void_p

    @property
    def of_instruments(self) -> bool:
        """Whether only models with instruments need it."""
        return self.function.__module__.startswith(_INSTRUMENTS)

    @property
    def symbol(self) -> str:
        """The name that entries call it by."""
        return PREFIX + self.function.__name__


#: all routines of the modules imported so far, by name
ROUTINES: dict[str, Routine] = {}
_engines: list[Any] = []


def routine(*arguments: Type, returns: Type = NOTHING) -> Callable[[Callable[..., Any]], Any]:
    """Mark a function of these argument types, after VECTORS, as a routine. Compiled code alone can call it."""

    def decorate(function: Callable[..., Any]) -> Any:
        every = (*VECTORS, *arguments)
        symbol = PREFIX + function.__name__
        known = Routine(function, every, returns, _make_jump(symbol, _prototype(every, returns)))
        ROUTINES[function.__name__] = known
        return _caller(known)

    return decorate


def _prototype(arguments: tuple[Type, ...], returns: Type) -> Any:
    return cpu_target.target_context.call_conv.get_function_type(returns, arguments)


def _make_jump(symbol: str, prototype: Any) -> ctypes.c_void_p:
    """Make machine code under that name that goes on where the slot points to; returns the slot."""
    kinds = ["ptr" if kind.is_pointer else str(kind) for kind in prototype.args]
    taken = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(kinds))
    text = f"""
        @slot = global ptr null
        define {prototype.return_type} @{symbol}({taken}) {{
            %target = load ptr, ptr @slot
            %status = musttail call {prototype.return_type} %target({taken})
            ret {prototype.return_type} %status
        }}"""
    machine = binding.Target.from_default_triple().create_target_machine(codemodel="jitdefault")
    engine = binding.create_mcjit_compiler(binding.parse_assembly(text), machine)
    engine.finalize_object()
    _engines.append(engine)
    binding.add_symbol(symbol, engine.get_function_address(symbol))
    return ctypes.c_void_p.from_address(engine.get_global_value_address("slot"))


def _caller(known: Routine) -> Any:
    """What compiled code calls: numba's own call of a compiled function, to a name outside of the module."""

    def call(typingctx: Any, *given: Any) -> Any:
        signature = known.returns(*known.arguments)

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


def compile_routines(*, instruments: bool) -> None:
    """Compile the routines of instruments, or all others, or read them from the cache, for models that call them.

    Those of the modules imported so far: `kernels.entries.prepare_routines` imports them all.
    """
    for known in ROUTINES.values():
        if not known.slot.value and known.of_instruments == instruments:
            dispatcher = cached(known.function, **UNWRAPPED)
            dispatcher.compile(known.arguments)
            result = dispatcher.overloads[known.arguments]
            known.slot.value = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
            _engines.append(dispatcher)
