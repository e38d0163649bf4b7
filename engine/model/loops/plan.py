"""What becomes of each loop: embedded or by force, in which group, which rows are kept, which velocities depend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.frames import Frames
from limberjack.engine.model.loops.aggregate import Group, aggregate
from limberjack.engine.model.loops.choice import Choice, choose
from limberjack.engine.model.loops.closure import Closure, closures, where_is
from limberjack.engine.model.loops.groups import united
from limberjack.engine.model.loops.joint_tree import Tree
from limberjack.engine.model.loops.mechanism import Mechanism
from limberjack.engine.model.loops.newton import ROUNDING, Sizes, sizes
from limberjack.engine.model.loops.samples import MOST_SAMPLED, sampled_rows
from limberjack.engine.model.loops.selection import generic
from limberjack.engine.model.system import System

#: rank of loops of mechanisms too large to be moved, and of most loops that switch
UNKNOWN = -1


@dataclass(eq=False)
class LoopPlan:
    """One loop: method and why, the rows that are kept and their factors; group is None for a loop by force.

    rank : by force, how many of its rows do not follow from others at most configurations, or UNKNOWN
    """

    closure: Closure
    choice: Choice
    kept: list[int]
    scale: list[float]
    group: int | None
    rank: int = 0

    @property
    def method(self) -> str:
        """ "embed" or "force"."""
        return self.choice.method


@dataclass(eq=False)
class Plan:
    """What `build` writes into the Plant's tables of loops."""

    system: System
    tree: Tree
    loops: list[LoopPlan]
    groups: list[Group]

    @property
    def forced(self) -> list[LoopPlan]:
        """The loops by force."""
        return [loop for loop in self.loops if loop.group is None]


def plan(system: System, frames: Frames) -> Plan:
    """Method, groups, rows and coordinates of every loop.

    Raises ModelError for what cannot be, and where the initial state does not close the loops.
    """
    tree = Tree(frames)
    loops = closures(system, tree)
    factors = [_checked(system, tree, closure) for closure in loops]
    choices = choose(loops, tree)
    groups = _groups(system, tree, loops, choices)
    group_of = {i: number for number, group in enumerate(groups) for i in group.loops}
    plans = []
    for i, closure in enumerate(loops):
        kept, scale = (
            list(range(len(factors[i]))),
            factors[i],
        )  # by force all rows: the solver copes with redundant ones
        if i in group_of:
            group = groups[group_of[i]]
            at = group.loops.index(i)
            kept, scale = group.kept[at], group.row_scale[at]
        plans.append(LoopPlan(closure, choices[i], kept, scale, group_of.get(i)))
    _rank(system, tree, plans, groups)
    return Plan(system, tree, plans, groups)


def _rank(system: System, tree: Tree, plans: Sequence[LoopPlan], groups: Sequence[Group]) -> None:
    """Ranks of the loops by force, as far as they can be known."""
    for plan in plans:
        plan.rank = UNKNOWN if plan.group is None else 0
    fixed = [plan for plan in plans if not plan.closure.loop.switchable]
    for members in united([plan.closure.above for plan in fixed]):
        found = [fixed[i] for i in members]
        if all(plan.group is not None for plan in found):
            continue
        left = _generic(system, tree, found)
        if left == UNKNOWN:
            continue
        left -= sum(len(groups[g].dependent) for g in {plan.group for plan in found if plan.group is not None})
        for plan in found:
            plan.rank = min(len(plan.kept) if plan.group is None else 0, left)
            left -= plan.rank
    _rank_switchable(system, tree, plans)


def _rank_switchable(system: System, tree: Tree, plans: Sequence[LoopPlan]) -> None:
    """Ranks of loops that switch, where those that act have the sum of their ranks, whichever they are.

    Ranks are submodular: if all loops together have the sum of what each has alone, so has every part of them. Loops
    that are open at the start are not closed anywhere that is known, nor are those of their mechanism with them.
    """
    for members in united([plan.closure.above for plan in plans]):
        found = [plans[i] for i in members]
        loops = [plan.closure.loop for plan in found]
        if not any(loop.switchable for loop in loops) or not all(loop.closed for loop in loops):
            continue
        together = UNKNOWN if any(plan.group is not None for plan in found) else _generic(system, tree, found)
        if together == UNKNOWN:
            continue
        alone = [_generic(system, tree, [plan]) for plan in found]
        if sum(alone) == together:
            for plan, count in zip(found, alone):
                plan.rank = count


def _generic(system: System, tree: Tree, plans: Sequence[LoopPlan]) -> int:
    """How many rows of loops that move together are independent at most configurations, or UNKNOWN."""
    mechanism = Mechanism(tree, [plan.closure for plan in plans])
    if len(mechanism.dofs) > MOST_SAMPLED:
        return UNKNOWN
    return generic(sampled_rows(mechanism, system.q0, sizes(mechanism, system.q0), system.v0))[0]


def _groups(system: System, tree: Tree, loops: Sequence[Closure], choices: Sequence[Choice]) -> list[Group]:
    """The aggregated nodes, base to tip."""
    embedded = [i for i, choice in enumerate(choices) if choice.method == "embed"]
    sets = united([loops[i].above for i in embedded])
    groups = [aggregate(system, tree, loops, [embedded[i] for i in members]) for members in sets]
    return sorted(groups, key=lambda group: group.bodies[0])


def _checked(system: System, tree: Tree, closure: Closure) -> list[float]:
    """Factors of a loop's rows. Refuses loops within rigid bodies, and an initial state that would need a jump."""
    loop = closure.loop
    mechanism = Mechanism(tree, [closure])
    if not mechanism.dofs:
        what = f"loop '{loop.name}' joins bodies that cannot move against each other"
        remedy = "Remove the loop, or give the bodies between hinges that move"
        raise ModelError(what, where=where_is(loop), remedy=remedy)
    size = sizes(mechanism, system.q0)
    if loop.closed and mechanism.count:
        _require_closed(system, mechanism, size)
    return [float(x) for x in size.row]


def _require_closed(system: System, mechanism: Mechanism, size: Sizes) -> None:
    """Refuse a loop that the first step would have to close."""
    loop = mechanism.loops[0].loop
    r, Y = mechanism.evaluate(system.q0)
    v = system.v0[mechanism.dofs]
    gap = 0.0 if loop.switchable else float(np.abs(size.row * r).max())
    rate = Y @ v - mechanism.prescribed()
    speed = float(np.abs(size.row * rate).max())
    if gap <= max(ROUNDING, size.closed) and speed <= ROUNDING * max(
        1.0, float(np.abs(v / size.velocity).max(initial=0.0))
    ):
        return
    how = f"open by {np.abs(r).max():.3g}" if gap > ROUNDING else f"opening at {np.abs(rate).max():.3g} a second"
    what = f"loop '{loop.name}' is {how} at the initial state"
    raise ModelError(
        what, where=where_is(loop), remedy="Pass the System through limberjack.assemble, which closes loops"
    )
