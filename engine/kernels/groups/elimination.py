"""Solves a group's rows for its dependent velocities (001 eqs. 58 to 60), by Gauss-Jordan elimination that skips zeros.

    Y1 θ̇_D + Y2 θ̇_R = c   ⟹   θ̇_D = Y1⁻¹ c - Y1⁻¹ Y2 θ̇_R

y[j] holds the coefficients of velocity j in all rows, one per lane, so that one vector instruction works on eight rows;
y[n] holds the right-hand sides c. The column of a solved velocity is overwritten by one of Y1⁻¹, with which later
right-hand sides are solved. The pivots are the dependent velocities that were chosen when the model was built, each in
the row that was paired with it. If that pivot is small, or if rows depend on others, the velocity takes the row with
its largest coefficient. If the set is close to singular, complete pivoting chooses rows and velocities again, which
keeps X as small as possible. y[n + 1] holds 0 for rows that are not solved, 1 for those that are, 2 for weak ones.
The motion does not depend on the choice. As many rows are solved as are independent in general. The others are
satisfied if the loops are closed; if the loops are nearly closed, what these rows demand is not reliable.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES, padded
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes, with_lane
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import loops as lp

#: a pivot of scaled rows that is good enough without a search for a larger one
GOOD = 0.1
#: a row with a smaller pivot, of scaled rows, is ignored (the rank drops, as in a singular configuration). RANK for
#: closing loops: a residual of RANK² does not distinguish the branches of a mechanism. COAST for accelerations: the
#: stages of an integrator do not close the loops, and the effect of that grows with the inverse of the pivot
RANK, COAST = 1e-5, 1e-4
#: the same for exact rows, and for rows that are held
KEEN = 1e-12


@kernel
def _solve_row(y, n, width, d, i):
    """Row i solved for velocity d, and d taken out of all other rows; the first `width` lanes hold rows.

    y[j] ← y[j] - (y[j, i] / p) y[d] in all lanes but i, where y[j, i] / p is wanted: with p - 1 in place of the pivot
    p = y[d, i] that is what comes out there too. Last y[d] ← -y[d] / p, and 1 / p in lane i: what a unit vector, the
    column of row i in the identity, becomes on the same way.
    """
    pivot, p = y[d], y[d, i]
    inverse = 1.0 / p
    for b in range(0, width, LANES):
        store_lanes(pivot, b, with_lane(load_lanes(pivot, b), i - b, p - 1.0))
    for j in range(n + 1):
        row = y[j]
        if j == d or row[i] == 0.0:
            continue
        share = row[i] * inverse
        for b in range(0, width, LANES):
            store_lanes(row, b, load_lanes(row, b) - share * load_lanes(pivot, b))
    for b in range(0, width, LANES):
        store_lanes(pivot, b, with_lane(-inverse * load_lanes(pivot, b), i - b, inverse))


@kernel
def _largest(y, n, m, d):
    """The row, among those not yet solved, with the largest coefficient of velocity d: (row, size)."""
    best, size = 0, -1.0
    for i in range(m):
        if y[n + 1, i] == 0.0 and abs(y[d, i]) > size:
            best, size = i, abs(y[d, i])
    return best, size


@kernel
def _find_pivot(parts, n, m, s, row, freely, held, alone):
    """Place in pick, row and size of pivot s: the listed velocity in the given row if that is held, or good and there
    are no more rows than are needed (alone), else in the row where it counts most."""
    y, pick = parts.y, parts.pick
    d = int(pick[s])
    if held:
        return s, row, abs(y[d, row])
    if alone and not freely and y[n + 1, row] == 0.0 and abs(y[d, row]) > GOOD:
        return s, row, abs(y[d, row])
    at, (row, size) = s, _largest(y, n, m, d)
    if freely:
        for c in range(s + 1, n):
            other, larger = _largest(y, n, m, int(pick[c]))
            if larger > size:
                at, row, size = c, other, larger
    return at, row, size


@kernel
def eliminate(parts, listed, start, n, m, rank, least, freely):
    """Rows solved one after the other; head then says how many velocities are left free and the smallest pivot, 0
    where one was not above `least`.

    listed[start + n + s]: row that is paired with dependent velocity s of `rank`; freely: velocities are chosen by
    their size, not as listed. Where the choice is held, the same rows are solved for the same velocities as last.
    """
    y, pick, pair, head = parts.y, parts.pick, parts.pair, parts.head
    held, count = is_held(parts) and not freely, rank
    if held:
        count = n - int(head[lp.GH_FREE])
    else:
        for c in range(n):
            pick[c] = c
        head[lp.GH_SWITCHED] = 1.0 * freely
    solved, smallest = 0, 1e300
    for s in range(count):
        paired = int(pair[s]) if held else listed[start + n + s]
        at, row, size = _find_pivot(parts, n, m, s, paired, freely, held, m == rank)
        if not size > least:
            break
        pick[s], pick[at] = pick[at], pick[s]
        pair[s], y[n + 1, row] = row, 1.0 if size > lp.KEEP else 2.0
        _solve_row(y, n, padded(m), int(pick[s]), row)
        solved, smallest = s + 1, min(smallest, size)
    head[lp.GH_FREE], head[lp.GH_PIVOT] = n - solved, smallest if solved == rank else 0.0
    if not held:
        head[lp.GH_FIRST] = head[lp.GH_PIVOT]


@kernel
def is_held(parts):
    """Whether to keep the rows and independent velocities of the last elimination."""
    return parts.head[lp.GH_CHOICE] == lp.HELD


@kernel
def is_poor(parts):
    """Whether to search for rows and velocities that suit the present configuration better."""
    head = parts.head
    return head[lp.GH_PIVOT] < (lp.SPENT * head[lp.GH_FIRST] if is_held(parts) else lp.KEEP)


@kernel
def least_pivot(parts, accelerations):
    """Pivots at and below this say nothing: of the group as it chooses now, in accelerations or where loops close."""
    if parts.head[lp.GH_CHOICE] == lp.HELD or parts.head[lp.GH_CHOICE] == lp.KEENLY:
        return KEEN
    return COAST if accelerations else RANK


@kernel
def read_solution(parts, n, scale, at):
    """X and β from the solved rows: θ̇ = X θ̇_R + β, scales taken out; scale[at + j] is that of velocity j."""
    y, x, pick, pair = parts.y, parts.x, parts.pick, parts.pair
    free = int(parts.head[lp.GH_FREE])
    for j in range(n):
        parts.bias[j] = 0.0
        for b in range(0, free + 1, LANES):
            store_lanes(x[j], b, equal_lanes(0.0))
    for s in range(n - free):
        d = int(pick[s])
        parts.bias[d] = x[d, free] = scale[at + d] * y[n, int(pair[s])]  # 001 eqs. 60, 61: Y1⁻¹ c
    for r in range(free):
        j = int(pick[n - free + r])
        x[j, r], size = 1.0, 1.0 / scale[at + j]
        for s in range(n - free):
            d = int(pick[s])
            x[d, r] = -scale[at + d] * y[j, int(pair[s])] * size  # 001 eq. 60: -Y1⁻¹ Y2


@kernel
def solve_again(parts, n, m, scale, at):
    """What two sets of right-hand sides ask of the dependent velocities, by Y1⁻¹ of the last elimination: those in y[n]
    in parts.free, those in y[n + 1] in parts.bias; 0 of independent ones."""
    y, pick, pair, spare = parts.y, parts.pick, parts.pair, padded(m)
    solved = n - int(parts.head[lp.GH_FREE])
    for i in range(n):
        parts.free[i], parts.bias[i] = 0.0, 0.0
    for b in range(0, spare, LANES):
        first, second = equal_lanes(0.0), equal_lanes(0.0)
        for s in range(solved):
            column, i = load_lanes(y[int(pick[s])], b), int(pair[s])
            first, second = first + y[n, i] * column, second + y[n + 1, i] * column
        store_lanes(y[n], spare, first)
        store_lanes(y[n + 1], spare, second)
        for s in range(solved):
            d, i = int(pick[s]), int(pair[s]) - b
            if 0 <= i < LANES:
                parts.free[d], parts.bias[d] = scale[at + d] * y[n, spare + i], scale[at + d] * y[n + 1, spare + i]
