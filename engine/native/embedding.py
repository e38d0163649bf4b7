"""`embed`: a folder with the headers and libraries for programs in C and C++."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from string import Template

from limberjack import children
from limberjack.engine.common.errors import ArgumentError, MissingExtraError
from limberjack.engine.compile.build import linked_name
from limberjack.engine.compile.library import library_path, stem_of
from limberjack.engine.compile.link import LinkError
from limberjack.engine.compile.sources import KERNELS, NATIVE
from limberjack.engine.compile.store import cache_folder
from limberjack.engine.compile.targets import Target, chosen
from limberjack.scratch import Scratch
from limberjack.version import __version__

HEADER, IMPORTS = "limberjack.h", "lib/limberjack.lib"
#: template → its destination
_TEMPLATES = {
    "limberjack.pc.in": "lib/pkgconfig/limberjack.pc",
    "limberjack-config.cmake.in": "lib/cmake/limberjack/limberjack-config.cmake",
    "limberjack-config-version.cmake.in": "lib/cmake/limberjack/limberjack-config-version.cmake",
}


def embed(folder: str | os.PathLike[str] | None = None, platform: str = "host") -> Path:
    """Write include/ and lib/ (for Windows bin/ too) below a folder, which may be moved as a whole; returns it.

    folder : made if it does not exist; None takes one in the user's cache
    platform : the programs' platform, such as "aarch64-linux", or "host"

    Raises ArgumentError for an unknown platform or if the folder cannot be written, and what building the library
    raises.
    """
    if platform == "all":
        raise ArgumentError("a folder is for one platform; give its name, and others folders of their own.")
    (target,) = chosen([platform])
    library = library_path(KERNELS, target.name)
    prefix = cache_folder() / "embed" / f"{stem_of(KERNELS)}-{target.name}" if folder is None else Path(folder)
    try:
        prefix.mkdir(parents=True, exist_ok=True)
        _fill(prefix.resolve(), target, library)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ArgumentError(f"{prefix}: nothing can be written there ({reason}); give another folder.") from error
    return prefix.resolve()


def _fill(prefix: Path, target: Target, library: Path) -> None:
    windows, name = "windows" in target.name, linked_name(target)
    place = f"{'bin' if windows else 'lib'}/{name}"
    _put(prefix / place, library.read_bytes())
    _put(prefix / "include" / HEADER, (NATIVE / HEADER).read_bytes())
    if windows:
        _put(prefix / IMPORTS, _import_library(name))
    else:
        _point(prefix / "lib" / f"liblimberjack{target.suffix}", name)
    linked = f'IMPORTED_IMPLIB "${{_limberjack_prefix}}/{IMPORTS}"' if windows else ""
    for template, written in _TEMPLATES.items():
        text = Template((NATIVE / template).read_text(encoding="utf-8"))
        _put(prefix / written, text.substitute(version=__version__, library=place, linked=linked).encode())


def _import_library(name: str) -> bytes:
    """Write the import library, with which programs for Windows are linked instead of the library itself."""
    if importlib.util.find_spec("ziglang") is None:
        raise MissingExtraError("an import library for Windows", "ziglang", "build")
    header = (NATIVE / HEADER).read_text(encoding="utf-8")
    functions = re.findall(r"^LJ_API [^;(]*?\b(lj_\w+)\(", header, flags=re.M)
    with Scratch("limberjack-embed-") as folder:
        listed, made = folder / "limberjack.def", folder / "limberjack.lib"
        listed.write_text("\n".join(["EXPORTS", *functions]) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "ziglang", "dlltool", "-m", "i386:x86-64", "-D", name]
        done = children.run([*command, "-d", str(listed), "-l", str(made)])
        if done.returncode != 0:
            raise LinkError(f"making the import library for Windows failed:\n{done.stderr[-4000:]}")
        return made.read_bytes()


def _put(path: Path, content: bytes) -> None:
    """Write a file atomically: it is complete or absent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_bytes(content)
    os.replace(unfinished, path)


def _point(path: Path, name: str) -> None:
    """Make a link with the name that a linker searches, to the file beside it."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.symlink_to(name)
    os.replace(unfinished, path)
