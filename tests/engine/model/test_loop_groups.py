"""Aggregation sub-graphs against brute force over all sets of bodies and all partitions of the loops (001 §4, §9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from limberjack.engine.model.frames import assemble
from limberjack.engine.model.loops.closure import closures
from limberjack.engine.model.loops.groups import united
from limberjack.engine.model.loops.joint_tree import Tree
from limberjack.engine.model.loops.plan import plan
from limberjack.engine.model.system import Body, Hinge, Inertia, Loop, Pose, System, Term
from limberjack.engine.model.validate import validate

Z = np.array([[0.0, 0.0, 1.0]])


def tree_of(parents: Sequence[int], loops: Sequence[Loop] = ()) -> System:
    """Bodies b1, b2, … on revolute hinges of their names; parents are rows, 0 the ground."""
    inertia = Inertia(1.0, np.zeros(3), np.eye(3))
    hinges = (
        Hinge(f"b{row}", "revolute", f"b{up}" if up else None, Pose(position=np.array([0.3, 0.1 * row, 0.0])), axes=Z)
        for row, up in enumerate(parents, start=1)
    )
    bodies = tuple(Body(hinge.name, inertia, hinge) for hinge in hinges)
    return System("tree", bodies, loops=tuple(loops))


def point(name: str, a: int, b: int) -> Loop:
    """A point loop between the bodies of two rows."""
    return Loop(name, "point", Hinge(name, "spherical", f"b{a}" if a else None), f"b{b}" if b else None)


def gear(name: str, *rows: int) -> Loop:
    """A coupling of the hinges of some bodies."""
    return Loop(name, "coupling", terms=tuple(Term(f"b{row}", (1.0,)) for row in rows))


def aggregates(members: set[int], parents: Sequence[int]) -> int | None:
    """The one parent outside that the Aggregation Condition asks for; None if it is not met."""
    outside = {parents[row - 1] for row in members} - members
    return outside.pop() if len(outside) == 1 else None


def contains(members: set[int], parent: int, loop: Loop) -> bool:
    """Whether all that a loop constrains moves inside: joined bodies may be the parent, hinges may not."""
    if loop.type == "coupling":
        return all(int(term.coordinate[1:]) in members for term in loop.terms)
    ends = [int(name[1:]) if name else 0 for name in (loop.hinge.parent, loop.body)]
    return all(end in members or end == parent for end in ends)


def smallest(loops: Sequence[Loop], parents: Sequence[int]) -> set[int]:
    """The smallest aggregation sub-graph of some loops, by trying all sets of bodies."""
    rows = range(1, len(parents) + 1)
    for count in range(1, len(parents) + 1):
        for chosen in combinations(rows, count):
            members = set(chosen)
            parent = aggregates(members, parents)
            if parent is not None and all(contains(members, parent, loop) for loop in loops):
                return members
    raise AssertionError("all bodies together satisfy the condition")


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """All partitions of a list."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partition in partitions(rest):
        yield [[first], *partition]
        for i in range(len(partition)):
            yield [*partition[:i], [first, *partition[i]], *partition[i + 1 :]]


def best_partition(loops: Sequence[Loop], parents: Sequence[int]) -> list[tuple[list[int], set[int]]]:
    """The most groups of disjoint bodies, of these the one with the fewest bodies."""
    fitting = []
    for partition in partitions(list(range(len(loops)))):
        sets = [smallest([loops[i] for i in part], parents) for part in partition]
        if all(not a & b for a, b in combinations(sets, 2)):
            fitting.append(list(zip(partition, sets)))
    return min(fitting, key=lambda groups: (-len(groups), sum(len(members) for _, members in groups)))


def found(system: System) -> list[tuple[list[int], set[int]]]:
    """The groups of all loops as the plan makes them."""
    tree = Tree(assemble(system))
    loops = closures(system, tree)
    sets = [loop.above for loop in loops]
    return [(part, {row for i in part for row in sets[i]}) for part in united(sets)]


def depth_first(rng: np.random.Generator, count: int) -> list[int]:
    """A random tree whose rows are depth first."""
    branch, parents = [0], list[int]()
    for row in range(1, count + 1):
        up = int(rng.integers(len(branch)))
        branch = [*branch[: up + 1], row]
        parents.append(branch[-2])
    return parents


@pytest.mark.parametrize("seed", range(60))
def test_groups_are_the_smallest_that_can_be(seed):
    rng = np.random.default_rng(seed)
    parents = depth_first(rng, int(rng.integers(2, 8)))
    loops = []
    for i in range(int(rng.integers(1, 5))):
        if rng.random() < 0.3:
            rows = rng.choice(len(parents), size=min(len(parents), int(rng.integers(2, 4))), replace=False) + 1
            loops.append(gear(f"loop{i}", *map(int, rows)))
        else:
            a, b = rng.choice(len(parents) + 1, size=2, replace=False)
            loops.append(point(f"loop{i}", int(a), int(b)))
    system = tree_of(parents, loops)
    expected = best_partition(loops, parents)
    assert sorted((sorted(p), sorted(s)) for p, s in found(system)) == sorted(
        (sorted(p), sorted(s)) for p, s in expected
    )


@pytest.mark.parametrize(
    ("parents", "loops", "groups"),
    [
        # four-bars on a base, cut at the end of the chain (the base is the parent) and inside: two base bodies
        ([0, 1, 2, 3], [point("end", 4, 1)], [{2, 3, 4}]),
        ([0, 1, 2, 1], [point("inside", 3, 4)], [{2, 3, 4}]),
        # to the inertial frame; across two trees of the forest
        ([0, 1], [point("ground", 2, 0)], [{1, 2}]),
        ([0, 1, 0, 3], [point("across", 2, 4)], [{1, 2, 3, 4}]),
        # two loops that share only their parent stay apart, as do those that follow each other: split is preferred
        ([0, 1, 1, 1, 1], [point("left", 2, 3), point("right", 4, 5)], [{2, 3}, {4, 5}]),
        ([0, 0, 2, 2], [point("lower", 1, 2), point("upper", 3, 4)], [{1, 2}, {3, 4}]),
        # a pair of cut edges that share a node cannot be split
        ([0, 1, 1, 1], [point("left", 2, 3), point("right", 3, 4)], [{2, 3, 4}]),
        # a gear's motor and driven link; one that skips a hinge takes the hinges between along
        ([0, 1, 1], [gear("gear", 2, 3)], [{2, 3}]),
        ([0, 1, 2, 3], [gear("cable", 1, 4)], [{1, 2, 3, 4}]),
        ([0, 1, 2, 1], [gear("belt", 3, 4)], [{2, 3, 4}]),
    ],
)
def test_groups_of_known_graphs(parents, loops, groups):
    assert sorted(sorted(members) for _, members in found(tree_of(parents, loops))) == sorted(map(sorted, groups))


def test_groups_of_a_model():
    """Nested and neighbouring gears: parents, bodies and order are those of the Plant; unmerged fixed bodies count."""
    system = tree_of([0, 1, 1, 3, 3, 5], [gear("upper", 4, 5), gear("lower", 2, 3)])
    fixed = replace(system.bodies[3], hinge=replace(system.bodies[3].hinge, type="fixed", axes=Z[:0], merge=False))
    loops = (gear("upper", 6, 3), system.loops[1])
    system = validate(replace(system, bodies=(*system.bodies[:3], fixed, *system.bodies[4:]), loops=loops))
    (group,) = plan(system, assemble(system)).groups
    assert (group.bodies, group.parent, group.loops) == ([2, 3, 5, 6], 1, [0, 1])
    system = validate(tree_of([0, 1, 1, 3, 3, 5], [gear("upper", 4, 5), gear("lower", 2, 3)]))
    lower, upper = plan(system, assemble(system)).groups
    assert (lower.bodies, lower.parent, lower.loops) == ([2, 3], 1, [1])
    assert (upper.bodies, upper.parent, upper.loops) == ([4, 5], 3, [0])
