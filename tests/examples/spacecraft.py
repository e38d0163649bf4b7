"""The example models of flexible spacecraft, and what their tests make of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import limberjack as lj
from limberjack.engine.model.system import Dof, Hinge
from tests.examples.models import FOLDER

SPACECRAFT = ("cassini", "solar_satellite", "long_arm")
DESCRIPTIONS = ("cassini_bus", "magnetometer_boom", "wire_antenna", "solar_wing", "arm_boom")


def load(name: str) -> lj.System:
    """An example by name."""
    return lj.load(FOLDER / f"{name}.yaml")


def matrices(system: lj.System) -> tuple[np.ndarray, np.ndarray]:
    """M (nv, nv) at the start, and the diagonal of K (nv,): springs, modes and servos."""
    K = np.array([dof.stiffness for body in system.bodies for dof in body.hinge.dofs])
    for actuator in system.actuators:
        K[system.velocity_names.index(actuator.coordinate)] += actuator.kp
    return lj.Dynamics(system).mass_matrix(system.q0), K


def frequencies(system: lj.System) -> tuple[np.ndarray, np.ndarray]:
    """ω (nv,) ascending, rad/s, and mass-normalised shapes (nv, nv) of K φ = ω² M φ, by a dense eigensolver."""
    M, K = matrices(system)
    L = np.linalg.inv(np.linalg.cholesky(M))
    squares, vectors = np.linalg.eigh(L @ np.diag(K) @ L.T)
    return np.sqrt(np.maximum(squares, 0.0)), L.T @ vectors


def without_losses(system: lj.System) -> lj.System:
    """The same without drives, dampers and friction, and with the drives' stiffness as springs."""
    K = matrices(system)[1]
    bodies, at = [], 0
    for body in system.bodies:
        dofs = tuple(
            Dof(stiffness=float(K[at + i]), rest=rest, armature=dof.armature)
            for i, (dof, rest) in enumerate(zip(body.hinge.dofs, rests(body.hinge)))
        )
        at += len(dofs)
        bodies.append(replace(body, hinge=replace(body.hinge, dofs=dofs)))
    return replace(system, bodies=tuple(bodies), actuators=())


def rests(hinge: Hinge) -> list[float]:
    """Where the springs of a hinge are without load: where it starts; free hinges have none."""
    return [0.0] * hinge.nv if hinge.type == "free" else [float(q) for q in hinge.q0]


def along(system: lj.System, shape: np.ndarray) -> np.ndarray:
    """q (nq,) that a small displacement along the velocities (nv,) leads to from the start."""
    q, at, place = system.q0.copy(), 0, 0
    for body in system.bodies:
        hinge = body.hinge
        size = len(hinge.q0)
        if hinge.type == "free":
            q[place + 1 : place + 4] += 0.5 * shape[at : at + 3]
            q[place + 4 : place + 7] += shape[at + 3 : at + 6]
            q[place : place + 4] /= np.linalg.norm(q[place : place + 4])
        else:
            q[place : place + size] += shape[at : at + size]
        at, place = at + hinge.nv, place + size
    return q
