"""`Dynamics` against MuJoCo: random trees written as MJCF and loaded by both, and robots with physical inertias.

Tolerance: MuJoCo keeps rotational inertias as principal axes and moments, and poses as quaternions, each rounded
once; 1e-11 relative to the largest element covers that and stays a hundred times below the contract of 1e-9.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.algebra.rotations import from_quaternion, to_quaternion
from limberjack.engine.model.system import Hinge
from tests.engine.mjcf_writer import mjcf_name, physical, to_mjcf
from tests.engine.random_systems import random_state, random_system
from tests.engine.robots import FILES, load_robot, robot_state
from tests.validation.figures import figure

mujoco = pytest.importorskip("mujoco")

TOLERANCE = 1e-11


def close(name: str, actual, expected, scale: float = 0.0) -> None:
    size = max(float(np.max(np.abs(expected))), scale)
    figure(name, actual, expected, oracle="MuJoCo", atol=TOLERANCE * size)


@dataclass
class Map:
    """MuJoCo's coordinates of one state: qpos, and qvel = S v, qacc = S dv/dt + S_rate_v."""

    qpos: np.ndarray
    S: np.ndarray
    S_rate_v: np.ndarray


def map_hinge(hinge: Hinge, q: np.ndarray, v: np.ndarray) -> Map:
    """Ball: quaternion, ω in body axes. Free: [position, quaternion w x y z] of the body, [v inertial; ω body axes]."""
    C, lever = hinge.outboard.rotation, hinge.outboard.inverse().position
    if hinge.type == "spherical":
        return Map(to_quaternion(C @ from_quaternion(q) @ C.T), C, np.zeros(3))
    if hinge.type != "free":
        return Map(q, np.eye(hinge.nv), np.zeros(hinge.nv))
    w, u = np.split(v, 2)
    R_WO = hinge.inboard.rotation @ from_quaternion(q[:4])
    p_WO = hinge.inboard.position + hinge.inboard.rotation @ q[4:]
    to_body = np.column_stack([np.cross(e, lever) for e in np.eye(3)])
    S = np.block([[R_WO @ to_body, R_WO], [C, np.zeros((3, 3))]])
    qpos = np.concatenate([p_WO + R_WO @ lever, to_quaternion(R_WO @ C.T)])
    return Map(qpos, S, np.concatenate([R_WO @ np.cross(w, u + np.cross(w, lever)), np.zeros(3)]))


def map_state(system: lj.System, model, q: np.ndarray, v: np.ndarray) -> Map:
    total = Map(np.zeros(model.nq), np.zeros((model.nv, system.nv)), np.zeros(model.nv))
    i = j = 0
    for body in system.bodies:
        h = body.hinge
        if h.nv:
            joint = model.joint(h.name)
            part = map_hinge(h, q[i : i + h.kind.nq], v[j : j + h.nv])
            rows = slice(joint.dofadr[0], joint.dofadr[0] + h.nv)
            total.qpos[joint.qposadr[0] : joint.qposadr[0] + len(part.qpos)] = part.qpos
            total.S[rows, j : j + h.nv], total.S_rate_v[rows] = part.S, part.S_rate_v
        i, j = i + h.kind.nq, j + h.nv
    return total


class Peer:
    """MuJoCo's model of a System at one state; results in our coordinates."""

    def __init__(self, system: lj.System, model, q: np.ndarray, v: np.ndarray) -> None:
        self.system, self.model, self.q, self.v = system, model, q, v
        self.data = mujoco.MjData(model)
        self.map = map_state(system, model, q, v)
        self.data.qpos[:], self.data.qvel[:] = self.map.qpos, self.map.S @ v
        mujoco.mj_forward(model, self.data)

    def mass_matrix(self):
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return self.map.S.T @ M @ self.map.S

    def forward(self, tau):
        self.data.qfrc_applied[:] = np.linalg.solve(self.map.S.T, tau)
        mujoco.mj_forward(self.model, self.data)
        return np.linalg.solve(self.map.S, self.data.qacc - self.map.S_rate_v)

    def inverse(self, vdot):
        self.data.qacc[:] = self.map.S @ vdot + self.map.S_rate_v
        mujoco.mj_inverse(self.model, self.data)
        return self.map.S.T @ self.data.qfrc_inverse

    def jacobian(self, body: int, point: np.ndarray):
        """J, and the frame's [dω/dt; a] at dv/dt = 0."""
        J, rate = np.zeros((6, self.model.nv)), np.zeros((6, self.model.nv))
        mujoco.mj_jac(self.model, self.data, J[3:], J[:3], point, body)
        mujoco.mj_jacDot(self.model, self.data, rate[3:], rate[:3], point, body)
        return J @ self.map.S, rate @ self.data.qvel + J @ self.map.S_rate_v


def check_forces(peer: Peer, rng: np.random.Generator) -> None:
    ours, q, v = lj.Dynamics(peer.system), peer.q, peer.v
    tau, vdot = rng.normal(size=(2, peer.system.nv)) * 5.0
    M, bias = peer.mass_matrix(), peer.inverse(0.0 * vdot)
    close("mass matrix", ours.mass_matrix(q), M)
    close("bias forces", ours.bias(q, v), bias, scale=1.0)
    close("inverse dynamics", ours.inverse(q, v, vdot), peer.inverse(vdot), scale=1.0)
    # Both sides solve with M, so the error of either is bounded by its condition number.
    expected, factor = peer.forward(tau), np.sqrt(np.linalg.cond(M))
    figure(
        "forward dynamics",
        ours.forward(q, v, tau),
        expected,
        oracle="MuJoCo",
        atol=TOLERANCE * factor * np.abs(expected).max(),
    )


def check_nodes(peer: Peer) -> None:
    ours, q, v = lj.Dynamics(peer.system), peer.q, peer.v
    for body in peer.system.bodies:
        index = mujoco.mj_name2id(peer.model, mujoco.mjtObj.mjOBJ_BODY, mjcf_name(body.name))
        R, p = ours.pose(body.name, q)
        close("rotations", R, peer.data.xmat[index].reshape(3, 3))
        close("positions", p, peer.data.xpos[index], scale=1.0)
        J, rate = peer.jacobian(index, peer.data.xpos[index])
        close("Jacobians", ours.jacobian(body.name, q), J, scale=1.0)
        close("velocities of nodes", ours.velocity(body.name, q, v), J @ v, scale=1.0)
        close("rates of Jacobians", ours.jacobian_rate(body.name, q, v), rate, scale=1.0)
    for node in peer.system.nodes:
        index = mujoco.mj_name2id(peer.model, mujoco.mjtObj.mjOBJ_SITE, node.name)
        R, p = ours.pose(node.name, q)
        close("rotations", R, peer.data.site_xmat[index].reshape(3, 3))
        close("positions", p, peer.data.site_xpos[index], scale=1.0)


def check_totals(peer: Peer) -> None:
    """MuJoCo counts what is welded to the world; ours, like Pinocchio's, are the totals of the moving bodies."""
    ours, q, v, data = lj.Dynamics(peer.system), peer.q, peer.v, peer.data
    mass = np.where(peer.model.body_weldid > 0, peer.model.body_mass, 0.0)
    first_moment = mass @ data.xipos
    close("centre of mass", ours.center_of_mass(q), first_moment / mass.sum(), scale=1.0)
    mujoco.mj_subtreeVel(peer.model, data)
    p = peer.model.body_subtreemass[0] * data.subtree_linvel[0]
    angular = data.subtree_angmom[0] + np.cross(data.subtree_com[0], p)
    close("momentum", ours.momentum(q, v), np.concatenate([angular, p]), scale=1.0)
    kinetic, potential = ours.energy(q, v)
    figure("kinetic energy", kinetic, 0.5 * v @ peer.mass_matrix() @ v, unit="J", oracle="MuJoCo", rtol=TOLERANCE)
    close("potential energy", potential, -peer.system.gravity @ first_moment, scale=mass.sum())


def a_tree(seed: int) -> tuple[lj.System, np.random.Generator]:
    rng = np.random.default_rng(seed)
    types = rng.choice(["revolute", "revolute", "prismatic", "spherical"], 9)
    types[[3, 6]] = "fixed"
    if seed % 2:
        types[0] = "free"
    return random_system(types, rng, armature=False), rng


@pytest.mark.parametrize("seed", range(12))
def test_random_trees(seed):
    system, rng = a_tree(seed)
    peer = Peer(system, mujoco.MjModel.from_xml_string(to_mjcf(system)), *random_state(system, rng))
    check_forces(peer, rng)
    check_nodes(peer)
    check_totals(peer)


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_loaded_from_mjcf(seed, tmp_path):
    """The same text through our reader, armature included."""
    rng = np.random.default_rng(50 + seed)
    types = rng.choice(["revolute", "prismatic", "fixed"], 8)
    types[0] = "revolute"
    file = tmp_path / "tree.xml"
    file.write_text(to_mjcf(random_system(types, rng)))
    system = lj.load(file)
    q, v = rng.uniform(-2.0, 2.0, system.nq), rng.normal(size=system.nv)
    peer = Peer(system, mujoco.MjModel.from_xml_path(str(file)), q, v)
    assert any(dof.armature for body in system.bodies for dof in body.hinge.dofs)
    check_forces(peer, rng)
    check_nodes(peer)
    check_totals(peer)


@pytest.mark.parametrize("name", FILES)
def test_robots_with_physical_inertias(name):
    system = physical(load_robot(name))
    rng = np.random.default_rng(3)
    peer = Peer(system, mujoco.MjModel.from_xml_string(to_mjcf(system)), *robot_state(system, rng))
    check_forces(peer, rng)
    check_nodes(peer)
    check_totals(peer)
