"""Which loops of a system are closed in an analysis, which of them are embedded, and whether q closes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from limberjack.engine import arguments
from limberjack.engine.errors import ArgumentError
from limberjack.engine.operators.aggregation import Aggregation, Group, aggregation, lies_in
from limberjack.engine.operators.closure import Closure, held
from limberjack.engine.operators.embedding import Elimination, Embedding
from limberjack.engine.operators.graph import SubGraph
from limberjack.engine.operators.tree_model import TreeModel
from limberjack.engine.system.frames import assemble
from limberjack.engine.system.loops.mechanism import Mechanism
from limberjack.engine.system.loops.plan import Plan, plan
from limberjack.engine.system.system import Loop, System

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
    """X of an aggregated node, with the dependent velocities that the model prefers."""
    graph = SubGraph(tree.system, tuple(tree.graph.places[k] for k in group.bodies))
    names, own = tree.system.velocity_names, graph.velocity_names
    size, depend = dict[str, float](), set[str]()
    for node in _plan(tree.system).groups:
        size |= {names[j]: x for j, x in zip(node.dependent + node.independent, node.scale)}
        depend |= {names[j] for j in node.dependent}
    preferred = [j for j, name in enumerate(own) if name in depend]
    scale = np.array([size.get(name, 1.0) for name in own])
    return Embedding(Closure(TreeModel(graph, tree.q, None), group.loops), scale, preferred, chosen)


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
