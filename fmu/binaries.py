"""The binaries of an FMU: built once for each version of the sources and cached, so that later exports only copy them.

A binary of the embedded coupling consists of the shim (fmu/shim), the core in C (engine/native) and the engine's object
code, which is also that of Python's library.
If the build for one platform fails, the others are not affected.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from limberjack.engine.compile import build
from limberjack.engine.compile.link import C_FILES, LinkError, PlatformError, link, write_entries
from limberjack.engine.compile.sources import NATIVE, digest_of, library_digest
from limberjack.engine.compile.store import alone, cache_folder
from limberjack.engine.compile.targets import Target
from limberjack.engine.native.layout import write_header
from limberjack.scratch import Scratch

SHIM = Path(__file__).resolve().parent / "shim"
#: where a wheel contains binaries, in a folder for each platform
BROUGHT = Path(__file__).resolve().parent / "brought"
#: prefixes of the C files that a coupling leaves out: those of the other one, and the C interface
_FOREIGN = {"embedded": ("coupled", "limberjack"), "process": ("embedded", "core", "limberjack")}
#: further libraries to link on Linux
_LIBRARIES = {"embedded": (), "process": ("-ldl",)}
#: the entries that the shim calls
ENTRIES = (
    *("sizes", "advance", "observe", "survey", "rates", "normalise", "switches", "refresh", "check", "forces"),
    *("state_slopes", "trust"),
)

Report = Callable[[str], None]


def binaries(targets: Iterable[Target], coupling: str, report: Report = lambda _: None) -> dict[str, Path]:
    """Path of each target's shared library (coupling "embedded" or "process"), built if it is not in the cache.

    Raises LinkError if a compiler fails, MissingExtraError if there is none, ArgumentError if the cache cannot be
    written. The error about a platform that cannot be linked follows after all others were built.
    """
    found, failed = {}, {}
    key = _key(coupling)
    for target in targets:
        name = f"fmu-{coupling}-{key}{target.suffix}"
        path = BROUGHT / target.name / name
        try:
            if not path.is_file():
                path = cache_folder() / target.name / name
                _provide(target, coupling, path, report)
            found[target.name] = path
        except PlatformError as error:
            failed[target.name] = str(error)
        except OSError as error:
            raise build.unwritable(error) from error
    if failed:
        raise LinkError(_without(failed, found))
    return found


def _without(failed: Mapping[str, str], found: Iterable[str]) -> str:
    """The error about platforms that failed, and how to export without them."""
    rest = " ".join(f"--platform {name}" for name in found)
    advice = f"To export without {'it' if len(failed) == 1 else 'them'}: {rest}. " if rest else ""
    return "\n".join(failed.values()) + f"\n{advice}Finished binaries are kept: the next export continues from there."


def _provide(target: Target, coupling: str, path: Path, report: Report) -> None:
    """Build a library if it is not in the cache; one process at a time does so."""
    if path.is_file():
        return
    with alone(path):
        if not path.is_file():
            report(f"building the FMU binary for {target.name} (first time only)")
            _build(target, coupling, path)


def _build(target: Target, coupling: str, path: Path) -> None:
    sources, parts = shim_sources(coupling), []
    if coupling == "embedded":
        parts = [part for part in build.object_code(target, worlds=False)[0] if part.name in ENTRIES or not part.entry]
        sources.append(C_FILES / "levels.c")
    objects = [file for part in parts for file in part.object_files(cache_folder(), target).values()]
    with Scratch("building-", path.parent) as scratch:
        output = write_header(write_entries(scratch, parts, library_digest())) / path.name
        link(target, sources, objects, output, *_LIBRARIES[coupling] * ("linux" in target.name))
        os.replace(output, path)


def shim_sources(coupling: str) -> list[Path]:
    """C files of a coupling."""
    found = [*SHIM.glob("*.c"), *NATIVE.glob("*.c")]
    return sorted(path for path in found if not path.name.startswith(_FOREIGN[coupling]))


def _key(coupling: str) -> str:
    """Hash of all sources of the binaries."""
    here = SHIM.parent
    sources = [*SHIM.glob("*.[ch]"), here / "binaries.py"]
    return digest_of(sources, coupling, library_digest())
