"""LLVM bitcode → object files for a target. No optimisation pass runs here: see `lower.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache

import llvmlite.binding as llvm

from limberjack.engine.compile.compiled import FULL, PREFIX, Compiled
from limberjack.engine.compile.targets import ALONE, FULL_WIDTH, HALF_WIDTH, Target
from limberjack.engine.compile.worlds.widening import declined, widened

#: Alignment of stack frames: the size of the widest register. Callers guarantee only 16 bytes. With these, a register
#: that is spilled to the frame may lie across two cache lines, depending on the caller's stack.
_FRAME = {"v3": " alignstack(32)", "v4": " alignstack(64)"}
_HEAD = re.compile(r'^target datalayout = ".*"\ntarget triple = ".*"$', flags=re.M)
_DEFINED = re.compile(r"^(define [^\n]*) \{$", flags=re.M)
_CALLED = re.compile(rf"^(define [^\n]*@{PREFIX}\w+\([^\n]*\)[^\n{{]*?) \{{$", flags=re.M)


@cache
def _start_llvm() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


@contextmanager
def module_of(code: str | bytes) -> Iterator[llvm.ModuleRef]:
    """The module of LLVM's text or bitcode, in a new context.

    It is closed before its context; the garbage collector might free the context first, and LLVM would crash.
    """
    context = llvm.create_context()
    module = llvm.parse_assembly(code, context) if isinstance(code, str) else llvm.parse_bitcode(code, context)
    try:
        yield module
    finally:
        module.close()
        context.close()


def context_of(module: llvm.ModuleRef) -> llvm.ContextRef:
    """The context of a module: only modules of the same context can be linked."""
    return module._context  # type: ignore[no-any-return]


def object_code(known: Compiled, bitcode: bytes, target: Target, level: str, *, full: bool = False) -> bytes:
    """Object code of an entry or routine <name> for one level of the target's processors: limberjack_<name>_<level>.

    The names of routines that it calls get the same suffix.

    full : whether it is the code for whole registers of a routine that has code for half of them too
    """
    text = _text(bitcode)
    if known.wide or full or level not in HALF_WIDTH:
        return _emitted(text, target, level, "")
    halved = _DEFINED.sub(rf"\1{HALF_WIDTH[level]} {{", text)
    return _emitted(halved, target, level, "", known if known.either else None)


def worlds_code(known: Compiled, bitcode: bytes, target: Target, level: str) -> bytes:
    """The same for as many worlds at once as fit into a register of the level: limberjack_<name>_worlds_<level>."""
    together = declined if level in ALONE else widened
    text = together(known, _text(bitcode), target.worlds[level])
    return _emitted(text, target, level, FULL_WIDTH.get(level, ""))


@lru_cache(maxsize=1)
def _text(bitcode: bytes) -> str:
    """LLVM's text of bitcode. The next level needs the same."""
    with module_of(bitcode) as module:
        return str(module)


def _emitted(text: str, target: Target, level: str, features: str, halved: Compiled | None = None) -> bytes:
    """Object code of LLVM's text; halved: the routine in it, if there is other code of it for whole registers."""
    _start_llvm()
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.processors[level], features=features, opt=3, reloc="pic", codemodel="default"
    )
    # LLVM reads the data layout when it parses, so the text must contain it
    text = _HEAD.sub(f'target datalayout = "{machine.target_data}"\ntarget triple = "{target.triple}"', text, count=1)
    text = _CALLED.sub(rf"\1{_FRAME.get(level, '')} {{", text)
    with module_of(text) as module:
        if halved:
            module.link_in(llvm.parse_assembly(_choice(module, halved), context_of(module)))
        for function in module.functions:
            if function.name.startswith(PREFIX):
                function.name = f"{function.name}_{level}"
                function.visibility = "hidden"
        return bytes(machine.emit_object(module))


def _choice(module: llvm.ModuleRef, known: Compiled) -> str:
    """Rename a routine in its module; the text of a function with its name, which jumps to it or to that for whole
    registers.

    `levels.c` sets which. The function takes any arguments, so that it hands them on where they are: numba passes a
    hundred of them on the stack. Routines return i32, a status (numba's calling convention).
    """
    name, half = known.symbol, f"{known.symbol}_half"
    module.get_function(name).name = half
    return f"""
@{PREFIX}wide = external hidden global i8
declare hidden i32 @{half}(...)
declare hidden i32 @{name}{FULL}(...)
define i32 @{name}(...) {{
  %wide = load i8, ptr @{PREFIX}wide
  %is.half = icmp eq i8 %wide, 0
  br i1 %is.half, label %use.half, label %use.full
use.half:
  %first = musttail call i32 (...) @{half}(...)
  ret i32 %first
use.full:
  %second = musttail call i32 (...) @{name}{FULL}(...)
  ret i32 %second
}}
"""
