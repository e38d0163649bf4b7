"""Builds the engine's library while the wheel is built, and names the wheel for its platform and any Python.

LIMBERJACK_WHEEL : the platform that the wheel is for; without it, this one.
LIMBERJACK_PLATFORMS : platforms, divided by blanks, for which it brings the binaries of FMUs, so that an export needs
no compiler; "all" is all, and without it the wheel's own.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
SOURCES = str(ROOT / "src")
if not (ROOT / "src" / "limberjack" / "engine").is_dir():
    sys.exit(
        "src/limberjack/engine is not a link to engine, so there is nothing to build. Windows makes links in "
        "developer mode only: switch it on, then clone with 'git clone -c core.symlinks=true'."
    )
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
    """py3-none-<platform>: the library has no part of Python's in it. PEP 770: it brings its bill of materials."""

    def get_tag(self) -> tuple[str, str, str]:
        from limberjack.engine.compile.targets import host

        return "py3", "none", TAGS[os.environ.get("LIMBERJACK_WHEEL") or host()]

    def egg2dist(self, egginfo_path: str, distinfo_path: str) -> None:
        """Metadata, and beside them what of others is linked into the wheel's binaries."""
        super().egg2dist(egginfo_path, distinfo_path)
        from limberjack.engine.compile import targets

        platform = os.environ.get("LIMBERJACK_WHEEL") or targets.host()
        wanted = targets.chosen(os.environ.get("LIMBERJACK_PLATFORMS", platform).split())
        folder = Path(distinfo_path) / "sboms"
        folder.mkdir()
        bill = bill_of_materials(self.distribution.get_version(), [target.name for target in wanted])
        (folder / "limberjack.cdx.json").write_bytes(bill)


def bill_of_materials(release: str, platforms: list[str]) -> bytes:
    """CycloneDX of a wheel with binaries for these platforms."""
    from limberjack import bill_of_materials as bill

    try:
        linker = f"zig-{version('ziglang')}"
    except PackageNotFoundError:  # the C compiler at hand links
        linker = ""
    parts = [bill.Component(part.name, part.licence, part.address, linker) for part in bill.linked(platforms)]
    return bill.document(bill.limberjack(release).entry(), parts)


class Sources(sdist):
    """What git tracks, links included, in one archive whose bytes follow from the commit alone."""

    def make_distribution(self) -> None:
        base = f"{self.distribution.get_name()}-{self.distribution.get_version()}"
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(
            b"\0"
        )
        named = ["git", "log", "-1", "--format=%ct"]
        epoch = os.environ.get("SOURCE_DATE_EPOCH") or subprocess.check_output(named, cwd=ROOT, text=True)
        files = {os.fsdecode(name): ROOT / os.fsdecode(name) for name in tracked if name}
        files["PKG-INFO"] = ROOT / self.get_finalized_command("egg_info").egg_info / "PKG-INFO"
        Path(self.dist_dir).mkdir(parents=True, exist_ok=True)
        path = Path(self.dist_dir) / f"{base}.tar.gz"
        path.write_bytes(packed(base, files, int(epoch)))
        self.archive_files = [str(path)]
        self.distribution.dist_files.append(("sdist", "", str(path)))


def packed(base: str, files: dict[str, Path], epoch: int) -> bytes:
    """A tar.gz of files under one folder, sorted, with one date and nobody's name."""
    whole = io.BytesIO()
    with (
        gzip.GzipFile(filename="", fileobj=whole, mode="wb", mtime=epoch) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, path in sorted(files.items()):
            entry = archive.gettarinfo(path, f"{base}/{name}")
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = epoch, 0, 0, "", ""
            entry.mode = 0o755 if entry.mode & 0o100 else 0o644
            if entry.isfile():
                archive.addfile(entry, io.BytesIO(path.read_bytes()))
            else:
                archive.addfile(entry)
    return whole.getvalue()


setup(cmdclass={"build_py": BuildLibrary, "bdist_wheel": PlatformWheel, "sdist": Sources})
