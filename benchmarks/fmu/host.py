"""The C host of FMUs (`host/*.c`): what it gets to know about an FMU, and how it is compiled."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from defusedxml import ElementTree

from limberjack import children

SOURCES = Path(__file__).resolve().parent / "host"
#: sources that every program with the host's FMU calls needs
SHARED = ("clock.c", "description.c", "exchange.c", "instance.c", "library.c", "options.c")
_INTERFACES = {"co_simulation": "CoSimulation", "model_exchange": "ModelExchange"}
#: the host's word → attribute in FMI 2 and 3
_FLAGS = {
    "states": ("canGetAndSetFMUstate", "canGetAndSetFMUState"),
    "serializes": ("canSerializeFMUstate", "canSerializeFMUState"),
    "directional": ("providesDirectionalDerivative", "providesDirectionalDerivatives"),
    "adjoint": ("providesAdjointDerivatives",),
}
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror")


class HostBuildError(RuntimeError):
    """A host program that does not compile here; the message is the compiler's."""


@dataclass(frozen=True)
class Platform:
    """folders : in binaries/, FMI 3's and FMI 2's names; suffix : of the binary; windows : paths as Wine maps them."""

    folders: tuple[str, ...]
    suffix: str
    windows: bool = False


PLATFORMS = {
    "x86_64-linux": Platform(("x86_64-linux", "linux64"), ".so"),
    "aarch64-linux": Platform(("aarch64-linux", "linuxaarch64", "aarch64-linux-gnu"), ".so"),
    "x86_64-windows": Platform(("x86_64-windows", "win64"), ".dll", windows=True),
}


def compile_host(
    program: Path,
    sources: Sequence[Path],
    compiler: Sequence[str] = ("gcc",),
    flags: Sequence[str] = ("-O2",),
    *,
    windows: bool = False,
) -> Path:
    """Compile `sources` with the shared ones to `program`. Raises HostBuildError."""
    files = [*sources, *(SOURCES / name for name in SHARED)]
    libraries = () if windows else ("-ldl", "-lpthread", "-lm")
    command = [*compiler, *WARNINGS, *flags, f"-I{SOURCES}", *map(str, files), "-o", str(program), *libraries]
    done = children.run(command)
    if done.returncode != 0:
        raise HostBuildError(f"{' '.join(command)}\n{done.stderr}")
    return program


def unpack(fmu: Path, folder: Path) -> Path:
    """The FMU's files in `folder`."""
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(folder)
    return folder


def describe(
    unpacked: Path,
    platform: str = "x86_64-linux",
    *,
    step: float | None = None,
    starts: Mapping[str, float | str] | None = None,
    cycle: tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> Path:
    """Write what the host must know of an unpacked FMU; the file's path.

    platform : one of PLATFORMS; step : communication step (default: the FMU's experiment's); starts : variable → start
    value; cycle : names of the variables that the timed cycle sets and gets
    """
    from fmpy import read_model_description  # type: ignore[import-untyped]

    model = read_model_description(str(unpacked), validate=False)
    lines = [*_model_lines(model, unpacked, PLATFORMS[platform], step), *_variable_lines(model)]
    by_name = {variable.name: variable for variable in model.modelVariables}
    for name, value in (starts or {}).items():
        kind = "text" if isinstance(value, str) else "real"
        lines.append(f"start {by_name[name].valueReference} {kind} {value if kind == 'text' else repr(float(value))}")
    for key, names in zip(("cycle_set", "cycle_get"), cycle):
        lines += [f"{key} {by_name[name].valueReference} {size(model, by_name[name])}" for name in names]
    path = unpacked / f"host-{platform}.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return path


def _model_lines(model: Any, unpacked: Path, platform: Platform, step: float | None) -> list[str]:
    version = int(model.fmiVersion[0])
    interface = model.coSimulation or model.modelExchange
    experiment = model.defaultExperiment
    step = step or (float(experiment.stepSize) if experiment is not None and experiment.stepSize else 1e-2)
    states = sum(size(model, unknown.variable.derivative) for unknown in model.derivatives)
    indicators = getattr(model, "eventIndicators", None) or []
    count = sum(size(model, unknown.variable) for unknown in indicators) or int(model.numberOfEventIndicators or 0)
    return [
        f"version {version}",
        f"library {_library(unpacked, interface.modelIdentifier, platform)}",
        f"resources {_resources(unpacked, version, platform)}",
        f"token {model.guid if version == 2 else model.instantiationToken}",
        f"flags {' '.join(['-', *_flags(unpacked)])}",
        f"step {step!r}",
        f"sizes {states} {count}",
        *(f"category {category.name}" for category in model.logCategories),
    ]


def _offers(interface: Mapping[str, str], attributes: Sequence[str]) -> bool:
    return any(interface.get(attribute) == "true" for attribute in attributes)


def _flags(unpacked: Path) -> list[str]:
    """Interface types, and what all of them can do; from the file, since FMPy does not read every flag of FMI 3."""
    root = ElementTree.fromstring((unpacked / "modelDescription.xml").read_bytes())
    found = {name: root.find(tag) for name, tag in _INTERFACES.items()}
    there = {name: element.attrib for name, element in found.items() if element is not None}
    can = [flag for flag, names in _FLAGS.items() if all(_offers(one, names) for one in there.values())]
    if _offers(there.get("co_simulation", {}), ("canHandleVariableCommunicationStepSize",)):
        can.append("any_step")
    return [*there, *can]


def _library(unpacked: Path, identifier: str, platform: Platform) -> str:
    for folder in platform.folders:
        path = unpacked / "binaries" / folder / f"{identifier}{platform.suffix}"
        if path.exists():
            return _foreign(path, platform)
    raise FileNotFoundError(f"{unpacked}: no binary of {' or '.join(platform.folders)}")


def _resources(unpacked: Path, version: int, platform: Platform) -> str:
    path = _foreign((unpacked / "resources").resolve(), platform)
    if version == 3:
        return path + ("\\" if platform.windows else "/")
    return PurePosixPath(path).as_uri() if not platform.windows else "file:///" + path.replace("\\", "/")


def _foreign(path: Path, platform: Platform) -> str:
    """The path as the FMU's system writes it; Wine shows the root as drive Z."""
    text = str(path.resolve())
    return "Z:" + text.replace("/", "\\") if platform.windows else text


def size(model: Any, variable: Any) -> int:
    """Numbers that a variable has."""
    return math.prod(_extent(model, dimension) for dimension in variable.dimensions)


def _extent(model: Any, dimension: Any) -> int:
    if dimension.start is not None:
        return int(dimension.start)
    return int(next(v.start for v in model.modelVariables if v.valueReference == dimension.valueReference))


def _variable_lines(model: Any) -> list[str]:
    lines = []
    for variable in model.modelVariables:
        real = variable.type in ("Real", "Float64")
        low, high = (
            limit if limit is not None and real else default
            for limit, default in ((variable.min, "-inf"), (variable.max, "inf"))
        )
        facts = (
            variable.valueReference,
            size(model, variable),
            variable.causality,
            variable.variability or "continuous",
        )
        kind = ("started" if variable.start is not None else "real") if real else "other"
        lines.append(f"variable {' '.join(map(str, facts))} {kind} {low} {high} {variable.name}")
    return lines
