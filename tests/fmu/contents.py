"""Contents of FMUs, and their files but the binaries, for the tests of what an FMU says about itself."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.resources import files as packaged
from pathlib import Path

import numpy as np

import limberjack.fmu
from limberjack.engine.compile.targets import TARGETS
from limberjack.engine.model.build import build
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.load import load
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Node, System
from limberjack.engine.model.validate import validate
from limberjack.fmu.description import documentation, icon, reference, terminals
from limberjack.fmu.description import fmi2 as description_fmi2
from limberjack.fmu.description import fmi3 as description_fmi3
from limberjack.fmu.description.content import Content, default_experiment, token_of
from limberjack.fmu.variables.dependencies import dependencies_of
from limberjack.fmu.variables.listing import Coupling, Variant, variables_of
from limberjack.fmu.variables.naming import model_identifier
from tests.engine.full_model import full_model
from tests.engine.kernels.flexible.models import boom
from tests.fmu.closed_model import docking
from tests.fmu.device_model import equipped

#: FMI version, variant, coupling
KINDS: tuple[tuple[str, Variant, Coupling], ...] = (
    ("3.0", "arrays", "embedded"),
    ("3.0", "scalar", "embedded"),
    ("2.0", "scalar", "embedded"),
    ("3.0", "arrays", "process"),
    ("3.0", "scalar", "process"),
    ("2.0", "scalar", "process"),
)
#: the C sources of the binaries
SHIM = Path(limberjack.fmu.__file__).parent / "shim"
SOLID = Inertia(1.5, np.array([0.1, 0.0, 0.2]), np.diag([0.4, 0.5, 0.6]))


def awkward() -> System:
    """Names that XML, HTML, CSV, structured names and drawings could trip over; two drives on one hinge."""
    dofs = (Dof(damping=0.3, lower=-1.0, upper=2.0),)
    hinges = (
        Hinge('joint 1, <&> "x"', "revolute", None, axes=np.array([[0.0, 0.0, 1.0]]), dofs=dofs),
        Hinge("größe $x_1$ 'q'", "prismatic", "body <b>", axes=np.array([[1.0, 0.0, 0.0]])),
    )
    bodies = (Body("body <b>", SOLID, hinges[0]), Body("腕", SOLID, hinges[1]))
    actuators = (
        Actuator("a&b", hinges[0].name, limit=3.0),
        Actuator("c;d", hinges[0].name, mode="servo", kp=2.0, kd=0.5),
    )
    nodes = (Node("<script>alert(1)</script>", "腕"),)
    sensors = (Sensor("s,1", "node_position", nodes[0].name),)
    return validate(System("An <awkward> & 'quoted' model", bodies, nodes, actuators, sensors))


def plain() -> System:
    """One body on one hinge: no drive, no sensor, no node, no stop."""
    return validate(System("plain", (Body("bob", SOLID, Hinge("pin", "revolute", None, axes=np.eye(3)[:1])),)))


@cache
def model(name: str) -> System:
    """A model of the tests, by name."""
    if name == "space_manipulator":
        return load(str(packaged("limberjack.examples") / "space_manipulator.yaml"))
    made = {"full": full_model, "awkward": awkward, "plain": plain, "docking": docking, "boom": boom}
    made["equipped"] = equipped
    return made[name]()


MODELS = ("space_manipulator", "full", "awkward", "plain", "boom", "equipped")


@cache
def content(name: str, fmi: str = "3.0", variant: Variant = "arrays", coupling: Coupling = "embedded") -> Content:
    """The content of an FMU of a model, under a token."""
    system = model(name)
    plant = build(system)
    variables = tuple(variables_of(system, plant, variant, coupling))
    made = Content(
        system=system,
        variables=variables,
        dependencies=dependencies_of(system, plant, variables, parameters=fmi == "3.0"),
        initial_dependencies=dependencies_of(system, plant, variables),
        identifier=model_identifier(system.name),
        experiment=default_experiment(system.dt),
        dt=system.dt,
        integrator=system.integrator,
        fmi=fmi,
        coupling=coupling,
        platforms=tuple(TARGETS),
    )
    return made.with_token(token_of([document(made)]))


def document(made: Content) -> bytes:
    """modelDescription.xml"""
    return description_fmi2.document(made) if made.fmi == "2.0" else description_fmi3.document(made)


def short(made: Content) -> Content:
    """The same with a default experiment of 0.02 s."""
    return replace(made, experiment=default_experiment(made.dt, 0.02, made.dt))


def files(made: Content) -> dict[str, bytes]:
    """The files of an FMU but binaries and resources."""
    result, drawn = reference.compute(made), icon.skeleton(made.system)
    return {
        "modelDescription.xml": document(made),
        "terminalsAndIcons/terminalsAndIcons.xml": terminals.document(made),
        "terminalsAndIcons/icon.png": icon.icon_png(drawn),
        f"{reference.FOLDER}/{reference.RESULT_NAME}": result.csv,
        f"{reference.FOLDER}/{reference.MANIFEST_NAME}": reference.manifest(result),
        **documentation.files(made, result, icon.diagram_png(drawn)),
    }
