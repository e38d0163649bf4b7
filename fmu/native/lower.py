"""Kernels → LLVM bitcode, optimised by the same passes that the Python engine's code goes through.

Run as `python -m limberjack.fmu.native.lower FOLDER`: a process of its own, since numba reads once, at import, for
which processor it optimises. Code for every target is generated from this one bitcode: the passes that decide which
products and sums fuse have then run once, so that all processors with fused multiply-add give the same bits.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core.types import Type

from limberjack.engine.compile.kernel import OPTIONS
from limberjack.engine.compile.routine import PREFIX
from limberjack.fmu.native.kernels import sources
from limberjack.fmu.native.store import COMPLETE, keep


def environment() -> dict[str, str]:
    """Settings of numba for this process: a fixed processor, so that the host's model leaves no trace."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": "", "NUMBA_DISABLE_JIT": "0"}
    return {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_DISABLE_JIT": "0"}


def bitcode(name: str, function: Callable[..., Any], signature: tuple[Type, ...]) -> bytes:
    """One kernel's optimised code, alone in its module under the name limberjack_<name>."""
    dispatcher = numba.njit(**OPTIONS)(function)
    dispatcher.compile(signature)
    result = dispatcher.overloads[signature]
    context = llvm.create_context()
    module = llvm.parse_assembly(result.library.get_llvm_str(), context)
    for compiled in module.functions:
        if compiled.name == result.fndesc.llvm_func_name:
            compiled.name = PREFIX + name
            compiled.visibility = "hidden"
        elif not compiled.is_declaration:
            compiled.linkage = "internal"  # the wrappers for Python callers
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.name = PREFIX + name
    _drop_unused(module)
    return bytes(module.as_bitcode())


def _drop_unused(module: llvm.ModuleRef) -> None:
    machine = llvm.Target.from_default_triple().create_target_machine()
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


def main(folder: Path) -> None:
    """Write <kernel>.bc for every kernel that is not there, then that none is missing."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name, (function, signature) in sources().items():
        keep(folder / f"{name}.bc", partial(bitcode, name, function, signature))
    keep(folder / COMPLETE, bytes)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
