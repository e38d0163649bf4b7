"""Entries and routines → LLVM bitcode → object code for targets, on all cores.

Run as `python -m limberjack.engine.compile.lower FOLDER PLAN ROOT TARGET [_worlds]`, in a separate process, since numba
reads once, at import, for which processor it optimises. Code for every target and level is generated from one bitcode.
The passes that decide which products and sums are fused have then run once, so all processors with fused multiply-add
give the same bits.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import llvmlite.binding as llvm

from limberjack.engine.compile.compiled import WORLDS, Compiled
from limberjack.engine.compile.kernel import FUNCTIONS
from limberjack.engine.compile.objects import module_of, object_code, worlds_code
from limberjack.engine.compile.plan import Part, parts_of, written
from limberjack.engine.compile.shell import shell
from limberjack.engine.compile.store import keep
from limberjack.engine.compile.targets import TARGETS, Target

#: most processes that Windows can wait for
_MOST_WORKERS = 61


def bitcode(known: Compiled, worlds: bool = False) -> bytes:
    """Optimised code of an entry or routine, in a module of its own under its symbol; C can call that of an entry.

    worlds : whether it will be widened for several worlds; then loops over one world's numbers are not vectorised
    """
    from limberjack.engine.compile.inner_code import optimised

    code, name = optimised(known, vectors=not worlds)
    with module_of(str(code)) as module:
        function = module.get_function(name)
        if known.entry:
            module.link_in(llvm.parse_assembly(shell(known, function), _context(module)))
            function = module.get_function(name)
            function.linkage = "internal"
            function.add_function_attribute("alwaysinline")
        else:
            function.name = known.symbol
        _hide(module, known.symbol)
        module.name = known.symbol
        _tidy(module)
        return bytes(module.as_bitcode())


def _hide(module: llvm.ModuleRef, symbol: str) -> None:
    """Keep only one symbol visible, and number all others: numba's names depend on what was compiled before."""
    for number, other in enumerate([*module.functions, *module.global_variables]):
        if not other.is_declaration and other.name != symbol:
            other.linkage = "internal"
            other.name = f"inner.{number}"
    module.get_function(symbol).visibility = "hidden"


def _context(module: llvm.ModuleRef) -> llvm.ContextRef:
    """The context of a module: only modules of the same context can be linked."""
    return module._context  # type: ignore[no-any-return]


def _tidy(module: llvm.ModuleRef) -> None:
    """Inline the function into its shell, and remove what is no longer called. There is no other optimisation here."""
    machine = llvm.Target.from_default_triple().create_target_machine()
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


def _make(parts: Sequence[Part], folder: Path, target: Target) -> None:
    """Make the missing files of the parts of one function."""
    for part in parts:
        known = FUNCTIONS[part.name]
        code = keep(part.bitcode_file(folder), partial(bitcode, known, part.worlds)).read_bytes()
        made = partial(worlds_code, known) if part.worlds else object_code
        for level, file in part.object_files(folder, target).items():
            keep(file, partial(made, code, target, level))


def _begin(root: str) -> list[Part]:
    """Prepare a process for compiling; returns all parts. A forked worker is prepared already, a spawned one is not."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return parts_of(root)


def main(folder: Path, plan: Path, root: str, target: Target, worlds: bool) -> None:
    """Make every missing file, and last the plan, which lists them.

    worlds : whether to make code for several worlds too
    """
    parts = _begin(root)
    for name in ("bitcode", target.name):
        (folder / name).mkdir(parents=True, exist_ok=True)
    listed = plan.with_suffix(".begun")
    listed.write_bytes(written(parts))
    wanted = [part for part in parts if worlds or not part.worlds]
    functions = [[part for part in wanted if part.name == name] for name in dict.fromkeys(p.name for p in wanted)]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = min(cores, _MOST_WORKERS)
    with ProcessPoolExecutor(workers, initializer=_begin, initargs=(root,)) as pool:  # raises if a worker dies
        list(pool.map(partial(_make, folder=folder, target=target), functions))
    os.replace(listed, plan)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], TARGETS[sys.argv[4]], WORLDS in sys.argv[5:])
