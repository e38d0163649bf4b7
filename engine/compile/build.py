"""Building the engine's library: object code for targets, and the library that Python loads.

The build stores the bitcode and object code of each entry and routine as soon as it is ready. A build that was
interrupted therefore continues where it stopped, and a change to one kernel recompiles only what contains it.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from limberjack import children
from limberjack.engine.common.errors import ArgumentError, MissingExtraError
from limberjack.engine.compile import plan
from limberjack.engine.compile.compiled import OPTIMISED_ELSEWHERE, OPTIMISED_FOR, WORLDS
from limberjack.engine.compile.kernel import COMPILED
from limberjack.engine.compile.link import C_FILES, LinkError, link, write_entries
from limberjack.engine.compile.plan import Part
from limberjack.engine.compile.sources import KERNELS, LAYOUT, NATIVE, digest_of, file_name, library_digest
from limberjack.engine.compile.store import alone, cache_folder
from limberjack.engine.compile.targets import Target, host
from limberjack.scratch import Scratch

#: time between two progress reports of a build, s: on a terminal, elsewhere
_LOOK_S, _LINE_S = 0.3, 60.0


def library(target: Target, stem: str, root: str = KERNELS) -> Path:
    """The library of the entries under `root`, built if the cache does not have it, by one process at a time.

    Raises LinkError if a compiler fails, MissingExtraError if there is none, ArgumentError if the cache cannot be
    written.
    """
    folder, wanted = cache_folder() / target.name, f"{stem}-*{target.suffix}"
    if not (found := sorted(folder.glob(wanted))):
        try:
            with alone(folder / stem):
                found = sorted(folder.glob(wanted)) or [_build(target, folder, stem, root)]
        except OSError as error:
            raise unwritable(error) from error
    return found[0]


def _build(target: Target, folder: Path, stem: str, root: str) -> Path:
    digest = stem.rpartition("-")[2]  # sources may change meanwhile
    parts, objects = object_code(target, root)
    with Scratch("linking-", folder) as scratch:
        output = write_entries(scratch, parts, digest) / f"{stem}{target.suffix}"
        sources, options = [C_FILES / "levels.c", C_FILES / "engine.c"], []
        if root == KERNELS:
            importlib.import_module(LAYOUT).write_header(scratch)
            sources += sorted(NATIVE.glob("*.c"))
            options += [f"-Wl,-soname,{linked_name(target)}"] * ("linux" in target.name)
        link(target, sources, objects, output, *options)
        return output.replace(folder / file_name(output, stem))


def linked_name(target: Target) -> str:
    """The file name under which a program that is linked with the library loads it."""
    if "linux" not in target.name:
        return f"limberjack{target.suffix}"
    (abi,) = re.findall(r"^#define LJ_ABI (\d+)$", (NATIVE / "limberjack.h").read_text(encoding="utf-8"), re.M)
    return f"liblimberjack.so.{abi}"


def object_code(target: Target, root: str = KERNELS, *, worlds: bool = True) -> tuple[list[Part], list[Path]]:
    """The parts of the library and their object code for a target; compiles what is not in the cache.

    worlds : whether to include code for several worlds
    """
    if importlib.util.find_spec("numba") is None:
        raise MissingExtraError("compiling the engine", "numba", "build")
    folder = cache_folder()
    listed = folder / f"{digest_of((), library_digest(root), *plan.versions())}.json"
    with alone(listed):
        objects = _objects(listed, target, worlds)
        if not objects or not all(file.is_file() for file in objects):
            _compile(folder, listed, root, target, worlds)
            objects = _objects(listed, target, worlds)
    return [part for part in plan.read(listed.read_bytes()) if worlds or not part.worlds], objects


def _objects(listed: Path, target: Target, worlds: bool) -> list[Path]:
    """The parts and object files that a plan lists for a target; empty if there is no plan."""
    parts = plan.read(listed.read_bytes()) if listed.is_file() else []
    wanted = [part for part in parts if worlds or not part.worlds]
    return [file for part in wanted for file in part.object_files(listed.parent, target).values()]


def _compile(folder: Path, listed: Path, root: str, target: Target, worlds: bool) -> None:
    """Compile in a separate process."""
    command = [sys.executable, "-m", "limberjack.engine.compile.lower", str(folder), str(listed), root, target.name]
    command += [WORLDS] * worlds
    with _progress(listed.with_suffix(".begun"), target, worlds):
        done = children.run(command, env={**os.environ, **_environment()})
    if done.returncode != 0:
        raise LinkError(f"compiling the engine failed:\n{done.stderr[-4000:]}")


def _environment() -> dict[str, str]:
    """Environment of that process: it compiles kernels, for a fixed processor, so that the host's has no influence."""
    processor, features, _ = OPTIMISED_FOR.get(host().partition("-")[0], OPTIMISED_ELSEWHERE)
    return {
        COMPILED: "1",
        "NUMBA_CPU_NAME": processor,
        "NUMBA_CPU_FEATURES": features,
        "NUMBA_DISABLE_JIT": "0",
        # numba writes a message for every candidate that does not fit a call; colours cost time
        "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1",
    }


@contextmanager
def _progress(begun: Path, target: Target, worlds: bool) -> Iterator[None]:
    """Report the progress of the build on standard error: on a terminal continuously, elsewhere from time to time."""
    print(_text(target, ""), end="", file=sys.stderr, flush=True)
    ended = threading.Event()
    shown = threading.Thread(target=_show, args=(begun, target, worlds, ended), daemon=True)
    shown.start()
    try:
        yield
    finally:
        ended.set()
        shown.join()
        print(file=sys.stderr, flush=True)


def _show(begun: Path, target: Target, worlds: bool, ended: threading.Event) -> None:
    terminal, started, before = sys.stderr.isatty(), time.monotonic(), -1
    while not ended.wait(_LOOK_S if terminal else _LINE_S):
        files = _objects(begun, target, worlds)
        done = sum(file.is_file() for file in files)
        before = done if before < 0 and files else before
        share = f": {100 * done // max(1, len(files))} %{_left(time.monotonic() - started, done - before, files, done)}"
        print(("\r" if terminal else "\n") + _text(target, share), end="", file=sys.stderr, flush=True)


def _left(elapsed_s: float, new: int, files: Sequence[Path], done: int) -> str:
    """How long the rest of the build takes at the present pace; "" while too little is done to estimate it."""
    if new < max(1, len(files) // 20):
        return ""
    minutes, seconds = divmod(round(elapsed_s * (len(files) - done) / new), 60)
    return f", about {minutes:d}:{seconds:02d} min to go"


def _text(target: Target, share: str) -> str:
    return f"building the engine for {target.name}, once{share}"


def unwritable(error: OSError) -> ArgumentError:
    """The error to raise if the cache cannot be written."""
    return ArgumentError(
        f"compiled code is kept in {cache_folder()}, which cannot be written ({error.strerror or error}); make room, "
        "get the right to write there, or set XDG_CACHE_HOME (Linux) to another folder."
    )
