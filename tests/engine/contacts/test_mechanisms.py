"""Contacts of mechanisms: the force is one that the dynamics answer, and with it the laws hold.

The oracle is `Dynamics.forward` with the force that the sensor shows as an external one; it knows nothing of contacts.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.elements.shape import Shape
from tests.engine.motions import along_start, euler
from tests.validation.figures import figure

EXAMPLES = Path(__file__).parents[3] / "examples"
RADIUS, GAP, DT = 0.05, 1e-7, 1e-3


def touching(system: lj.System, node: str, at: np.ndarray, friction: float) -> lj.System:
    """The model with a ball at a place of a body, just above a plane that it falls on."""
    R, p = lj.Dynamics(system).pose(node, system.q0)
    ball = Shape(node, "sphere", np.array([RADIUS]), position=at, name="ball")
    floor = Shape(None, "plane", np.ones(2), position=p + R @ at - [0.0, 0.0, RADIUS + GAP], name="floor")
    system = replace(system, shapes=(ball, floor), sensors=(), alarms=(), gravity=np.array([0.3, 0.2, -9.8]))
    system = lj.equip(system, lj.Contact("c", ("floor",), ("ball",), friction=friction))
    return replace(system, sensors=(Sensor("force", "contact_force", "c"),))


#: model, body that touches, where, method of its loops
MODELS = [
    ("torque_arm", "", (0.0, 0.0, 0.0), ""),
    ("four_bar", "coupler", (0.39, 0.0, 0.0), "embed"),
    ("four_bar", "coupler", (0.39, 0.0, 0.0), "force"),
    ("stewart_platform", "platform", (0.3, 0.1, 0.0), "embed"),
    ("stewart_platform", "platform", (0.3, 0.1, 0.0), "force"),
    ("solar_satellite", "wing_north.tip", (0.0, 0.0, 0.0), ""),
]


def prepared(name: str, method: str) -> lj.System:
    """A shipped model at rest."""
    system = lj.load(EXAMPLES / f"{name}.yaml")
    loops = tuple(replace(loop, method=method, independent=()) for loop in system.loops) if method else system.loops
    bodies = tuple(replace(body, hinge=replace(body.hinge, v0=0.0 * body.hinge.v0)) for body in system.bodies)
    return replace(system, loops=loops, bodies=bodies, held_rates=())


@pytest.mark.parametrize(("name", "node", "at", "method"), MODELS)
@pytest.mark.parametrize("friction", [0.1, 5.0])
def test_the_step_answers_the_contact_force_and_the_laws_hold(name, node, at, method, friction):
    system = prepared(name, method)
    node = node or system.body_names[-1]
    simulation = lj.Simulation(touching(system, node, np.array(at), friction), dt=DT, integrator="semi_implicit")
    dynamics, touched = lj.Dynamics(simulation.system), 0
    for _ in range(10):
        q, v, tau = simulation.q, simulation.v, simulation.tau
        simulation.step()
        force = np.asarray(simulation.output["force"])
        arm = dynamics.pose(node, q)[0] @ np.array(at) - [0.0, 0.0, RADIUS]
        a = dynamics.forward(q, v, tau, {node: np.concatenate([np.cross(arm, force), force])})
        moved = along_start(simulation.system, v, a, DT)
        free = along_start(simulation.system, v, dynamics.forward(q, v, tau), DT)
        J = dynamics.jacobian(node, q)
        point = J[3:] - np.cross(arm, J[:3], axisb=0, axisc=0)
        change = np.linalg.norm(point @ (moved - free))
        # the force acts half a gap above the plane, and loops close again after the step
        error = np.abs(simulation.v - euler(simulation.system, v, a, DT)).max()
        figure("velocities after the contact force", error, unit="1", oracle="Dynamics.forward", below=1e-6)
        assert force[2] >= 0.0
        assert np.hypot(force[0], force[1]) <= friction * force[2] * (1.0 + 1e-12)
        if force[2] > 0.0:
            touched += 1
            speed = point @ moved
            assert abs(speed[2]) < 2e-3 * change + GAP / DT
            if np.hypot(force[0], force[1]) < friction * force[2] * (1.0 - 1e-9):
                assert np.hypot(speed[0], speed[1]) < 1e-4 * change
    assert touched
