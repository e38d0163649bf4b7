"""What becomes of each loop: embedded or by force, in which group, which rows are kept, which velocities depend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from limberjack.engine.errors import ModelError
from limberjack.engine.system.frames import Frames
from limberjack.engine.system.loops.closure import Closure, closures
from limberjack.engine.system.loops.groups import united
from limberjack.engine.system.loops.kinematics import Tree
from limberjack.engine.system.loops.mechanism import Mechanism
from limberjack.engine.system.loops.newton import Sizes, sizes
from limberjack.engine.system.loops.samples import configurations
from limberjack.engine.system.loops.selection import dependent_columns, generic, independent_rows
from limberjack.engine.system.system import Loop, System

#: loops are embedded on their own account up to this many velocities in a group
EMBED_MOST = 24


@dataclass(eq=False)
class LoopPlan:
    """One loop: method, why, and the rows that are kept; group is None for a loop by force."""

    closure: Closure
    method: str
    why: str
    kept: list[int] = field(default_factory=list)
    scale: list[float] = field(default_factory=list)
    group: int | None = None


@dataclass(eq=False)
class GroupPlan:
    """One aggregated node: rows (k + 1) of its bodies, row of the body that carries it, indices of its loops.

    dependent, independent : velocities of the model; scale : their typical sizes, in this order
    """

    bodies: list[int]
    parent: int
    loops: list[int]
    dependent: list[int]
    independent: list[int]
    scale: list[float]


@dataclass(eq=False)
class Plan:
    """What `build` writes into the Plant's tables of loops."""

    system: System
    tree: Tree
    loops: list[LoopPlan]
    groups: list[GroupPlan]

    @cached_property
    def forced(self) -> list[int]:
        """Indices of the loops by force."""
        return [i for i, loop in enumerate(self.loops) if loop.method == "force"]


def plan(system: System, frames: Frames) -> Plan:
    """Method, groups, rows and coordinates of every loop. Raises ModelError for what cannot be."""
    tree = Tree(frames)
    loops = _methods(system, closures(system, tree), tree)
    q0 = system.q0
    groups = []
    embedded = [i for i, loop in enumerate(loops) if loop.method == "embed"]
    for members in united([loops[i].closure.above for i in embedded]):
        groups.append(_group(system, tree, loops, [embedded[i] for i in members], q0))
    groups.sort(key=lambda group: group.bodies[0])
    for number, group in enumerate(groups):
        for i in group.loops:
            loops[i].group = number
    for loop in loops:
        if loop.method == "force":
            _keep_all(loop, tree, q0)
    return Plan(system, tree, loops, groups)


def _methods(system: System, loops: Sequence[Closure], tree: Tree) -> list[LoopPlan]:
    """The user's choice, else by the size of the group that would come of it."""
    plans = [LoopPlan(loop, *_given_method(loop.loop)) for loop in loops]
    candidates = [i for i, loop in enumerate(plans) if loop.method != "force"]
    for members in united([loops[i].above for i in candidates]):
        group = [candidates[i] for i in members]
        rows = {row for i in group for row in loops[i].above}
        count = sum(tree.joints[row - 1].nv for row in rows)
        method, why = "embed", f"{count} velocities, at most {EMBED_MOST}"
        if count > EMBED_MOST:
            method, why = "force", f"{count} velocities move together, more than {EMBED_MOST}"
        for i in group:
            if not plans[i].method:
                plans[i].method, plans[i].why = method, why
    return plans


def _given_method(loop: Loop) -> tuple[str, str]:
    """Method and reason where the loop itself leaves no choice; "" where the graph decides."""
    fixed = "it can be switched" if loop.switchable else "it locks a hinge" if loop.type == "lock" else ""
    if fixed and (loop.method == "embed" or loop.independent):
        raise ModelError(
            f"loop '{loop.name}' cannot be embedded because {fixed}",
            where=loop.where or f"loop '{loop.name}'",
            mend="Remove 'method: embed' and 'independent', or close it for good",
        )
    if fixed:
        return "force", fixed
    if loop.method:
        return loop.method, "as the model says"
    return ("embed", "it names independent velocities") if loop.independent else ("", "")


def _group(system: System, tree: Tree, loops: list[LoopPlan], members: list[int], q0: np.ndarray) -> GroupPlan:
    """One aggregated node: drop its redundant rows, choose its dependent velocities."""
    mechanism = Mechanism(tree, [loops[i].closure for i in members])
    size = sizes(mechanism, q0)
    matrices = [size.scaled(mechanism.evaluate(q)[1]) for q in configurations(mechanism, q0, size)]
    kept = independent_rows(matrices)
    _, regular = generic(matrices)
    rows = [Y[kept] for Y in regular]
    order = _preferences(system, mechanism, kept)
    free = {mechanism.place_of[v] for v in _asked(system, mechanism)}
    dependent = dependent_columns(rows, order, free)
    dependent.sort(key=lambda j: _first_loop(mechanism, rows, kept, j))
    independent = [j for j in range(len(mechanism.dofs)) if j not in set(dependent)]
    velocity, row = _equilibrated(rows, size, kept)
    for i, start, end in zip(members, mechanism.starts, mechanism.starts[1:]):
        own = [j for j, r in enumerate(kept) if start <= r < end]
        loops[i].kept = [int(kept[j] - start) for j in own]
        loops[i].scale = [float(row[j]) for j in own]
    listed = dependent + independent
    parent = min(loops[i].closure.common for i in members)
    return GroupPlan(
        mechanism.rows,
        parent,
        members,
        [mechanism.dofs[j] for j in dependent],
        [mechanism.dofs[j] for j in independent],
        [float(velocity[j]) for j in listed],
    )


def _asked(system: System, mechanism: Mechanism) -> list[int]:
    return [system.velocity_names.index(name) for loop in mechanism.loops for name in loop.loop.independent]


def _preferences(system: System, mechanism: Mechanism, kept: list[int]) -> list[tuple]:
    """Keys of the velocities: those of few loops and without a drive become dependent first."""
    count = np.zeros(len(mechanism.dofs), dtype=int)
    for loop in mechanism.loops:
        rows = {*loop.chain_a, *loop.chain_b} if loop.joins else {term.row for term in loop.terms}
        for row in rows:
            count[mechanism.slices[row]] += 1
    driven = {actuator.coordinate for actuator in system.actuators}
    return [(int(count[j]), system.velocity_names[v] in driven) for j, v in enumerate(mechanism.dofs)]


def _first_loop(mechanism: Mechanism, rows: list[np.ndarray], kept: list[int], column: int) -> int:
    """Rank of the first loop that a velocity takes part in."""
    active = np.flatnonzero(np.max([np.abs(Y[:, column]) for Y in rows], axis=0) > 0.0)
    return int(np.searchsorted(mechanism.starts, kept[int(active[0])], side="right")) if len(active) else 0


def _equilibrated(rows: list[np.ndarray], size: Sizes, kept: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Typical velocities and row factors that bring every row and column to the largest entry one."""
    A = np.max([np.abs(Y) for Y in rows], axis=0)
    column, row = np.ones(A.shape[1]), np.ones(A.shape[0])
    for _ in range(3):
        row /= np.maximum((A * column * row[:, None]).max(axis=1, initial=0.0), 1e-12)
        largest = (A * column * row[:, None]).max(axis=0, initial=0.0)
        column /= np.where(largest > 0.0, largest, 1.0)
    return column * size.velocity, row * size.row[kept]


def _keep_all(loop: LoopPlan, tree: Tree, q0: np.ndarray) -> None:
    """Loops by force keep every row: the solver copes with redundant ones."""
    mechanism = Mechanism(tree, [loop.closure])
    _, Y = mechanism.evaluate(q0)
    largest = np.abs(Y).max(axis=1, initial=0.0)
    loop.kept = list(range(mechanism.count))
    loop.scale = [float(1.0 / x) if x > 0.0 else 1.0 for x in largest]
