"""Entries and routines → LLVM bitcode → object code for targets, on all cores.

Run as `python -m limberjack.engine.compile.lower FOLDER PLAN ROOT TARGET [_worlds]`, in a separate process, since numba
reads once, at import, for which processor it optimises. Code for every target and level is generated from one bitcode.
The passes that decide which products and sums are fused have then run once, so all processors with fused multiply-add
give the same bits.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import llvmlite.binding as llvm

from limberjack.engine.compile.compiled import FULL, SEVERAL_WORLDS, WORLDS, Compiled
from limberjack.engine.compile.kernel import FUNCTIONS
from limberjack.engine.compile.objects import context_of, module_of, object_code, worlds_code
from limberjack.engine.compile.plan import Part, parts_of, written
from limberjack.engine.compile.shell import shell
from limberjack.engine.compile.store import keep
from limberjack.engine.compile.targets import TARGETS, Target

#: most processes that Windows can wait for
_MOST_WORKERS = 61
#: objects made between two looks for garbage, and how many of these look further back
_COLLECT = 200_000, 50, 1000


@dataclass(frozen=True)
class Lowered:
    """An entry or routine as numba made it; LLVM's passes over the whole are still to come.

    known : without its function, which no other process can read; code, name : of `inner_code.lowered`
    """

    known: Compiled
    code: bytes = b""
    name: str = ""

    def bitcode(self, part: Part) -> bytes:
        """Optimised code of a part in a module of its own under its symbol; C can call that of an entry.

        Code that will be widened for several worlds has no vectors of one world's numbers.
        """
        from limberjack.engine.compile.inner_code import optimised

        known, code, symbol = self.known, _made_for(self.code, part.worlds), self.known.symbol + FULL * part.full
        best = optimised(code, known, not part.worlds, known.wide or part.full)
        with module_of(bytes(best.as_bitcode())) as module:
            function = module.get_function(self.name)
            if known.entry:
                module.link_in(llvm.parse_assembly(shell(known, function), context_of(module)))
                function = module.get_function(self.name)
                function.linkage = "internal"
                function.add_function_attribute("alwaysinline")
            else:
                function.name = symbol
            _hide(module, symbol)
            module.name = symbol
            _tidy(module)
            return bytes(module.as_bitcode())


def _hide(module: llvm.ModuleRef, symbol: str) -> None:
    """Keep only one symbol visible, and number all others: numba's names depend on what was compiled before."""
    for number, other in enumerate([*module.functions, *module.global_variables]):
        if not other.is_declaration and other.name != symbol:
            other.linkage = "internal"
            other.name = f"inner.{number}"
    module.get_function(symbol).visibility = "hidden"


def _made_for(code: bytes, worlds: bool) -> bytes:
    """The bitcode with what `several_worlds` is, and for one world without names of values.

    Names grow with every inlined call, and each pass would carry them along. `worlds` rewrites code by its names.
    """
    with module_of(code) as module:
        if any(each.name == SEVERAL_WORLDS for each in module.global_variables):
            flag = f"@{SEVERAL_WORLDS} = constant i8 {int(worlds)}"
            module.link_in(llvm.parse_assembly(flag, context_of(module)))
            module.get_global_variable(SEVERAL_WORLDS).linkage = "internal"
        if not worlds:
            passes = llvm.create_new_module_pass_manager()
            passes.add_strip_symbols_pass()
            _run(passes, module)
        return bytes(module.as_bitcode())


def _tidy(module: llvm.ModuleRef) -> None:
    """Inline the function into its shell, and remove what is no longer called. There is no other optimisation here."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    _run(passes, module)


def _run(passes: llvm.ModulePassManager, module: llvm.ModuleRef) -> None:
    machine = llvm.Target.from_default_triple().create_target_machine()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


def lowered(parts: Sequence[Part], folder: Path, target: Target) -> list[tuple[Part, Lowered]]:
    """Those parts of a function of which files are missing, with its code, unless only object code is missing."""
    from limberjack.engine.compile import inner_code

    missing = [part for part in parts if not all(file.is_file() for file in part.files(folder, target))]
    if not missing:
        return []
    known = FUNCTIONS[missing[0].name]
    made = Lowered(replace(known, function=_elsewhere))
    if not all(part.bitcode_file(folder).is_file() for part in missing):
        made = Lowered(made.known, *inner_code.lowered(known))
    return [(part, made) for part in missing]


def finish(part: Part, made: Lowered, folder: Path, target: Target) -> None:
    """Make the missing files of a part."""
    emitted = partial(worlds_code, made.known) if part.worlds else partial(object_code, made.known, full=part.full)
    code = keep(part.bitcode_file(folder), partial(made.bitcode, part)).read_bytes()
    for level, file in part.object_files(folder, target).items():
        keep(file, partial(emitted, code, target, level))


def _elsewhere() -> None:
    """The place of a function that only the process that lowers has."""


def _begin() -> None:
    """Prepare a process for compiling. numba keeps nearly all that it makes, so looking for garbage finds little."""
    gc.set_threshold(*_COLLECT)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _begin_worker() -> None:
    """Workers step back: all wait for the process that lowers, which must not share its core with them."""
    _begin()
    if hasattr(os, "nice"):
        os.nice(5)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main(folder: Path, plan: Path, root: str, target: Target, worlds: bool) -> None:
    """Make every missing file, and last the plan, which lists them.

    This process lowers one function after the other, since most of what it calls is lowered by then, in the order of
    `parts_of`, so that workers, which run LLVM's passes and generate code, need not wait.

    worlds : whether to make code for several worlds too
    """
    _begin()
    parts = parts_of(root)
    for name in ("bitcode", target.name):
        (folder / name).mkdir(parents=True, exist_ok=True)
    listed = plan.with_suffix(".begun")
    listed.write_bytes(written(parts))
    wanted = [part for part in parts if worlds or not part.worlds]
    functions = [[part for part in wanted if part.name == name] for name in dict.fromkeys(p.name for p in wanted)]
    with ProcessPoolExecutor(min(_cores(), _MOST_WORKERS), initializer=_begin_worker) as pool:
        begun = [
            pool.submit(finish, part, code, folder, target)
            for function in functions
            for part, code in lowered(function, folder, target)
        ]
        for each in begun:
            each.result()  # raises if a worker failed or died
    os.replace(listed, plan)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], TARGETS[sys.argv[4]], WORLDS in sys.argv[5:])
    os._exit(0)  # to free all that numba keeps takes seconds
