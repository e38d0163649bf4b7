"""Built FMUs of a model with contacts: the bits of `Simulation` through impacts and sticking, parameters, states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.compile import targets
from tests.engine.contacts.heaps import heap
from tests.fmu.shim_build import OK
from tests.fmu.test_loop_run import Exported, Twin

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(targets.host() not in targets.TARGETS, reason="no FMU binary for this platform"),
]
TEXT = """
limberjack: 1
name: yard
gravity: [0.4, 0, -9.8]
bodies:
  - {name: block, mass: 2, inertia: {xx: 0.01, yy: 0.02, zz: 0.02},
     hinge: {type: free, parent: world, initial: {position: [0, 0, 0.13], velocity: {vx: 0.3, wy: 0.4}}}}
  - {name: ball, mass: 1, inertia: {xx: 0.004, yy: 0.004, zz: 0.004},
     hinge: {type: free, parent: world, initial: {position: [0.02, 0.01, 0.6], velocity: {wz: 2}}}}
shapes:
  - {name: floor, body: world, type: plane}
  - {name: block, body: block, type: box, size: [0.3, 0.3, 0.2]}
  - {name: ball, body: ball, type: sphere, radius: 0.1}
external_forces: [{name: push, node: ball}]
contacts:
  - {name: ground, first: floor, second: [block, ball], friction: 0.4}
  - {name: top, first: block, second: ball, stiffness: 2.0e4, dissipation: 0.3, friction: 0.2}
sensors:
  - {name: load, type: contact_force, target: ground}
  - {name: gap, type: contact_gap, target: top}
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> Exported:
    folder = tmp_path_factory.mktemp("contacts")
    (folder / "yard.yaml").write_text(TEXT)
    return Exported(lj.load(folder / "yard.yaml"), Path(folder), 3, parameters=["*"])


def test_the_bits_of_a_simulation_through_contacts(exported):
    fmu = exported.open()
    assert fmu.start() == OK
    twin = Twin(exported, fmu, lj.load(exported.resources.parents[1] / "yard.yaml"))
    twin.agree()
    touched = 0
    for n in np.random.default_rng(4).integers(5, 60, 30):
        twin.step(int(n))
        twin.agree()
        touched += bool(np.any(twin.sim.output["load"]))
    assert touched > 10
    assert fmu.set([exported.places["contact.ground.friction"]], [0.01]) == OK
    twin.sim.parameters["contact.ground.friction"] = 0.01
    twin.step(200)
    twin.agree()
    fmu.free()


@pytest.mark.parametrize("version", [2, 3])
def test_the_bits_of_a_heap_of_all_shapes(tmp_path, version):
    """Compliant with each other, nearly rigid on the ground."""
    system = heap(tmp_path, 5, law="stiffness: 5.0e4, dissipation: 0.5, friction: 0.4")
    exported = Exported(system, tmp_path, version, inputs=[])
    fmu = exported.open()
    assert fmu.start() == OK
    twin, touched = Twin(exported, fmu, system), 0
    for n in np.random.default_rng(version).integers(5, 60, 30):
        twin.step(int(n))
        twin.agree()
        touched += bool(np.any(twin.sim.output["ground_force"]) or np.any(twin.sim.output["mutual_force"]))
    assert touched > 10
    fmu.free()
