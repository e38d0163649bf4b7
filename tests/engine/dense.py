"""Slow dense oracle of tree dynamics: poses written down from the System, everything else differentiated from them.

Nothing of the engine's kernels, canonical axes or recursions is used. Poses follow the conventions that
`model/system.py` states for users. Jacobians are exact to rounding by the complex step, (dJ/dt) v by central
differences of eighth order. The equations of motion are Newton's and Euler's for each body about its centre of
mass in the inertial frame, projected with those Jacobians:

    M = Σ m Jv* Jv + Jω* I Jω + diag(armature)
    bias = Σ Jv* m (dJv/dt v - g) + Jω* (I dJω/dt v + ω × I ω)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from limberjack.engine.model.system import Hinge, Pose, System

_COMPLEX_STEP = 1e-30
#: step of the central differences. Truncation is about (_STEP Ω)**8 / 630 of the result for a chain whose rates add up
#: to Ω: 3e-13 at 40 rad/s; rounding is about 1e-16 / _STEP, 1e-13
_STEP = 1.5e-3
_WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}


def skew(a: np.ndarray) -> np.ndarray:
    """The matrix of a ×."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def turn(axis: np.ndarray, angle: complex) -> np.ndarray:
    """Rodrigues: rotation about a unit axis."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def small_turn(w: np.ndarray) -> np.ndarray:
    """A smooth curve of rotations with tangent w (Cayley); exact for complex steps, a valid curve for real ones."""
    K = 0.5 * skew(w)
    return np.linalg.solve(np.eye(3) - K, np.eye(3) + K)


def quaternion_matrix(q: np.ndarray) -> np.ndarray:
    """R of a unit quaternion w x y z: R = I + 2 w u~ + 2 u~ u~."""
    U = skew(q[1:])
    return np.eye(3) + 2 * q[0] * U + 2 * U @ U


def _quasi_pose(hinge: Hinge, q: np.ndarray, moves: tuple[np.ndarray, ...]) -> Pose:
    """Spherical, free and custom hinges: velocities are along the outboard axes, applied one move after the other."""
    R, p = quaternion_matrix(q[:4]), (q[4:] if len(q) == 7 else np.zeros(3))
    for move in moves:
        if hinge.type == "spherical":
            w, u = move, np.zeros(3)
        else:
            w, u = np.split(move if hinge.map is None else hinge.map @ move, 2)
        R, p = R @ small_turn(w), p + R @ u
    return Pose(R, p)


def hinge_pose(hinge: Hinge, q: np.ndarray, moves: tuple[np.ndarray, ...] = ()) -> Pose:
    """Pose of O in O+ at the coordinates q, moved along the velocities by each of `moves` (nv,) in turn."""
    if hinge.kind.quasi:
        return _quasi_pose(hinge, q, moves)
    x = q + sum(moves) if moves else q
    a, zero = hinge.axes, np.zeros(3)
    match hinge.type:
        case "fixed":
            return Pose()
        case "revolute":
            return Pose(turn(a[0], x[0]), zero)
        case "prismatic":
            return Pose(np.eye(3), x[0] * a[0])
        case "helical":
            return Pose(turn(a[0], x[0]), hinge.pitch * x[0] * a[0])
        case "cylindrical":
            return Pose(turn(a[0], x[0]), x[1] * a[0])
        case "universal":
            return Pose(turn(a[0], x[0]) @ turn(a[1], x[1]), zero)
        case "gimbal":
            return Pose(turn(a[0], x[0]) @ turn(a[1], x[1]) @ turn(a[2], x[2]), zero)
        case "planar":
            return Pose(turn(a[0], x[0]), x[1] * a[1] + x[2] * np.cross(a[0], a[1]))
        case "rolling":
            return Pose(turn(a[0], x[0]), hinge.radius * x[0] * a[1])
    raise AssertionError(hinge.type)


@dataclass
class _Motion:
    """Velocity, Jacobian and (dJ/dt) v of one frame: [angular; linear of its origin], inertial axes."""

    pose: Pose
    J: np.ndarray
    Jv: np.ndarray
    Jdot_v: np.ndarray


class Dense:
    """Dynamics of one System at one state (q, v)."""

    def __init__(self, system: System, q: np.ndarray, v: np.ndarray) -> None:
        self.system, self.q, self.v = system, q, v
        frames = [(body.name, body.name, Pose()) for body in system.bodies]
        frames += [(f"com {body.name}", body.name, Pose(position=body.inertia.com)) for body in system.bodies]
        frames += [(f"hinge {body.name}", body.name, body.hinge.outboard) for body in system.bodies]
        frames += [(node.name, node.body, node.pose) for node in system.nodes]
        self.frames = frames
        J = self._jacobians(())
        Jdot_v = sum(
            w / _STEP * (self._jacobians((s * _STEP * v,)) - self._jacobians((-s * _STEP * v,))) @ v
            for s, w in _WEIGHTS.items()
        )
        poses = self._poses(())
        self.motion = {name: _Motion(poses[i], J[i], J[i] @ v, Jdot_v[i]) for i, (name, _, _) in enumerate(frames)}
        self.armature = np.array([d.armature for body in system.bodies for d in body.hinge.dofs])

    def _poses(self, moves: tuple[np.ndarray, ...]) -> list[Pose]:
        of_body: dict[str | None, Pose] = {None: Pose()}
        iq = iv = 0
        for body in self.system.bodies:
            h = body.hinge
            part = tuple(move[iv : iv + h.nv] for move in moves)
            local = hinge_pose(h, self.q[iq : iq + h.kind.nq], part)
            of_body[body.name] = of_body[h.parent] @ h.inboard @ local @ h.outboard.inverse()
            iq, iv = iq + h.kind.nq, iv + h.nv
        return [of_body[body] @ pose for _, body, pose in self.frames]

    def _jacobians(self, moves: tuple[np.ndarray, ...]) -> np.ndarray:
        """J (frames, 6, nv) after the moves, by one complex step a velocity."""
        nv = len(self.v)
        J = np.zeros((len(self.frames), 6, nv))
        for j in range(nv):
            step = np.zeros(nv, dtype=complex)
            step[j] = 1j * _COMPLEX_STEP
            for i, pose in enumerate(self._poses((*moves, step))):
                W = pose.rotation.imag @ pose.rotation.real.T / _COMPLEX_STEP
                J[i, :3, j] = W[2, 1], W[0, 2], W[1, 0]
                J[i, 3:, j] = pose.position.imag / _COMPLEX_STEP
        return J

    def _bodies(self):
        """(body, motion of its centre of mass, rotational inertia about it in inertial axes)."""
        for body in self.system.bodies:
            motion = self.motion[f"com {body.name}"]
            R = motion.pose.rotation
            yield body, motion, R @ body.inertia.about_com @ R.T

    def mass_matrix(self) -> np.ndarray:
        M = np.diag(self.armature)
        for body, motion, I in self._bodies():
            M += body.inertia.mass * motion.J[3:].T @ motion.J[3:] + motion.J[:3].T @ I @ motion.J[:3]
        return M

    def bias(self) -> np.ndarray:
        b = np.zeros(len(self.v))
        for body, motion, I in self._bodies():
            b += motion.J.T @ self._inertial_force(body, motion, I, np.zeros(len(self.v)))
        return b

    def _inertial_force(self, body, motion, I, vdot) -> np.ndarray:
        """[I dω/dt + ω × I ω; m (a - g)] of one body at its centre of mass."""
        acc, w = motion.J @ vdot + motion.Jdot_v, motion.Jv[:3]
        moment = I @ acc[:3] + np.cross(w, I @ w)
        return np.concatenate([moment, body.inertia.mass * (acc[3:] - self.system.gravity)])

    def external(self, wrenches: Mapping[str, np.ndarray]) -> np.ndarray:
        """Generalized forces of [moment; force] at nodes in inertial axes."""
        return sum((self.motion[name].J.T @ w for name, w in wrenches.items()), np.zeros(len(self.v)))

    def forward(self, tau: np.ndarray, wrenches: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.linalg.solve(self.mass_matrix(), tau + self.external(wrenches) - self.bias())

    def inverse(self, vdot: np.ndarray, wrenches: Mapping[str, np.ndarray]) -> np.ndarray:
        return self.mass_matrix() @ vdot + self.bias() - self.external(wrenches)

    def _moving(self):
        """Those of `_bodies` that something moves: not what only fixed hinges join to the ground."""
        still: set[str | None] = {None}
        for body, motion, I in self._bodies():
            if body.hinge.type == "fixed" and body.hinge.parent in still:
                still.add(body.name)
            else:
                yield body, motion, I

    def energy(self) -> tuple[float, float]:
        kinetic, potential = 0.5 * self.v @ (self.armature * self.v), 0.0
        for body, motion, I in self._moving():
            w, u = np.split(motion.Jv, 2)
            kinetic += 0.5 * (body.inertia.mass * u @ u + w @ I @ w)
            potential -= body.inertia.mass * self.system.gravity @ motion.pose.position
        return kinetic, potential

    def momentum(self) -> np.ndarray:
        """[angular; linear] about the inertial origin."""
        total = np.zeros(6)
        for body, motion, I in self._moving():
            p = body.inertia.mass * motion.Jv[3:]
            total += np.concatenate([I @ motion.Jv[:3] + np.cross(motion.pose.position, p), p])
        return total

    def center_of_mass(self) -> np.ndarray:
        moment = sum(b.inertia.mass * m.pose.position for b, m, _ in self._moving())
        return moment / sum(b.inertia.mass for b, _, _ in self._moving())

    def reaction(self, name: str, vdot: np.ndarray, wrenches: Mapping[str, np.ndarray]) -> np.ndarray:
        """Free-body balance of all that hangs on body `name`, at its O, in its outboard hinge axes."""
        parent = {body.name: body.hinge.parent for body in self.system.bodies}
        home = {node.name: node.body for node in self.system.nodes} | {n: n for n in parent}
        frame = self.motion[f"hinge {name}"].pose
        total = np.zeros(6)
        for body, motion, I in self._bodies():
            if self._hangs_on(body.name, name, parent):
                wrench = self._inertial_force(body, motion, I, vdot)
                total += _about(frame.position, motion.pose.position, wrench)
        for node, wrench in wrenches.items():
            if self._hangs_on(home[node], name, parent):
                total -= _about(frame.position, self.motion[node].pose.position, wrench)
        return np.concatenate([frame.rotation.T @ total[:3], frame.rotation.T @ total[3:]])

    @staticmethod
    def _hangs_on(body: str | None, name: str, parent: Mapping[str, str | None]) -> bool:
        while body is not None and body != name:
            body = parent[body]
        return body == name


def _about(point: np.ndarray, place: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """[moment; force] acting at `place`, with the moment taken about `point`."""
    return np.concatenate([wrench[:3] + np.cross(place - point, wrench[3:]), wrench[3:]])
