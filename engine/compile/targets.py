"""The platforms for which code is generated, and levels of their processors."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from limberjack.engine.common.errors import ArgumentError


@dataclass(frozen=True)
class Target:
    """One platform.

    name : platform tuple of FMI 3; triple : of LLVM; zig : target of `zig cc`, with the oldest C library it runs on
    suffix : of a shared library; processors : level → LLVM's name of the processor
    options : further options of the linker; worlds : level → number of worlds that its code for several takes at once
    """

    name: str
    triple: str
    zig: str
    suffix: str
    processors: dict[str, str]
    options: tuple[str, ...] = ()

    @property
    def halved(self) -> list[str]:
        """Levels at which code for one world is limited to half of a register."""
        return [level for level in self.processors if level in HALF_WIDTH]

    @property
    def worlds(self) -> dict[str, int]:
        return {level: WORLDS_AT_ONCE[level] for level in self.processors}


#: for each level: how many float64 numbers fit into a vector register
WORLDS_AT_ONCE = {"v2": 2, "v3": 4, "v4": 8, "base": 2}
#: levels whose worlds are stepped one by one: two numbers in a register gain little, and code for them takes room
ALONE = ("v2",)
#: features that make LLVM use the whole register, and an attribute of functions that limits it to half of one
FULL_WIDTH = {"v4": "-prefer-256-bit"}
HALF_WIDTH = {"v4": ' "min-legal-vector-width"="256"'}

_X86 = {"v2": "x86-64-v2", "v3": "x86-64-v3", "v4": "x86-64-v4"}
_M1 = {"base": "apple-m1"}
_APPLE = ("-Wl,-install_name,@rpath/limberjack.dylib",)

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("x86_64-linux", "x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.17", ".so", _X86),
        Target("aarch64-linux", "aarch64-unknown-linux-gnu", "aarch64-linux-gnu.2.17", ".so", {"base": "generic"}),
        Target("x86_64-windows", "x86_64-w64-windows-gnu", "x86_64-windows-gnu", ".dll", _X86),
        Target("x86_64-darwin", "x86_64-apple-macosx11.0.0", "x86_64-macos.11.0", ".dylib", _X86, _APPLE),
        Target(
            "aarch64-darwin", "arm64-apple-macosx11.0.0", "aarch64-macos.11.0", ".dylib", {"base": "apple-m1"}, _APPLE
        ),
    )
}


def host() -> str:
    """Name of the platform this process runs on."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    return f"{machine}-{'windows' if sys.platform == 'win32' else sys.platform}"


def chosen(names: str | Sequence[str] | None) -> list[Target]:
    """Targets by name: None or "all", "host", or a list. Raises ArgumentError, which lists the known names."""
    given = [names] if isinstance(names, str) else list(names or ["all"])
    listed = [t for name in given for t in (TARGETS if name == "all" else [host() if name == "host" else name])]
    for name in listed:
        if name not in TARGETS:
            raise ArgumentError(f"no FMU binary can be made for platform '{name}'; choose from {', '.join(TARGETS)}.")
    return [target for name, target in TARGETS.items() if name in listed]
