"""Random states shared by all engines, and the maps between their coordinate orders.

Ours: a free base has q = [quaternion w x y z, position], v = [ω, v] in body axes.
Pinocchio: q = [position, quaternion x y z w], v = [v, ω] in body axes.
MuJoCo: q = [position, quaternion w x y z], v = [v in inertial axes, ω in body axes].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.trees import Tree
from limberjack.engine.algebra.rotations import from_quaternion

#: states that the timed loops cycle through, so that no work can be hoisted out of them
COUNT = 8


@dataclass(frozen=True, eq=False)
class States:
    """COUNT states, a row each, in our order: q (·, nq), v, tau and vdot (·, nv)."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    vdot: np.ndarray


def random_states(tree: Tree, seed: int = 7) -> States:
    """Angles over the whole turn, distances within 0.1 m; rates, forces, accelerations of the order of 1."""
    rng = np.random.default_rng(seed)
    spans = [np.pi if link.kind == "revolute" else 0.1 for link in tree.links[tree.free :]]
    q = rng.uniform(-1.0, 1.0, (COUNT, len(spans))) * spans
    if tree.free:
        quaternion = rng.normal(size=(COUNT, 4))
        quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
        q = np.hstack([quaternion, rng.normal(size=(COUNT, 3)), q])
    v, tau, vdot = rng.normal(size=(3, COUNT, tree.nv))
    if tree.free:
        tau[:, :6] = 0.0  # nothing drives a robot's floating base
    return States(q, v, tau, vdot)


def to_pinocchio(tree: Tree, states: States) -> States:
    """The same states in Pinocchio's order."""
    nq, nv = pinocchio_orders(tree)
    return States(states.q[:, nq], states.v[:, nv], states.tau[:, nv], states.vdot[:, nv])


def pinocchio_orders(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Index vectors: Pinocchio's q is ours[first], its v ours[second]; the second is its own inverse."""
    q, v = np.arange(tree.nq), np.arange(tree.nv)
    for kind, i, j in tree.coordinates():
        if kind == "free":
            q[i : i + 7], v[j : j + 6] = i + np.array([4, 5, 6, 1, 2, 3, 0]), j + np.array([3, 4, 5, 0, 1, 2])
        elif kind == "spherical":
            q[i : i + 4] = i + np.array([1, 2, 3, 0])
    return q, v


def _free_joints(tree: Tree) -> list[tuple[int, int]]:
    """First coordinate and first velocity of every free joint: the only ones that MuJoCo has otherwise."""
    return [(i, j) for kind, i, j in tree.coordinates() if kind == "free"]


def to_mujoco(tree: Tree, states: States) -> States:
    """The same states in MuJoCo's order and axes."""
    q, v, tau, vdot = (np.array(a) for a in (states.q, states.v, states.tau, states.vdot))
    for k in range(COUNT):
        for i, j in _free_joints(tree):
            ours, forces, rates = (a[k, j : j + 6] for a in (states.v, states.tau, states.vdot))
            q[k, i : i + 7] = states.q[k, [i + 4, i + 5, i + 6, i, i + 1, i + 2, i + 3]]
            R, coriolis = from_quaternion(states.q[k, i : i + 4]), np.cross(ours[:3], ours[3:])
            v[k, j : j + 6] = np.concatenate([R @ ours[3:], ours[:3]])
            tau[k, j : j + 6] = np.concatenate([R @ forces[3:], forces[:3]])
            vdot[k, j : j + 6] = np.concatenate([R @ (rates[3:] + coriolis), rates[:3]])
    return States(q, v, tau, vdot)


def from_mujoco_vdot(tree: Tree, states: States, k: int, vdot: np.ndarray) -> np.ndarray:
    """MuJoCo's acceleration in state k in our order and axes."""
    out = vdot.copy()
    for i, j in _free_joints(tree):
        ours, R = states.v[k, j : j + 6], from_quaternion(states.q[k, i : i + 4])
        linear = R.T @ vdot[j : j + 3] - np.cross(ours[:3], ours[3:])
        out[j : j + 6] = np.concatenate([vdot[j + 3 : j + 6], linear])
    return out


def from_mujoco_tau(tree: Tree, states: States, k: int, tau: np.ndarray) -> np.ndarray:
    """MuJoCo's generalized force in state k in our order and axes."""
    out = tau.copy()
    for i, j in _free_joints(tree):
        R = from_quaternion(states.q[k, i : i + 4])
        out[j : j + 6] = np.concatenate([tau[j + 3 : j + 6], R.T @ tau[j : j + 3]])
    return out


def mujoco_axes(tree: Tree, q: np.ndarray) -> np.ndarray:
    """T (nv, nv) with v_mujoco = T v_ours at our q; so M_ours = Tᵀ M_mujoco T."""
    T = np.eye(tree.nv)
    for i, j in _free_joints(tree):
        T[j : j + 6, j : j + 6] = 0.0
        T[j : j + 3, j + 3 : j + 6], T[j + 3 : j + 6, j : j + 3] = from_quaternion(q[i : i + 4]), np.eye(3)
    return T
