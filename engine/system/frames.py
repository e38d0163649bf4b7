"""From the user's frames to the engine's: canonical hinge axes, merged fixed hinges, inertias in place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limberjack.engine.system.hinge_types import (
    CYLINDRICAL,
    GIMBAL,
    HELICAL,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    ROLLING,
    UNIVERSAL,
)
from limberjack.engine.system.system import Body, Hinge, Inertia, Pose, System


def skew(a: np.ndarray) -> np.ndarray:
    """a~, the matrix of a ×."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def rotation_to_z(axis: np.ndarray) -> np.ndarray:
    """A rotation whose third column is the unit vector `axis`; the identity for z."""
    z = axis / np.linalg.norm(axis)
    if z[2] > 1.0 - 1e-15:
        return np.eye(3)
    helper = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def canonical_rotation(hinge: Hinge) -> np.ndarray:
    """R_OC: the engine's axes C in the user's hinge axes O, as `engine/hinges.py` wants them."""
    code = hinge.kind.code
    if code in (REVOLUTE, PRISMATIC, HELICAL, CYLINDRICAL):
        return rotation_to_z(hinge.axes[0])
    if code in (UNIVERSAL, GIMBAL):
        z, y = hinge.axes[0], hinge.axes[1]
        return np.column_stack([np.cross(y, z), y, z])
    if code == PLANAR:
        z, x = hinge.axes[0], hinge.axes[1]
        return np.column_stack([x, np.cross(z, x), z])
    if code == ROLLING:
        z, x = hinge.axes[0], -hinge.axes[1]
        return np.column_stack([x, np.cross(z, x), z])
    return np.eye(3)


def hinge_parameter(hinge: Hinge) -> float:
    """The one number that some hinge types need: pitch, radius or handedness of the third gimbal axis."""
    code = hinge.kind.code
    if code == GIMBAL:
        a1, a2, a3 = hinge.axes
        return 1.0 if np.dot(np.cross(a2, a1), a3) > 0.0 else -1.0
    return {HELICAL: hinge.pitch, ROLLING: hinge.radius}.get(code, 0.0)


@dataclass
class Link:
    """One moving body as the engine counts it: an unmerged user body with all that is fixed to it.

    parent : row of the parent link (0 the ground); plus : pose of O+ in the parent link's frame, canonical axes;
    mass, moment (3,), inertia (3, 3) about the link's origin; canonical : R_OC of its hinge
    """

    body: Body
    parent: int
    plus: Pose
    canonical: np.ndarray
    mass: float = 0.0
    moment: np.ndarray = None  # type: ignore[assignment]
    inertia: np.ndarray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self.moment, self.inertia = np.zeros(3), np.zeros((3, 3))

    def absorb(self, part: Inertia, pose: Pose) -> None:
        """Add the mass properties of a user body whose frame sits at `pose` in this link's frame."""
        c = pose.position + pose.rotation @ part.com
        self.mass += part.mass
        self.moment += part.mass * c
        self.inertia += pose.rotation @ part.about_com @ pose.rotation.T - part.mass * skew(c) @ skew(c)


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
            links[row - 1].absorb(body.inertia, pose)
    return Frames(links, of_body)
