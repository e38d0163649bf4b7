"""Degrees of freedom of a model before and after its loops are closed."""

from __future__ import annotations

from limberjack.engine.algebra.ranks import rank
from limberjack.engine.model.loops.groups import united
from limberjack.engine.model.loops.mechanism import Mechanism
from limberjack.engine.model.loops.newton import sizes
from limberjack.engine.model.loops.plan import Plan
from limberjack.engine.model.loops.samples import MOST_SAMPLED, sampled_rows
from limberjack.engine.model.loops.selection import generic


def freedoms(plan: Plan) -> int:
    """Degrees of freedom while the loops that start closed are closed: redundant rows do not count.

    Of loops that begin to hold where they are, and of many bodies, the rows at the initial state are counted.
    """
    closed = [loop for loop in plan.loops if loop.closure.loop.closed]
    taken = 0
    for members in united([loop.closure.above for loop in closed]):
        groups = {closed[i].group for i in members}
        (group,) = groups if len(groups) == 1 else (None,)
        if group is not None:
            taken += len(plan.groups[group].dependent)
            continue
        mechanism = Mechanism(plan.tree, [closed[i].closure for i in members])
        q0, size = plan.system.q0, sizes(mechanism, plan.system.q0)
        if len(mechanism.dofs) > MOST_SAMPLED or any(loop.loop.switchable for loop in mechanism.loops):
            taken += rank(size.scaled(mechanism.evaluate(q0)[1]))
        else:
            taken += generic(sampled_rows(mechanism, q0, size, plan.system.v0))[0]
    return plan.system.nv - taken
