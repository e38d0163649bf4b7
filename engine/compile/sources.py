"""The sources of compiled code: their files, and hashes that show whether the code is up to date."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

#: the package whose entries are the engine
KERNELS = "limberjack.engine.kernels"

_ENGINE = Path(__file__).resolve().parents[1]
_PACKAGE = "limberjack."
_ROOM = "limberjack.engine."
#: C files that are linked with the engine's entries, and the module that generates their header
NATIVE, LAYOUT = _ENGINE / "native", "limberjack.engine.native.layout"
#: the rooms of kernels and of the tables that they read
_ROOMS = ("algebra", "compile", "kernels", "tables")


def digest_of(files: Iterable[Path], *words: str) -> str:
    """A hash of 16 hexadecimal digits of these words and of the contents of files; the files' order does not matter."""
    digest = hashlib.sha256("\n".join(words).encode())
    for file in sorted(set(files)):
        digest.update(b"\0" + file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def library_sources() -> list[Path]:
    """All files of the rooms from which the library is made, and the C files that are linked with it."""
    rooms = [path for room in _ROOMS for path in (_ENGINE / room).rglob("*") if path.suffix in (".py", ".c", ".h")]
    return [*rooms, *NATIVE.glob("*.[ch]"), _file(LAYOUT)]


def library_digest(root: str = KERNELS) -> str:
    """Hash of all sources of a library of the entries under `root`."""
    return digest_of([*library_sources(), *(_file(root) for _ in range(root != KERNELS))], root)


def _file(module: str) -> Path:
    """The file of a module or package; for an absent module a path that does not exist."""
    if not module.startswith(_PACKAGE):
        found = importlib.util.find_spec(module)
        return Path(found.origin if found and found.origin else module)
    path = _ENGINE.parent.joinpath(*module.removeprefix(_PACKAGE).split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _imports(module: str) -> frozenset[str]:
    """Modules of the rooms that a module imports by name."""
    found = set()
    for node in ast.walk(ast.parse(_file(module).read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(_ROOM):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if _file(inner).is_file() else node.module)
    return frozenset(name for name in found if name.removeprefix(_ROOM).split(".")[0] in _ROOMS)


def sources_of(module: str) -> list[Path]:
    """Files of a module and of all that it imports, directly or through others."""
    seen, waiting = set(), [module]
    while waiting:
        if (name := waiting.pop()) not in seen:
            seen.add(name)
            waiting += _imports(name)
    return sorted(map(_file, seen))


def file_name(library: Path, stem: str) -> str:
    """<stem>-<checksum>.<suffix>, the name of a library file; the checksum in it reveals a damaged file."""
    return f"{stem}-{zlib.crc32(library.read_bytes()):08x}{library.suffix}"
