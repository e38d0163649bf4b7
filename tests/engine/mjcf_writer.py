"""A System as MJCF text, for the hinges that MuJoCo has: fixed, revolute, prismatic, spherical, and a free root.

The joint sits in the body's frame: anchor at the outboard position, axis turned by the outboard rotation. The body's
pose in the file is the one at q = 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import limberjack as lj
from limberjack.engine.algebra.rotations import to_quaternion
from limberjack.engine.model.system import Body, Inertia, Pose

_JOINT = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}


def _numbers(values) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(values))


def mjcf_name(body: str) -> str:
    """MuJoCo keeps the name "world" for the ground."""
    return "world link" if body == "world" else body


def _pose(pose: Pose) -> str:
    return f'pos="{_numbers(pose.position)}" quat="{_numbers(to_quaternion(pose.rotation))}"'


def _joint(body: Body) -> str:
    hinge = body.hinge
    if hinge.type == "fixed":
        return ""
    if hinge.type == "free":
        return f'<freejoint name="{hinge.name}"/>'
    axis = f'axis="{_numbers(hinge.outboard.rotation @ hinge.axes[0])}"' if len(hinge.axes) else ""
    anchor, armature = _numbers(hinge.outboard.position), _numbers(hinge.dofs[0].armature)
    return f'<joint name="{hinge.name}" type="{_JOINT[hinge.type]}" pos="{anchor}" {axis} armature="{armature}"/>'


def _inertial(inertia: Inertia) -> str:
    if inertia.mass == 0.0:
        return ""
    I = inertia.about_com
    full = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    return f'<inertial pos="{_numbers(inertia.com)}" mass="{inertia.mass!r}" fullinertia="{_numbers(full)}"/>'


def _body(system: lj.System, body: Body) -> str:
    hinge = body.hinge
    sites = [f'<site name="{n.name}" {_pose(n.pose)}/>' for n in system.nodes if n.body == body.name]
    children = [_body(system, child) for child in system.bodies if child.hinge.parent == body.name]
    start = _pose(hinge.inboard @ hinge.outboard.inverse())
    lines = [
        f'<body name="{mjcf_name(body.name)}" {start}>',
        _joint(body),
        _inertial(body.inertia),
        *sites,
        *children,
        "</body>",
    ]
    return "\n".join(lines)


def to_mjcf(system: lj.System) -> str:
    """MJCF with contacts, limits and damping left out. Joints with several velocities share the first's armature."""
    roots = [_body(system, body) for body in system.bodies if body.hinge.parent is None]
    sites = [f'<site name="{n.name}" {_pose(n.pose)}/>' for n in system.nodes if n.body is None]
    return "\n".join(
        [
            f'<mujoco model="{system.name}"><compiler angle="radian"/>',
            f'<option gravity="{_numbers(system.gravity)}"/><worldbody>',
            *sites,
            *roots,
            "</worldbody></mujoco>",
        ]
    )


def physical(system: lj.System) -> lj.System:
    """The same robot with spheres of inertia added where the triangle inequality fails, which MuJoCo refuses."""
    return replace(system, bodies=tuple(replace(b, inertia=_physical(b.inertia)) for b in system.bodies))


def _physical(inertia: Inertia) -> Inertia:
    a, b, c = np.linalg.eigvalsh(inertia.about_com)
    lack = c - a - b
    if inertia.mass == 0.0 or lack < 0.0:
        return inertia
    return replace(inertia, about_com=inertia.about_com + (1.01 * lack + 1e-9) * np.eye(3))
