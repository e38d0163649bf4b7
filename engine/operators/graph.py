"""Which bodies an operator speaks of: a connected sub-graph of a System, and the stacked spaces over it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model import arguments as model_arguments
from limberjack.engine.model.system import Body, System


@dataclass(frozen=True, eq=False)
class SubGraph:
    """Bodies of a system, ordered base to tip, each connected to the others through its hinge.

    places : indices of the bodies in the system
    """

    system: System
    places: tuple[int, ...]

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        return tuple(self.system.bodies[i] for i in self.places)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(body.name for body in self.bodies)

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Place of each body's parent within the sub-graph; -1 where the hinge starts from outside it."""
        place = {name: i for i, name in enumerate(self.names)}
        return tuple(place.get(body.hinge.parent or "", -1) for body in self.bodies)

    @cached_property
    def modal_names(self) -> tuple[str, ...]:
        """Names of the links with the modes of modal bodies."""
        return tuple(body.name for body in self.bodies if body.hinge.modes is not None)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        return tuple(name for body in self.bodies for name in body.hinge.velocity_names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SubGraph) and self.system is other.system and self.places == other.places

    def __hash__(self) -> int:
        return hash((id(self.system), self.places))

    def __str__(self) -> str:
        if len(self.places) == len(self.system.bodies):
            return f"'{self.system.name}'"
        names = ", ".join(self.names[:4]) + (", …" if len(self.names) > 4 else "")
        return f"'{self.system.name}' ({names})"


def sub_graph(system: System, bodies: Sequence[str] | None) -> SubGraph:
    """The whole system (None), or those bodies by name, in any order; ArgumentError unless they are connected."""
    model_arguments.system_of(system)
    model_arguments.without_elements(system, "the workbench")
    if bodies is None:
        return SubGraph(system, tuple(range(len(system.bodies))))
    if isinstance(bodies, str) or not isinstance(bodies, Iterable) or len(bodies := list(bodies)) == 0:
        raise ArgumentError(f"bodies is {bodies!r:.60}; give a list with at least one body name.")
    places = {arguments.index_of("body", name, system.body_names) for name in bodies}
    graph = SubGraph(system, tuple(sorted(places.union(_links_of_modal_bodies(system, places)))))
    _check_connected(graph)
    return graph


def _links_of_modal_bodies(system: System, places: Iterable[int]) -> set[int]:
    """Of the modal bodies among these, the links with their modes and those of their attachment nodes."""
    names = {system.body_names[i] for i in places}
    modal = {b.name for b in system.bodies if b.hinge.modes is not None and b.hinge.parent in names}
    nodes = {b.name for b in system.bodies if b.hinge.attachment is not None and b.hinge.parent in modal}
    return {i for i, name in enumerate(system.body_names) if name in modal | nodes}


def _check_connected(graph: SubGraph) -> None:
    """One body may hang from outside; several only if all of them hang from the ground."""
    roots = [body for body, parent in zip(graph.bodies, graph.parents) if parent < 0]
    if len(roots) > 1 and any(body.hinge.parent is not None for body in roots):
        names = ", ".join(f"'{body.name}' (on '{body.hinge.parent or 'ground'}')" for body in roots)
        raise ArgumentError(
            f"the chosen bodies are not connected: they start from {names}. "
            "Add the bodies between them, or make one Operators for each part."
        )


#: kind of a space → what its blocks are called in messages
_CALLED = {"bodies": "body", "velocities": "body", "nodes": "node", "frames": "frame of a loop", "rows": "loop"}


@dataclass(frozen=True)
class Space:
    """Rows or columns of an operator: one block for each name.

    kind : "bodies" (6 numbers a body, after the rates of its modes), "velocities" (as many as the body's hinge has),
        "nodes" (6 a node), "frames" (6 for each end of a loop) or "rows" (as many as the loop has)
    axes : of nodes, "node" or "inertial"
    parts : names of the parts of each block, of a tree whose bodies are aggregated: bodies or velocities
    part_sizes : of parts that are not of equal size
    """

    graph: SubGraph
    kind: str
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    axes: str = ""
    parts: tuple[tuple[str, ...], ...] = ()
    part_sizes: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        ends = np.cumsum((0, *self.sizes)).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @cached_property
    def size(self) -> int:
        return sum(self.sizes)

    def place(self, name: str) -> int:
        """Which block this name is; UnknownNameError with the nearest spelling."""
        return arguments.index_of(_CALLED[self.kind], name, self.names)

    def locate(self, name: str) -> tuple[int, slice]:
        """Block and numbers within it of a block or of a part of one; UnknownNameError with the nearest spelling."""
        for k, parts in enumerate(self.parts):
            if name in parts and name not in self.names:
                j = parts.index(name)
                sizes = self.part_sizes[k] if self.part_sizes else (self.sizes[k] // len(parts),) * len(parts)
                return k, slice(sum(sizes[:j]), sum(sizes[: j + 1]))
        if self.parts:
            single = {name for parts in self.parts for name in parts}
            arguments.index_of(_CALLED[self.kind], name, dict.fromkeys((*self.names, *sorted(single))))
        return self.place(name), slice(None)

    def __str__(self) -> str:
        count = self.size if self.kind in ("velocities", "rows") else len(self.names)
        axes = f", {self.axes} axes," if self.axes else ""
        if not self.parts:
            loops = f" ({', '.join(self.names[:4])}{', …' if len(self.names) > 4 else ''})"
            return f"the {count} {self.kind}{loops if self.kind == 'rows' else axes} of {self.graph}"
        if self.kind == "bodies":
            return f"the {sum(map(len, self.parts))} bodies in {count} nodes of {self.graph}"
        names = [name for parts in self.parts for name in parts]
        shown = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
        return f"the {count} independent velocities of {self.graph} ({shown})"
