"""resources/plant.bin: the plant file of an FMU (engine/native), with the FMU's variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.native import plant_file as written
from limberjack.engine.native.plant_file import Region, Row
from limberjack.fmu.variables.listing import Coupling
from limberjack.fmu.variables.variable import Variable


def plant_file(
    system: System,
    plant: Plant,
    variables: Sequence[Variable],
    token: str,
    *,
    coupling: Coupling = "embedded",
    dt: float | None = None,
    integrator: str | None = None,
    substeps: int = 1,
) -> bytes:
    """The content of plant.bin: the same bytes for the same arguments.

    plant : with the parameters that the FMU starts from; token : instantiation token or GUID, at most 39 characters
    dt, integrator : the model's own if None, as `Simulation` has them
    """
    embedded = coupling == "embedded"
    return written.plant_file(
        system,
        plant,
        [_row(variable) for variable in variables] if embedded else _process_rows(variables, plant),
        token,
        coupling=coupling,
        floats=None if embedded else _starts(variables),
        dt=dt,
        integrator=integrator,
        substeps=substeps,
    )


def _process_rows(variables: Sequence[Variable], plant: Plant) -> Iterator[Row]:
    """Rows of the parameters, numbered from 0, with the engine's names for them, and of texts with their start
    values."""
    names = {index: name for name, index in plant.parameters.items()}
    count = 0
    for variable in variables:
        if variable.region is Region.PARAMETER:
            spoken = tuple(names[variable.offset + i] for i in range(variable.size))
            yield _row(variable, count, spoken)
            count += variable.size
        else:
            yield _row(variable, start_texts=(str(variable.start[0]),) if variable.text else ("",))


def _starts(variables: Sequence[Variable]) -> np.ndarray:
    """Start values of the parameters, in order."""
    found = (value for variable in variables if variable.region is Region.PARAMETER for value in variable.start)
    return np.array([float(value) for value in found])


def _row(variable: Variable, offset: int | None = None, start_texts: tuple[str, ...] = ("",)) -> Row:
    number = variable.region is Region.SETTING and not variable.text
    return Row(
        variable.name,
        variable.region,
        variable.offset if offset is None else offset,
        variable.size,
        written.TYPE_TEXT if variable.text else written.TYPE_BOOLEAN if variable.boolean else written.TYPE_FLOAT64,
        variable.causality,
        _flags(variable),
        start_texts,
        minimum=variable.minimum,
        maximum=variable.maximum,
        start=float(variable.start[0]) if number else variable.nominal if variable.is_state else 0.0,
    )


def _flags(variable: Variable) -> int:
    varied = {"tunable": written.FLAG_TUNABLE, "fixed": written.FLAG_FIXED}.get(variable.variability, 0)
    return varied | (written.FLAG_START if variable.start else 0)
