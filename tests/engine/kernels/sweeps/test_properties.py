"""Identities of the equations of motion over random trees.

Tolerances: algebraic identities hold to rounding, 1e-11 of the largest term that cancels in them (times the condition
number of M where accelerations are solved for); identities with a time derivative carry the eighth-order differences
of `motions.derivative`, 1e-9 of the size of what is differentiated.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings

import limberjack as lj
from limberjack.engine.model.system import Dof, Pose
from tests.engine.motions import derivative
from tests.engine.random_systems import random_state, rotation, trees
from tests.validation.figures import figure

ALGEBRAIC, DIFFERENTIAL = 1e-11, 1e-9
few = settings(max_examples=60, deadline=None)


def close(actual, expected, tolerance: float, scale: float = 1.0, name: str = "identity") -> None:
    size = max(scale, float(np.max(np.abs(expected), initial=0.0)))
    if np.size(expected):
        figure(name, actual, expected, oracle="identity of the equations of motion", atol=tolerance * size)


def without_base_armature(system: lj.System) -> lj.System:
    """Rotors on a floating base would be held by the inertial frame and take momentum from it."""
    root, *others = system.bodies
    root = replace(root, hinge=replace(root.hinge, dofs=(Dof(),) * root.hinge.nv))
    return replace(system, bodies=(root, *others))


@few
@given(trees())
def test_forward_undoes_inverse(tree):
    system, rng = tree
    dynamics, (q, v) = lj.Dynamics(system), random_state(system, rng)
    vdot = rng.normal(size=system.nv)
    wrenches = rng.normal(size=(len(system.node_names), 6))
    tau = dynamics.inverse(q, v, vdot, wrenches)
    condition = np.linalg.cond(dynamics.mass_matrix(q))
    close(dynamics.forward(q, v, tau, wrenches), vdot, ALGEBRAIC * condition)


@few
@given(trees())
def test_inverse_undoes_forward(tree):
    system, rng = tree
    dynamics, (q, v) = lj.Dynamics(system), random_state(system, rng)
    tau = rng.normal(size=system.nv)
    vdot = dynamics.forward(q, v, tau)
    terms = np.abs(dynamics.mass_matrix(q)) @ np.abs(vdot)
    close(dynamics.inverse(q, v, vdot), tau, ALGEBRAIC, scale=terms.max() + np.abs(dynamics.bias(q, v)).max())


@few
@given(trees())
def test_mass_matrix_is_symmetric_positive_definite_and_gives_the_energy(tree):
    system, rng = tree
    dynamics, (q, v) = lj.Dynamics(system), random_state(system, rng)
    M = dynamics.mass_matrix(q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0
    close(dynamics.energy(q, v)[0], 0.5 * v @ M @ v, ALGEBRAIC, scale=0.0)


@few
@given(trees())
def test_equation_of_motion_is_affine_with_mass_matrix_and_bias(tree):
    system, rng = tree
    dynamics, (q, v) = lj.Dynamics(system), random_state(system, rng)
    vdot = rng.normal(size=system.nv)
    tau = dynamics.mass_matrix(q) @ vdot + dynamics.bias(q, v)
    close(dynamics.inverse(q, v, vdot), tau, ALGEBRAIC)


@few
@given(trees())
def test_node_forces_act_through_the_transposed_jacobian(tree):
    system, rng = tree
    dynamics, (q, v) = lj.Dynamics(system), random_state(system, rng)
    node, wrench = str(rng.choice(system.node_names)), rng.normal(size=6)
    difference = dynamics.bias(q, v) - dynamics.inverse(q, v, 0.0 * v, {node: wrench})
    close(difference, dynamics.jacobian(node, q).T @ wrench, ALGEBRAIC, scale=1.0 + np.abs(dynamics.bias(q, v)).max())


@few
@given(trees(root="free"))
def test_momentum_balance_of_a_free_tree(tree):
    """d[L; p]/dt = moments and forces from outside; hinge forces inside, rotors included, cannot change it."""
    system, rng = tree
    system = without_base_armature(system)
    dynamics, (q, v) = lj.Dynamics(system), random_state(system, rng)
    tau, wrench = rng.normal(size=system.nv), rng.normal(size=6)
    tau[:6] = 0.0
    node = system.node_names[-1]
    vdot = dynamics.forward(q, v, tau, {node: wrench})
    rate = derivative(system, q, v, vdot, dynamics.momentum)
    weight = system.mass * system.gravity
    outside = np.concatenate([np.cross(dynamics.center_of_mass(q), weight), weight]) + wrench
    outside[:3] += np.cross(dynamics.pose(node, q)[1], wrench[3:])
    # v moves by vdot over the difference's span: its size scales what is differentiated.
    close(rate, outside, DIFFERENTIAL, scale=1.0 + np.abs(vdot).max() ** 2, name="rate of momentum")


@few
@given(trees(root="free", gravity=np.zeros(3)))
def test_momentum_is_conserved_when_free(tree):
    system, rng = tree
    system = without_base_armature(system)
    dynamics, (q, v) = lj.Dynamics(system), random_state(system, rng)
    tau = rng.normal(size=system.nv)
    tau[:6] = 0.0
    vdot = dynamics.forward(q, v, tau)
    rate = derivative(system, q, v, vdot, dynamics.momentum)
    close(rate, np.zeros(6), DIFFERENTIAL, scale=1.0 + np.abs(vdot).max() ** 2, name="rate of momentum")


@few
@given(trees())
def test_power_balance(tree):
    """d(T + U)/dt = tau · v + wrench · V(node)."""
    system, rng = tree
    dynamics, (q, v) = lj.Dynamics(system), random_state(system, rng)
    tau, wrench, node = rng.normal(size=system.nv), rng.normal(size=6), system.node_names[-1]
    vdot = dynamics.forward(q, v, tau, {node: wrench})
    rate = derivative(system, q, v, vdot, lambda q, v: np.sum(dynamics.energy(q, v)))
    power = tau @ v + wrench @ dynamics.velocity(node, q, v)
    kinetic = np.abs(v) @ np.abs(dynamics.mass_matrix(q)) @ np.abs(vdot)
    close(rate, power, DIFFERENTIAL, scale=1.0 + kinetic * (1.0 + np.abs(vdot).max()), name="power")


@few
@given(trees())
def test_turning_and_moving_the_world_changes_nothing(tree):
    system, rng = tree
    world = Pose(rotation(rng), rng.normal(size=3))
    bodies = tuple(
        replace(body, hinge=replace(body.hinge, inboard=world @ body.hinge.inboard))
        if body.hinge.parent is None
        else body
        for body in system.bodies
    )
    turned = replace(system, bodies=bodies, gravity=world.rotation @ system.gravity)
    one, other, (q, v) = lj.Dynamics(system), lj.Dynamics(turned), random_state(system, rng)
    vdot, node = rng.normal(size=system.nv), "n0"
    close(other.mass_matrix(q), one.mass_matrix(q), ALGEBRAIC)
    close(other.inverse(q, v, vdot), one.inverse(q, v, vdot), ALGEBRAIC)
    tau = one.inverse(q, v, vdot)
    close(other.forward(q, v, tau), vdot, ALGEBRAIC * np.linalg.cond(one.mass_matrix(q)))
    (R, p), (R_turned, p_turned) = one.pose(node, q), other.pose(node, q)
    close(R_turned, world.rotation @ R, ALGEBRAIC)
    close(p_turned, world.position + world.rotation @ p, ALGEBRAIC)


@few
@given(trees())
def test_velocities_are_the_derivatives_of_poses(tree):
    """dR/dt = ω~ R, dp/dt = v along q̇(q, v), for every node, quasi-velocities included."""
    system, rng = tree
    dynamics, (q, v) = lj.Dynamics(system), random_state(system, rng)
    for node in system.node_names:
        R, _ = dynamics.pose(node, q)
        R_rate = derivative(system, q, v, 0.0 * v, lambda q, _, n=node: dynamics.pose(n, q)[0])
        p_rate = derivative(system, q, v, 0.0 * v, lambda q, _, n=node: dynamics.pose(n, q)[1])
        w, u = np.split(dynamics.velocity(node, q, v), 2)
        close(R_rate, np.cross(w, R.T).T, DIFFERENTIAL)
        close(p_rate, u, DIFFERENTIAL)


@few
@given(trees())
def test_virtual_work_of_reactions(tree):
    """A reaction works along its hinge as the generalized force does: tau = H f + armature · vdot."""
    system, rng = tree
    dynamics, (q, v) = lj.Dynamics(system), random_state(system, rng)
    vdot = rng.normal(size=system.nv)
    tau = dynamics.inverse(q, v, vdot)
    armature = np.array([dof.armature for body in system.bodies for dof in body.hinge.dofs])
    j = 0
    for body in system.bodies:
        hinge = body.hinge
        if hinge.nv:
            R, p = dynamics.pose(body.name, q)
            n, f = np.split(dynamics.reaction(hinge.name, q, v, vdot), 2)
            to_world = R @ hinge.outboard.rotation
            point = p + R @ hinge.outboard.position
            wrench = np.concatenate([to_world @ n + np.cross(point - p, to_world @ f), to_world @ f])
            J = dynamics.jacobian(body.name, q)[:, j : j + hinge.nv]
            own = tau[j : j + hinge.nv] - armature[j : j + hinge.nv] * vdot[j : j + hinge.nv]
            close(J.T @ wrench, own, ALGEBRAIC, scale=1.0 + np.abs(wrench).max())
        j += hinge.nv
