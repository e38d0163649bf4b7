"""Which loops of a system are closed in an analysis, which of them are embedded, and whether q closes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.frames import assemble
from limberjack.engine.model.loops import aggregate
from limberjack.engine.model.loops.closure import closures
from limberjack.engine.model.loops.joint_tree import Tree
from limberjack.engine.model.loops.mechanism import Mechanism
from limberjack.engine.model.loops.newton import sizes
from limberjack.engine.model.loops.plan import Plan, plan
from limberjack.engine.model.system import Loop, System
from limberjack.engine.operators.aggregation import Aggregation, Group, aggregation, lies_in
from limberjack.engine.operators.closure import Closure, held
from limberjack.engine.operators.embedding import Elimination, Embedding, eliminate
from limberjack.engine.operators.graph import SubGraph
from limberjack.engine.operators.tree_model import TreeModel

#: coordinates may miss a loop by this, rad or m
TOLERANCE = 1e-6


class LoopChoice:
    """The loops of a sub-graph: open ones and those that lead out of it are left out.

    embed : names of the loops to embed, None for those that the model embeds; all others act by force
    closed : names of the switchable loops that are closed, None for those that the model starts with closed;
        they hold what is there at the coordinates of the tree
    """

    def __init__(self, tree: TreeModel, embed: Iterable[str] | None, closed: Iterable[str] | None) -> None:
        self.tree = tree
        system, graph = tree.system, tree.graph
        on = _switched_on(system, closed)
        loops = [loop for loop in system.loops if lies_in(graph, loop) and (loop.name in on or not loop.switchable)]
        there = TreeModel(graph, tree.q.real, None)
        self.loops = tuple(held(there, loop) if loop.switchable else loop for loop in loops)
        names = self._embedded_names(embed)
        self.embedded = tuple(loop for loop in self.loops if loop.name in names)
        self.forced = tuple(loop for loop in self.loops if loop.name not in names)

    def nodes(self) -> Aggregation:
        """The aggregated tree; ArgumentError where the coordinates do not close an embedded loop."""
        check_closed(self.tree, self.embedded)
        return aggregation(self.tree.graph, self.embedded)

    def _embedded_names(self, embed: Iterable[str] | None) -> set[str]:
        present = [loop.name for loop in self.loops]
        if embed is None:
            plans = _plan(self.tree.system).loops if self.loops else []
            return {plan.closure.loop.name for plan in plans if plan.method == "embed"} & set(present)
        return _names("embed", embed, "closed loop of these bodies", present)


def embedding(tree: TreeModel, group: Group, chosen: Elimination | None = None) -> Embedding:
    """X of an aggregated node, with the rows and the dependent velocities that a build of these loops takes."""
    graph = SubGraph(tree.system, tuple(tree.graph.places[k] for k in group.bodies))
    closure = Closure(TreeModel(graph, tree.q, None), group.loops)
    return Embedding(closure, chosen or _elimination(tree.system, tree.q.real, graph.velocity_names, group.loops))


def _elimination(system: System, q: np.ndarray, names: Sequence[str], loops: tuple[Loop, ...]) -> Elimination:
    """What an aggregated node solves at q: indices into all rows of its loops and into its velocities."""
    mechanism, node = _built(system, loops) if all(loop in system.loops for loop in loops) else _node(system, loops, q)
    kept = [start + r for start, rows in zip(mechanism.starts, node.kept) for r in rows]
    scale = dict(zip(node.dependent + node.independent, node.scale))
    row = np.concatenate([np.zeros(0), *node.row_scale])
    size = np.array([scale[v] for v in mechanism.dofs])
    found = eliminate(
        row[:, None] * mechanism.decision_rows(q)[kept] * size,
        len(node.dependent),
        [mechanism.place_of[v] for v in node.dependent],
    )
    own = [list(names).index(system.velocity_names[v]) for v in mechanism.dofs]
    return Elimination(
        [int(kept[i]) for i in found.rows], [own[j] for j in found.dependent], [own[j] for j in found.independent]
    )


@lru_cache(maxsize=32)
def _built(system: System, loops: tuple[Loop, ...]) -> tuple[Mechanism, aggregate.Group]:
    """The node of loops as the model has them: the model's own where it embeds the same, else planned at its start."""
    of_model = _plan(system)
    for node in of_model.groups:
        if [of_model.loops[i].closure.loop for i in node.loops] == list(loops):
            return Mechanism(of_model.tree, [of_model.loops[i].closure for i in node.loops]), node
    return _node(system, tuple(dataclasses.replace(loop, independent=()) for loop in loops), system.q0)


def _node(system: System, loops: tuple[Loop, ...], q: np.ndarray) -> tuple[Mechanism, aggregate.Group]:
    """The node of some loops, as a model with these alone would be built; planned where they are closed, at q."""
    alone, tree = dataclasses.replace(system, loops=loops), Tree(assemble(system))
    made = closures(alone, tree)
    return Mechanism(tree, made), aggregate.aggregate(alone, tree, made, list(range(len(made))), q)


def check_closed(tree: TreeModel, loops: Sequence[Loop]) -> None:
    """ArgumentError for the first of these loops that the coordinates leave open."""
    plans = {plan.closure.loop.name: plan.closure for plan in _plan(tree.system).loops} if loops else {}
    for loop in loops:
        if loop.switchable:
            continue  # holds what is there
        mechanism = Mechanism(_plan(tree.system).tree, [plans[loop.name]])
        residual = np.abs(mechanism.evaluate(tree.q.real)[0])
        if residual.max(initial=0.0) > TOLERANCE:
            row = int(np.argmax(residual))
            unit = "rad" if plans[loop.name].angular[row] else "m"
            raise ArgumentError(
                f"q leaves loop '{loop.name}' open by {residual[row]:.3g} {unit}: give coordinates that close it, for "
                "instance those of limberjack.assemble(system, q); embed=() gives the operators of the tree alone."
            )


def row_sizes(tree: TreeModel, loops: Sequence[Loop]) -> np.ndarray:
    """Factors (rows,) that bring the rows of loops to order one, those of the build."""
    made = {closure.loop.name: closure for closure in closures(tree.system, _plan(tree.system).tree)}
    found = [sizes(Mechanism(_plan(tree.system).tree, [made[loop.name]]), tree.q.real).row for loop in loops]
    return np.concatenate([np.zeros(0), *found])


@lru_cache(maxsize=8)
def _plan(system: System) -> Plan:
    """Methods, groups and preferred velocities, as the engine builds them."""
    return plan(system, assemble(system))


def _switched_on(system: System, closed: Iterable[str] | None) -> set[str]:
    switchable = [loop.name for loop in system.loops if loop.switchable]
    if closed is None:
        return {loop.name for loop in system.loops if loop.switchable and loop.closed}
    return _names("closed", closed, "switchable loop", switchable)


def _names(what: str, given: Iterable[str], kind: str, known: Sequence[str]) -> set[str]:
    """The names given for the argument `what`, each of which must be known."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ArgumentError(f"{what} is {given!r:.60}; give a list of names of loops, [] for none.")
    names = list(given)
    for name in names:
        arguments.index_of(kind, name, known)
    return set(names)
