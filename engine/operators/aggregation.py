"""Which bodies constraint embedding aggregates to one node: the aggregation sub-graphs of 001 §4.2.

The sub-graph of a loop that joins two frames holds the bodies on the ways from their bodies down to the last one that
carries both, without that one; the sub-graph of a loop that constrains coordinates holds the bodies of their hinges
too. The modes of a flexible body move its nodes, so they are in it with them. Its bodies hang on one body, so
aggregating them leaves a tree. Sub-graphs that share a body become one: what carries the one is in the other, or
carries both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from limberjack.engine.model.system import Loop, System
from limberjack.engine.operators.graph import SubGraph


@dataclass(frozen=True, eq=False)
class Group:
    """One aggregated node: its bodies, ascending places in the sub-graph, and the loops that close within it."""

    bodies: tuple[int, ...]
    loops: tuple[Loop, ...]


@dataclass(frozen=True, eq=False)
class Aggregation:
    """The nodes of the aggregated tree.

    nodes : places of the bodies of each node; ordered by their first one, so that a node comes after its parent
    groups : place of the node → what it aggregates
    """

    graph: SubGraph
    nodes: tuple[tuple[int, ...], ...]
    groups: dict[int, Group]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A body's own, or those of an aggregated node's bodies with + between them."""
        return tuple("+".join(self.graph.names[k] for k in node) for node in self.nodes)


def aggregation(graph: SubGraph, loops: Iterable[Loop]) -> Aggregation:
    """The aggregated tree in which these loops, which lie in the sub-graph, are embedded."""
    groups: list[Group] = []
    for loop in loops:
        bodies, joined = aggregated_bodies(graph, loop), [loop]
        for group in [group for group in groups if not bodies.isdisjoint(group.bodies)]:
            groups.remove(group)
            bodies, joined = bodies.union(group.bodies), [*group.loops, *joined]
        groups.append(Group(tuple(sorted(bodies)), tuple(joined)))
    grouped = {k for group in groups for k in group.bodies}
    single = [(k,) for k in range(len(graph.bodies)) if k not in grouped]
    nodes = sorted([*single, *(group.bodies for group in groups)])
    return Aggregation(graph, tuple(nodes), {nodes.index(group.bodies): group for group in groups})


def aggregated_bodies(graph: SubGraph, loop: Loop) -> set[int]:
    """Places of the bodies of a loop's own aggregation sub-graph; empty where it joins a body to itself."""
    names = connected_bodies(graph.system, loop)
    paths = [_path(graph, graph.names.index(name)) if name in graph.names else [] for name in names]
    shared = set(paths[0]).intersection(*paths[1:])
    own = set() if loop.joins else {path[0] for path in paths}
    while own & shared:  # ends at the ground: the carrier of coupled hinges carries every body that they move
        shared -= {max(shared)}
    found = set().union(*paths) - shared
    nodes = {k for k in found if graph.bodies[k].hinge.attachment is not None and graph.parents[k] >= 0}
    return found | {graph.parents[k] for k in nodes}


def connected_bodies(system: System, loop: Loop) -> tuple[str | None, ...]:
    """The bodies that a loop joins, or those whose hinges it constrains; None is the ground."""
    if loop.hinge is not None:
        return loop.hinge.parent, loop.body
    of_coordinate = {name: body.name for body in system.bodies for name in body.hinge.coordinate_names}
    if loop.type == "lock":
        return tuple(body.name for body in system.bodies if body.hinge.name == loop.locked)
    return tuple(dict.fromkeys(of_coordinate[term.coordinate] for term in loop.terms))


def lies_in(graph: SubGraph, loop: Loop) -> bool:
    """Whether a loop connects bodies of the sub-graph to each other or to what it stands on."""
    names = connected_bodies(graph.system, loop)
    if not loop.joins:
        return all(name in graph.names for name in names)
    carriers = {body.hinge.parent for body, parent in zip(graph.bodies, graph.parents) if parent < 0}
    return all(name is None or name in graph.names or name in carriers for name in names)


def _path(graph: SubGraph, k: int) -> list[int]:
    path = [k]
    while graph.parents[path[-1]] >= 0:
        path.append(graph.parents[path[-1]])
    return path
