"""From the user's frames to the engine's: canonical hinge axes, merged fixed hinges, inertias in place."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from limberjack.engine.algebra.ranks import first_smallest
from limberjack.engine.model.system import Body, Hinge, Inertia, Pose, System
from limberjack.engine.tables.hinge_types import REVOLUTE


def skew(a: np.ndarray) -> np.ndarray:
    """a~, the matrix of a ×."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def rotation_to_z(axis: np.ndarray) -> np.ndarray:
    """A rotation whose third column is the unit vector `axis`; the identity for z."""
    z = axis / np.linalg.norm(axis)
    if z[2] > 1.0 - 1e-15:
        return np.eye(3)
    helper = np.eye(3)[first_smallest(np.abs(z))]
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def canonical_rotation(hinge: Hinge) -> np.ndarray:
    """R_OC: the engine's axes C in the user's hinge axes O, as `engine/kernels/nodes/hinges.py` wants them."""
    if not len(hinge.axes):
        return np.eye(3)
    z = hinge.axes[0]
    if len(hinge.axes) == 1:
        return rotation_to_z(z)
    second, along = hinge.axes[1], hinge.kind.directions[1][0]
    if along == "y":
        return np.column_stack([np.cross(second, z), second, z])
    x = -second if along == "-x" else second
    return np.column_stack([x, np.cross(z, x), z])


@dataclass
class Part:
    """One of the user's bodies with mass: its name, and its mass properties in a link's frame and about its origin."""

    name: str
    mass: float
    moment: np.ndarray
    inertia: np.ndarray


@dataclass
class Link:
    """One moving body as the engine counts it: an unmerged user body with all that is fixed to it.

    parent : row of the parent link (0 the ground); plus : pose of O+ in the parent link's frame, canonical axes;
    canonical : R_OC of its hinge; parts : the user bodies with mass that move with it;
    spin : angle by which `align` turned the link's frame about its z axis
    """

    body: Body
    parent: int
    plus: Pose
    canonical: np.ndarray
    spin: float = 0.0
    parts: list[Part] = field(default_factory=list)
    aligned: bool = False

    @property
    def code(self) -> int:
        """Hinge type code."""
        return self.body.hinge.kind.code

    def absorb(self, name: str, part: Inertia, pose: Pose) -> None:
        """Add the mass properties of a user body whose frame sits at `pose` in this link's frame."""
        if part.mass > 0.0 or part.about_com.any():
            c = pose.position + pose.rotation @ part.com
            about_origin = pose.rotation @ part.about_com @ pose.rotation.T - part.mass * skew(c) @ skew(c)
            self.parts.append(Part(name, part.mass, part.mass * c, about_origin))


@dataclass
class Frames:
    """Where every user frame is: body name → (link row, pose in that link's frame); row 0 is the ground."""

    links: list[Link]
    of_body: dict[str | None, tuple[int, Pose]]


def assemble(system: System) -> Frames:
    """Merge fixed hinges, turn hinge axes to the canonical ones, and place every body's frame."""
    links: list[Link] = []
    of_body: dict[str | None, tuple[int, Pose]] = {None: (0, Pose())}
    for body in system.bodies:
        hinge = body.hinge
        row, parent_pose = of_body[hinge.parent]
        if hinge.type == "fixed" and hinge.merge:
            of_body[body.name] = row, parent_pose @ hinge.inboard @ hinge.outboard.inverse()
        else:
            A = Pose(rotation=canonical_rotation(hinge))
            links.append(Link(body, row, parent_pose @ hinge.inboard @ A, A.rotation))
            of_body[body.name] = len(links), A.inverse() @ hinge.outboard.inverse()
        row, pose = of_body[body.name]
        if row:
            links[row - 1].absorb(body.name, body.inertia, pose)
    frames = Frames(links, of_body)
    _align(frames)
    return frames


def about_z(angle: float) -> np.ndarray:
    """Rz(angle)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def split_turns(R: np.ndarray) -> tuple[float, float, float]:
    """Angles (turn, tilt, offset) of R = Rz(turn) Rx(tilt) Rz(offset); turn is 0 where the tilt leaves it open."""
    tilted = np.hypot(R[0, 2], R[1, 2])
    turn = float(np.arctan2(R[0, 2], -R[1, 2])) if tilted > 1e-14 else 0.0
    tilt = float(np.arctan2(tilted, R[2, 2]))
    row = about_z(-turn)[:2] @ R  # Rx(tilt) Rz(offset) has the first row (cos, -sin, 0) of the offset
    return turn, tilt, float(np.arctan2(-row[0, 1], row[0, 0]))


def _align(frames: Frames) -> None:
    """Turn every z-turning link's frame about z so that its first z-turning child needs no turn.

    A z-turning hinge's map and equations do not see this constant rotation; `engine/algebra/turns.py` profits from it.
    """
    links = frames.links
    for link in links:
        parent = links[link.parent - 1] if link.parent else None
        if parent is None or parent.aligned or not (link.code == parent.code == REVOLUTE):
            continue
        parent.spin, parent.aligned = split_turns(link.plus.rotation)[0], True
    spins = [np.eye(3), *(about_z(link.spin) for link in links)]
    for row, link in enumerate(links, start=1):
        back, turned = spins[link.parent].T, spins[row]
        link.plus = Pose(back @ link.plus.rotation, back @ link.plus.position)
        link.canonical = link.canonical @ turned
        for part in link.parts:
            part.moment, part.inertia = turned.T @ part.moment, turned.T @ part.inertia @ turned
    for name, (row, pose) in frames.of_body.items():
        frames.of_body[name] = row, Pose(spins[row].T @ pose.rotation, spins[row].T @ pose.position)
