"""Overlaps of nearly rigid shapes: pushed out slowly, with little more than the force that they bear anyway.

An overlap of depth d decays in FADE steps, so that its touch aims at a speed a = d / (FADE h) and bears up to
d / (FADE h ε A): a spring that stores ½ m a² FADE / ε, with m = h / A the mass that the touch feels. In a deep overlap,
as of a body that begins in another or is squeezed between two, that is more energy than anything had: neither the speed
nor the force may grow with d. Touches are deep where the spring would store more than ½ m V², and bear more than a load
of m G, under which bodies rest. For these

1. a first solution has a = 0: R, the force with which the touch bears what presses on it, without pushing
2. the final one has a ≤ V, with a compliance ε A V / a that keeps what a depth bears, and

    f ≤ R + min(R, ½ m V / h) + S + ½ m V² / L

with L the size of the smaller shape, and S what keeps the speed, up to a, with which it comes out. R does no work, S
adds no speed. The last term does ½ m V² at most on the way out of a shape, however deep, and wherever it is squeezed.
The second lifts what presses on the touch, which is work against that; where R stops an impact, it is ½ m V² in a step.

Near the axis of a hinge a touch feels a mass m above the mass M of all bodies, without bounds as it comes closer. There
V is smaller by √(M / m), so that all these energies are those of M.
"""

from __future__ import annotations

import math

from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.broad_phase import size_of
from limberjack.engine.kernels.contacts.laws import FADE, LEVER, SOFT
from limberjack.engine.tables import contacts as t

#: V: largest speed at which overlaps are pushed out, m/s
PUSH = 0.1
#: the speed of all bodies whose energy a step may add, as a share of V
_GENTLE = 0.25
#: a of touches that store ½ m V²
SHALLOW = PUSH * (SOFT / FADE) ** 0.5
#: G, m/s²
LOAD = 3000.0
#: largest force of touches without such a bound, N
ENDLESS = 1e300


@kernel
def _mass_share(active, own):
    """M / m, at most 1."""
    return min(1.0, own / active[t.AC_LIGHT])


@kernel
def limit(active, own, h):
    """Bound the force of a touch near the axis of a hinge by M G: if it is deep, or would bear any torque."""
    if own < active[t.AC_LIGHT] * (1.0 if active[t.AC_PUSH] > 0.0 else LEVER):
        active[t.AC_MOST] = LOAD * h / active[t.AC_LIGHT]


@kernel
def hold(active, own, depth, h):
    """Prepare a nearly rigid touch of a depth at the start of the step: a deep one only bears in the first solution.

    own : what it answers to its own force
    """
    speed, share = depth / (FADE * h), _mass_share(active, own)
    deep = speed > max(SHALLOW * math.sqrt(share), SOFT * LOAD * h * share) and active[t.AC_SOFT] > 0.0
    active[t.AC_AIM], active[t.AC_PUSH] = (0.0, speed) if deep else (speed, 0.0)


@kernel
def unbound(active):
    """Prepare any block: it is not deep, and its force has no bound but those of its laws."""
    active[t.AC_MOST], active[t.AC_PUSH] = ENDLESS, 0.0
    active[t.AC_AIM], active[t.AC_CALM], active[t.AC_LIGHT] = 0.0, 0.0, 0.0


@kernel
def _let_push(plant, work, i, h):
    active, own = work.contacts.active[i], work.contacts.answer[3 * i, 3 * i]
    push = PUSH * math.sqrt(_mass_share(active, own))
    size, slower = size_of(plant, plant.contacts.pair_int[int(active[t.AC_PAIR])]), push / active[t.AC_PUSH]
    aim, met = min(push, active[t.AC_PUSH]), work.contacts.met[int(active[t.AC_TOUCH])]
    lost = min(aim, active[t.AC_CAME]) - max(0.0, work.contacts.speed[3 * i]) if met[t.ME_BEGAN] > 0.0 else 0.0
    bears = active[t.AC_FORCE]
    most = bears + min(bears, 0.5 * push / own) + (max(0.0, lost) + 0.5 * h * push * push / size) / own
    active[t.AC_MOST] = min(active[t.AC_MOST], most)
    if slower < 1.0:
        active[t.AC_SOFT] *= slower
    active[t.AC_CALM] += aim
    active[t.AC_AIM], active[t.AC_PUSH] = max(active[t.AC_AIM], active[t.AC_CALM]), 0.0


@kernel
def push_out(plant, work, n, h):
    """Let the deep ones of n blocks push, after the first solution; returns whether there are any."""
    found = False
    for i in range(n):
        if work.contacts.active[i, t.AC_PUSH] > 0.0:
            _let_push(plant, work, i, h)
            found = True
    return found


@kernel
def allowed(plant, work, h):
    """Twice the power that pushing may add to an island in a step of h, W: `pushed_work.py`."""
    g, speed = plant.gravity, _GENTLE * PUSH
    lifted = 2.0 * PUSH * h * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    return (speed * speed + lifted) / work.contacts.active[0, t.AC_LIGHT]


@kernel
def pushed(work, n, deep):
    """Twice the power of what pushes shapes of n blocks apart, W. deep : only that of deep overlaps"""
    power = 0.0
    for i in range(n):
        active = work.contacts.active[i]
        if active[t.AC_MOST] < ENDLESS or not deep:
            power += 2.0 * active[t.AC_FORCE] * max(0.0, active[t.AC_CALM])
    return power
