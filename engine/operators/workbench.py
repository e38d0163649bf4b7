"""`Operators`: the spatial operators of a System, or of a connected part of it, at one state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model import arguments as model_arguments
from limberjack.engine.model.system import Pose, System
from limberjack.engine.operators.blocks import BlockOperator, Identity, renamed
from limberjack.engine.operators.closure import STEP
from limberjack.engine.operators.embedded_model import EmbeddedModel
from limberjack.engine.operators.embedding import Embedding
from limberjack.engine.operators.graph import Space, sub_graph
from limberjack.engine.operators.hinge_motion import HingeMotion
from limberjack.engine.operators.loop_choice import LoopChoice, embedding
from limberjack.engine.operators.model_operators import ModelOperators
from limberjack.engine.operators.tree_model import TreeModel, moved_coordinates, system_velocities
from limberjack.engine.operators.vectors import StackedVector


class Operators(ModelOperators):
    """Spatial operators of a tree, named as in the papers; each is made when first asked for.

    system : what to analyse; every body is a node of the tree, also behind a fixed hinge (0 velocities)
    q : coordinates (nq,) of the whole system, rad and m; complex ones are taken too, for derivatives by complex steps
    v : generalized velocities (nv,) of the whole system, rad/s and m/s; needed by `V`, `a`, `b` and `c` only
    bodies : names of a connected part, in any order; it is then analysed as if its base were fixed where it is, and
        loops that lead out of it were open. A flexible body's name stands for its modes and nodes too
    embed : names of the loops to embed; None for those that the model embeds, () for the spanning tree
    closed : names of the switchable loops that are closed; None for those that are closed at the start

    Body k's frame is the outboard frame O_k of its hinge, which readers put at the body's own frame; blocks are
    in its axes, spatial vectors [angular; linear]. Blocks are numbered base to tip, so phi is upper triangular.
    The mass matrix is ``H * phi * M * phi.T * H.T + J``; J is reflected rotor inertia, zero in the papers.

    A flexible body is a massless link "boom", the link "boom.modes" with its inertia, whose blocks have the rates of
    its n modes before the six numbers of its frame, and a massless one for each of its attachment nodes, "boom.tip".

    The bodies of embedded loops are one block, "crank+coupler+rocker", and the velocities are the independent ones;
    q and v must close these loops. Loops that are not embedded act by force, see `LoopForces`: here they are open.

    Raises ArgumentError for arrays of the wrong shape, bodies that are not connected and loops that q or v leave open,
    UnknownNameError for names.
    """

    def __init__(
        self,
        system: System,
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        bodies: Sequence[str] | None = None,
        embed: Iterable[str] | None = None,
        closed: Iterable[str] | None = None,
    ) -> None:
        self.graph = sub_graph(system, bodies)
        self.q = _coordinates(system, q)
        v = None if v is None else arguments.vector("v", v, (system.nv,))
        self.spanning_tree = TreeModel(self.graph, self.q, v)
        self.loops = LoopChoice(self.spanning_tree, embed, closed)
        self._nodes = self.loops.nodes()
        found = {i: embedding(self.spanning_tree, group) for i, group in sorted(self._nodes.groups.items())}
        self._chosen = {i: of_node.chosen for i, of_node in found.items()}
        super().__init__(EmbeddedModel(self.spanning_tree, self._nodes, found) if found else self.spanning_tree)

    def _model(self, tree: TreeModel) -> TreeModel | EmbeddedModel:
        """The same aggregation and choice of velocities on another state."""
        if not self._chosen:
            return tree
        made = {i: embedding(tree, group, self._chosen[i]) for i, group in self._nodes.groups.items()}
        return EmbeddedModel(tree, self._nodes, made)

    @property
    def system(self) -> System:
        """What is analysed."""
        return self.graph.system

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, base to tip."""
        return self.graph.names

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the generalized velocities, in order; of the independent ones where loops are embedded."""
        if not self.velocity_space.parts:
            return self.graph.velocity_names
        return tuple(name for names in self.velocity_space.parts for name in names)

    def __repr__(self) -> str:
        counts = f"{len(self.body_names)} bodies, {len(self.velocity_names)} velocities"
        return f"<Operators of {self.graph}: {counts}{self._closed_by()}>"

    def _closed_by(self) -> str:
        loops = len(self.loops.embedded)
        return f" that keep {loops} {'loop' if loops == 1 else 'loops'} closed" if loops else ""

    @property
    def hinge_motions(self) -> tuple[HingeMotion, ...]:
        """Pose, H* and dH* of the hinge of each body of the sub-graph."""
        return self.spanning_tree.hinge_motions

    @property
    def inward_poses(self) -> tuple[Pose, ...]:
        """Pose of O_k in the parent's O (in the ground for a body that hangs from it), for each body."""
        return self.spanning_tree.inward_poses

    # Constraint embedding

    @property
    def embeddings(self) -> tuple[Embedding, ...]:
        """Y1, Y2, X and the choice of velocities of each aggregated node, base to tip."""
        return tuple(self.model.embeddings.values()) if isinstance(self.model, EmbeddedModel) else ()

    @property
    def X(self) -> BlockOperator:
        """θ̇ = X θ̇_R, velocities of the spanning tree × independent ones; the identity without embedded loops. (25)"""
        if isinstance(self.model, EmbeddedModel):
            return self.model.X
        return renamed(Identity(self.velocity_space), "X")

    @property
    def X_dot(self) -> BlockOperator:
        """dX/dt. (61)"""
        if isinstance(self.model, EmbeddedModel):
            return self.model.X_dot
        return renamed(Identity(self.velocity_space) * 0.0, "X_dot")

    @property
    def H_a(self) -> BlockOperator:
        """H φ_S, joint map of the aggregated tree before its loops are closed: H = X* H_a. (001 eq. 7, 26)"""
        return self.model.H_a if isinstance(self.model, EmbeddedModel) else renamed(self.H, "H_a")

    def at_velocities(self, v: StackedVector) -> ModelOperators:
        """The operators of these bodies at the generalized velocities v, as stacked as `beta`."""
        moving = TreeModel(self.graph, self.q, system_velocities(self.X * v))
        return ModelOperators(self._model(moving))

    def displaced(self, v: StackedVector) -> ModelOperators:
        """The operators after a complex step along v: their imaginary parts over `closure.STEP` are d/dt along v."""
        step = STEP * 1j * system_velocities(self.X * v)
        return ModelOperators(self._model(TreeModel(self.graph, moved_coordinates(self.system, self.q, step), None)))

    # Nodes

    def B(self, *nodes: str, axes: str = "node") -> BlockOperator:
        """Pick-off, bodies × nodes: B* V are the velocities of these bodies' own frames or named nodes. (12)

        axes : of the velocities, "node" for the node's own or "inertial"; their point is the node's origin.
        """
        if axes not in ("node", "inertial"):
            raise ArgumentError(f"axes is {axes!r:.40}; give 'node' or 'inertial'.")
        if not nodes or not all(isinstance(name, str) for name in nodes) or len(set(nodes)) < len(nodes):
            raise ArgumentError(f"B needs node or body names, each of them once; got {nodes!r:.80}.")
        space = Space(self.graph, "nodes", tuple(nodes), (6,) * len(nodes), axes)
        frames = []
        for name in nodes:
            k, pose = self.spanning_tree.frame(*self._on_body(name))
            turn = self.pose(name).rotation.T if axes == "inertial" else np.eye(3)
            frames.append((k, pose @ Pose(turn)))
        return self.model.gathered(self.spanning_tree.B(space, frames, f"B({','.join(nodes)})"))

    def pose(self, name: str) -> Pose:
        """Pose of a body's own frame or of a node in the inertial frame."""
        return self.spanning_tree.inertial_pose(*self._on_body(name))

    def diagonal(self, blocks: Mapping[str, ArrayLike], name: str = "X") -> BlockOperator:
        """Your own block-diagonal operator over the bodies, zero where it has no block.

        blocks : body name → (6, 6), SI; of a link with n modes → (n + 6, n + 6). name : what the operator prints as

        Raises ArgumentError if `blocks` is not a mapping or a block has another shape.
        """
        if not isinstance(blocks, Mapping):
            raise ArgumentError(f"{name} needs its blocks as a mapping from body names, got {blocks!r:.60}.")
        space, stored = self.body_space, dict[tuple[int, int], np.ndarray]()
        for body, block in blocks.items():
            arguments.index_of("body", body, self.body_names)
            k, part = space.locate(body)
            whole = stored.setdefault((k, k), np.zeros((space.sizes[k], space.sizes[k])))
            whole[part, part] = arguments.vector(f"{name}['{body}']", block, whole[part, part].shape)
        return BlockOperator(space, space, stored, name)

    def _on_body(self, name: str) -> tuple[str, Pose]:
        """The body that carries a node (or is named so), and the node's pose in the body's own frame."""
        arguments.index_of("body or node", name, self.system.node_names)
        node = next((node for node in self.system.nodes if node.name == name), None)
        body, pose = (name, Pose()) if node is None else (node.body, node.pose)
        if body is None or body not in self.body_names:
            raise ArgumentError(f"node '{name}' is on {body or 'the ground'}, which is not one of these bodies.")
        return body, pose


def tree_operators_of(value: object, what: str) -> Operators:
    """`value`, if it is an Operators of rigid bodies without embedded loops; `what` is only known for those."""
    ops = operators_of(value)
    if ops.graph.modal_names:
        names = ", ".join(name.removesuffix(".modes") for name in ops.graph.modal_names[:4])
        raise ArgumentError(
            f"{what} are available for rigid bodies only: the inertia of a flexible one ({names}) depends on its "
            "deformation. Use Operators.displaced(v): the imaginary part of an operator there is its derivative along "
            "v times closure.STEP."
        )
    if ops.embeddings:
        names = ", ".join(loop.name for loop in ops.loops.embedded)
        raise ArgumentError(
            f"{what} are available for trees only, where a hinge depends on its own coordinates; the joint map of an "
            f"aggregated node depends on all coordinates of its loops ({names}). Open the loops with embed=()."
        )
    return ops


def operators_of(value: object) -> Operators:
    """`value`, if it is an Operators."""
    if not isinstance(value, Operators):
        raise ArgumentError(f"an Operators is needed, got {type(value).__name__}; make one with Operators(system, q).")
    return value


def _coordinates(system: System, q: ArrayLike) -> np.ndarray:
    array = np.asarray(q)
    if array.dtype.kind != "c":
        return model_arguments.coordinates(system, q)
    model_arguments.coordinates(system, array.real)
    if not np.all(np.isfinite(array.imag)):
        raise ArgumentError("the imaginary part of q is not finite.")
    return array.astype(np.complex128)
