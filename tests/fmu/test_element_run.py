"""Built FMUs of a model with elements at nodes: the bits of `Simulation`, parameters, directional derivatives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.compile import targets
from tests.fmu.shim_build import MODEL_EXCHANGE, OK
from tests.fmu.test_loop_run import Exported, Twin

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(targets.host() not in targets.TARGETS, reason="no FMU binary for this platform"),
]
TEXT = """
limberjack: 1
name: craft
gravity: [0, 0, -1]
bodies:
  - {name: bus, mass: 20, inertia: {xx: 1, yy: 2, zz: 2.5}, hinge: {type: free, parent: world}}
  - {name: arm, mass: 2, com: [0.3, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1},
     hinge: {type: revolute, parent: bus, position: [0.5, 0, 0], axis: [0, 1, 0]}}
  - {name: box, mass: 3, inertia: {xx: 0.1, yy: 0.2, zz: 0.1},
     hinge: {type: free, parent: world, initial: {position: [-0.6, 0.1, 0], velocity: {wx: 0.4}}}}
nodes:
  - {name: tip, body: arm, position: [0.6, 0, 0]}
  - {name: place, body: bus, position: [-0.5, 0, 0]}
springs: [{name: strut, from: tip, to: bus, length: 0.8, stiffness: 60, damping: 2, preload: 1}]
bushings: [{name: mount, from: place, to: box, stiffness: [5, 6, 7, 80, 90, 70], damping: [1, 1, 1, 5, 5, 5]}]
external_forces: [{name: push, node: tip}]
magnetic_fields: [{name: earth, field: [0.2, -0.1, 0.3], commanded: true}]
slosh: [{name: fuel, body: bus, direction: [0, 0, -1], mass: 1, length: 0.2, damping: 0.1}]
sensors: [{name: compass, type: magnetometer, target: tip}]
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> Exported:
    folder = tmp_path_factory.mktemp("elements")
    (folder / "craft.yaml").write_text(TEXT)
    return Exported(lj.load(folder / "craft.yaml"), Path(folder), 3, parameters=["*"])


def load(exported: Exported) -> lj.System:
    return lj.load(exported.resources.parents[1] / "craft.yaml")


def test_the_bits_of_a_simulation(exported):
    fmu = exported.open()
    assert fmu.start() == OK
    twin, rng = Twin(exported, fmu, load(exported)), np.random.default_rng(2)
    twin.agree()
    for n in rng.integers(1, 30, 12):
        for name in ("external_force.push.fx", "external_force.push.nz", "magnetic_field.earth.y"):
            value = float(rng.normal())
            assert fmu.set([exported.places[f"{name}_command"]], [value]) == OK
            twin.sim.command[name.partition(".")[2]] = value
        twin.step(int(n))
        twin.agree()
    assert fmu.set([exported.places["spring.strut.stiffness"]], [200.0]) == OK
    twin.sim.parameters["spring.strut.stiffness"] = 200.0
    twin.step(50)
    twin.agree()
    fmu.free()


def test_directional_derivatives_are_those_of_the_linear_model(exported):
    fmu = exported.open(MODEL_EXCHANGE)
    assert fmu.start() == OK
    system = load(exported)
    model = lj.linearize(system)
    unknowns = [exported.places[f"der(hinge.{name})"] for name in ("arm.rate", "box.wy", "bus.vz")]
    rows = [model.states.index(name) for name in ("arm.rate", "box.wy", "bus.vz")]
    for known, column, matrix in (
        ("hinge.arm.angle", "arm", model.A),
        ("hinge.box.vx", "box.vx", model.A),
        ("external_force.push.fz_command", "push.fz", model.B),
    ):
        names = model.states if matrix is model.A else model.inputs
        status, found = fmu.derivative(unknowns, [exported.places[known]], [1.0], len(unknowns))
        assert status == OK, fmu.log
        assert found == pytest.approx(matrix[rows, names.index(column)], rel=1e-5, abs=1e-6)
    fmu.free()
