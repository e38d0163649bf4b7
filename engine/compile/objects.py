"""LLVM bitcode → object files for a target. No optimisation pass runs here: see `lower.py`."""

from __future__ import annotations

import re
from functools import cache

import llvmlite.binding as llvm

from limberjack.engine.compile.compiled import PREFIX
from limberjack.engine.compile.targets import Target


@cache
def _start_llvm() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def object_code(bitcode: bytes, target: Target, level: str) -> bytes:
    """Code of an entry or routine <name> for one level of the target's processors, as limberjack_<name>_<level>.

    Routines that it calls get that ending as well.
    """
    _start_llvm()
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.processors[level], features="", opt=3, reloc="pic", codemodel="default"
    )
    context = llvm.create_context()
    # LLVM reads the layout of the data when it parses, so it has to be in the text.
    text = str(llvm.parse_bitcode(bitcode, context))
    text = re.sub(r'^target datalayout = ".*"$', f'target datalayout = "{machine.target_data}"', text, flags=re.M)
    text = re.sub(r'^target triple = ".*"$', f'target triple = "{target.triple}"', text, flags=re.M)
    module = llvm.parse_assembly(text, context)
    for function in module.functions:
        if function.name.startswith(PREFIX):
            function.name = f"{function.name}_{level}"
            function.visibility = "hidden"
    return bytes(machine.emit_object(module))
