"""One description of a tree that every peer of the benchmarks is built from, so that all solve the same problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from limberjack.engine.model.system import Body, Loop, Pose, System
from limberjack.engine.tables.hinge_types import HINGE_TYPES

#: hinges that all engines have
KINDS = ("revolute", "prismatic", "universal", "spherical", "free")


@dataclass(frozen=True, eq=False)
class Link:
    """A moving body with everything fixed to it folded in.

    parent : index of the parent link, -1 for the inertial frame
    kind : one of KINDS; axes : unit axes in the joint frame (1 or 2, 3), none of spherical and free joints
    pose : the joint frame in the parent link's frame
    mass (kg), com (3,) (m), about_com (3, 3) (kg·m²) : in the joint frame; armature : kg·m² or kg
    """

    name: str
    parent: int
    kind: str
    axes: np.ndarray
    pose: Pose
    mass: float
    com: np.ndarray
    about_com: np.ndarray
    armature: float


@dataclass(frozen=True, eq=False)
class Join:
    """A closed loop: frame ``frame_a`` of link a and ``frame_b`` of link b (-1: the inertial frame) coincide.

    kind : "point" (their origins only) or "weld"
    """

    kind: str
    a: int
    frame_a: Pose
    b: int
    frame_b: Pose


@dataclass(frozen=True, eq=False)
class Tree:
    """Links depth first, in the order of the System's moving bodies; its loops; gravity (3,), m/s²."""

    name: str
    links: tuple[Link, ...]
    gravity: np.ndarray
    joins: tuple[Join, ...] = ()

    @property
    def free(self) -> bool:
        """Whether the first link floats."""
        return self.links[0].kind == "free"

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return sum(HINGE_TYPES[link.kind].nv for link in self.links)

    @property
    def nq(self) -> int:
        """Number of coordinates: free and spherical joints have a quaternion."""
        return sum(HINGE_TYPES[link.kind].nq for link in self.links)

    def coordinates(self) -> Iterator[tuple[str, int, int]]:
        """Kind, first coordinate and first velocity of every link."""
        i = j = 0
        for link in self.links:
            yield link.kind, i, j
            i, j = i + HINGE_TYPES[link.kind].nq, j + HINGE_TYPES[link.kind].nv


def tree_of(system: System) -> Tree:
    """The Tree of a validated System with hinges of the KINDS, fixed ones and loops that join frames, depth first.

    Raises ValueError for other hinges and loops: the peers do not have them all.
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
            _check(body, parent, [entry[1] for entry in moving])
            moving.append((body, parent, joint))
            parts.append([])
            placed[body.name] = len(moving) - 1, hinge.outboard.inverse()
        row, pose = placed[body.name]
        if row >= 0:
            parts[row].append((body, pose))
    links = tuple(_link(*entry, folded) for entry, folded in zip(moving, parts, strict=True))
    joins = tuple(_join(loop, placed) for loop in system.loops)
    return Tree(system.name, links, np.array(system.gravity), joins)


def _check(body: Body, parent: int, parents: list[int]) -> None:
    """ValueError for a hinge that the peers lack, or a body that does not follow its parent's other descendants."""
    hinge, last = body.hinge, len(parents) - 1
    if hinge.type not in KINDS:
        raise ValueError(f"the benchmarks' peers have no {hinge.type} hinge ('{hinge.name}')")
    while last > parent:  # up from the body before
        last = parents[last]
    if hinge.type == "free" and hinge.parent is not None:
        raise ValueError(f"free hinge '{hinge.name}': the benchmarks know one only on the ground")
    if last != parent:
        raise ValueError(f"body '{body.name}' is not in depth-first order: Pinocchio's results would be wrong")


def _join(loop: Loop, placed: dict[str | None, tuple[int, Pose]]) -> Join:
    """A loop as the peers have it. A revolute hinge closes plane loops here, for which a point says as much."""
    kinds = {"point": "point", "spherical": "point", "revolute": "point", "weld": "weld", "fixed": "weld"}
    kind = kinds.get(loop.hinge.type if loop.hinge is not None and loop.type == "hinge" else loop.type)
    if kind is None or loop.hinge is None:
        raise ValueError(f"the benchmarks' peers have no loop of type {loop.type} ('{loop.name}')")
    (a, pose_a), (b, pose_b) = placed[loop.hinge.parent], placed[loop.body]
    return Join(kind, a, pose_a @ loop.hinge.inboard, b, pose_b @ loop.hinge.outboard)


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
    armature = 0.0 if hinge.type == "free" else hinge.dofs[0].armature
    return Link(hinge.name, parent, hinge.type, np.array(hinge.axes), joint, mass, com, about_com, armature)


def pinocchio_kind(link: Link) -> str:
    """The joint Pinocchio's own readers would choose: RX … PZ when the axis is a coordinate axis, else unaligned."""
    if len(link.axes) != 1:
        return {"free": "FF", "spherical": "SP", "universal": "UN"}[link.kind]
    letter = link.kind[0].upper()
    aligned = np.flatnonzero(link.axes[0] == 1.0)
    return letter + ("XYZ"[aligned[0]] if aligned.size else "U")


def pinocchio_text(tree: Tree) -> str:
    """The text that the peers in C++ read: counts, gravity, then a line a link, then a line a loop."""
    lines = [f"{len(tree.links)} {len(tree.joins)}", _numbers(tree.gravity)]
    for link in tree.links:
        axes = np.zeros((2, 3))
        axes[: len(link.axes)] = link.axes
        place = _numbers(axes, link.pose.rotation, link.pose.position)
        inertia = _numbers(link.mass, link.com, link.about_com, link.armature)
        lines.append(f"{link.parent} {pinocchio_kind(link)} {place} {inertia}")
    for join in tree.joins:
        a, b = (_numbers(pose.rotation, pose.position) for pose in (join.frame_a, join.frame_b))
        lines.append(f"{join.kind} {join.a} {a} {join.b} {b}")
    return "\n".join(lines) + "\n"


def _numbers(*arrays: object) -> str:
    return " ".join(repr(float(x)) for array in arrays for x in np.asarray(array, dtype=float).ravel())
