"""A group's rows solved for its dependent velocities (001 eqs. 58 to 60), by Gauss and Jordan with sparse skipping.

    Y1 θ̇_D + Y2 θ̇_R = c   ⟹   θ̇_D = Y1⁻¹ c - Y1⁻¹ Y2 θ̇_R

y[j] holds the coefficients of velocity j in all rows, one a lane, so that one vector instruction works on eight rows;
y[n] holds the right-hand sides c. The pivots are the dependent velocities that were chosen when the model was built,
each in the row where it counts most; where that set is close to singular, rows and velocities are chosen anew by
complete pivoting, whose pivots never make X larger than need be. The motion does not depend on the choice.
"""

from __future__ import annotations

from limberjack.engine.kernel import kernel
from limberjack.engine.lanes import between_lanes, equal_lanes, load_lanes, store_lanes
from limberjack.engine.loops.layout import GH_FREE, GH_PIVOT, GH_SWITCHED
from limberjack.engine.views import LANES

#: below this pivot of scaled rows the built choice of dependent velocities is left
KEEP = 1e-2
#: below this pivot of scaled rows a row says nothing (rank drops, as in a singular configuration)
RANK = 1e-9


@kernel
def _lane_of(i, x):
    """The number x in lane i, if that is one of the eight."""
    return between_lanes(equal_lanes(x), i, i + 1)


@kernel
def _solve_row(y, n, d, i):
    """Row i solved for velocity d, and d taken out of all other rows."""
    inverse, pivot = 1.0 / y[d, i], y[d]
    for j in range(n + 1):
        share = y[j, i]
        if j == d or share == 0.0:
            continue
        share *= inverse
        row = y[j]
        for b in range(0, row.shape[0], LANES):
            x, p = load_lanes(row, b), load_lanes(pivot, b)
            x = x - between_lanes(x, i - b, i - b + 1)
            p = p - between_lanes(p, i - b, i - b + 1) - _lane_of(i - b, 1.0)
            store_lanes(row, b, x - share * p)
    for b in range(0, pivot.shape[0], LANES):
        store_lanes(pivot, b, _lane_of(i - b, 1.0))


@kernel
def _largest(y, n, m, d):
    """The open row where velocity d counts most, and how much: (row, size)."""
    best, size = 0, -1.0
    for i in range(m):
        if y[n + 1, i] == 0.0 and abs(y[d, i]) > size:
            best, size = i, abs(y[d, i])
    return best, size


@kernel
def eliminate(parts, n, m, freely):
    """Rows solved one after the other; head then says how many velocities are left free and the smallest pivot.

    freely: velocities are chosen by their size, not as listed.
    """
    y, pick, pair = parts.y, parts.pick, parts.pair
    for c in range(n):
        pick[c] = c
    solved, smallest = 0, 1e300
    for s in range(m):
        at = s
        row, size = _largest(y, n, m, int(pick[s]))
        if freely:
            for c in range(s + 1, n):
                other, larger = _largest(y, n, m, int(pick[c]))
                if larger > size:
                    at, row, size = c, other, larger
        if not size > RANK:
            break
        pick[s], pick[at] = pick[at], pick[s]
        pair[s], y[n + 1, row] = row, 1.0
        _solve_row(y, n, int(pick[s]), row)
        solved, smallest = s + 1, min(smallest, size)
    head = parts.head
    head[GH_FREE], head[GH_PIVOT], head[GH_SWITCHED] = n - solved, smallest if solved == m else 0.0, 1.0 * freely


@kernel
def read_solution(parts, n, scale, at):
    """X and bias from the solved rows: θ̇ = X θ̇_R + bias, scales taken out; scale[at + j] is that of velocity j."""
    y, x, pick, pair = parts.y, parts.x, parts.pick, parts.pair
    free = int(parts.head[GH_FREE])
    for j in range(n):
        parts.bias[j] = 0.0
        for b in range(0, x.shape[1], LANES):
            store_lanes(x[j], b, equal_lanes(0.0))
    for r in range(free):
        x[int(pick[n - free + r]), r] = 1.0
    for s in range(n - free):
        d, i = int(pick[s]), int(pair[s])
        parts.bias[d] = scale[at + d] * y[n, i]
        for r in range(free):
            j = int(pick[n - free + r])
            x[d, r] = -scale[at + d] * y[j, i] / scale[at + j]
