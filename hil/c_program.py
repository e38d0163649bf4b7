"""Compiles a controller in C if necessary, then replaces this process by it: for scenarios, which start programs.

python -m limberjack.hil.c_program FILE.c [FILE.c …] [WORDS of the program …]

The program is kept in the user's cache and recompiled when one of its files, or a header beside them, changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from platformdirs import user_cache_path

from limberjack.engine.common.errors import ArgumentError, ExitCode, LimberjackError, MissingExtraError

BUILD_SECONDS = 300.0
#: number of programs in the user's cache
MOST_KEPT = 64
#: C with POSIX; without contraction to fused multiply-adds, so that every compiler gives the same bits
FLAGS = ("-std=c11", "-D_DEFAULT_SOURCE", "-D_POSIX_C_SOURCE=200809L", "-O2", "-Wall", "-Wextra", "-ffp-contract=off")


def compiler() -> list[str]:
    """The system's C compiler, or else that of the package ziglang. MissingExtraError if there is none."""
    for name in ("cc", "gcc", "clang"):
        found = shutil.which(name)
        if found:
            return [found]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise MissingExtraError("compiling C on a machine without a C compiler", "ziglang", "fmu")


def compile_program(sources: Sequence[Path], program: Path) -> Path:
    """Make a program of C files; returns its path. Raises ArgumentError with the output of the compiler."""
    for source in sources:
        if not source.is_file():
            raise ArgumentError(f"{source}: there is no such file; give the C files of the program first.")
    program.parent.mkdir(parents=True, exist_ok=True)
    command = [*compiler(), *FLAGS, *map(str, sources), "-o", str(program), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    if done.returncode:
        raise ArgumentError(f"{', '.join(map(str, sources))} cannot be compiled:\n{done.stderr.strip()}")
    return program


def compiled(sources: Sequence[Path]) -> Path:
    """The program of these files, from the user's cache."""
    headers = sorted({header for source in sources for header in source.resolve().parent.glob("*.h")})
    content = b"".join(path.read_bytes() for path in (*sources, *headers) if path.is_file()) + repr(FLAGS).encode()
    name = f"{sources[0].stem}-{hashlib.sha256(content).hexdigest()[:16]}"
    program = user_cache_path("limberjack") / "programs" / name
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=program.parent) as folder:
            os.replace(compile_program(sources, Path(folder, name)), program)
    os.utime(program)
    _forget_old(program.parent)
    return program


def _forget_old(folder: Path) -> None:
    """Remove all programs from the cache but those used last; a running one continues."""
    with contextlib.suppress(OSError):  # another run may be removing them too
        kept = sorted((path for path in folder.iterdir() if path.is_file()), key=lambda path: path.stat().st_mtime_ns)
        for path in kept[:-MOST_KEPT]:
            path.unlink()


def main(words: Sequence[str]) -> int:
    """Replace this process by the program; returns an exit code only if that fails."""
    sources = [Path(word) for word in takewhile(lambda word: word.endswith(".c"), words)]
    try:
        if not sources:
            raise ArgumentError("give the C files of the program, then its arguments.")
        program = compiled(sources)
    except LimberjackError as error:
        print(f"limberjack: {error}", file=sys.stderr)
        return int(ExitCode.BAD_INPUT)
    os.execv(program, [sources[0].stem, *words[len(sources) :]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
