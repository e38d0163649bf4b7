"""Constraint embedding: the triple (H_R, E_phi_a, M) of the tree that is left when loops are aggregated (001 §2–4).

With φ_S of the bodies within each aggregated node and X of its loops, both the identity for a single body,

    H_a = H φ_S,   E_phi_a(parent, S) = E_S φ_S,   H_R = X* H_a,   a' = φ_S* (a + H* dX/dt θ̇_R)    (5), (7), (26), (35)

and all that is built on (H, E_phi, M) holds unchanged. Rotors, which the papers leave out, enter with
J_R = X* J X and the force X* J dX/dt θ̇_R.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.operators.aggregation import Aggregation
from limberjack.engine.operators.blocks import BlockOperator, Blocks, renamed
from limberjack.engine.operators.embedding import Embedding
from limberjack.engine.operators.graph import Space
from limberjack.engine.operators.tree_model import TreeModel, system_velocities
from limberjack.engine.operators.vectors import StackedVector

#: velocities may miss the loops by this, relative to the largest one
TOLERANCE = 1e-6


class EmbeddedModel:
    """The aggregated tree with minimal velocities, made from the spanning tree.

    embeddings : place of the node → its X
    """

    def __init__(self, tree: TreeModel, nodes: Aggregation, embeddings: dict[int, Embedding]) -> None:
        self.tree, self.nodes, self.embeddings = tree, nodes, embeddings
        graph = tree.graph
        bodies = tuple(tuple(graph.names[k] for k in node) for node in nodes.nodes)
        free = tuple(
            embeddings[i].independent if i in embeddings else graph.bodies[node[0]].hinge.velocity_names
            for i, node in enumerate(nodes.nodes)
        )
        rows = tuple(tuple(tree.body_space.sizes[k] for k in node) for node in nodes.nodes)
        sizes = tuple(map(sum, rows))
        self.body_space = Space(graph, "bodies", nodes.names, sizes, parts=bodies, part_sizes=rows)
        self.velocity_space = Space(graph, "velocities", nodes.names, tuple(map(len, free)), parts=free)

    # From the spanning tree to the aggregated one

    @cached_property
    def bundle(self) -> BlockOperator:
        """Bodies × nodes: takes the blocks of a node's bodies together."""
        blocks = {
            (k, i): np.eye(self.body_space.sizes[i])[rows]
            for i, node in enumerate(self.nodes.nodes)
            for k, rows in self._in(node)
        }
        return BlockOperator(self.tree.body_space, self.body_space, blocks, "bundle")

    @cached_property
    def phi_S(self) -> BlockOperator:
        """Bodies × nodes: φ of the bodies within each node. (13)"""
        blocks: Blocks = {}
        for i, node in enumerate(self.nodes.nodes):
            for k in node:
                blocks[k, i] = np.hstack([self._within(k, j) for j in node])
        return BlockOperator(self.tree.body_space, self.body_space, blocks, "phi_S")

    @cached_property
    def X(self) -> BlockOperator:
        """Velocities of the spanning tree × independent velocities: θ̇ = X θ̇_R. (25)"""
        return self._by_hinge({i: embedding.X for i, embedding in self.embeddings.items()}, np.eye, "X")

    @cached_property
    def X_dot(self) -> BlockOperator:
        """dX/dt. (61)"""
        v = self.all_velocities
        rates = {i: embedding.X_dot(v) for i, embedding in self.embeddings.items()}
        return self._by_hinge(rates, lambda n: np.zeros((n, n)), "X_dot")

    @cached_property
    def H_a(self) -> BlockOperator:
        """Joint map of the aggregated tree before its loops are closed, velocities of the spanning tree × nodes. (7)"""
        return renamed(self.tree.H * self.phi_S, "H_a")

    # The triple

    @cached_property
    def H(self) -> BlockOperator:
        """H_R = X* H_a. (26)"""
        return renamed(self.X.T * self.H_a, "H")

    @cached_property
    def E_phi(self) -> BlockOperator:
        """E_S φ_S between nodes. (5), (14), (16)"""
        tree, node_of = self.tree, {k: i for i, node in enumerate(self.nodes.nodes) for k in node}
        between = {(p, k): block for (p, k), block in tree.E_phi.blocks.items() if node_of[p] != node_of[k]}
        E_S = BlockOperator(tree.body_space, tree.body_space, between, "E_S")
        return renamed(self.bundle.T * E_S * self.phi_S, "E_phi")

    @cached_property
    def M(self) -> BlockOperator:
        return renamed(self.bundle.T * self.tree.M * self.bundle, "M")

    @cached_property
    def J(self) -> BlockOperator:
        """X* J X."""
        return renamed(self.X.T * self.tree.J * self.X, "J")

    # Motion

    @cached_property
    def beta(self) -> StackedVector:
        """θ̇_R of the given velocities; ArgumentError where these do not keep the loops closed."""
        given = self.tree.beta.to_array()
        names = self.tree.graph.velocity_names
        at = [names.index(name) for parts in self.velocity_space.parts for name in parts]
        beta = StackedVector(self.velocity_space, given[at], "beta")
        missed = np.abs((self.X * beta).to_array() - given)
        if missed.max(initial=0.0) > TOLERANCE * max(1.0, np.abs(given).max(initial=0.0)):
            worst = int(np.argmax(missed))
            raise ArgumentError(
                f"the velocities open the loops: {names[worst]} is {given[worst]:g}, but the independent ones make it "
                f"{(self.X * beta).to_array()[worst]:g}. Give velocities that keep them closed, for instance those of "
                "limberjack.assemble(system, q, v)."
            )
        return beta

    @cached_property
    def all_velocities(self) -> np.ndarray:
        """X θ̇_R in the places of the system's velocities (nv,), zero outside the sub-graph."""
        return system_velocities(self.X * self.beta)

    @cached_property
    def moving_tree(self) -> TreeModel:
        """The spanning tree at the velocities X θ̇_R."""
        return TreeModel(self.tree.graph, self.tree.q, self.all_velocities)

    @cached_property
    def V(self) -> StackedVector:
        return self._stacked(self.bundle.T * self.moving_tree.V, "V")

    @cached_property
    def a(self) -> StackedVector:
        """φ_S* (a + H* dX/dt θ̇_R). (35)"""
        rate = self.tree.H.T * (self.X_dot * self.beta)
        return self._stacked(self.phi_S.T * (self.moving_tree.a + rate), "a")

    @cached_property
    def b(self) -> StackedVector:
        return self._stacked(self.bundle.T * self.moving_tree.b, "b")

    @cached_property
    def c(self) -> StackedVector:
        """X* J dX/dt θ̇_R."""
        return StackedVector(self.velocity_space, self.X.T * self.tree.J * (self.X_dot * self.beta), "c")

    @cached_property
    def g(self) -> StackedVector:
        return self._stacked(self.phi_S.T * self.tree.g, "g")

    def gathered(self, operator: BlockOperator) -> BlockOperator:
        """An operator with one row of blocks for each body, with one for each node."""
        return renamed(self.bundle.T * operator, operator.name)

    def _by_hinge(
        self, of_group: dict[int, np.ndarray], single: Callable[[int], np.ndarray], name: str
    ) -> BlockOperator:
        """Blocks (body, node) from the rows of each group's array; `single` makes those of nodes of one body."""
        bodies, blocks = self.tree.graph.bodies, Blocks()
        for i, node in enumerate(self.nodes.nodes):
            array = of_group[i] if i in of_group else single(bodies[node[0]].hinge.nv)
            ends = np.cumsum([0, *(bodies[k].hinge.nv for k in node)])
            blocks |= {(k, i): array[start:end] for k, start, end in zip(node, ends, ends[1:])}
        return BlockOperator(self.tree.velocity_space, self.velocity_space, blocks, name)

    def _stacked(self, x: StackedVector, name: str) -> StackedVector:
        return StackedVector(self.body_space, x.to_array(), name)

    def _in(self, node: tuple[int, ...]) -> list[tuple[int, slice]]:
        """Body and its numbers within the node."""
        ends = np.cumsum([0, *(self.tree.body_space.sizes[k] for k in node)])
        return [(k, slice(a, b)) for k, a, b in zip(node, ends, ends[1:])]

    def _within(self, k: int, j: int) -> np.ndarray:
        """φ(k, j) of two bodies of a node."""
        sizes = self.tree.body_space.sizes
        return self.tree.phi.block(k, j) if k <= j else np.zeros((sizes[k], sizes[j]))
