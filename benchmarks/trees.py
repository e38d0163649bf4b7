"""One description of a tree that every peer of the benchmarks is built from, so that all solve the same problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limberjack.engine.system.system import Body, Pose, System


@dataclass(frozen=True, eq=False)
class Link:
    """A moving body with everything fixed to it folded in.

    parent : index of the parent link, -1 for the inertial frame
    kind : "revolute", "prismatic" or "free"; axis : unit axis in the joint frame (3,)
    pose : the joint frame in the parent link's frame
    mass (kg), com (3,) (m), about_com (3, 3) (kg·m²) : in the joint frame; armature : kg·m² or kg
    """

    name: str
    parent: int
    kind: str
    axis: np.ndarray
    pose: Pose
    mass: float
    com: np.ndarray
    about_com: np.ndarray
    armature: float


@dataclass(frozen=True, eq=False)
class Tree:
    """Links depth first, in the order of the System's moving bodies; gravity (3,), m/s²."""

    name: str
    links: tuple[Link, ...]
    gravity: np.ndarray

    @property
    def free(self) -> bool:
        """Whether the first link floats."""
        return self.links[0].kind == "free"

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return len(self.links) + 5 * self.free

    @property
    def nq(self) -> int:
        """Number of coordinates: a free joint has a quaternion."""
        return len(self.links) + 6 * self.free


def tree_of(system: System) -> Tree:
    """The Tree of a validated System of revolute, prismatic and fixed hinges and at most a free first body.

    Raises ValueError for other hinges: the peers do not have them all.
    """
    placed: dict[str | None, tuple[int, Pose]] = {None: (-1, Pose())}
    moving: list[tuple[Body, int, Pose]] = []
    parts: list[list[tuple[Body, Pose]]] = []
    for body in system.bodies:
        hinge = body.hinge
        parent, parent_pose = placed[hinge.parent]
        joint = parent_pose @ hinge.inboard
        if hinge.type == "fixed":
            placed[body.name] = parent, joint @ hinge.outboard.inverse()
        else:
            _check(body, first=not moving)
            moving.append((body, parent, joint))
            parts.append([])
            placed[body.name] = len(moving) - 1, hinge.outboard.inverse()
        row, pose = placed[body.name]
        if row >= 0:
            parts[row].append((body, pose))
    links = tuple(_link(*entry, folded) for entry, folded in zip(moving, parts, strict=True))
    return Tree(system.name, links, np.array(system.gravity))


def _check(body: Body, first: bool) -> None:
    hinge = body.hinge
    if hinge.type not in ("revolute", "prismatic", "free"):
        raise ValueError(f"the benchmarks' peers have no {hinge.type} hinge ('{hinge.name}')")
    if hinge.type == "free" and not (first and hinge.parent is None):
        raise ValueError(f"free hinge '{hinge.name}': the benchmarks know one only at the first body")


def _link(body: Body, parent: int, joint: Pose, parts: list[tuple[Body, Pose]]) -> Link:
    """Fold the mass properties of all parts (body, its pose in the joint frame) into one."""
    hinge = body.hinge
    mass = sum(part.inertia.mass for part, _ in parts)
    coms = [pose.position + pose.rotation @ part.inertia.com for part, pose in parts]
    moment = sum((part.inertia.mass * c for (part, _), c in zip(parts, coms, strict=True)), np.zeros(3))
    com = moment / mass if mass else np.zeros(3)
    about_com = np.zeros((3, 3))
    for (part, pose), c in zip(parts, coms, strict=True):
        d = c - com
        about_com += pose.rotation @ part.inertia.about_com @ pose.rotation.T
        about_com += part.inertia.mass * ((d @ d) * np.eye(3) - np.outer(d, d))
    axis = np.zeros(3) if hinge.type == "free" else np.array(hinge.axes[0])
    armature = 0.0 if hinge.type == "free" else hinge.dofs[0].armature
    return Link(hinge.name, parent, hinge.type, axis, joint, mass, com, about_com, armature)


def pinocchio_kind(link: Link) -> str:
    """The joint Pinocchio's own readers would choose: RX … PZ when the axis is a coordinate axis, else unaligned."""
    if link.kind == "free":
        return "FF"
    letter = link.kind[0].upper()
    aligned = np.flatnonzero(link.axis == 1.0)
    return letter + ("XYZ"[aligned[0]] if aligned.size else "U")


def pinocchio_text(tree: Tree) -> str:
    """The text that pinocchio_peer.cpp reads: count, gravity, then a line a link."""
    lines = [str(len(tree.links)), _numbers(tree.gravity)]
    for link in tree.links:
        place = _numbers(link.axis, link.pose.rotation, link.pose.position)
        inertia = _numbers(link.mass, link.com, link.about_com, link.armature)
        lines.append(f"{link.parent} {pinocchio_kind(link)} {place} {inertia}")
    return "\n".join(lines) + "\n"


def _numbers(*arrays: object) -> str:
    return " ".join(repr(float(x)) for array in arrays for x in np.asarray(array, dtype=float).ravel())
