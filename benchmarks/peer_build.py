"""Compile a peer with the clang of the package ziglang, once for each source, version and processor."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import platformdirs

from limberjack import children

HERE = Path(__file__).resolve().parent
FLAGS = ("-O3", "-march=native", "-DNDEBUG", "-fno-sanitize=undefined", "-shared", "-fPIC", "-fvisibility=hidden")


class PeerUnavailableError(RuntimeError):
    """A peer that cannot be built or loaded here; the message says why. The benchmarks go on without it."""


def version_of(package: str) -> str:
    """Installed version of a distribution, or "none"."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def processor() -> str:
    """Model name and instruction sets of the processor: what -march=native depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    keys = ("model name", "flags", "Features", "CPU part")
    return "\n".join(sorted({line for line in lines if line.split("\t")[0].split(":")[0].strip() in keys}))


def require(packages: Sequence[str]) -> None:
    """Raise PeerUnavailableError naming the first package that is not installed."""
    for package in packages:
        if version_of(package) == "none":
            raise PeerUnavailableError(f"the package {package} is not installed")


def load_peer(
    source: str, packages: Sequence[str], flags: Sequence[str], say: Callable[[str], None] = lambda _: None
) -> ctypes.CDLL:
    """The compiled peer `source` (a file of this folder), built first if the user's cache does not hold it.

    packages : distributions the build depends on, ziglang among them; flags : further compiler flags.
    Raises PeerUnavailableError when a package is missing or the build fails.
    """
    require(packages)
    library = _place(source, packages, flags)
    if not library.exists():
        say(f"compiling {source} with clang {version_of('ziglang')} (ziglang), once; takes a minute or two")
        _compile(HERE / source, library, flags)
    try:
        return ctypes.CDLL(str(library))
    except OSError as error:
        raise PeerUnavailableError(f"{source} was built but does not load: {error}") from error


def _place(source: str, packages: Sequence[str], flags: Sequence[str]) -> Path:
    digest = hashlib.sha256((HERE / source).read_bytes())
    for header in sorted(HERE.glob("*.h")):
        digest.update(header.read_bytes())
    versions = [f"{package}={version_of(package)}" for package in packages]
    digest.update("\n".join([*versions, *FLAGS, *flags, processor()]).encode())
    stem = source.partition(".")[0]
    return Path(platformdirs.user_cache_dir("limberjack")) / "peers" / f"{stem}-{digest.hexdigest()[:16]}.so"


def _compile(source: Path, library: Path, flags: Sequence[str]) -> None:
    library.parent.mkdir(parents=True, exist_ok=True)
    driver = ["c++", "-std=c++17"] if source.suffix == ".cpp" else ["cc"]
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        built = Path(folder) / library.name
        command = [sys.executable, "-m", "ziglang", *driver, *FLAGS, str(source), *flags, "-o", str(built)]
        done = children.run(command)
        if done.returncode != 0 or not built.exists():
            said = done.stderr
            last = next((line for line in said.splitlines() if "error" in line), said[-300:])
            raise PeerUnavailableError(f"{source.name} did not compile: {last.strip()[:300]}")
        os.replace(built, library)


def package_folder(module: str) -> Path:
    """Folder of an importable module, found without importing it."""
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        raise PeerUnavailableError(f"the module {module} is not installed")
    return Path(found.origin).parent
