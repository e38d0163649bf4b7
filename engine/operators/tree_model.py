"""Joint map, kernel operator, inertias, velocity terms of a tree of bodies: the triple (H, E_phi, M) of the papers."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.system import Body, Pose, System
from limberjack.engine.operators.blocks import BlockOperator, PropagationOperator
from limberjack.engine.operators.flexible import ModalInertia, NodeMotion, modal_motion, node_motion, rows_of
from limberjack.engine.operators.graph import Space, SubGraph
from limberjack.engine.operators.hinge_motion import HingeMotion, displaced, hinge_motion
from limberjack.engine.operators.spatial import force_cross, motion_cross, phi, spatial_inertia
from limberjack.engine.operators.vectors import StackedVector


class TreeModel:
    """The tree of a sub-graph's bodies at one state, each body a node; loops are open.

    q : coordinates (nq,) of the whole system; v : its velocities (nv,), or None
    """

    def __init__(self, graph: SubGraph, q: np.ndarray, v: np.ndarray | None) -> None:
        self.graph, self.q, self.v = graph, q, v
        names = graph.names
        self.body_space = Space(graph, "bodies", names, tuple(rows_of(body.hinge) for body in graph.bodies))
        self.velocity_space = Space(graph, "velocities", names, tuple(body.hinge.nv for body in graph.bodies))

    @property
    def system(self) -> System:
        return self.graph.system

    # Kinematics

    @cached_property
    def hinge_motions(self) -> tuple[HingeMotion, ...]:
        """Pose, H* and dH* of the hinge of each body of the sub-graph."""
        return tuple(self._all_motions[i] for i in self.graph.places)

    @cached_property
    def inward_poses(self) -> tuple[Pose, ...]:
        """Pose of O_k in the parent's O (in the ground for a body that hangs from it), for each body."""
        return tuple(self._all_inward_poses[i] for i in self.graph.places)

    @cached_property
    def H(self) -> BlockOperator:
        blocks = [motion.H_star.T for motion in self.hinge_motions]
        return BlockOperator.diagonal(self.velocity_space, self.body_space, blocks, "H")

    @cached_property
    def E_phi(self) -> BlockOperator:
        blocks = {(p, k): self._carried(k, p) for k, p in enumerate(self.graph.parents) if p >= 0}
        return BlockOperator(self.body_space, self.body_space, blocks, "E_phi")

    @cached_property
    def phi(self) -> PropagationOperator:
        return PropagationOperator(self.E_phi, "phi")

    @cached_property
    def M(self) -> BlockOperator:
        blocks = [
            self._modal[name].M if name in self._modal else spatial_inertia(body.inertia, body.hinge.outboard)
            for name, body in zip(self.graph.names, self.graph.bodies)
        ]
        return BlockOperator.diagonal(self.body_space, self.body_space, blocks, "M")

    @cached_property
    def J(self) -> BlockOperator:
        """Rotors; what stands there of modes are their masses, which are in M."""
        blocks = [
            np.diag([0.0 if body.hinge.modes else dof.armature for dof in body.hinge.dofs])
            for body in self.graph.bodies
        ]
        return BlockOperator.diagonal(self.velocity_space, self.velocity_space, blocks, "J")

    # Motion

    @cached_property
    def beta(self) -> StackedVector:
        if self.v is None:
            raise ArgumentError("these operators were made without velocities; write Operators(system, q, v).")
        slices = hinge_slices(self.system)
        parts = [self.v[slices[i][1]] for i in self.graph.places]
        return StackedVector(self.velocity_space, np.concatenate([np.zeros(0), *parts]), "beta")

    @property
    def all_velocities(self) -> np.ndarray:
        """The velocities in the places of the system's (nv,), zero outside the sub-graph."""
        return system_velocities(self.beta)

    @cached_property
    def V(self) -> StackedVector:
        return StackedVector(self.body_space, self.phi.T * self.H.T * self.beta, "V")

    @cached_property
    def a(self) -> StackedVector:
        parts = []
        for k, (name, motion) in enumerate(zip(self.graph.names, self.hinge_motions)):
            across, rate = self._across(k, motion)
            seen = motion_cross(self.V[name][-6:]) @ across + rate
            parts.append(np.concatenate([np.zeros(self.body_space.sizes[k] - 6), seen]))
        return self._stacked(parts, "a")

    @cached_property
    def b(self) -> StackedVector:
        parts = [
            self._modal[name].bias(self.V[name])
            if name in self._modal
            else force_cross(self.V[name]) @ self.M[name] @ self.V[name]
            for name in self.graph.names
        ]
        return self._stacked(parts, "b")

    @cached_property
    def g(self) -> StackedVector:
        parts = [np.zeros(size) for size in self.body_space.sizes]
        for k, parent in enumerate(self.graph.parents):
            if parent < 0:
                R = self._inertial_poses[self.graph.places[k]].rotation
                parts[k] = np.concatenate([parts[k][:-3], -R.T @ self.system.gravity])
        return self._stacked(parts, "g")

    @cached_property
    def c(self) -> StackedVector:
        return StackedVector(self.velocity_space, np.zeros(self.velocity_space.size), "c")

    # Frames

    def gathered(self, operator: BlockOperator) -> BlockOperator:
        """An operator from bodies to something else over the nodes of this model: itself."""
        return operator

    def B(self, space: Space, frames: list[tuple[int, Pose]], name: str) -> BlockOperator:
        """Pick-off, bodies × frames: of each frame its body's place (-1: stands still) and its pose in O_k."""
        blocks = {(k, column): self._over_modes(k, phi(pose)) for column, (k, pose) in enumerate(frames) if k >= 0}
        return BlockOperator(self.body_space, space, blocks, name)

    def frame(self, body: str, pose: Pose) -> tuple[int, Pose]:
        """Place of a body and the pose in its O_k of a frame at `pose` in the body's own frame."""
        k = self.body_space.place(body)
        return k, self.graph.bodies[k].hinge.outboard.inverse() @ pose

    def inertial_pose(self, body: str | None, pose: Pose) -> Pose:
        """In the inertial frame, of a frame at `pose` in any body of the system (None: the ground)."""
        if body is None:
            return pose
        i = self.system.body_names.index(body)
        return self._inertial_poses[i] @ self.system.bodies[i].hinge.outboard.inverse() @ pose

    # Parts

    @cached_property
    def _all_motions(self) -> tuple[HingeMotion, ...]:
        slices = hinge_slices(self.system)
        return tuple(self._link_motion(body, self.q[own]) for body, (own, _) in zip(self.system.bodies, slices))

    def _link_motion(self, body: Body, q: np.ndarray) -> HingeMotion:
        if body.hinge.modes is not None:
            return modal_motion(len(q))
        if body.hinge.attachment is not None:
            return HingeMotion(self._nodes[body.name].pose, np.zeros((6, 0)), np.zeros((0, 6, 0)))
        return hinge_motion(body.hinge, q)

    # Modal bodies

    @cached_property
    def _eta(self) -> dict[str, np.ndarray]:
        """Modal coordinates by modal link."""
        slices = zip(self.system.bodies, hinge_slices(self.system))
        return {body.name: self.q[own] for body, (own, _) in slices if body.hinge.modes is not None}

    @cached_property
    def _modal(self) -> dict[str, ModalInertia]:
        """M_m by modal link of the sub-graph."""
        return {
            body.name: ModalInertia(
                body.hinge.modes, np.array([dof.armature for dof in body.hinge.dofs]), self._eta[body.name]
            )
            for body in self.graph.bodies
            if body.hinge.modes is not None
        }

    @cached_property
    def _nodes(self) -> dict[str, NodeMotion]:
        """Motions of the attachment nodes of the system, by link."""
        hinges = {body.name: body.hinge for body in self.system.bodies if body.hinge.attachment is not None}
        return {
            name: node_motion(hinge.attachment, self._eta[hinge.parent or ""])
            for name, hinge in hinges.items()
            if hinge.attachment is not None
        }

    def _carried(self, k: int, parent: int) -> np.ndarray:
        """Block of E_phi: φ; above it Π* of an attachment node, left of it nothing for the modal rates. (14), (17)"""
        block = phi(self.inward_poses[k])
        if self.graph.names[k] in self._nodes:
            return np.vstack([self._nodes[self.graph.names[k]].Pi.T, block])
        left = np.zeros((6, self.body_space.sizes[k] - 6))
        return self._over_modes(parent, np.hstack([left, block]))

    def _over_modes(self, k: int, block: np.ndarray) -> np.ndarray:
        """Six rows under the modes of link k, which they do not move."""
        return np.vstack([np.zeros((self.body_space.sizes[k] - 6, block.shape[1])), block])

    def _across(self, k: int, motion: HingeMotion) -> tuple[np.ndarray, np.ndarray]:
        """Velocity of link k against what carries it, and its rate at constant velocities but for V~ (6,)."""
        name, parent = self.graph.names[k], self.graph.parents[k]
        if name in self._modal or (name in self._nodes and parent < 0):
            return np.zeros(6), np.zeros(6)
        node = self._nodes.get(name)
        rates = self.beta[name if node is None else self.graph.names[parent]]
        H_star, dH_star = (motion.H_star, motion.dH_star) if node is None else (node.Pi, node.dPi)
        return H_star @ rates, np.einsum("i,iaj,j->a", rates, dH_star, rates)

    @cached_property
    def _all_inward_poses(self) -> tuple[Pose, ...]:
        outboard = {None: Pose()} | {body.name: body.hinge.outboard for body in self.system.bodies}
        return tuple(
            outboard[body.hinge.parent].inverse() @ body.hinge.inboard @ motion.pose
            for body, motion in zip(self.system.bodies, self._all_motions)
        )

    @cached_property
    def _inertial_poses(self) -> tuple[Pose, ...]:
        """Pose of every O_k of the system in the inertial frame."""
        of_body: dict[str | None, Pose] = {None: Pose()}
        for body, inward in zip(self.system.bodies, self._all_inward_poses):
            of_body[body.name] = of_body[body.hinge.parent] @ inward
        return tuple(of_body[body.name] for body in self.system.bodies)

    def _stacked(self, parts: list[np.ndarray], name: str) -> StackedVector:
        return StackedVector(self.body_space, np.concatenate(parts), name)


def hinge_slices(system: System) -> list[tuple[slice, slice]]:
    """Of each body, its hinge's coordinates and velocities among those of the system."""
    out, i, j = [], 0, 0
    for hinge in (body.hinge for body in system.bodies):
        nq, nv = hinge.kind.nq, hinge.nv
        out.append((slice(i, i + nq), slice(j, j + nv)))
        i, j = i + nq, j + nv
    return out


def system_velocities(of_bodies: StackedVector) -> np.ndarray:
    """Velocities of the hinges of a sub-graph's bodies in the places of the system's (nv,), zero elsewhere."""
    graph = of_bodies.space.graph
    v, slices = np.zeros(graph.system.nv, dtype=np.asarray(of_bodies).dtype), hinge_slices(graph.system)
    for i, name in zip(graph.places, graph.names):
        v[slices[i][1]] = of_bodies[name]
    return v


def moved_coordinates(system: System, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Coordinates (nq,) after a small, possibly complex, motion `step` (nv,) of all hinges, exact to first order."""
    parts = [
        displaced(body.hinge, q[own_q], step[own_v])
        for body, (own_q, own_v) in zip(system.bodies, hinge_slices(system))
    ]
    return np.concatenate([np.zeros(0), *parts])
