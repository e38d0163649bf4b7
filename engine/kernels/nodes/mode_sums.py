"""Sums over the modes of a body, few sums of lanes at a time.

Lanes are eight modes of one world: two registers of a processor with sixteen, which has room for six sums. For several
worlds they are eight registers each, and there is room for two or three of thirty-two. Where the upper half of the
lanes is padding (`few`), the sums are of the lower half only: four modes.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.lanes import equal_lanes, load_like, lower_lanes, whole_lanes
from limberjack.engine.algebra.several_worlds import several_worlds
from limberjack.engine.algebra.spatial import add_scaled
from limberjack.engine.compile.kernel import kernel


@kernel
def half_suffices(n, b):
    """Whether the modes of block b, of n in all, fit the lower half of its lanes."""
    return n - LANES * b <= LANES // 2


@kernel
def _with_rates(table, first, step, n, eta, rate, x, y):
    """x + η_s X_s and y + η̇_s X_s, summed over the modes s; X_s: as many lanes as x at first + s step."""
    for s in range(n):
        lanes = load_like(x, table, first + s * step)
        x, y = x + eta[s] * lanes, y + rate[s] * lanes
    return x, y


@kernel
def _triple_like(x, table, at):
    """Three lanes from table[at], as many in each as in x."""
    return load_like(x, table, at), load_like(x, table, at + LANES), load_like(x, table, at + 2 * LANES)


@kernel
def _three_with_rates(table, first, step, n, eta, rate, x, zero):
    """`three_with_rates` of as many lanes as x and zero have."""
    if several_worlds():
        a, da = _with_rates(table, first, step, n, eta, rate, x[0], zero)
        b, db = _with_rates(table, first + LANES, step, n, eta, rate, x[1], zero)
        c, dc = _with_rates(table, first + 2 * LANES, step, n, eta, rate, x[2], zero)
        return (a, b, c), (da, db, dc)
    y = zero, zero, zero
    for s in range(n):
        X = _triple_like(zero, table, first + s * step)
        x, y = add_scaled(x, eta[s], X), add_scaled(y, rate[s], X)
    return x, y


@kernel
def _three_sums(table, first, step, n, eta, x):
    """`three_sums` of as many lanes as x has."""
    for s in range(n):
        x = add_scaled(x, eta[s], _triple_like(x[0], table, first + s * step))
    return x


@kernel
def _lower(x):
    """The lower halves of three lanes."""
    return lower_lanes(x[0]), lower_lanes(x[1]), lower_lanes(x[2])


@kernel
def _whole(x):
    """Three lanes whose upper halves are zero."""
    return whole_lanes(x[0]), whole_lanes(x[1]), whole_lanes(x[2])


@kernel
def three_with_rates(table, first, step, n, few, eta, rate, x):
    """x + η_s X_s and η̇_s X_s of three lanes each, summed over the modes s; X_s: at first + s step.

    few : whether the upper half of the lanes is padding (`half_suffices`)
    """
    if few:
        x, y = _three_with_rates(table, first, step, n, eta, rate, _lower(x), lower_lanes(equal_lanes(0.0)))
        return _whole(x), _whole(y)
    return _three_with_rates(table, first, step, n, eta, rate, x, equal_lanes(0.0))


@kernel
def three_sums(table, first, step, n, few, eta, x):
    """x + η_s X_s of three lanes, summed over the modes s; X_s: at first + s step.

    few : whether the upper half of the lanes is padding (`half_suffices`)
    """
    if few:
        return _whole(_three_sums(table, first, step, n, eta, _lower(x)))
    return _three_sums(table, first, step, n, eta, x)
