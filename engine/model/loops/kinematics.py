"""Poses and velocities of the bodies in numpy, for what is decided when a model is built.

The equations are those of `kernels/nodes/hinges.py`, in canonical axes; that module is what runs, this one what plans.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.model.frames import Frames, Link, about_z, hinge_parameter, skew
from limberjack.engine.model.system import Pose
from limberjack.engine.modes.modal import Attachment
from limberjack.engine.tables.hinge_types import (
    ATTACHED,
    CUSTOM,
    CYLINDRICAL,
    FREE,
    GIMBAL,
    HELICAL,
    MODAL,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    ROLLING,
    SPHERICAL,
    UNIVERSAL,
)

_Z = (0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Joint:
    """The inboard hinge of body k: type, parameter, where its coordinates and velocities begin.

    attachment : of an attachment node of a modal body, whose coordinates begin at `bent`
    """

    body: int
    parent: int
    code: int
    x: float
    plus: Pose
    spin: np.ndarray
    map: np.ndarray | None
    qi: int
    vi: int
    nv: int
    nq: int
    quasi: bool
    attachment: Attachment | None = None
    bent: int = 0

    @property
    def turns(self) -> bool:
        """Whether its first four coordinates are a quaternion."""
        return self.code in (SPHERICAL, FREE, CUSTOM)


class Tree:
    """All joints of a model, base to tip; rows count bodies from 1, row 0 is the ground."""

    def __init__(self, frames: Frames) -> None:
        self.joints: list[Joint] = []
        q = v = 0
        for k, link in enumerate(frames.links):
            joint = _joint(k, link, q, v, self.joints)
            self.joints.append(joint)
            q, v = q + joint.nq, v + joint.nv
        self.nq, self.nv = q, v
        self.frames = frames

    @cached_property
    def joint_of_velocity(self) -> list[Joint]:
        """The joint that each velocity belongs to."""
        return [joint for joint in self.joints for _ in range(joint.nv)]

    def path(self, row: int) -> list[int]:
        """Rows of a body and of all that carries it, tip to base, without the ground."""
        rows = []
        while row:  # parents come before their children
            rows.append(row)
            row = self.joints[row - 1].parent
        return rows

    def common(self, rows: list[int]) -> int:
        """The last common body of some bodies: its row, 0 if only the ground carries all."""
        shared = set(self.path(rows[0])).intersection(*(self.path(row) for row in rows[1:]))
        return max(shared, default=0)

    def chain(self, row: int, end: int) -> list[int]:
        """Rows from a body down to `end`, exclusive."""
        path = self.path(row)
        return path[: path.index(end)] if end else path


def _joint(k: int, link: Link, q: int, v: int, before: list[Joint]) -> Joint:
    hinge = link.body.hinge
    map_ = None if hinge.map is None else np.asarray(hinge.map, dtype=float)
    sizes = q, v, hinge.nv, hinge.kind.nq
    frame = link.code, hinge_parameter(hinge), link.plus, about_z(link.spin), map_
    bent = before[link.parent - 1].qi if link.code == ATTACHED else 0
    return Joint(k, link.parent, *frame, *sizes, hinge.kind.quasi, hinge.attachment, bent)


def _about_y(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def _about_x(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def hinge_pose(code: int, x: float, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R from O to O+ and p of O in O+, m, for a hinge's coordinates q."""
    p = np.zeros(3)
    if code in (SPHERICAL, FREE, CUSTOM):
        return from_quaternion(q[:4]), p if code == SPHERICAL else np.array(q[4:7])
    if code in (UNIVERSAL, GIMBAL):
        R = about_z(q[0]) @ _about_y(q[1])
        return (R @ _about_x(x * q[2]) if code == GIMBAL else R), p
    if code == PRISMATIC:
        p[2] = q[0]
        return np.eye(3), p
    if not len(q) or code == MODAL:
        return np.eye(3), p
    if code == HELICAL:
        p[2] = x * q[0]
    elif code == CYLINDRICAL:
        p[2] = q[1]
    elif code == PLANAR:
        p[:2] = q[1:3]
    elif code == ROLLING:
        p[0] = -x * q[0]
    return about_z(q[0]), p


def hinge_map(joint: Joint, q: np.ndarray) -> np.ndarray:
    """H* (6, nv) in axes of O, before the body's frame is spun about z."""
    code, x, H = joint.code, joint.x, np.zeros((6, joint.nv))
    if joint.map is not None:
        return joint.map
    if code in (SPHERICAL, FREE):
        return np.eye(6)[:, : joint.nv]
    if code == UNIVERSAL:
        H[:3, 0], H[1, 1] = _about_y(q[1]).T @ _Z, 1.0
    elif code == GIMBAL:
        Rx = _about_x(x * q[2]).T
        H[:3, 0], H[:3, 1], H[0, 2] = Rx @ (_about_y(q[1]).T @ _Z), Rx[:, 1], x
    elif code == PRISMATIC:
        H[5, 0] = 1.0
    elif joint.nv and code != MODAL:
        H[2, 0] = 1.0
        back = about_z(q[0]).T
        if code == HELICAL:
            H[5, 0] = x
        elif code == CYLINDRICAL:
            H[5, 1] = 1.0
        elif code == PLANAR:
            H[3:, 1], H[3:, 2] = back[:, 0], back[:, 1]
        elif code == ROLLING:
            H[3:, 0] = -x * back[:, 0]
    return H


def place(joint: Joint, parent: Pose, q: np.ndarray) -> tuple[Pose, np.ndarray, np.ndarray]:
    """Pose of a body, and its hinge's axes: angular and linear velocity (3, nv) of its origin a unit of velocity.

    All in the axes and from the origin that the parent's pose is given in; q are all coordinates of the model.
    """
    if joint.attachment is not None:
        return _place_attached(joint.attachment, parent @ joint.plus, q[joint.bent :])
    own = q[joint.qi : joint.qi + joint.nq]
    R, p = hinge_pose(joint.code, joint.x, own)
    pose = parent @ joint.plus @ Pose(R, p)
    H = hinge_map(joint, own)
    w, u = pose.rotation @ H[:3], pose.rotation @ H[3:]
    if joint.code == REVOLUTE:
        pose = Pose(pose.rotation @ joint.spin, pose.position)
    return pose, w, u


def _place_attached(node: Attachment, body: Pose, q: np.ndarray) -> tuple[Pose, np.ndarray, np.ndarray]:
    """`place` for an attachment node: p = p0 + Pt η + ½ η* G η, R = Exp(Pr η) R0; a unit of velocity is one of η."""
    eta = q[: node.Pr.shape[1]]
    theta, slope = node.Pr @ eta, node.Pt + node.G @ eta
    pose = Pose(from_quaternion(_exponential(theta)) @ node.R0, node.p0 + 0.5 * (node.Pt + slope) @ eta)
    return body @ pose, body.rotation @ (_left_jacobian(theta) @ node.Pr), body.rotation @ slope


def _left_jacobian(t: np.ndarray) -> np.ndarray:
    """J_l(θ) = 1 + a θ~ + b θ~ θ~: what turns dθ/dt into the angular velocity of Exp(θ)."""
    x = float(t @ t)
    angle = math.sqrt(x)
    a = 0.5 - x / 24.0 + x * x / 720.0 if x < 1e-2 else (1.0 - math.cos(angle)) / x
    b = 1.0 / 6.0 - x / 120.0 + x * x / 5040.0 if x < 1e-2 else (angle - math.sin(angle)) / (x * angle)
    tilde = skew(t)
    return np.asarray(np.eye(3) + a * tilde + b * tilde @ tilde)


def _exponential(s: np.ndarray) -> np.ndarray:
    """Unit quaternion of the rotation vector s."""
    angle = float(np.linalg.norm(s))
    half = 0.5 * np.sinc(0.5 * angle / math.pi)
    return np.array([math.cos(0.5 * angle), *(half * s)])


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    w, u = a[0], a[1:]
    return np.array([w * b[0] - u @ b[1:], *(w * b[1:] + b[0] * u + skew(u) @ b[1:])])


def move(joint: Joint, q: np.ndarray, step: np.ndarray) -> None:
    """Move the hinge's coordinates in q by the motion `step` (nv,): its velocities for a unit of time."""
    if joint.turns:
        motion = joint.map @ step if joint.map is not None else np.array([*step, *np.zeros(6 - joint.nv)])
        i = joint.qi
        R = from_quaternion(q[i : i + 4])
        turned = _product(q[i : i + 4], _exponential(motion[:3]))
        q[i : i + 4] = turned / np.linalg.norm(turned)
        if joint.code != SPHERICAL:
            q[i + 4 : i + 7] += R @ motion[3:]
    else:
        q[joint.qi : joint.qi + joint.nq] += step
