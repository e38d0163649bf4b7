"""URDF robots: from a file to the mass matrix as the README types it, against the compiled kernels and Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest

import limberjack as lj
from limberjack.engine.operators import Operators
from tests.engine.model.robot_files import ROBOTS
from tests.engine.operators.parts import same
from tests.engine.robots import FILES, load_robot, pinocchio_order, robot_state


@pytest.mark.parametrize("name", FILES)
def test_mass_matrix_bias_and_jacobian(name):
    robot = load_robot(name)
    dynamics = lj.Dynamics(robot)
    q, v = robot_state(robot, np.random.default_rng(2))
    o = Operators(robot, q, v)
    same(o.H * o.phi * o.M * o.phi.T * o.H.T + o.J, dynamics.mass_matrix(q))
    same(o.H * o.phi * (o.b + o.M * o.phi.T * (o.a + o.g)), dynamics.bias(q, v))
    last = robot.node_names[-1]
    same(o.B(last, axes="inertial").T * o.phi.T * o.H.T, dynamics.jacobian(last, q))


def test_mass_matrix_of_the_arm_is_pinocchios():
    robot = load_robot("panda")
    q, _ = robot_state(robot, np.random.default_rng(3))
    model = pinocchio.buildModelFromUrdf(str(ROBOTS / FILES["panda"][0]))
    order, peer_q = pinocchio_order(robot, model), np.zeros(model.nq)
    peer_q[order.q] = q
    M = pinocchio.crba(model, model.createData(), peer_q)
    M = np.triu(M) + np.triu(M, 1).T
    o = Operators(robot, q)
    same(o.H * o.phi * o.M * o.phi.T * o.H.T, M[np.ix_(order.v, order.v)])


def test_a_leg_of_the_humanoid():
    """The leg alone has the block of the whole mass matrix that its own hinges make."""
    robot = load_robot("talos")
    q, _ = robot_state(robot, np.random.default_rng(4))
    leg = ["leg_left_1_link"]
    for body in robot.bodies:
        if body.hinge.parent in leg:
            leg.append(body.name)  # links fixed to the sole among them
    o = Operators(robot, q, bodies=leg)
    at = [robot.velocity_names.index(name) for name in o.velocity_names]
    assert len(at) == 6
    whole = lj.Dynamics(robot).mass_matrix(q)
    same(o.H * o.phi * o.M * o.phi.T * o.H.T + o.J, whole[np.ix_(at, at)])
    foot = o.B("leg_left_6_link")
    compliance = (foot.T * o.Omega * foot).to_array()
    jacobian = (foot.T * o.phi.T * o.H.T).to_array()
    same(compliance, jacobian @ np.linalg.solve(whole[np.ix_(at, at)], jacobian.T))
