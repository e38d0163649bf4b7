"""`export_fmu`: a System becomes an FMU that other tools simulate with the engine's own machine code."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from limberjack.engine.api.stepping import Stepping, stepping
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.compile.targets import Target, chosen
from limberjack.engine.model import arguments as model_arguments
from limberjack.engine.model.build import build
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.fmu import binaries, fmu_file
from limberjack.fmu.description import documentation, icon, reference, terminals
from limberjack.fmu.description import fmi2 as description_fmi2
from limberjack.fmu.description import fmi3 as description_fmi3
from limberjack.fmu.description.content import Content, default_experiment, token_of
from limberjack.fmu.plant_file import plant_file
from limberjack.fmu.variables.dependencies import dependencies_of
from limberjack.fmu.variables.listing import Coupling, Variant, variables_of
from limberjack.fmu.variables.naming import model_identifier

COUPLINGS = ("embedded", "process")
#: placeholder for the token, which is a hash of everything else
_NO_TOKEN = "{00000000-0000-0000-0000-000000000000}"
_FMI = {"3.0": "3.0", "3": "3.0", "2.0": "2.0", "2": "2.0"}


@dataclass(frozen=True)
class _Choice:
    """The checked arguments of `export_fmu`."""

    steps: Stepping
    plant: Plant
    fmi: str
    variant: Variant
    coupling: Coupling
    targets: list[Target]


def export_fmu(
    system: System,
    path: str | os.PathLike[str],
    *,
    fmi: str | float = "3.0",
    scalar: bool = False,
    coupling: str = "embedded",
    platforms: str | Sequence[str] | None = None,
    dt: float | None = None,
    integrator: str | None = None,
    substeps: int = 1,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    parameters: Sequence[str] | None = None,
    stop_time: float | None = None,
    step_size: float | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Path:
    """Write an FMU of a model and return its path.

    system : from `limberjack.load`; path : of the .fmu file
    fmi : "3.0" or "2.0", also as a number; scalar : FMI 3 with a variable for every number instead of arrays (FMI 2 has
        no others)
    coupling : "embedded", the engine inside, Co-Simulation and Model Exchange; "process", a thin FMU that talks to a
        `limberjack run` engine process, Co-Simulation
    platforms : names such as "x86_64-linux", "host", or "all"; None takes all for the embedded coupling, and the host
        for the process coupling, which carries the host's libzmq
    dt : step, s; integrator, substeps : as in `Simulation`; the model's own if None
    inputs, outputs, parameters : patterns on variable names, the model file's if None
    stop_time, s, and step_size, s : of the default experiment
    report : called with a line where work begins that takes long

    The same arguments give the same bytes. Raises ArgumentError, ModelError (patterns in the model file),
    MissingExtraError (no compiler for a platform) or LinkError; a failed export leaves no file.
    """
    target = fmu_file.check_target(path)
    choice = _choice(model_arguments.system_of(system), fmi, scalar, coupling, platforms, dt, integrator, substeps)
    content = _content(choice, inputs, outputs, parameters, stop_time, step_size)
    return fmu_file.write(target, _files(choice, content, report))


def _choice(
    system: System,
    fmi: str | float,
    scalar: bool,
    coupling: str,
    platforms: str | Sequence[str] | None,
    dt: float | None,
    integrator: str | None,
    substeps: int,
) -> _Choice:
    version = _FMI.get(str(fmi))
    if version is None:
        raise ArgumentError(f"FMI {fmi!r} cannot be written; choose '3.0' or '2.0'.")
    if coupling not in COUPLINGS:
        raise ArgumentError(f"no coupling is called {coupling!r}; choose one of {', '.join(COUPLINGS)}.")
    if platforms is None:
        platforms = "all" if coupling == "embedded" else "host"
    steps = stepping(system, dt, integrator, substeps)
    return _Choice(
        steps,
        build(steps.system),
        version,
        "scalar" if scalar or version == "2.0" else "arrays",
        cast(Coupling, coupling),
        chosen(platforms),
    )


def _content(
    choice: _Choice,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    parameters: Sequence[str] | None,
    stop_time: float | None,
    step_size: float | None,
) -> Content:
    """The content of the FMU, without the token."""
    steps, system, plant = choice.steps, choice.steps.system, choice.plant
    listed = tuple(variables_of(system, plant, choice.variant, choice.coupling, inputs, outputs, parameters))
    return Content(
        system=system,
        variables=listed,
        dependencies=dependencies_of(system, plant, listed, parameters=choice.fmi == "3.0"),
        initial_dependencies=dependencies_of(system, plant, listed, initial=True),
        identifier=model_identifier(system.name),
        experiment=default_experiment(steps.dt, stop_time, step_size),
        dt=steps.dt,
        integrator=steps.integrator,
        substeps=steps.substeps,
        fmi=choice.fmi,
        coupling=choice.coupling,
        platforms=tuple(target.name for target in choice.targets),
    )


def _files(choice: _Choice, content: Content, report: Callable[[str], None]) -> dict[str, bytes]:
    """Every file of the FMU, name → bytes."""
    built = binaries.binaries(choice.targets, choice.coupling, report)
    document = description_fmi2.document if content.fmi == "2.0" else description_fmi3.document
    written = document(content.with_token(_NO_TOKEN))
    token = token_of([written, _data(choice, content)])
    content = content.with_token(token)
    computed, drawn = reference.compute(content), icon.skeleton(choice.steps.system)
    picture = icon.icon_png(drawn)
    files = {
        "modelDescription.xml": written.replace(_attribute(content, _NO_TOKEN), _attribute(content, token), 1),
        "resources/plant.bin": _data(choice, content),
        **fmu_file.binaries(content.fmi, content.identifier, {name: path.read_bytes() for name, path in built.items()}),
        **documentation.files(content, computed, icon.diagram_png(drawn)),
        f"{reference.FOLDER}/{reference.RESULT_NAME}": computed.csv,
        f"{reference.FOLDER}/{reference.MANIFEST_NAME}": reference.manifest(computed),
    }
    if choice.coupling == "process":
        from limberjack.fmu import process_coupling

        files |= process_coupling.files(choice.steps.system, content.platforms)
    if content.fmi == "2.0":
        return files | {"model.png": picture}
    return files | {
        "terminalsAndIcons/terminalsAndIcons.xml": terminals.document(content),
        "terminalsAndIcons/icon.png": picture,
    }


def _attribute(content: Content, token: str) -> bytes:
    """The token's attribute in the model description."""
    return f'{"guid" if content.fmi == "2.0" else "instantiationToken"}="{token}"'.encode()


def _data(choice: _Choice, content: Content) -> bytes:
    return plant_file(
        choice.steps.system,
        choice.plant,
        content.variables,
        content.token or "-",
        coupling=choice.coupling,
        dt=choice.steps.dt,
        integrator=choice.steps.integrator,
        substeps=choice.steps.substeps,
    )
