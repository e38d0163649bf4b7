"""URDF to System. What maps to what: docs/reference/model-format.md."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from limberjack.engine.algebra.rotations import from_rpy
from limberjack.engine.files.xml_document import Element
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.readers.urdf_mimic import ONE_DOF_JOINTS, Follower, Mimic, read_mimics, started
from limberjack.engine.model.readers.urdf_visuals import read_collisions, read_visuals
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Pose, System

HINGE_OF_JOINT = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}

# Known elements that say nothing about the dynamics of the tree, or nothing that a tree simulation uses.
_IGNORED = {
    "robot": {"material", "transmission", "gazebo", "sensor", "ros2_control", "mujoco", "drake", "group"},
    "link": {"collision", "contact", "self_collision_checking"},
    "joint": {"safety_controller", "calibration", "transmission", "gazebo"},
}
#: kinds of unknown elements that are reported
_MOST_KINDS = 20
_READ = {
    "robot": {"link", "joint"},
    "link": {"inertial", "visual"},
    "joint": {"origin", "parent", "child", "axis", "dynamics", "limit", "mimic"},
}


def read_urdf(root: Element, source: str, mimic: Mimic, contacts: bool = False) -> System:
    """The System of a <robot> element, its root link fixed to the world. Not yet validated.

    contacts : whether collision shapes are read as well
    """
    _refuse_xacro(root)
    links = _by_name(root.all("link"))
    joints = _by_name(root.all("joint"))
    if not links:
        root.fail("the robot has no link", 'Add at least one <link name="…">')
    inboard = _inboard_joints(joints, links)
    roots = [link for name, link in links.items() if name not in inboard]
    if len(roots) > 1:
        named = ", ".join(f"'{link.text('name')}'" for link in roots[:6])
        roots[1].fail(f"several links have no parent joint: {named}", "Join them to one root link")
    followers, mimicking = read_mimics(joints, mimic)
    hinges = _started({name: _hinge(joint) for name, joint in inboard.items()}, followers)
    hinges |= {link.text("name"): _root_hinge(link, joints) for link in roots}
    bodies = [_body(link, hinges[name]) for name, link in links.items()]
    drives = [joint for name, joint in joints.items() if name not in followers]
    shapes, undrawn = read_visuals(root, links.values())
    colliders, unread = read_collisions(links.values()) if contacts else ((), [])
    findings = [*_unknown_elements(root), *mimicking, *_unlimited(joints.values()), *undrawn, *unread]
    return System(
        name=root.attributes.get("name", "").strip() or Path(source).stem,
        bodies=tuple(bodies),
        actuators=tuple(_actuator(joint) for joint in drives if joint.text("type") in ONE_DOF_JOINTS),
        loops=tuple(follower.loop() for follower in followers.values()),
        shapes=(*shapes, *colliders),
        source=source,
        warnings=tuple(findings),
    )


def _refuse_xacro(root: Element) -> None:
    for element in (
        root,
        *root.children,
        *(grandchild for child in root.children for grandchild in child.children),
    ):
        macro = any("${" in value or "$(" in value for value in element.attributes.values())
        if element.tag.startswith("xacro:") or macro:
            element.fail("this is a xacro file that is not expanded", "Expand it first: xacro in.xacro > out.urdf")


def _by_name(elements: Iterable[Element]) -> dict[str, Element]:
    named: dict[str, Element] = {}
    for element in elements:
        name = element.text("name")
        if name in named:
            first = named[name].place
            element.fail(f"the name '{name}' is used twice, first at {first}", f"Rename one {element.tag}")
        named[name] = element
    return named


def _inboard_joints(joints: dict[str, Element], links: dict[str, Element]) -> dict[str, Element]:
    """The joint that carries each link, by link name."""
    inboard: dict[str, Element] = {}
    for joint in joints.values():
        ends = [_link_of(joint, end, links) for end in ("parent", "child")]
        child = ends[1]
        if child in inboard:
            first = inboard[child]
            what = f"link '{child}' is the child of two joints: '{first.text('name')}', '{joint.text('name')}'"
            joint.fail(what, "URDF describes trees; remove one of the joints")
        inboard[child] = joint
    return inboard


def _link_of(joint: Element, end: str, links: dict[str, Element]) -> str:
    element = joint.one(end)
    if element is None:
        joint.fail(f"the joint has no <{end}>", f'Add <{end} link="…"/>')
    name = element.text("link")
    if name not in links:
        joint.fail(f"the {end} link '{name}' does not exist", f'Add <link name="{name}"> or correct the name')
    return name


def _pose(owner: Element) -> Pose:
    origin = owner.one("origin")
    if origin is None:
        return Pose()
    zero = (0.0, 0.0, 0.0)
    return Pose(from_rpy(origin.vector("rpy", zero)), np.array(origin.vector("xyz", zero)))


def _body(link: Element, hinge: Hinge) -> Body:
    inertial = link.one("inertial")
    inertia = Inertia() if inertial is None else _inertia(inertial)
    return Body(link.text("name"), inertia, hinge, where=f"{link.place}, {link.label}")


def _inertia(inertial: Element) -> Inertia:
    mass = inertial.one("mass")
    tensor = inertial.one("inertia")
    if mass is None or tensor is None:
        inertial.fail("<inertial> needs <mass> and <inertia>", "Add the missing element or remove <inertial>")
    pose = _pose(inertial)
    xx, xy, xz, yy, yz, zz = (tensor.number(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if np.any(pose.rotation != np.eye(3)):
        about_com = pose.rotation @ about_com @ pose.rotation.T
        about_com = 0.5 * (about_com + about_com.T)
    return Inertia(mass.number("value"), pose.position, about_com)


def _root_hinge(link: Element, joints: dict[str, Element]) -> Hinge:
    taken = set(joints)
    name = next(n for n in ("root", *(f"root_{i}" for i in range(2, len(taken) + 3))) if n not in taken)
    return Hinge(name, "fixed", None, where=f"{link.place}, {link.label}")


def _hinge(joint: Element) -> Hinge:
    kind = _joint_type(joint)
    parent = joint.one("parent")
    assert parent is not None  # _inboard_joints has checked
    dof = _dof(joint) if kind in ("revolute", "prismatic") else None
    return Hinge(
        name=joint.text("name"),
        type=kind,
        parent=parent.text("link"),
        inboard=_pose(joint),
        axes=_axes(joint, kind),
        dofs=() if dof is None else (dof,),
        q0=np.zeros(0) if dof is None else np.array([_initial_position(dof)]),
        where=f"{joint.place}, {joint.label}",
    )


def _joint_type(joint: Element) -> str:
    name = joint.text("type")
    if name not in HINGE_OF_JOINT:
        joint.fail(f"unknown joint type '{name}'", f"Use one of: {', '.join(HINGE_OF_JOINT)}")
    return HINGE_OF_JOINT[name]


def _axes(joint: Element, kind: str) -> np.ndarray:
    if kind in ("fixed", "free"):
        return np.zeros((0, 3))
    element = joint.one("axis")
    axis = np.array((1.0, 0.0, 0.0) if element is None else element.vector("xyz", (1.0, 0.0, 0.0)))
    if not np.linalg.norm(axis) > 0:
        joint.fail("the axis has zero length", 'Write a direction, e.g. <axis xyz="0 0 1"/>')
    if kind != "planar":
        return axis[None, :]
    normal = axis / np.linalg.norm(axis)
    # URDF leaves the in-plane directions open: the joint's x, or y if the normal is along x, made orthogonal
    start = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    return np.array([normal, start - (start @ normal) * normal])


def _dof(joint: Element) -> Dof:
    """Damping, friction and limits of a 1-dof joint."""
    dynamics, limit = joint.one("dynamics"), joint.one("limit")
    damping = 0.0 if dynamics is None else dynamics.number("damping", 0.0)
    friction = 0.0 if dynamics is None else dynamics.number("friction", 0.0)
    if joint.text("type") == "continuous":
        return Dof(damping=damping, friction=friction)
    if limit is None:
        remedy = 'Add <limit lower="…" upper="…" effort="…" velocity="…"/>, or use type="continuous"'
        joint.fail(f"a {joint.text('type')} joint needs <limit>", remedy)
    lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
    if lower == upper:  # such as <limit effort="…" velocity="…"/>; _unlimited warns the user
        return Dof(damping=damping, friction=friction)
    return Dof(damping=damping, friction=friction, lower=lower, upper=upper)


def _initial_position(dof: Dof) -> float:
    """Zero, or the middle of the range if zero is outside (as joint_state_publisher does)."""
    return 0.0 if dof.lower <= 0.0 <= dof.upper else 0.5 * (dof.lower + dof.upper)


def _started(hinges: dict[str, Hinge], followers: dict[str, Follower]) -> dict[str, Hinge]:
    """The hinges, those that mimic another at the start where it puts them."""
    starts = {hinge.name: float(hinge.q0[0]) for hinge in hinges.values() if len(hinge.q0) == 1}
    found = started(followers, starts)
    return {
        link: replace(hinge, q0=np.array([found[hinge.name]])) if hinge.name in followers else hinge
        for link, hinge in hinges.items()
    }


def _actuator(joint: Element) -> Actuator:
    """The torque actuator of a 1-dof joint, limited to the joint's effort; 0 or none given means no limit."""
    name, limit = joint.text("name"), joint.one("limit")
    effort = math.inf if limit is None else limit.number("effort", math.inf)
    return Actuator(name, name, limit=effort or math.inf, where=f"{joint.place}, {joint.label}")


def _unlimited(joints: Iterable[Element]) -> list[str]:
    """Texts for limits that are written but cannot be meant: effort 0, and lower equal to upper."""
    efforts, ranges = [], []
    for joint in joints:
        limit = joint.one("limit")
        if limit is None or joint.text("type") not in ONE_DOF_JOINTS:
            continue
        if limit.number("effort", math.inf) == 0.0:
            efforts.append(f"'{joint.text('name')}'")
        continuous = joint.text("type") == "continuous"
        if not continuous and limit.number("lower", 0.0) == limit.number("upper", 0.0):
            ranges.append(f"'{joint.text('name')}'")
    effort = "effort limit 0 is read as no limit, for the joints " + ", ".join(efforts)
    equal = "lower limit equal to upper (or none given) is read as no limits, for the joints " + ", ".join(ranges)
    return [effort] * bool(efforts) + [equal] * bool(ranges)


def _unknown_elements(root: Element) -> list[str]:
    """One text a kind of element that is not part of URDF: a misspelt element must not vanish."""
    unknown: dict[str, str] = {}
    for element in (root, *root.all("link"), *root.all("joint")):
        known = _READ[element.tag] | _IGNORED[element.tag]
        for child in element.children:
            if child.tag not in known:
                unknown.setdefault(f"<{child.tag}> in <{element.tag}>", child.place)
    warned = [f"{place}: element {what} is not part of URDF and is ignored" for what, place in unknown.items()]
    more = len(warned) - _MOST_KINDS
    return warned[:_MOST_KINDS] + [f"{more} more kinds of elements are not part of URDF and are ignored"] * (more > 0)
