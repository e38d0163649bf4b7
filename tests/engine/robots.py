"""Robots of the package example-robot-data, loaded quietly, and how Pinocchio and MuJoCo order their coordinates."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np

import limberjack as lj
from tests.engine.model.robot_files import ROBOTS

#: name → (file, base)
FILES = {
    "panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "fixed"),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", "free"),
    "solo": ("solo_description/robots/solo12.urdf", "free"),
    "talos": ("talos_data/robots/talos_reduced.urdf", "free"),
}


@cache
def load_robot(name: str) -> lj.System:
    """The robot on a fixed or free base; joints that mimic others move on their own, as Pinocchio's do."""
    file, base = FILES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lj.ModelWarning)
        return lj.load(ROBOTS / file, base=base, mimic="independent")


@dataclass(frozen=True)
class Order:
    """Where a peer keeps our coordinates: peer_q[q] is ours, peer_v[v] is ours."""

    q: np.ndarray
    v: np.ndarray


def pinocchio_order(system: lj.System, model) -> Order:
    """Pinocchio: free q = [position, quaternion x y z w], v = [v, ω] in body axes; joints in its own order."""
    q, v = np.zeros(system.nq, dtype=int), np.zeros(system.nv, dtype=int)
    if system.bodies[0].hinge.type == "free":
        q[:7], v[:6] = (6, 3, 4, 5, 0, 1, 2), (3, 4, 5, 0, 1, 2)
    for name, joint in zip(list(model.names)[1:], list(model.joints)[1:]):
        if name != "root_joint":
            assert (joint.nq, joint.nv) == (1, 1), name
            q[system.coordinate_names.index(name)] = joint.idx_q
            v[system.velocity_names.index(name)] = joint.idx_v
    return Order(q, v)


def robot_state(system: lj.System, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Angles over the whole turn whatever the limits; velocities of the order of 1."""
    q, v = rng.uniform(-np.pi, np.pi, system.nq), rng.normal(size=system.nv)
    if system.bodies[0].hinge.type == "free":
        q[:4] = rng.normal(size=4)
        q[:4] /= np.linalg.norm(q[:4])
    return q, v
