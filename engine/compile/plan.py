"""What is compiled for a root package or module: its entries, all routines, and the names of their files."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import pkgutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from limberjack.engine.compile.compiled import FULL, INTS, WORLDS
from limberjack.engine.compile.sources import digest_of, sources_of
from limberjack.engine.compile.targets import Target

_HERE = Path(__file__).resolve().parent
#: modules of this room that make the bitcode, and that make the object code
_LOWERING = ("compiled.py", "inner_code.py", "kernel.py", "lower.py", "shell.py")
_EMITTING = ("objects.py", "targets.py")
#: modules that in addition make code for several worlds
_WIDENING = sorted((_HERE / "worlds").glob("*.py"))


@dataclass(frozen=True)
class Part:
    """Code of an entry or routine, for one world or for several at once; full: for 512-bit registers besides others.

    Its types are as in `Compiled`; then hashes of the sources of its bitcode and of its object code.
    """

    name: str
    arguments: str
    entry: bool
    bitcode: str
    code: str
    worlds: bool = False
    full: bool = False

    @property
    def symbol(self) -> str:
        """The name by which callers refer to it."""
        return self.name + WORLDS * self.worlds + FULL * self.full

    def bitcode_file(self, folder: Path) -> Path:
        """Name of the file with the bitcode from which its object code is made."""
        return folder / "bitcode" / f"{self.symbol}-{self.bitcode}.bc"

    def object_files(self, folder: Path, target: Target) -> dict[str, Path]:
        """Names of the files with its object code, for each level of a target's processors."""
        levels = target.halved if self.full else target.processors
        return {level: folder / target.name / f"{self.symbol}-{self.code}-{level}.o" for level in levels}

    def files(self, folder: Path, target: Target) -> list[Path]:
        """Names of all its files for a target."""
        code = self.object_files(folder, target).values()
        return [self.bitcode_file(folder), *code] if code else []


def parts_of(root: str) -> list[Part]:
    """The parts of the entries under `root`, in the order in which to compile them. Imports all of their modules.

    Those that are also for several worlds come first, since they are the most work for LLVM and the least for numba;
    among them those with fewest sources.
    """
    from limberjack.engine.compile.kernel import FUNCTIONS

    for module in _modules(root):
        importlib.import_module(module)
    wanted = [known for known in FUNCTIONS.values() if not known.entry or known.function.__module__.startswith(root)]
    parts, sizes = [], {}
    for known in wanted:
        files = sources_of(known.function.__module__)
        sizes[known.name] = sum(file.stat().st_size for file in files)
        bitcode = digest_of([*files, *(_HERE / name for name in _LOWERING)], known.name, *versions())
        code = digest_of([_HERE / name for name in _EMITTING], bitcode)
        parts.append(Part(known.name, known.arguments, known.entry, bitcode, code))
        if known.either:
            parts.append(replace(parts[-1], full=True))
        if known.worlds:
            arguments = known.arguments + INTS * known.entry  # where the entry reports whether the worlds agreed
            code = digest_of(_WIDENING, code)
            parts.append(Part(known.name, arguments, known.entry, bitcode, code, worlds=True))
    wide = {part.name for part in parts if part.worlds}
    return sorted(parts, key=lambda part: (part.name not in wide, sizes[part.name], part.symbol))


def versions() -> list[str]:
    """Versions of the compiler's packages."""
    return [f"{name} {importlib.metadata.version(name)}" for name in ("numba", "llvmlite")]


def _modules(root: str) -> Iterator[str]:
    yield root
    package = importlib.import_module(root)
    for found in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{root}."):
        yield found.name


def written(parts: list[Part]) -> bytes:
    """The parts as bytes, for `read`."""
    return json.dumps([asdict(part) for part in parts]).encode()


def read(text: bytes) -> list[Part]:
    """The parts from the bytes of `written`."""
    return [Part(**fields) for fields in json.loads(text)]
