"""Force elements in closed chains, embedded and by force."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import Dof, System
from tests.validation.figures import figure

EXAMPLES = Path(__file__).parents[4] / "examples"


def four_bar(method: str) -> System:
    """The shipped one, frictionless and without drives, its loop by this method."""
    system = lj.load(EXAMPLES / "four_bar.yaml")
    bodies = tuple(
        replace(body, hinge=replace(body.hinge, dofs=(Dof(),) * len(body.hinge.dofs))) for body in system.bodies
    )
    loops = tuple(replace(loop, method=method, independent=()) for loop in system.loops)
    return replace(system, bodies=bodies, loops=loops, actuators=(), sensors=())


@pytest.mark.parametrize("method", ["embed", "force"])
def test_a_far_centre_is_uniform_gravity(method):
    """Accelerations and the loop's forces; and a thruster is the external force that it stands for."""
    plain, far, g = four_bar(method), 1e9, 9.80665
    uniform = replace(plain, gravity=np.array([0.0, 0.0, -g]))
    central = lj.equip(plain, lj.CentralGravity(g * far**2, np.array([0.0, 0.0, -far])))
    q, v, tau = plain.q0, plain.v0, np.zeros(plain.nv)
    here, there = lj.Dynamics(uniform), lj.Dynamics(central)
    vdot = here.forward(q, v, tau)
    figure(
        "accelerations in a far field",
        there.forward(q, v, tau),
        vdot,
        oracle="uniform gravity",
        atol=1e-7 * np.abs(vdot).max(),
    )
    for name, force in here.loop_forces(q, v, tau).items():
        found = there.loop_forces(q, v, tau)[name]
        figure(
            "forces of loops in a far field", found, force, oracle="uniform gravity", atol=1e-6 * np.abs(force).max()
        )
    body = plain.bodies[1].name
    jet = lj.Thruster("jet", body, np.array([1.0, 0.0, 2.0]), 50.0, initial=3.0)
    simulation = lj.Simulation(lj.equip(uniform, jet))
    R, _ = here.pose(body, q)
    push = R @ (3.0 * np.array([1.0, 0.0, 2.0]) / np.sqrt(5.0))
    expected = here.forward(q, v, tau, {body: np.concatenate([np.zeros(3), push])})
    figure(
        "accelerations under a thruster",
        simulation.vdot,
        expected,
        oracle="the same force from outside",
        atol=1e-10 * np.abs(expected).max(),
    )


@pytest.mark.parametrize("method", ["embed", "force"])
def test_energy_is_kept_near_a_centre(method):
    system = lj.equip(four_bar(method), lj.CentralGravity(4.0, np.array([0.3, 0.1, -1.5])))
    drifts = []
    for dt in (2e-3, 1e-3):
        simulation = lj.Simulation(system, dt=dt, integrator="rk4")
        energy, scale = simulation.output["energy.total"], abs(simulation.output["energy.potential"])
        simulation.step(round(1.0 / dt))
        drifts.append(abs(simulation.output["energy.total"] - energy) / scale)
    figure(
        "drift of energy at half the step",
        drifts[1],
        oracle="a share of 1/11 of that at the whole step",
        below=max(drifts[0] / 11.0, 1e-10),
    )
