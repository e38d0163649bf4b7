"""The FMU file: a ZIP archive whose bytes depend only on its contents."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.compile.targets import TARGETS
from limberjack.fmu.universal import universal
from limberjack.scratch import Scratch

#: dates in a ZIP archive start here
_OLDEST = (1980, 1, 1, 0, 0, 0)
#: regular file, read by all, written by its owner; binaries may also be executed
_FILE, _BINARY = 0o100644, 0o100755
_MADE_ON_UNIX = 3


_MACOS = ("x86_64-darwin", "aarch64-darwin")
#: FMI 2's folders for binaries; for other processors FMI 2.0.4 (section 2.3) takes the names of FMI 3
_FMI2_FOLDERS = {"x86_64-linux": "linux64", "x86_64-windows": "win64", "x86_64-darwin": "darwin64"}


def binary_name(fmi: str, platform: str, identifier: str) -> str:
    """Path inside the FMU of the binary for a platform of `native.targets.TARGETS`."""
    folder = _FMI2_FOLDERS.get(platform, platform) if fmi == "2.0" else platform
    return f"binaries/{folder}/{identifier}{TARGETS[platform].suffix}"


def binaries(fmi: str, identifier: str, built: Mapping[str, bytes]) -> dict[str, bytes]:
    """Path inside the FMU → content, of the libraries of each platform.

    FMI 2 has one folder for macOS, darwin64: with both of its processors the library there is a universal one.
    """
    files = {binary_name(fmi, platform, identifier): content for platform, content in built.items()}
    if fmi == "2.0" and built.keys() >= set(_MACOS):
        files[binary_name(fmi, _MACOS[0], identifier)] = universal([built[platform] for platform in _MACOS])
        del files[binary_name(fmi, _MACOS[1], identifier)]
    return files


def check_target(path: str | os.PathLike[str]) -> Path:
    """The path as a Path. Raises ArgumentError if no FMU can be written there; call it before any long work."""
    target = Path(path)
    if target.suffix.lower() != ".fmu":
        raise ArgumentError(f"{target}: an FMU's name must end in .fmu; name the file {target.stem or 'model'}.fmu.")
    if target.is_dir():
        raise ArgumentError(f"{target}: this is a folder; give the path of a file.")
    if not target.parent.is_dir():
        raise ArgumentError(f"{target}: the folder {target.parent} does not exist; make it first.")
    return target


def write(path: str | os.PathLike[str], files: Mapping[str, bytes]) -> Path:
    """Write an FMU of these files, name inside the FMU → bytes.

    Names are sorted; dates and permissions are always the same. The archive is written beside the target and then
    moved into place: a failed export leaves the old file, or none; the next export removes what a killed one left.
    Raises ArgumentError if it cannot be written.
    """
    target = check_target(path)
    try:
        with Scratch(f".{target.stem}-", target.parent) as folder:
            temporary = folder / "archive"
            with zipfile.ZipFile(temporary, "w") as archive:
                for name in sorted(files):
                    archive.writestr(_entry(name), files[name])
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
    except OSError as error:
        raise _refused(target, error) from error
    return target


def _entry(name: str) -> zipfile.ZipInfo:
    """The archive's entry for a file: deflated, as FMI 3.0.2 section 2.5 allows, without any data about this
    machine."""
    entry = zipfile.ZipInfo(name, _OLDEST)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = _MADE_ON_UNIX
    entry.external_attr = (_BINARY if name.startswith("binaries/") else _FILE) << 16
    return entry


def _umask() -> int:
    """The process's file mask, which can only be read by setting it for a moment."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _refused(target: Path, error: OSError) -> ArgumentError:
    reason = error.strerror or str(error)
    return ArgumentError(f"{target}: the FMU cannot be written ({reason}); choose a writable folder with free space.")
