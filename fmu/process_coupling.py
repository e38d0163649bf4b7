"""What an FMU of the process coupling carries besides its binary: the model for the engine, and libzmq.

libzmq comes from the installed pyzmq wheel, which brings it with all that it needs. It is for this machine's platform
alone; so is the FMU.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from limberjack import children
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.compile.targets import host
from limberjack.engine.model.archive import to_bytes
from limberjack.engine.model.system import System

#: file names that the shim looks for (shim/coupled_run.c, shim/coupled_platform.h)
MODEL_NAME = "model.ljm"
_LIBRARY_NAMES = {"linux": "libzmq.so", "darwin": "libzmq.dylib", "windows": "libzmq.dll"}
#: where wheels put the libraries that they carry, beside and inside the package
_FOLDERS = ("../pyzmq.libs", ".dylibs")
_REMEDY = "Install pyzmq's wheel: pip install --force-reinstall --only-binary :all: pyzmq"
#: loads the library alone in its new folder, and asks for its version and encryption
_CHECK = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
major, minor, patch = (ctypes.c_int() for _ in range(3))
library.zmq_version(ctypes.byref(major), ctypes.byref(minor), ctypes.byref(patch))
library.zmq_has.argtypes = [ctypes.c_char_p]
print(major.value, minor.value, library.zmq_has(b"curve"))
"""


class LibraryError(ArgumentError):
    """No libzmq that an FMU could carry."""


def files(system: System, platforms: Iterable[str]) -> dict[str, bytes]:
    """Name inside the FMU → bytes. Raises LibraryError; ArgumentError for a platform that is not this machine's."""
    foreign = sorted(set(platforms) - {host()})
    if foreign:
        raise ArgumentError(
            f"an FMU of the process coupling for {', '.join(foreign)} cannot be made here: it carries libzmq, and the "
            f"installed one is for {host()}. Export it on that platform, or take the embedded coupling."
        )
    libraries = {f"resources/{host()}/{name}": content for name, content in _libraries().items()}
    return {f"resources/{MODEL_NAME}": to_bytes(system), **libraries}


@cache
def _libraries() -> dict[str, bytes]:
    """File name → bytes of libzmq and of what it needs, tried out together."""
    wanted = _LIBRARY_NAMES[host().rpartition("-")[2]]
    found = {
        wanted if path.name.startswith("libzmq") else path.name: path.read_bytes()
        for path in sorted(_folder().iterdir())
        if path.is_file()
    }
    if wanted not in found:
        raise LibraryError(f"no libzmq among the libraries of pyzmq in {_folder()}. {_REMEDY}.")
    with tempfile.TemporaryDirectory() as folder:
        for name, content in found.items():
            (Path(folder) / name).write_bytes(content)
        _try_out(Path(folder) / wanted)
    return found


def _folder() -> Path:
    """Where the installed pyzmq keeps its libraries."""
    spec = importlib.util.find_spec("zmq")
    if spec is None or spec.origin is None:
        raise LibraryError(f"pyzmq is not installed, so there is no libzmq to carry. {_REMEDY}.")
    package = Path(spec.origin).parent
    for name in _FOLDERS:
        folder = (package / name).resolve()
        if folder.is_dir():
            return folder
    raise LibraryError(
        f"pyzmq in {package} brings no libzmq that could be carried: it is built in (Windows) or the system's. "
        f"{_REMEDY}, on Linux or macOS."
    )


def _try_out(library: Path) -> None:
    """Load the library in a separate process, which loads nothing else of pyzmq."""
    command = [sys.executable, "-I", "-S", "-c", _CHECK, str(library)]
    done = children.run(command)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise LibraryError(f"libzmq of pyzmq cannot be loaded from another folder ({reason[0]}). {_REMEDY}.")
    major, minor, curve = (int(word) for word in done.stdout.split())
    if (major, minor) < (4, 3) or not curve:
        raise LibraryError(
            f"libzmq of pyzmq is version {major}.{minor}, or without encryption; 4.3 is needed. {_REMEDY}."
        )
