"""States in the orders of Pinocchio and MuJoCo, and back, for models that both sides loaded from one file.

    ours       free q = [quaternion w x y z, position], v = [ω, v] in body axes; angles as angles
    Pinocchio  free q = [position, quaternion x y z w], v = [v, ω] in body axes (the order of ROS messages);
               unlimited turning joints as (cos, sin); planar q = [x, y, cos, sin], v = [vx, vy, ω] in body axes
    MuJoCo     free q = [position, quaternion w x y z], v = [v in inertial axes, ω in body axes]

Joints are matched by name, those that have none in an MJCF file by the name that its reader gives them. Free hinges are
taken as joining the model's own body frames, as URDF and MJCF do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model import arguments as model_arguments
from limberjack.engine.model.readers.mjcf_names import Names
from limberjack.engine.model.readers.mjcf_tendons import Length, length_of, sliders
from limberjack.engine.model.system import Hinge, System

_FREE_Q, _FREE_V = np.array([4, 5, 6, 1, 2, 3, 0]), np.array([3, 4, 5, 0, 1, 2])
_SPHERE_Q = np.array([1, 2, 3, 0])


def to_pinocchio(system: System, model: Any, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) of a pinocchio.Model from ours."""
    q, v = model_arguments.coordinates(system, q), arguments.vector("v", v, (system.nv,))
    peer_q, peer_v = np.zeros(model.nq), np.zeros(model.nv)
    for hinge, qs, vs, joint in _pinocchio_joints(system, model):
        pq, pv = slice(joint.idx_q, joint.idx_q + joint.nq), slice(joint.idx_v, joint.idx_v + joint.nv)
        peer_q[pq], peer_v[pv] = _give(hinge, q[qs], v[vs], joint.nq)
    return peer_q, peer_v


def from_pinocchio(system: System, model: Any, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Our (q, v) from those of a pinocchio.Model."""
    peer_q, peer_v = arguments.vector("q", q, (model.nq,)), arguments.vector("v", v, (model.nv,))
    our_q, our_v = np.zeros(system.nq), np.zeros(system.nv)
    for hinge, qs, vs, joint in _pinocchio_joints(system, model):
        pq, pv = slice(joint.idx_q, joint.idx_q + joint.nq), slice(joint.idx_v, joint.idx_v + joint.nv)
        our_q[qs], our_v[vs] = _take(hinge, peer_q[pq], peer_v[pv])
    return our_q, our_v


def to_mujoco(system: System, model: Any, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(qpos, qvel) of a mujoco.MjModel from ours."""
    q, v = model_arguments.coordinates(system, q), arguments.vector("v", v, (system.nv,))
    qpos, qvel = np.array(model.qpos0), np.zeros(model.nv)
    for hinge, qs, vs, i, j in _mujoco_joints(system, model):
        a, b = q[qs], v[vs]
        if hinge.type == "free":
            a, b = np.concatenate([a[4:], a[:4]]), np.concatenate([from_quaternion(a[:4]) @ b[3:], b[:3]])
        qpos[i : i + len(a)], qvel[j : j + len(b)] = a, b
    return qpos, qvel


def from_mujoco(system: System, model: Any, qpos: ArrayLike, qvel: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Our (q, v) from those of a mujoco.MjModel."""
    peer_q, peer_v = arguments.vector("qpos", qpos, (model.nq,)), arguments.vector("qvel", qvel, (model.nv,))
    our_q, our_v = np.zeros(system.nq), np.zeros(system.nv)
    for hinge, qs, vs, i, j in _mujoco_joints(system, model):
        a, b = peer_q[i : i + qs.stop - qs.start], peer_v[j : j + vs.stop - vs.start]
        if hinge.type == "free":
            a, b = np.concatenate([a[3:], a[:3]]), np.concatenate([b[3:], from_quaternion(a[3:]).T @ b[:3]])
        our_q[qs], our_v[vs] = a, b
    for qs, vs, shares in _mujoco_tendons(system, model):
        our_q[qs] = sum(factor * peer_q[i] for factor, i, _ in shares)
        our_v[vs] = sum(factor * peer_v[j] for factor, _, j in shares)
    return our_q, our_v


def _give(hinge: Hinge, q: np.ndarray, v: np.ndarray, peer_nq: int) -> tuple[np.ndarray, np.ndarray]:
    """One hinge's coordinates as Pinocchio keeps them."""
    if hinge.type == "free":
        return q[_FREE_Q], v[_FREE_V]
    if hinge.type == "spherical":
        return q[_SPHERE_Q], v
    if hinge.type == "planar":
        c, s = math.cos(q[0]), math.sin(q[0])
        return np.array([q[1], q[2], c, s]), np.array([c * v[1] + s * v[2], c * v[2] - s * v[1], v[0]])
    if hinge.type == "revolute" and peer_nq == 2:
        return np.array([math.cos(q[0]), math.sin(q[0])]), v
    return q, v


def _take(hinge: Hinge, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One hinge's coordinates from Pinocchio's."""
    if hinge.type == "free":
        return q[np.argsort(_FREE_Q)], v[np.argsort(_FREE_V)]
    if hinge.type == "spherical":
        return q[np.argsort(_SPHERE_Q)], v
    if hinge.type == "planar":
        c, s = q[2], q[3]
        return np.array([math.atan2(s, c), q[0], q[1]]), np.array([v[2], c * v[0] - s * v[1], s * v[0] + c * v[1]])
    if hinge.type == "revolute" and len(q) == 2:
        return np.array([math.atan2(q[1], q[0])]), v
    return q, v


def _moving(system: System) -> Iterator[tuple[Hinge, slice, slice]]:
    """Every hinge with coordinates, and where they are."""
    i = j = 0
    for body in system.bodies:
        hinge = body.hinge
        if hinge.nv:
            yield hinge, slice(i, i + hinge.kind.nq), slice(j, j + hinge.nv)
        i, j = i + hinge.kind.nq, j + hinge.nv


def _pinocchio_joints(system: System, model: Any) -> Iterator[tuple[Hinge, slice, slice, Any]]:
    joints = dict(zip(list(model.names), list(model.joints), strict=True))
    for hinge, qs, vs in _moving(system):
        name = "root_joint" if hinge.type == "free" and hinge.name not in joints else hinge.name
        if name not in joints or joints[name].nv != hinge.nv:
            raise ArgumentError(f"the Pinocchio model has no joint '{name}' with {hinge.nv} velocities.")
        yield hinge, qs, vs, joints[name]


def _mujoco_joints(system: System, model: Any) -> Iterator[tuple[Hinge, slice, slice, int, int]]:
    import mujoco

    names = Names(model, mujoco)  # joints without a name in the file, as free joints often are, have one here
    joints = {names.joint(k): k for k in range(model.njnt)}
    tendons = _tendon_lengths(model)
    for hinge, qs, vs in _moving(system):
        if hinge.name in tendons:
            continue
        if hinge.name not in joints:
            raise ArgumentError(f"the MuJoCo model has no joint '{hinge.name}'.")
        k = joints[hinge.name]
        yield hinge, qs, vs, int(model.jnt_qposadr[k]), int(model.jnt_dofadr[k])


def _mujoco_tendons(system: System, model: Any) -> Iterator[tuple[slice, slice, list[tuple[float, int, int]]]]:
    """For each slider of a tendon its coordinate, its velocity, and (factor, qpos, qvel) of the tendon's joints."""
    lengths = _tendon_lengths(model)
    for hinge, qs, vs in _moving(system):
        if hinge.name in lengths:
            factors = lengths[hinge.name].factors
            yield qs, vs, [(c, int(model.jnt_qposadr[k]), int(model.jnt_dofadr[k])) for k, c in factors.items()]


def _tendon_lengths(model: Any) -> dict[str, Length]:
    """The lengths of those tendons that the reader gives a slider, by its name."""
    import mujoco

    names = Names(model, mujoco)
    return {names.tendon(t): length_of(model, t) for t in sliders(model, mujoco)}
