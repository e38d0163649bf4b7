"""The work of an island's forces, and what pushes deep overlaps apart kept to little of it.

Forces f₀ of the first solution of a deep island (`push_out.py`) do no work, since nothing moves apart. But what is
wedged, by friction between many touches, bears any force, and f₀ may be far more than what presses on it: when the
final solution f₁ finds the way out, a step gained 27 mJ. It adds no more than ½ M (V/4)², what all bodies have at a
quarter of the speed at which overlaps are pushed out, and what lifts them at that speed: f = f₀ + s (f₁ - f₀), which
are in the cones of friction, since these are convex. Bodies then reach V within some steps.
"""

from __future__ import annotations

from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.polish import law_of
from limberjack.engine.kernels.contacts.push_out import allowed
from limberjack.engine.kernels.contacts.rebound import share_until
from limberjack.engine.kernels.contacts.speeds import came, copy_forces, start_speeds
from limberjack.engine.tables import contacts as t


@kernel
def work_of(plant, work, n):
    """f·(u₋ + u) of n blocks, twice the power of their forces; u₋: at the start of the step. Normal forces of compliant
    touches keep account of what they do."""
    done = 0.0
    for i in range(n):
        active = work.contacts.active[i]
        own = active[t.AC_TURNS] == 0.0 and plant.contacts.contact[law_of(plant, work, i), t.K_STIFFNESS] > 0.0
        for c in range(3):
            if c > 0 or not own:
                done += active[t.AC_FORCE + c] * (came(work, i, c) + work.contacts.speed[3 * i + c])
    return done


@kernel
def _move_to(work, n, s):
    """The forces of n blocks become f₀ + s (f₁ - f₀), of AC_BORNE and AC_BEST."""
    for i in range(n):
        active = work.contacts.active[i]
        for c in range(3):
            f = active[t.AC_BORNE + c]
            active[t.AC_FORCE + c] = f + s * (active[t.AC_BEST + c] - f)
    start_speeds(work, n)


@kernel
def _added(plant, work, n, h):
    """Twice the power that forces of n blocks add beyond what is allowed, W."""
    return work_of(plant, work, n) - allowed(plant, work, h)


@kernel
def tame(plant, work, n, h):
    """Keep the work of the forces f₁ of n blocks in a step of h to what is allowed."""
    most = _added(plant, work, n, h)
    if most > 0.0:
        copy_forces(work, n, t.AC_FORCE, t.AC_BEST)
        _move_to(work, n, 0.0)
        least, s = _added(plant, work, n, h), 1.0
        if least < 0.0:  # f₀ with restitution may add energy itself
            _move_to(work, n, 0.5)
            s = share_until(least, _added(plant, work, n, h), most)
        _move_to(work, n, s)
