"""The reference result inside an FMU (layered standard FMI-LS-REF): the result to expect, computed by `Simulation`."""

from __future__ import annotations

import csv
import io
import math
import warnings
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ModelWarning, SimulationError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.native.plant_file import Region
from limberjack.fmu.description.content import SAME_STEP, Content, internal_steps, number, serialised
from limberjack.fmu.variables.naming import element
from limberjack.fmu.variables.variable import Variable

#: where the layered standard puts its files
FOLDER = "extra/org.fmi-standard.fmi-ls-ref"
RESULT_NAME, MANIFEST_NAME = "reference.csv", "fmi-ls-manifest.xml"
#: limits at which the reference ends: rows after the first; velocities times steps, less than a second of computing
MOST_ROWS, MOST_WORK = 200, 1_500_000

_LS_NAMESPACE = "http://fmi-standard.org/fmi-ls-manifest"
_LS_NAME, _LS_VERSION = "org.fmi-standard.fmi-ls-ref", "1.0.0-alpha.1"
_LS_DESCRIPTION = "Layered Standard providing information on related files included in an FMU."


@dataclass(frozen=True)
class Reference:
    """A reference result.

    names : one a column, the first is time; values (rows, columns)
    interval : time between rows, s; step : communication step of the run, s
    whole : True if it covers the default experiment; ending : otherwise why not, in one sentence
    """

    names: tuple[str, ...]
    values: np.ndarray
    interval: float
    step: float
    ending: str = ""

    @property
    def whole(self) -> bool:
        return not self.ending

    @property
    def csv(self) -> bytes:
        """The file reference.csv: names as header, numbers that read back to the same bits."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.names)
        writer.writerows([number(value) for value in row] for row in self.values)
        return stream.getvalue().encode()


def compute(content: Content) -> Reference:
    """Run the default experiment from the start values, commands held.

    Warns (ModelWarning) where the model diverges; the reference then ends at the last good row.
    """
    experiment = content.experiment
    steps, dt = internal_steps(experiment.step_size, content.dt)
    simulation = Simulation(content.system, dt, content.integrator, content.substeps)
    points = max(math.floor(experiment.stop_time / experiment.step_size * (1.0 + SAME_STEP)), 1)
    affordable = MOST_WORK // (steps * content.substeps * max(content.system.nv, 1))
    ending = "" if points <= affordable else "The rest would take the export too long."
    points = min(points, affordable)
    stride = max(-(-points // MOST_ROWS), 1)
    outputs = [content.variables[at] for at in content.outputs]
    rows = [_row(simulation, outputs, 0.0)]
    try:
        for point in range(stride, points + 1, stride):
            simulation.step(stride * steps)
            rows.append(_row(simulation, outputs, point * experiment.step_size))
    except SimulationError as error:
        ending = f"The model diverges: {error}"
        warnings.warn(f"the default experiment of the FMU fails: {error}", ModelWarning, stacklevel=2)
    interval = stride * experiment.step_size
    return Reference(("time", *_columns(outputs)), np.array(rows), interval, experiment.step_size, ending)


def _columns(outputs: list[Variable]) -> list[str]:
    """Names of the columns; the elements of an array are numbered from 1."""
    return [
        element(variable.name, i) if variable.array else variable.name
        for variable in outputs
        for i in range(variable.size)
    ]


def _row(simulation: Simulation, outputs: list[Variable], time: float) -> list[float]:
    """The outputs at the present state."""
    vectors = {
        Region.Q: simulation.q,
        Region.V: simulation.v,
        Region.OBSERVED: np.concatenate([simulation.tau, simulation.vdot, simulation.output_vector]),
    }
    regions = {variable.region for variable in outputs}
    if Region.SURVEYED in regions:
        vectors[Region.SURVEYED] = simulation.survey()
    if Region.RATE in regions:
        vectors[Region.RATE] = _rates(simulation)
    row = [time]
    for variable in outputs:
        row.extend(float(x) for x in vectors[variable.region][variable.offset : variable.offset + variable.size])
    return row


def _rates(simulation: Simulation) -> np.ndarray:
    """Rates of the coordinates (nq,)."""
    plant, rates = simulation.plant, np.zeros(simulation.system.nq)
    entries().rates(plant.ints, plant.floats, simulation.state, rates)
    return rates


def manifest(reference: Reference) -> bytes:
    """The file fmi-ls-manifest.xml of the layered standard."""
    ElementTree.register_namespace("fmi-ls", _LS_NAMESPACE)
    attributes = {"name": _LS_NAME, "version": _LS_VERSION, "description": _LS_DESCRIPTION}
    root = ElementTree.Element(
        "fmiReferences", {f"{{{_LS_NAMESPACE}}}fmi-ls-{key}": value for key, value in attributes.items()}
    )
    last = float(reference.values[-1, 0])
    ElementTree.SubElement(
        root,
        "Related",
        type="text/csv",
        source=RESULT_NAME,
        role="result",
        description=f"Outputs from 0 to {last:g} s, every {reference.interval:g} s: all inputs and parameters at their "
        f"start values, Co-Simulation with a communication step of {reference.step:g} s",
    )
    return serialised(root)
