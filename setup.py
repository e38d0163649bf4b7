"""Builds the engine's library while the wheel is built, and names the wheel for its platform and any Python.

LIMBERJACK_WHEEL : the platform that the wheel is for; without it, this one.
LIMBERJACK_PLATFORMS : platforms, divided by blanks, for which it brings the binaries of FMUs, so that an export needs
no compiler; "all" is all, and without it the wheel's own.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
SOURCES = str(ROOT / "src")
sys.path.insert(0, SOURCES)  # an isolated build does not see it, and an editable one asks for the tag before it builds
#: of each platform of `engine/compile/targets.py`, for pip
TAGS = {
    "x86_64-linux": "manylinux_2_17_x86_64",
    "aarch64-linux": "manylinux_2_17_aarch64",
    "x86_64-windows": "win_amd64",
    "x86_64-darwin": "macosx_11_0_x86_64",
    "aarch64-darwin": "macosx_11_0_arm64",
}


class BuildLibrary(build_py):
    """Modules and data, then what is compiled; an editable install finds that in the user's cache."""

    def run(self) -> None:
        super().run()
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [SOURCES, os.environ.get("PYTHONPATH")]))
        from limberjack.engine.compile import build, library, targets
        from limberjack.fmu import binaries

        wanted = targets.TARGETS[os.environ.get("LIMBERJACK_WHEEL") or targets.host()]
        made = [(build.library(wanted, library.stem_of(library.KERNELS)), library.BINARIES)]
        platforms = os.environ.get("LIMBERJACK_PLATFORMS", wanted.name).split()
        for coupling in ("embedded", "process"):
            found = binaries.binaries(targets.chosen(platforms), coupling, print)
            made += [(path, binaries.BROUGHT / platform) for platform, path in found.items()]
        if not self.editable_mode:
            for folder in (library.BINARIES, binaries.BROUGHT):  # of a wheel for another platform, built here before
                shutil.rmtree(self._place(folder), ignore_errors=True)
            for path, folder in made:
                self._bring(path, folder)

    def _place(self, folder: Path) -> Path:
        """Where a folder of the package is put together."""
        return Path(self.build_lib) / "limberjack" / folder.relative_to(ROOT)

    def _bring(self, path: Path, folder: Path) -> None:
        """Copy a file to where the installed package looks for it."""
        into = self._place(folder)
        into.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, into)


class PlatformWheel(bdist_wheel):
    """py3-none-<platform>: the library has no part of Python's in it."""

    def get_tag(self) -> tuple[str, str, str]:
        from limberjack.engine.compile.targets import host

        return "py3", "none", TAGS[os.environ.get("LIMBERJACK_WHEEL") or host()]


setup(cmdclass={"build_py": BuildLibrary, "bdist_wheel": PlatformWheel})
