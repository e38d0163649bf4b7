"""`Operators`: the spatial operators of a System, or of a connected part of it, at one state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine import arguments
from limberjack.engine.errors import ArgumentError
from limberjack.engine.operators.algebra import Operator
from limberjack.engine.operators.blocks import BlockOperator, Identity, PropagationOperator
from limberjack.engine.operators.compliance import ComplianceOperator
from limberjack.engine.operators.graph import Space, sub_graph
from limberjack.engine.operators.hinge_motion import HingeMotion, hinge_motion
from limberjack.engine.operators.spatial import force_cross, motion_cross, phi, spatial_inertia
from limberjack.engine.operators.vectors import StackedVector
from limberjack.engine.system.system import Pose, System


class Operators:
    """Spatial operators of a tree, named as in the papers; each is made when first asked for.

    system : what to analyse; every body is a node of the tree, also behind a fixed hinge (0 velocities)
    q : coordinates (nq,) of the whole system; complex ones are taken too, for derivatives by complex steps
    v : generalized velocities (nv,) of the whole system; needed by `V`, `a` and `b` only
    bodies : names of a connected part, in any order; it is then analysed as if its base stood still where it is

    Body k's frame is the outboard frame O_k of its hinge, which readers put at the body's own frame; blocks are
    in its axes, spatial vectors [angular; linear]. Blocks are numbered base to tip, so phi is upper triangular.
    The mass matrix is ``H * phi * M * phi.T * H.T + J``; J is reflected rotor inertia, zero in the papers.

    Raises ArgumentError for arrays of the wrong shape and bodies that are not connected, UnknownNameError for names.
    """

    def __init__(
        self, system: System, q: ArrayLike, v: ArrayLike | None = None, *, bodies: Sequence[str] | None = None
    ) -> None:
        self.graph = sub_graph(system, bodies)
        self.q = _coordinates(system, q)
        self._v = None if v is None else arguments.vector("v", v, (system.nv,))
        names = self.graph.names
        self.body_space = Space(self.graph, "bodies", names, (6,) * len(names))
        self.velocity_space = Space(self.graph, "velocities", names, tuple(b.hinge.nv for b in self.graph.bodies))

    @property
    def system(self) -> System:
        return self.graph.system

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the blocks, base to tip."""
        return self.graph.names

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the generalized velocities, in order."""
        return self.graph.velocity_names

    def __repr__(self) -> str:
        return f"<Operators of {self.graph}: {len(self.body_names)} bodies, {len(self.velocity_names)} velocities>"

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
        """Joint map, velocities × bodies; its transpose H* takes β to the relative velocities of the hinges. (6)"""
        blocks = [motion.H_star.T for motion in self.hinge_motions]
        return BlockOperator.diagonal(self.velocity_space, self.body_space, blocks, "H")

    @cached_property
    def E_phi(self) -> BlockOperator:
        """Spatial kernel operator: φ(parent, k) at (parent, k). (7)"""
        blocks = {(p, k): phi(self.inward_poses[k]) for k, p in enumerate(self.graph.parents) if p >= 0}
        return BlockOperator(self.body_space, self.body_space, blocks, "E_phi")

    @cached_property
    def phi(self) -> PropagationOperator:
        """(I - E_phi)⁻¹. (9)"""
        return PropagationOperator(self.E_phi, "phi")

    @cached_property
    def M(self) -> BlockOperator:
        """Spatial inertia of each body about O_k. (15)"""
        blocks = [spatial_inertia(body.inertia, body.hinge.outboard) for body in self.graph.bodies]
        return BlockOperator.diagonal(self.body_space, self.body_space, blocks, "M")

    @cached_property
    def J(self) -> BlockOperator:
        """Armature: reflected rotor inertia, diagonal over the velocities, kg·m² or kg."""
        blocks = [np.diag(np.array([dof.armature for dof in body.hinge.dofs])) for body in self.graph.bodies]
        return BlockOperator.diagonal(self.velocity_space, self.velocity_space, blocks, "J")

    @cached_property
    def I(self) -> Identity:  # noqa: E743
        """The identity; in sums and products it takes the space of its partner."""
        return Identity(self.body_space)

    def B(self, *nodes: str, axes: str = "node") -> BlockOperator:
        """Pick-off, bodies × nodes: B* V are the velocities of these bodies' own frames or named nodes. (12)

        axes : of the velocities, "node" for the node's own or "inertial"; their point is the node's origin.
        """
        if axes not in ("node", "inertial"):
            raise ArgumentError(f"axes is {axes!r:.40}; give 'node' or 'inertial'.")
        if not nodes or not all(isinstance(name, str) for name in nodes) or len(set(nodes)) < len(nodes):
            raise ArgumentError(f"B needs node or body names, each of them once; got {nodes!r:.80}.")
        space = Space(self.graph, "nodes", tuple(nodes), (6,) * len(nodes), axes)
        blocks = {}
        for column, name in enumerate(nodes):
            k, pose = self._on_body(name)
            turn = self.pose(name).rotation.T if axes == "inertial" else np.eye(3)
            blocks[k, column] = phi(pose @ Pose(turn))
        return BlockOperator(self.body_space, space, blocks, f"B({','.join(nodes)})")

    def pose(self, name: str) -> Pose:
        """Pose of a body's own frame or of a node in the inertial frame."""
        k, pose = self._on_body(name)
        return self._inertial_poses[self.graph.places[k]] @ pose

    # Composite and articulated bodies

    @cached_property
    def R(self) -> BlockOperator:
        """Composite inertia of each body with all beyond it, forward Lyapunov. (19)"""
        return self._named(self.E_phi.lyapunov(self.M), "R")

    @cached_property
    def P(self) -> BlockOperator:
        """Articulated inertia, Riccati. (23)"""
        return self.E_phi.riccati(self.M, self.H, self.J)

    @cached_property
    def D(self) -> BlockOperator:
        """H P H* + J, the inertia that each hinge feels. (24)"""
        return self._named(self.H * self.P * self.H.T + self.J, "D")

    @cached_property
    def D_inverse(self) -> BlockOperator:
        """D⁻¹, block-diagonal."""
        return self._named(self.D.inverse(), "D^-1")

    @cached_property
    def G(self) -> BlockOperator:
        """P H* D⁻¹, the Kalman gain. (24)"""
        return self._named(self.P * self.H.T * self.D_inverse, "G")

    @cached_property
    def K(self) -> BlockOperator:
        """E_phi G. (24)"""
        return self._named(self.E_phi * self.G, "K")

    @cached_property
    def tau(self) -> BlockOperator:
        """G H. (24)"""
        return self._named(self.G * self.H, "tau")

    @cached_property
    def tau_bar(self) -> BlockOperator:
        """I - G H. (24)"""
        return self._named(self.I - self.tau, "tau_bar")

    @cached_property
    def P_plus(self) -> BlockOperator:
        """P⁺ = tau_bar P, articulated inertia before its hinge. (24)"""
        return self._named(self.tau_bar * self.P, "P_plus")

    @cached_property
    def E_psi(self) -> BlockOperator:
        """E_phi tau_bar. (24)"""
        return self._named(self.E_phi * self.tau_bar, "E_psi")

    @cached_property
    def psi(self) -> PropagationOperator:
        """(I - E_psi)⁻¹."""
        return PropagationOperator(self.E_psi, "psi")

    @cached_property
    def Upsilon(self) -> BlockOperator:
        """Diagonal of Omega, backward Lyapunov. (36)"""
        return self._named(self.E_psi.T.lyapunov(self._hinge_compliance), "Upsilon")

    @cached_property
    def Omega(self) -> ComplianceOperator:
        """Operational-space compliance ψ* H* D⁻¹ H ψ. (34)"""
        return ComplianceOperator(self.psi, self._hinge_compliance, self.Upsilon)

    # Motion

    @cached_property
    def beta(self) -> StackedVector:
        """The generalized velocities of the sub-graph, θ̇ of the papers."""
        if self._v is None:
            raise ArgumentError("these operators were made without velocities; write Operators(system, q, v).")
        ends = np.cumsum([0, *(body.hinge.nv for body in self.system.bodies)])
        parts = [self._v[ends[i] : ends[i + 1]] for i in self.graph.places]
        return StackedVector(self.velocity_space, np.concatenate([np.zeros(0), *parts]), "beta")

    @cached_property
    def V(self) -> StackedVector:
        """Spatial velocities φ* H* β, rad/s and m/s. (10)"""
        return StackedVector(self.body_space, self.phi.T * self.H.T * self.beta, "V")

    @cached_property
    def a(self) -> StackedVector:
        """Coriolis accelerations V~ ΔV + (dH*/dt) β, body-frame derivatives; gravity is `g`, apart. (17)"""
        parts = []
        for name, motion in zip(self.body_names, self.hinge_motions):
            rate = np.einsum("i,iaj->aj", self.beta[name], motion.dH_star)
            parts.append(motion_cross(self.V[name]) @ motion.H_star @ self.beta[name] + rate @ self.beta[name])
        return self._stacked(parts, "a")

    @cached_property
    def b(self) -> StackedVector:
        """Gyroscopic forces V × (M V), N·m and N. (17)"""
        parts = [force_cross(self.V[name]) @ self.M[name] @ self.V[name] for name in self.body_names]
        return self._stacked(parts, "b")

    @cached_property
    def g(self) -> StackedVector:
        """Gravity as an acceleration -g of what the sub-graph stands on: `a + g` takes the place of a in (17), (31)."""
        parts = [np.zeros(6) for _ in self.body_names]
        for k, parent in enumerate(self.graph.parents):
            if parent < 0:
                R = self._inertial_poses[self.graph.places[k]].rotation
                parts[k] = np.concatenate([np.zeros(3), -R.T @ self.system.gravity])
        return self._stacked(parts, "g")

    def diagonal(self, blocks: Mapping[str, ArrayLike], name: str = "X") -> BlockOperator:
        """Your own block-diagonal operator over the bodies: (6, 6) blocks by body name, zero elsewhere."""
        if not isinstance(blocks, Mapping):
            raise ArgumentError(f"{name} needs its blocks as a mapping from body names, got {blocks!r:.60}.")
        stored = {}
        for body, block in blocks.items():
            k = self.body_space.place(body)
            stored[k, k] = arguments.vector(f"{name}['{body}']", block, (6, 6))
        return BlockOperator(self.body_space, self.body_space, stored, name)

    # Parts

    @cached_property
    def _all_motions(self) -> tuple[HingeMotion, ...]:
        ends = np.cumsum([0, *(body.hinge.kind.nq for body in self.system.bodies)])
        return tuple(
            hinge_motion(body.hinge, self.q[ends[i] : ends[i + 1]]) for i, body in enumerate(self.system.bodies)
        )

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

    @cached_property
    def _hinge_compliance(self) -> BlockOperator:
        """H* D⁻¹ H."""
        return self._named(self.H.T * self.D_inverse * self.H, "H* D^-1 H")

    def _on_body(self, name: str) -> tuple[int, Pose]:
        """Place of the body that carries a node (or is named so), and the node's pose in O_k."""
        arguments.index_of("body or node", name, self.system.node_names)
        node = next((node for node in self.system.nodes if node.name == name), None)
        body, pose = (name, Pose()) if node is None else (node.body, node.pose)
        if body not in self.body_names:
            raise ArgumentError(f"node '{name}' is on {body or 'the ground'}, which is not one of these bodies.")
        k = self.body_space.place(body)
        return k, self.graph.bodies[k].hinge.outboard.inverse() @ pose

    def _stacked(self, parts: list[np.ndarray], name: str) -> StackedVector:
        return StackedVector(self.body_space, np.concatenate(parts), name)

    @staticmethod
    def _named(operator: Operator, name: str) -> BlockOperator:
        """A block operator under the name that the papers give it."""
        assert isinstance(operator, BlockOperator)
        return BlockOperator(operator.rows, operator.columns, operator.blocks, name, operator.scale)


def operators_of(value: object) -> Operators:
    """`value`, if it is an Operators."""
    if not isinstance(value, Operators):
        raise ArgumentError(f"an Operators is needed, got {type(value).__name__}; make one with Operators(system, q).")
    return value


def _coordinates(system: System, q: ArrayLike) -> np.ndarray:
    array = np.asarray(q)
    if array.dtype.kind != "c":
        return arguments.coordinates(system, q)
    arguments.coordinates(system, array.real)
    if not np.all(np.isfinite(array.imag)):
        raise ArgumentError("the imaginary part of q is not finite.")
    return array.astype(np.complex128)
