"""Slow forward kinematics from the System's own words, the oracle's counterpart in tests of readers."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from limberjack.engine.model.system import Hinge, Pose, System


def hinge_pose(hinge: Hinge, q: np.ndarray) -> Pose:
    """Pose of O in O+ for the hinge types of URDF and MJCF."""
    if hinge.type == "revolute":
        return Pose(Rotation.from_rotvec(q[0] * hinge.axes[0]).as_matrix(), np.zeros(3))
    if hinge.type == "prismatic":
        return Pose(np.eye(3), q[0] * hinge.axes[0])
    if hinge.type == "planar":
        normal, x = hinge.axes
        R = Rotation.from_rotvec(q[0] * normal).as_matrix()
        return Pose(R, q[1] * x + q[2] * np.cross(normal, x))
    if hinge.type in ("spherical", "free"):
        R = Rotation.from_quat(q[:4], scalar_first=True).as_matrix()
        return Pose(R, q[4:] if len(q) == 7 else np.zeros(3))
    assert hinge.type == "fixed"
    return Pose()


def body_poses(system: System, q: dict[str, np.ndarray]) -> dict[str, Pose]:
    """Pose of every body in the inertial frame; ``q`` by hinge name."""
    poses: dict[str, Pose] = {}
    for body in system.bodies:
        hinge = body.hinge
        base = Pose() if hinge.parent is None else poses[hinge.parent]
        moved = hinge_pose(hinge, q.get(hinge.name, np.zeros(0)))
        poses[body.name] = base @ hinge.inboard @ moved @ hinge.outboard.inverse()
    return poses
