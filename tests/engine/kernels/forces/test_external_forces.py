"""External forces by commands are those that Dynamics takes at nodes."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from tests.validation.figures import figure

TEXT = """
limberjack: 1
name: arm
bodies:
  - {name: upper, mass: 3.0, com: [0.2, 0, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.2},
     hinge: {type: revolute, parent: world, axis: [0, 1, 0], initial: {position: 0.4, velocity: 0.3}}}
  - {name: fore, mass: 1.0, com: [0.1, 0.1, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1},
     hinge: {type: spherical, parent: upper, position: [0.5, 0, 0], initial: {rpy: [0.3, 0.2, 0.9]}}}
nodes:
  - {name: grip, body: fore, position: [0.4, 0.1, 0.2], rpy: [0.5, 0, 1]}
actuators:
  - {name: motor, coordinate: upper}
external_forces:
  - {name: push, node: grip}
  - {name: pull, node: grip, follows: true}
sensors:
  - {name: load, type: reaction, target: upper}
"""
WORDS = ("nx", "ny", "nz", "fx", "fy", "fz")


@pytest.fixture(scope="module")
def system(tmp_path_factory) -> lj.System:
    path = tmp_path_factory.mktemp("models") / "arm.yaml"
    path.write_text(TEXT)
    return lj.load(path)


def test_accelerations_and_reactions_are_those_of_dynamics(system):
    simulation, dynamics = lj.Simulation(system), lj.Dynamics(system)
    wrench, turned = np.array([0.3, -1.0, 0.5, 4.0, 2.0, -3.0]), np.array([0.1, 0.2, -0.7, 1.0, -5.0, 2.0])
    simulation.command.update({f"push.{word}": x for word, x in zip(WORDS, wrench)})
    simulation.command.update({f"pull.{word}": x for word, x in zip(WORDS, turned)})
    simulation.command["motor"] = 0.7
    R, _ = dynamics.pose("grip", simulation.q)
    external = {"grip": wrench + np.concatenate([R @ turned[:3], R @ turned[3:]])}
    q, v = simulation.q, simulation.v
    tau = np.array([0.7, 0.0, 0.0, 0.0])
    vdot = dynamics.forward(q, v, tau, external=external)
    figure("accelerations", simulation.vdot, vdot, oracle="Dynamics with the same wrench", rtol=1e-12)
    figure(
        "reaction",
        simulation.output["load"],
        dynamics.reaction("upper", q, v, vdot, external=external),
        unit="N, N·m",
        oracle="Dynamics with the same wrench",
        atol=1e-11,
        rtol=1e-11,
    )


def test_linearize_has_their_columns(system):
    model, dynamics, simulation = lj.linearize(system), lj.Dynamics(system), lj.Simulation(system)
    J, M = dynamics.jacobian("grip", simulation.q), dynamics.mass_matrix(simulation.q)
    R, _ = dynamics.pose("grip", simulation.q)
    turn = np.kron(np.eye(2), R)
    wanted = np.linalg.solve(M, np.hstack([np.eye(4)[:, :1], J.T, J.T @ turn]))
    assert model.inputs == system.command_names
    figure("columns of the linear model", model.B[4:], wanted, oracle="M⁻¹ J*", atol=1e-8, rtol=1e-8)


def test_they_are_held_and_start_at_zero(system):
    simulation = lj.Simulation(system)
    assert not simulation.command_vector.any()
    assert [name for name in system.command_names if name.startswith("push.")] == [f"push.{word}" for word in WORDS]
    simulation.command["push.fz"] = 2.0
    still = simulation.snapshot()
    simulation.step(10)
    moved = simulation.q
    simulation.restore(still)
    simulation.step(10)
    assert np.array_equal(simulation.q, moved)
