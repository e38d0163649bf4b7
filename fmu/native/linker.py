"""Object code and the C shim → one shared library for a platform.

ziglang's compiler links for every platform; without it, the C compiler at hand links for this machine.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from limberjack import children
from limberjack.engine.common.errors import LimberjackError, MissingExtraError
from limberjack.fmu.native.header import write_header
from limberjack.fmu.native.targets import Target, host

SHIM = Path(__file__).resolve().parent.parent / "shim"
#: beginnings of the C files that belong to the other coupling; all others are shared
_FOREIGN = {"embedded": ("coupled",), "process": ("embedded", "kernels")}


class LinkError(LimberjackError, RuntimeError):
    """The compiler failed."""


class PlatformError(LinkError):
    """It failed for one platform; others may be linked."""


def shim_sources(coupling: str) -> list[Path]:
    """C files of a coupling."""
    return sorted(path for path in SHIM.glob("*.c") if not path.name.startswith(_FOREIGN[coupling]))


def compiler(target: Target) -> list[str]:
    """The command that compiles C and links for a target."""
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-target", target.zig]
    if target.name == host() and (found := shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")):
        return [found]
    raise MissingExtraError(
        f"linking FMU binaries for {target.name} (a C compiler, cc or gcc, does for --platform host)", "ziglang", "fmu"
    )


def link(target: Target, coupling: str, objects: list[Path], output: Path, cache: Path) -> None:
    """Write the shared library of a target to `output`; `cache` is for the compiler's own files."""
    command = [*compiler(target), "-std=c11", "-O2", "-shared", "-fvisibility=hidden", "-s", "-g0"]
    command += ["-fPIC"] if "windows" not in target.name else []
    command += [
        f"-ffile-prefix-map={SHIM}=shim",
        f"-I{write_header(output.parent)}",
        *map(str, shim_sources(coupling)),
        *map(str, objects),
    ]
    command += [*target.options, *(["-lm"] if "windows" not in target.name else []), "-o", str(output)]
    command += ["-ldl"] if coupling == "process" and "linux" in target.name else []
    environment = dict(os.environ, ZIG_GLOBAL_CACHE_DIR=str(cache), ZIG_LOCAL_CACHE_DIR=str(cache))
    done = children.run(command, env=environment, cwd=output.parent)
    if done.returncode != 0:
        raise PlatformError(f"linking the FMU binary for {target.name} failed:\n{done.stderr[-4000:]}")
    for stray in output.parent.glob("*.lib"):
        stray.unlink()  # import library that the Windows linker leaves beside the DLL
