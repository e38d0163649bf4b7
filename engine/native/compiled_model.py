"""`compile_model`: a System becomes a file that C runs, as it is stepped."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from limberjack.engine.api.stepping import stepping
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.archive import SUFFIX, to_bytes
from limberjack.engine.model.build import build
from limberjack.engine.model.system import System
from limberjack.engine.native.plant_file import plant_file
from limberjack.engine.native.quantities import quantities
from limberjack.scratch import Scratch


def compile_model(
    system: System,
    path: str | os.PathLike[str],
    *,
    dt: float | None = None,
    integrator: str | None = None,
    substeps: int = 1,
) -> Path:
    """Write a model for the C interface (docs/reference/c-interface.md), and return its path.

    system : from `limberjack.load`
    path : ends with .ljm; `load` reads the model from it as well
    dt : step, s; integrator, substeps : as in `Simulation`; the model's own if None

    The same arguments give the same bytes. Raises ArgumentError; a failed call leaves no file.
    """
    target = Path(path)
    if target.suffix.lower() != SUFFIX:
        raise ArgumentError(f"{target}: compiled models end with {SUFFIX}; name the file {target.stem}{SUFFIX}.")
    chosen = stepping(system, dt, integrator, substeps)
    stepped = replace(chosen.system, dt=chosen.dt, integrator=chosen.integrator)
    plant = build(stepped)
    compiled = plant_file(stepped, plant, quantities(stepped, plant), "-", substeps=chosen.substeps)
    _write(target, to_bytes(stepped, compiled))
    return target


def _write(target: Path, content: bytes) -> None:
    """Write the file beside its place, then move it there."""
    try:
        with Scratch(f".{target.stem}-", target.parent) as folder:
            (folder / "model").write_bytes(content)
            os.replace(folder / "model", target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ArgumentError(
            f"{target}: the model cannot be written ({reason}); choose a writable folder with free space."
        ) from error
