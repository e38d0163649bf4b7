"""Sums over the modes of a body, few sums of lanes at a time, for several worlds.

Lanes are eight modes of one world. For several worlds each of them is a register, and all sums side by side would not
find room in those that a processor has. For one world they do, and are faster so.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes
from limberjack.engine.compile.kernel import kernel


@kernel
def over_modes(table, first, step, n, eta, rate, x):
    """x + η_s X_s and η̇_s X_s, summed over the modes s; X_s: lanes at first + s step."""
    y = equal_lanes(0.0)
    for s in range(n):
        lanes = load_lanes(table, first + s * step)
        x, y = x + eta[s] * lanes, y + rate[s] * lanes
    return x, y


@kernel
def over_modes_thrice(table, first, step, n, eta, rate, x, y, turning):
    """x + η_s X_s, y + η_s Y_s and η̇_s Z_s, summed over the modes s; X_s: lanes at first + s step, Y_s: three farther
    on, Z_s: at turning + s step."""
    z = equal_lanes(0.0)
    for s in range(n):
        i = first + s * step
        x, y = x + eta[s] * load_lanes(table, i), y + eta[s] * load_lanes(table, i + 3 * LANES)
        z = z + rate[s] * load_lanes(table, turning + s * step)
    return x, y, z
