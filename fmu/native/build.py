"""The binaries of an FMU: built once for a state of the sources and kept, so that later exports only copy them."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from limberjack import children
from limberjack.engine.errors import ArgumentError
from limberjack.engine.kernel import cache_directory
from limberjack.fmu.native.link import SHIM, LinkError, link
from limberjack.fmu.native.targets import Target
from limberjack.scratch import Scratch

#: most seconds for compiling the kernels to bitcode
_LOWER_SECONDS = 900

_HERE = Path(__file__).resolve().parent

Report = Callable[[str], None]


def binaries(targets: Iterable[Target], coupling: str, report: Report = lambda _: None) -> dict[str, Path]:
    """Path of each target's shared library (coupling "embedded" or "process"), built if it is not in the cache.

    Raises LinkError where a compiler fails, MissingExtraError where none is there, ArgumentError where the cache cannot
    be written.
    """
    folder = _cache_folder() / _key(coupling)
    found = {}
    for target in targets:
        path = folder / f"{target.name}{target.suffix}"
        if not path.is_file():
            report(f"building the FMU binary for {target.name} (first time only)")
            try:
                _build(target, coupling, path)
            except OSError as error:
                raise _unwritable(error) from error
        found[target.name] = path
    return found


def _cache_folder() -> Path:
    return Path(platformdirs.user_cache_dir("limberjack")) / "fmu"


def _unwritable(error: OSError) -> ArgumentError:
    return ArgumentError(
        f"FMU binaries are kept in {_cache_folder()}, which cannot be written ({error.strerror or error}); make room, "
        "get the right to write there, or set XDG_CACHE_HOME (Linux) to another folder."
    )


def _digest(salt: str, sources: Iterable[Path], packages: Iterable[str]) -> str:
    digest = hashlib.sha256(f"{salt} {cache_directory().name}".encode())
    for source in sources:
        digest.update(source.name.encode() + source.read_bytes())
    for package in packages:
        digest.update(f"{package} {importlib.metadata.version(package)}".encode())
    return digest.hexdigest()[:16]


def _bitcode_key() -> str:
    """Hash of everything that the kernels' bitcode is made from."""
    return _digest("bitcode", [_HERE / "lower.py", _HERE / "kernels.py"], ("numba", "llvmlite"))


def _key(coupling: str) -> str:
    """Hash of everything that the binaries are made from."""
    sources = [*sorted(SHIM.glob("*.[ch]")), *sorted(_HERE.glob("*.py"))]
    linkers = ("ziglang",) if importlib.util.find_spec("ziglang") is not None else ()
    return _digest(coupling, sources, ("numba", "llvmlite", *linkers))


def _build(target: Target, coupling: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with _scratch(path.parent) as scratch:
        objects = []
        if coupling == "embedded":
            from limberjack.fmu.native.objects import write_objects

            objects = write_objects(bitcode(), target, scratch)
        output = scratch / path.name
        link(target, coupling, objects, output, _cache_folder() / "zig")
        os.replace(output, path)


def _scratch(parent: Path) -> Scratch:
    """A folder beside the result, so that a finished file can be moved into place; gone afterwards."""
    return Scratch("building-", parent)


def bitcode() -> dict[str, bytes]:
    """Optimised bitcode of every kernel, from the cache or compiled in a process of its own, by one at a time.

    Raises LinkError where the compiler fails, OSError where the cache cannot be written.
    """
    folder = _cache_folder() / f"bitcode-{_bitcode_key()}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _alone(folder), _scratch(folder.parent) as scratch:
            if not folder.is_dir():
                _lower(scratch)
                os.replace(scratch, folder)
    return {file.stem: file.read_bytes() for file in sorted(folder.glob("*.bc"))}


@contextmanager
def _alone(made: Path) -> Iterator[None]:
    """Until no other process makes the same; one that dies lets go, and compiling ends by itself after a time."""
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _lower(folder: Path) -> None:
    from limberjack.fmu.native.lower import environment

    command = [sys.executable, "-m", "limberjack.fmu.native.lower", str(folder)]
    try:
        done = children.run(command, timeout_s=_LOWER_SECONDS, env={**os.environ, **environment()})
    except subprocess.TimeoutExpired as error:
        raise LinkError(f"compiling the kernels for FMUs took more than {_LOWER_SECONDS} s.") from error
    if done.returncode != 0:
        raise LinkError(f"compiling the kernels for FMUs failed:\n{done.stderr[-4000:]}")
