"""The binaries of an FMU: built once for a state of the sources and kept, so that later exports only copy them.

What is ready is kept at once, each kernel's bitcode, each object file and each platform's library: after an interrupted
export the next one goes on from there, and a platform that fails costs nothing of the others.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from limberjack import children
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.compile.kernel import cache_directory
from limberjack.fmu.native.linker import SHIM, LinkError, PlatformError, link
from limberjack.fmu.native.store import COMPLETE
from limberjack.fmu.native.targets import Target
from limberjack.scratch import Scratch

_HERE = Path(__file__).resolve().parent

Report = Callable[[str], None]


def binaries(targets: Iterable[Target], coupling: str, report: Report = lambda _: None) -> dict[str, Path]:
    """Path of each target's shared library (coupling "embedded" or "process"), built if it is not in the cache.

    Raises LinkError where a compiler fails, MissingExtraError where none is there, ArgumentError where the cache cannot
    be written. A platform that cannot be linked is told after all others were built.
    """
    folder = _cache_folder() / _key(coupling)
    found, failed = {}, {}
    for target in targets:
        path = folder / f"{target.name}{target.suffix}"
        try:
            _provide(target, coupling, path, report)
            found[target.name] = path
        except PlatformError as error:
            failed[target.name] = str(error)
        except OSError as error:
            raise _unwritable(error) from error
    if failed:
        raise LinkError(_without(failed, found))
    return found


def _without(failed: Mapping[str, str], found: Iterable[str]) -> str:
    """What went wrong with platforms, and how to do without them."""
    rest = " ".join(f"--platform {name}" for name in found)
    advice = f"To export without {'it' if len(failed) == 1 else 'them'}: {rest}. " if rest else ""
    return "\n".join(failed.values()) + f"\n{advice}What is ready is kept: the next export goes on from there."


def _provide(target: Target, coupling: str, path: Path, report: Report) -> None:
    """Build a library if it is not there, by one process at a time."""
    if path.is_file():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(path):
        if not path.is_file():
            report(f"building the FMU binary for {target.name} (first time only)")
            _build(target, coupling, path)


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


def _objects_key() -> str:
    """Hash of everything that the object files are made from."""
    return _digest(_bitcode_key(), [_HERE / "objects.py", _HERE / "targets.py"], ("llvmlite",))


def _key(coupling: str) -> str:
    """Hash of everything that the binaries are made from."""
    sources = [*sorted(SHIM.glob("*.[ch]")), *sorted(_HERE.glob("*.py"))]
    linkers = ("ziglang",) if importlib.util.find_spec("ziglang") is not None else ()
    return _digest(coupling, sources, ("numba", "llvmlite", *linkers))


def _build(target: Target, coupling: str, path: Path) -> None:
    objects = []
    if coupling == "embedded":
        from limberjack.fmu.native.objects import write_objects

        folder = _cache_folder() / f"objects-{_objects_key()}" / target.name
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            objects = write_objects(bitcode(), target, folder)
    with Scratch("building-", path.parent) as scratch:
        output = scratch / path.name
        link(target, coupling, objects, output, _cache_folder() / "zig")
        os.replace(output, path)


def bitcode() -> dict[str, bytes]:
    """Optimised bitcode of every kernel, from the cache or compiled in a process of its own, by one at a time.

    Raises LinkError where the compiler fails, OSError where the cache cannot be written.
    """
    folder = _cache_folder() / f"bitcode-{_bitcode_key()}"
    if not (folder / COMPLETE).is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            if not (folder / COMPLETE).is_file():
                _lower(folder)
    return {file.stem: file.read_bytes() for file in sorted(folder.glob("*.bc"))}


@contextmanager
def _alone(made: Path) -> Iterator[None]:
    """Until no other process makes the same; one that dies lets go, and one that hangs is ended (`children.run`)."""
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _lower(folder: Path) -> None:
    from limberjack.fmu.native.lower import environment

    command = [sys.executable, "-m", "limberjack.fmu.native.lower", str(folder)]
    done = children.run(command, env={**os.environ, **environment()})
    if done.returncode != 0:
        raise LinkError(f"compiling the kernels for FMUs failed:\n{done.stderr[-4000:]}")
