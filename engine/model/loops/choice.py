"""Embedded or by force: the method of every loop, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.loops.closure import Closure, where_is
from limberjack.engine.model.loops.groups import united
from limberjack.engine.model.loops.joint_tree import Tree
from limberjack.engine.tables.hinge_types import MODAL

#: loops whose model leaves the method open are embedded up to this many velocities in their group: what a group costs
#: grows with the cube of its size, what constraint forces cost with the length of the chains and the number of rows
EMBED_MOST = 24
#: and while their rows leave at most so many free: one block of lanes (docs/reference/benchmarks.md has the crossover)
FREE_MOST = 8


@dataclass
class Choice:
    """Method of one loop, the reason for messages, and whether the model itself asks for it."""

    method: str
    why: str
    given: bool


def choose(loops: Sequence[Closure], tree: Tree) -> list[Choice]:
    """The model's choice, else by the size of the group that would come of it."""
    choices = [_given(closure, tree) for closure in loops]
    candidates = [i for i, choice in enumerate(choices) if choice.method != "force"]
    for members in united([loops[i].above for i in candidates]):
        group = [candidates[i] for i in members]
        count = sum(tree.joints[row - 1].nv for row in {row for i in group for row in loops[i].above})
        rows = sum(len(loops[i].names) for i in group)
        small = count <= EMBED_MOST and count - rows <= FREE_MOST
        for i in group:
            if not choices[i].method:
                size, noun = "small" if small else "large", "row" if rows == 1 else "rows"
                why = f"its group of {count} velocities and {rows} {noun} is {size}"
                choices[i] = Choice("embed" if small else "force", why, False)
    return choices


def _given(closure: Closure, tree: Tree) -> Choice:
    """The method that the loop itself asks for; "" where the graph decides.

    With modes a group costs more than constraint forces at any size (docs/how-to/closed-chains.md has the figures).
    """
    loop = closure.loop
    fixed = "it can be switched" if loop.switchable else "it locks a hinge" if loop.type == "lock" else ""
    if fixed and (loop.method == "embed" or loop.independent):
        what = f"loop '{loop.name}' cannot be embedded because {fixed}"
        raise ModelError(what, where=where_is(loop), remedy="Remove 'method: embed' and 'independent'")
    if fixed:
        return Choice("force", fixed, True)
    if loop.independent:
        return Choice("embed", "it names independent velocities", True)
    if not loop.method and any(tree.joints[row - 1].code == MODAL for row in closure.above):
        return Choice("force", "a flexible body is in it", False)
    return Choice(loop.method or "", "the model says so", loop.method is not None)
