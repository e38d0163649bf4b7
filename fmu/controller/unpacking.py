"""Opening an FMU file: checks that it is an FMU that can run here, reads its description, and unpacks it."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.engine.files.bounded_file import check_zip
from limberjack.fmu.controller.errors import FmuError, FmuWarning
from limberjack.scratch import Scratch

#: bounds on what is unpacked
MOST_FILES, MOST_BYTES = 20_000, 2 * 1024**3
#: of modelDescription.xml and of each other description that is parsed
MOST_DESCRIPTION_BYTES = 64 * 1024**2
#: largest number of violations of the standard in an error
_MOST_PROBLEMS = 5


def read(path: Path | str) -> tuple[Path, Any]:
    """The file's absolute path and its model description (fmpy's ModelDescription), checked to be runnable here.

    Raises FmuError: no such file, not a ZIP archive, no or unreadable modelDescription.xml, FMI 1, no Co-Simulation, no
    binary for this platform. A description that breaks the standard's schema is used as far as possible, with a
    FmuWarning.
    """
    file = Path(path).expanduser().absolute()
    try:
        check_zip(file, MOST_BYTES, MOST_FILES)
    except ModelError as error:
        raise FmuError(file.name, f"{file} cannot be read: {error.what}; give the path of an .fmu file.") from error
    try:
        with zipfile.ZipFile(file) as archive:
            names = [info.filename for info in archive.infolist()]
            _check_bounds(file, archive)
    except (zipfile.BadZipFile, OSError) as error:
        raise FmuError(file.name, f"{file} is not an FMU: it cannot be read as a ZIP archive ({error}).") from error
    if "modelDescription.xml" not in names:
        raise FmuError(file.name, f"{file} is not an FMU: the archive has no modelDescription.xml at its top.")
    description = _description(file)
    _check_runnable(file, description, names)
    return file, description


def _check_bounds(file: Path, archive: zipfile.ZipFile) -> None:
    entries = archive.infolist()
    size = sum(info.file_size for info in entries)
    if len(entries) > MOST_FILES or size > MOST_BYTES:
        raise FmuError(
            file.name,
            f"the archive holds {len(entries)} files of {size / 1e9:.3g} GB unpacked; at most {MOST_FILES} files and "
            f"{MOST_BYTES / 1e9:.3g} GB are unpacked.",
        )
    for info in entries:
        if info.filename.endswith(".xml") and info.file_size > MOST_DESCRIPTION_BYTES:
            what = f"{info.filename} has {info.file_size / 1e6:.3g} MB unpacked"
            raise FmuError(file.name, f"{what}; at most {MOST_DESCRIPTION_BYTES >> 20} MiB are read.")


def _description(file: Path) -> Any:
    """The parsed modelDescription.xml."""
    from fmpy import read_model_description
    from fmpy.model_description import ValidationError

    try:
        return read_model_description(file, validate=True)
    except ValidationError as error:
        problems = list(error.problems)
    except Exception as error:  # fmpy and lxml raise plain Exceptions, KeyErrors and others for bad files
        raise FmuError(file.name, f"modelDescription.xml cannot be read: {error}.") from error
    try:
        description = read_model_description(file, validate=False)
    except Exception as error:
        raise FmuError(file.name, f"modelDescription.xml cannot be used: {'; '.join(problems)}.") from error
    more = f" (and {len(problems) - _MOST_PROBLEMS} more)" if len(problems) > _MOST_PROBLEMS else ""
    warnings.warn(
        f"FMU '{file.name}': modelDescription.xml breaks the standard, and is used as far as possible: "
        f"{'; '.join(problems[:_MOST_PROBLEMS])}{more}.",
        FmuWarning,
        stacklevel=4,
    )
    return description


def _check_runnable(file: Path, description: Any, names: list[str]) -> None:
    """Is it FMI 2 or 3 Co-Simulation with a binary for this platform?"""
    version = str(description.fmiVersion)
    if version != "2.0" and not version.startswith("3."):
        raise FmuError(file.name, f"it is FMI {version}; FMI 2.0 and 3.0 can be used. Export it again as one of these.")
    if description.coSimulation is None:
        others = [
            word
            for word, part in (
                ("Model Exchange", description.modelExchange),
                ("Scheduled Execution", description.scheduledExecution),
            )
            if part is not None
        ]
        raise FmuError(
            file.name,
            f"it has no Co-Simulation interface, only {' and '.join(others) or 'none'}; export it with Co-Simulation.",
        )
    binary = binary_of(description)
    if binary not in names:
        raise FmuError(file.name, f"it has no binary for this platform ({binary}); {_offer(names)}")


def _offer(names: list[str]) -> str:
    """The end of the error about a missing binary: what the FMU has instead."""
    platforms = sorted({name.split("/")[1] for name in names if name.startswith("binaries/") and name.count("/") == 2})
    if platforms:
        return f"it has: {', '.join(platforms)}. Ask its maker for one more platform."
    if any(name.startswith("sources/") for name in names):
        return "it carries C sources only: compile them first with `fmpy compile FILE`."
    return "it carries no binaries at all."


def binary_of(description: Any) -> str:
    """Place of this platform's library in the archive (FMI 2.0.5, section 2.3; FMI 3.0.2, section 2.5.1.4.1)."""
    import fmpy

    folder = fmpy.platform if str(description.fmiVersion) == "2.0" else fmpy.platform_tuple
    return f"binaries/{folder}/{description.coSimulation.modelIdentifier}{fmpy.sharedLibraryExtension}"


def unpack(file: Path, description: Any) -> Scratch:
    """Unpack what running needs into a fresh temporary directory, which the caller cleans up."""
    from fmpy import extract

    folder = Scratch("limberjack-fmu-")
    try:
        extract(str(file), str(folder.path), include=_needed(Path(binary_of(description)).parent.as_posix()))
    except Exception as error:  # fmpy raises plain Exceptions for unsafe paths; zipfile its own for damaged entries
        folder.cleanup()
        raise FmuError(file.name, f"it cannot be unpacked: {error}.") from error
    (folder.path / "resources").mkdir(exist_ok=True)
    return folder


def _needed(binaries: str) -> Callable[[str], bool]:
    """Leaves out documentation, sources and the binaries of other platforms."""

    def needed(name: str) -> bool:
        top = name.split("/", 1)[0]
        return name.startswith(binaries + "/") if top == "binaries" else top not in ("documentation", "sources")

    return needed


def check_period(value: object) -> float:
    """`value` as a positive number of seconds."""
    try:
        period = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        period = float("nan")
    if not 0.0 < period < float("inf"):
        raise ArgumentError(f"period is {value!r:.40}; give a positive number of seconds.")
    return period
