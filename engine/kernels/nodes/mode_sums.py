"""Sums over the modes of a body, few sums of lanes at a time.

Lanes are eight modes of one world: two registers of a processor with sixteen, which has room for six sums. For several
worlds they are eight registers each, and there is room for two or three of thirty-two.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.blocks import load_triple
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes
from limberjack.engine.algebra.several_worlds import several_worlds
from limberjack.engine.algebra.spatial import add_scaled
from limberjack.engine.compile.kernel import kernel


@kernel
def _with_rates(table, first, step, n, eta, rate, x):
    """x + η_s X_s and η̇_s X_s, summed over the modes s; X_s: lanes at first + s step."""
    y = equal_lanes(0.0)
    for s in range(n):
        lanes = load_lanes(table, first + s * step)
        x, y = x + eta[s] * lanes, y + rate[s] * lanes
    return x, y


@kernel
def three_with_rates(table, first, step, n, eta, rate, x):
    """x + η_s X_s and η̇_s X_s of three lanes each, summed over the modes s; X_s: at first + s step."""
    if several_worlds():
        a, da = _with_rates(table, first, step, n, eta, rate, x[0])
        b, db = _with_rates(table, first + LANES, step, n, eta, rate, x[1])
        c, dc = _with_rates(table, first + 2 * LANES, step, n, eta, rate, x[2])
        return (a, b, c), (da, db, dc)
    zero = equal_lanes(0.0)
    y = zero, zero, zero
    for s in range(n):
        X = load_triple(table, first + s * step)
        x, y = add_scaled(x, eta[s], X), add_scaled(y, rate[s], X)
    return x, y


@kernel
def three_sums(table, first, step, n, eta, x):
    """x + η_s X_s of three lanes, summed over the modes s; X_s: at first + s step."""
    for s in range(n):
        x = add_scaled(x, eta[s], load_triple(table, first + s * step))
    return x
