"""Where bodies are for given coordinates, in the user's own frames: forward kinematics of the tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from limberjack.engine.system.rotations import from_axis_angle, from_quaternion
from limberjack.engine.system.system import Body, Hinge, Pose


def hinge_pose(hinge: Hinge, q: np.ndarray) -> Pose:
    """Pose of the hinge frame on the body (O) in the one on its parent (O+) for coordinates q (nq,).

    `engine/hinges.py` says the same of canonical axes.
    """
    R, p = np.eye(3), np.zeros(3)
    axes = hinge.axes
    if hinge.kind.q[:1] == ("qw",):
        return Pose(from_quaternion(q[:4]), np.array(q[4:]) if len(q) == 7 else p)
    if hinge.type in ("revolute", "helical", "cylindrical", "rolling", "planar"):
        R = from_axis_angle(axes[0], q[0])
    if hinge.type in ("universal", "gimbal"):
        for axis, angle in zip(axes, q):
            R = R @ from_axis_angle(axis, angle)
    slides: dict[str, Callable[[], np.ndarray]] = {
        "prismatic": lambda: q[0] * axes[0],
        "helical": lambda: hinge.pitch * q[0] * axes[0],
        "cylindrical": lambda: q[1] * axes[0],
        "planar": lambda: q[1] * axes[1] + q[2] * np.cross(axes[0], axes[1]),
        "rolling": lambda: hinge.radius * q[0] * axes[1],
    }
    return Pose(R, slides[hinge.type]() if hinge.type in slides else p)


def body_poses(bodies: Sequence[Body], q: np.ndarray) -> dict[str | None, Pose]:
    """Body name → pose of its frame in the inertial frame (which is None), for coordinates q of all bodies in order.

    The bodies are checked and base to tip.
    """
    poses: dict[str | None, Pose] = {None: Pose()}
    start = 0
    for body in bodies:
        hinge = body.hinge
        end = start + hinge.kind.nq
        across = hinge.inboard @ hinge_pose(hinge, q[start:end]) @ hinge.outboard.inverse()
        poses[body.name], start = poses[hinge.parent] @ across, end
    return poses
