"""Magnetometers: the field in the axes of a node, its errors, its slopes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import limberjack as lj
from limberjack.engine.model.build import build
from limberjack.fmu.variables.units import TYPES, UNITS
from tests.validation.figures import figure

TEXT = """
limberjack: 1
name: craft
gravity: [0, 0, 0]
bodies:
  - {name: bus, mass: 20, inertia: {xx: 1, yy: 2, zz: 2.5}, hinge: {type: free, parent: world,
     initial: {rpy: [0.4, -0.2, 0.9], velocity: {wx: 0.2, wy: -0.1, wz: 0.3}}}}
nodes:
  - {name: boom, body: bus, position: [0.5, 0, 0], rpy: [0.1, 1.1, -0.3]}
magnetic_fields:
  - {name: earth, field: [2.0e-5, -1.0e-5, 3.0e-5], commanded: true}
  - {name: torquer, field: [0, 4.0e-6, 0]}
sensors:
  - {name: ideal, type: magnetometer, target: boom}
  - {name: true_attitude, type: node_orientation, target: boom}
"""
ERRORS = "  - {name: read, type: magnetometer, target: boom, rate: 100, bias: [1.0e-6, 0, -2.0e-6], scale: 0.01}\n"
FIELD = np.array([2.0e-5, -0.6e-5, 3.0e-5])


def loaded(tmp_path: Path, text: str) -> lj.System:
    path = tmp_path / "craft.yaml"
    path.write_text(text)
    return lj.load(path)


def attitude(simulation: lj.Simulation) -> Rotation:
    w, x, y, z = simulation.output["true_attitude"]
    return Rotation.from_quat([x, y, z, w])


def test_it_shows_the_field_in_its_own_axes(tmp_path):
    simulation = lj.Simulation(loaded(tmp_path, TEXT))
    for field in (FIELD, np.array([-1.0e-5, 5.0e-6, 2.0e-5])):
        for axis, value in zip("xyz", field - [0, 4.0e-6, 0]):
            simulation.command[f"earth.{axis}"] = value
        simulation.step(200)
        figure(
            "field in the axes of the node",
            simulation.output["ideal"],
            attitude(simulation).inv().apply(field),
            unit="T",
            oracle="rotation of the field",
            rtol=1e-12,
        )
    assert simulation.system.output_names[:3] == ("ideal.x", "ideal.y", "ideal.z")
    assert [number.unit for number in lj.catalogue(simulation.system, "output")[:3]] == ["T"] * 3


def test_errors_are_those_of_any_instrument(tmp_path):
    simulation = lj.Simulation(loaded(tmp_path, TEXT + ERRORS))
    simulation.step(20)
    seen = attitude(simulation).inv().apply(FIELD)
    figure(
        "reading with errors",
        simulation.output["read"],
        1.01 * seen + [1.0e-6, 0, -2.0e-6],
        unit="T",
        oracle="scale and bias",
        rtol=1e-12,
    )
    assert "sensor.read.bias.x" in simulation.parameters


def test_slopes_turn_the_field_with_the_node(tmp_path):
    system = loaded(tmp_path, TEXT.replace(", velocity: {wx: 0.2, wy: -0.1, wz: 0.3}", ""))
    model, simulation = lj.linearize(system), lj.Simulation(system)
    R, bus = attitude(simulation).as_matrix(), lj.Dynamics(system).pose("bus", simulation.q)[0]
    x, y, z = bus.T @ FIELD
    turned = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])  # field in the body × δθ
    figure(
        "slopes by attitude",
        model.C[:3, :3],
        (R.T @ bus) @ turned,
        unit="T",
        oracle="field × δθ",
        atol=1e-15,
        rtol=1e-8,
    )
    figure("slopes by the field", model.D[:3], R.T, oracle="R*", rtol=1e-9)


def test_its_unit_is_known_to_fmus_and_wrong_targets_are_refused(tmp_path):
    unit = UNITS[TYPES["MagneticFluxDensity"].unit]
    assert (unit.kg, unit.s, unit.A, unit.m) == (1, -2, -1, 0)
    assert build(loaded(tmp_path, TEXT)).ints.size
    with pytest.raises(lj.ModelError, match="magnetometer measures 'tail', which is not a node"):
        loaded(tmp_path, TEXT.replace("type: magnetometer, target: boom", "type: magnetometer, target: tail"))
