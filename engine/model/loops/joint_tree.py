"""The tree of hinges that loops close, when a model is built: where its bodies are and how they move, in numpy.

Pose and map of a hinge are those of the kernels, run by the interpreter; coordinates move as `manifold.py` has it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from limberjack.engine.algebra import rotation_vectors
from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.compile.interpreted import interpreted
from limberjack.engine.kernels.nodes import hinges
from limberjack.engine.model.frames import Frames, Link, about_z, skew
from limberjack.engine.model.system import Pose
from limberjack.engine.modes.modal import Attachment
from limberjack.engine.tables.hinge_types import ATTACHED, MODAL, REVOLUTE
from limberjack.engine.tables.plant import B_X, BODY, G_H, KIND, NV, TOPO

_pose, _map = interpreted(hinges.hinge_pose), interpreted(hinges.hinge_map)
_has_changing_map = interpreted(hinges.has_changing_map)
_coefficients = interpreted(rotation_vectors.exponential_coefficients)
_exponential, _right_jacobian = map(interpreted, (rotation_vectors.exponential, rotation_vectors.right_jacobian))


class _Hinge(NamedTuple):
    """A Plant of one hinge, as far as the kernels of its kinematics look: coordinates and velocities begin at 0."""

    topo: list[list[int]]
    body: list[list[float]]
    maps: np.ndarray


class _Angles(NamedTuple):
    """Work of one hinge: cosines and sines of its coordinates."""

    cosine: list[float]
    sine: list[float]


@dataclass(frozen=True, eq=False)
class Joint:
    """The inboard hinge of body k: type, kinematics, where its coordinates and velocities begin.

    spin : turn about z behind a z-turning hinge (`Link.spin`), None of others
    map : H* (6, nv) where it is constant, None where it depends on the coordinates
    quasi : its velocities are not the rates of its coordinates, of which the first four are a quaternion
    attachment : of an attachment node of a modal body, whose coordinates begin at `bent`
    """

    body: int
    parent: int
    code: int
    hinge: _Hinge
    plus: Pose
    spin: np.ndarray | None
    map: np.ndarray | None
    qi: int
    vi: int
    nv: int
    nq: int
    quasi: bool
    attachment: Attachment | None = None
    bent: int = 0


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

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Coordinates (nq,) after the motion `step` (nv,): velocities for a unit of time."""
        q = q.copy()
        for joint in self.joints:
            if joint.nv:
                move(joint, q, step[joint.vi : joint.vi + joint.nv])
        return q

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
    spin = about_z(link.spin) if link.code == REVOLUTE else None
    table = _table(link.code, hinge.parameter, hinge.nv, hinge.map)
    map_ = None if _has_changing_map(link.code) else _map_at(table, _angles([0.0] * 7))
    frame = link.code, table, link.plus, spin, map_
    bent = before[link.parent - 1].qi if link.code == ATTACHED else 0
    sizes = hinge.nv, hinge.kind.nq, hinge.kind.quasi
    return Joint(k, link.parent, *frame, q, v, *sizes, hinge.attachment, bent)


def _table(code: int, x: float, nv: int, map_: np.ndarray | None) -> _Hinge:
    topo, body = [0] * TOPO, [0.0] * BODY
    topo[KIND], topo[NV], body[B_X] = code, nv, x
    return _Hinge([topo], [body], np.zeros((1, 0)) if map_ is None else np.asarray(map_, dtype=float).T.reshape(1, -1))


def _angles(q: Sequence[float]) -> _Angles:
    return _Angles([*map(math.cos, q), 1.0], [*map(math.sin, q), 0.0])


def _map_at(hinge: _Hinge, angles: _Angles) -> np.ndarray:
    """H* (6, nv) in axes of O, before the frame is spun about z; of modes, which do not move their frame, 0."""
    nv = hinge.topo[0][NV]
    g = [0.0] * (G_H + 6 * nv)
    if hinge.topo[0][KIND] != MODAL:
        _map(hinge, angles, 0, [0.0] * 3, g)
    return np.reshape(g[G_H:], (nv, 6)).T.copy()


def _across(joint: Joint, q: list[float]) -> tuple[Pose, np.ndarray]:
    """Pose of O in O+ at the hinge's coordinates, and H*."""
    if joint.code == MODAL:
        assert joint.map is not None
        return Pose(), joint.map
    angles = _angles(q)
    R, p = _pose(joint.code, joint.hinge.body[0][B_X], angles, q, 0)
    H = _map_at(joint.hinge, angles) if joint.map is None else joint.map
    return Pose(np.reshape(R, (3, 3)), np.array(p)), H


def place(joint: Joint, parent: Pose, q: np.ndarray) -> tuple[Pose, np.ndarray, np.ndarray]:
    """Pose of a body, and its hinge's axes: angular and linear velocity (3, nv) of its origin a unit of velocity.

    All in the axes and from the origin that the parent's pose is given in; q are all coordinates of the model.
    """
    if joint.attachment is not None:
        return _place_attached(joint.attachment, parent @ joint.plus, q[joint.bent :])
    own = q[joint.qi : joint.qi + joint.nq].tolist()
    if joint.quasi:
        own[:4] = (q[joint.qi : joint.qi + 4] / np.linalg.norm(q[joint.qi : joint.qi + 4])).tolist()
    across, H = _across(joint, own)
    pose = parent @ joint.plus @ across
    w, u = pose.rotation @ H[:3], pose.rotation @ H[3:]
    if joint.spin is not None:
        pose = Pose(pose.rotation @ joint.spin, pose.position)
    return pose, w, u


def _place_attached(node: Attachment, body: Pose, q: np.ndarray) -> tuple[Pose, np.ndarray, np.ndarray]:
    """`place` for an attachment node: p = p0 + Pt η + ½ η* G η, R = Exp(Pr η) R0; a unit of velocity is one of η."""
    eta = q[: node.Pr.shape[1]]
    theta, slope = node.Pr @ eta, node.Pt + node.G @ eta
    a, b = _coefficients(float(theta @ theta))[:2]
    R, J = (np.reshape(of(theta.tolist(), a, b), (3, 3)) for of in (_exponential, _right_jacobian))
    pose = Pose(R @ node.R0, node.p0 + 0.5 * (node.Pt + slope) @ eta)
    return body @ pose, body.rotation @ (J.T @ node.Pr), body.rotation @ slope


def _half_turned(s: np.ndarray) -> np.ndarray:
    """Unit quaternion of the rotation vector s."""
    angle = float(np.linalg.norm(s))
    half = 0.5 * np.sinc(0.5 * angle / math.pi)
    return np.array([math.cos(0.5 * angle), *(half * s)])


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    w, u = a[0], a[1:]
    return np.array([w * b[0] - u @ b[1:], *(w * b[1:] + b[0] * u + skew(u) @ b[1:])])


def move(joint: Joint, q: np.ndarray, step: np.ndarray) -> None:
    """Move the hinge's coordinates in q by the motion `step` (nv,): its velocities for a unit of time."""
    if not joint.quasi:
        q[joint.qi : joint.qi + joint.nq] += step
        return
    assert joint.map is not None
    i, motion = joint.qi, joint.map @ step
    R, turned = from_quaternion(q[i : i + 4]), _product(q[i : i + 4], _half_turned(motion[:3]))
    q[i : i + 4] = turned / np.linalg.norm(turned)
    if joint.nq > 4:
        q[i + 4 : i + 7] += R @ motion[3:]
