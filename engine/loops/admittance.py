"""Λ = J M⁻¹ J* of the loops by force and the forces that answer it (000 STEPs C and D).

    Λ = Σ e* D⁻¹ e over the velocities that two loops both move;   Λ f = c

A block stays zero where two loops move no common body, and rows end where nothing follows but zeros; the Cholesky
factor U* U keeps these ends. Rows are scaled to a unit diagonal. Where the rows depend on each other, Λ + μ 1 is
factored instead and f improved by proximal steps

    f ← f + (Λ + μ)⁻¹ (c - Λ f),

which end at the forces of least norm; directions in which Λ vanishes keep none of c: k steps leave k/μ of the rest r
there, and k/μ r is taken off at last, after what rounding left of r elsewhere was damped away. Which rows take part,
what is scaled and what is factored stays in work.loops.solve for further right-hand sides.
"""

from __future__ import annotations

import math

from limberjack.engine.kernel import kernel
from limberjack.engine.lanes import equal_lanes, load_lanes, store_lanes, sum_lanes
from limberjack.engine.layout import NV, VI
from limberjack.engine.loops.layout import (
    L_FORCED,
    L_ROW,
    L_ROWS,
    L_WALK,
    L_WALKS,
    LP_SCALE,
    S_END,
    S_FORCE,
    S_MU,
    S_REST,
    S_RIGHT,
    S_SCALE,
    S_STEP,
)
from limberjack.engine.loops.paths import acts, largest_weight, weight
from limberjack.engine.views import LANES

#: a row moves nothing where Λ_ii is this small beside what a row of its size could move: e is rounding (squared)
IDLE = 1e-24
#: pivots of unit rows below this ask for proximal steps
PIVOT = 1e-7
#: μ of the proximal steps, their greatest number, and the rest at which they end, as a share of c
MU, STEPS, REST = 1e-7, 10, 1e-14
#: how often r is damped by μ (Λ + μ)⁻¹, which keeps it only where Λ vanishes
DAMPINGS = 4


@kernel
def _zeros():
    zero = equal_lanes(0.0)
    return zero, zero, zero, zero, zero, zero


@kernel
def _products(path_a, path_b, at, w, sums):
    """sums + e_a* w e_b of one velocity: row i of loop a in sums[i], rows of loop b in lanes."""
    b = w * load_lanes(path_b, at)
    return (
        sums[0] + path_a[at] * b,
        sums[1] + path_a[at + 1] * b,
        sums[2] + path_a[at + 2] * b,
        sums[3] + path_a[at + 3] * b,
        sums[4] + path_a[at + 4] * b,
        sums[5] + path_a[at + 5] * b,
    )


@kernel
def _block(plant, work, a, b):
    """Λ of loops a and b over all velocities that both move, and whether there are any."""
    first, second, walk = plant.loops.loop_int[a], plant.loops.loop_int[b], plant.loops.walk
    path_a, path_b = work.loops.path[first[L_FORCED]], work.loops.path[second[L_FORCED]]
    i, j, sums, found = first[L_WALK], second[L_WALK], _zeros(), False
    i_stop, j_stop = i + first[L_WALKS], j + second[L_WALKS]
    while i < i_stop and j < j_stop:
        k, other = walk[i], walk[j]
        if k == other:
            found = True
            w, at = weight(plant, work, k), LANES * plant.topo[k, VI]
            for c in range(at, at + LANES * plant.topo[k, NV], LANES):
                sums = _products(path_a, path_b, c, w, sums)
        i += k >= other
        j += other >= k
    return found, sums


@kernel
def _store_block(matrix, row, rows, column, sums):
    """Eight numbers of each row; those behind the block are written over by the next one."""
    store_lanes(matrix[row], column, sums[0])
    if rows > 1:
        store_lanes(matrix[row + 1], column, sums[1])
    if rows > 2:
        store_lanes(matrix[row + 2], column, sums[2])
    if rows > 3:
        store_lanes(matrix[row + 3], column, sums[3])
    if rows > 4:
        store_lanes(matrix[row + 4], column, sums[4])
    if rows > 5:
        store_lanes(matrix[row + 5], column, sums[5])


@kernel
def _row_of_blocks(plant, work, a, end):
    """Upper blocks of loop a's rows; returns where they end, at least `end`."""
    ints = plant.loops.loop_int
    row, rows = ints[a, L_ROW], ints[a, L_ROWS]
    end = max(end, row + rows)
    for b in range(a, ints.shape[0]):
        if ints[b, L_FORCED] < 0:
            continue
        sums = _zeros()
        if acts(plant, work, a) and acts(plant, work, b):
            found, sums = _block(plant, work, a, b)
            if found:
                end = max(end, ints[b, L_ROW] + ints[b, L_ROWS])
        if rows > 0:
            _store_block(work.loops.admittance, row, rows, ints[b, L_ROW], sums)
    return end


@kernel
def _scale_rows(plant, work, l):
    """Scales of loop l's rows, 0 for those that move nothing."""
    row, least = plant.loops.loop_int[l, L_ROW], IDLE * largest_weight(plant, work, l)
    for i in range(plant.loops.loop_int[l, L_ROWS]):
        own, size = work.loops.admittance[row + i, row + i], plant.loops.loop[l, LP_SCALE + i]
        found = own * size * size > least and own < math.inf
        work.loops.solve[S_SCALE, row + i] = 1.0 / math.sqrt(own) if found else 0.0


@kernel
def _apply_scales(work, n):
    """s Λ s, and a vector of zeros behind each row's end."""
    scale, end = work.loops.solve[S_SCALE], work.loops.solve[S_END]
    for i in range(n):
        row, s, stop = work.loops.admittance[i], scale[i], int(end[i])
        for j in range(i, stop, LANES):
            store_lanes(row, j, s * load_lanes(row, j) * load_lanes(scale, j))
        store_lanes(row, stop, equal_lanes(0.0))


@kernel
def _assemble(plant, work):
    """Λ in unit rows; returns the number of rows."""
    loops, n, end = plant.loops.loop_int, work.loops.admittance.shape[0], 0
    for l in range(loops.shape[0]):
        if loops[l, L_FORCED] >= 0:
            end = _row_of_blocks(plant, work, l, end)
            for i in range(loops[l, L_ROW], loops[l, L_ROW] + loops[l, L_ROWS]):
                work.loops.solve[S_END, i] = end
            _scale_rows(plant, work, l)
    for i in range(n, work.loops.solve.shape[1]):
        work.loops.solve[S_SCALE, i] = 0.0
    _apply_scales(work, n)
    return n


@kernel
def _eliminate(factor, k, stop):
    """Row k of the factor, whose diagonal is inverted, taken out of the rows below."""
    pivot = factor[k]
    for j in range(k + 1, stop, LANES):
        store_lanes(pivot, j, pivot[k] * load_lanes(pivot, j))
    for i in range(k + 1, stop):
        share = pivot[i]
        if share != 0.0:
            row = factor[i]
            for j in range(i, stop, LANES):
                store_lanes(row, j, load_lanes(row, j) - share * load_lanes(pivot, j))


@kernel
def _factor(work, n, mu):
    """U with U* U = Λ + μ 1, diagonal inverted, 0 for rows that take no part; returns whether all pivots are sound."""
    factor, scale, end = work.loops.factor, work.loops.solve[S_SCALE], work.loops.solve[S_END]
    for i in range(n):
        for j in range(i, int(end[i]), LANES):
            store_lanes(factor[i], j, load_lanes(work.loops.admittance[i], j))
        store_lanes(factor[i], int(end[i]), equal_lanes(0.0))
        factor[i, i] += mu
    for k in range(n):
        if scale[k] == 0.0:
            factor[k, k] = 0.0
            continue
        if mu == 0.0 and not factor[k, k] > PIVOT:
            return False
        factor[k, k] = 1.0 / math.sqrt(max(factor[k, k], 0.5 * mu))
        _eliminate(factor, k, int(end[k]))
    return True


@kernel
def factor_admittance(plant, work):
    """Λ of the loops that act by force, whose `trace` is done, and its factor."""
    n = _assemble(plant, work)
    work.loops.solve[S_MU, 0] = 0.0
    if not _factor(work, n, 0.0):
        work.loops.solve[S_MU, 0] = MU
        _factor(work, n, MU)


@kernel
def _back(work, n, x):
    """x ← (U* U)⁻¹ x; numbers behind the last row must be zero and stay so."""
    factor, end = work.loops.factor, work.loops.solve[S_END]
    for k in range(n):
        x[k] *= factor[k, k]
        stop, y = int(end[k]), x[k]
        for j in range(k + 1, stop, LANES):
            store_lanes(x, j, load_lanes(x, j) - y * load_lanes(factor[k], j))
    for i in range(n):
        k, sums = n - 1 - i, equal_lanes(0.0)
        for j in range(k + 1, int(end[k]), LANES):
            sums = sums + load_lanes(factor[k], j) * load_lanes(x, j)
        x[k] = factor[k, k] * (x[k] - sum_lanes(sums))


@kernel
def _rest(work, n, c, f, rest):
    """c - Λ f, in unit rows; returns the largest of the rest, and of c, in magnitude."""
    matrix, end, scale = work.loops.admittance, work.loops.solve[S_END], work.loops.solve[S_SCALE]
    for i in range(n):
        rest[i] = c[i] if scale[i] != 0.0 else 0.0
    for i in range(n):
        sums, y = matrix[i, i] * f[i], f[i]
        for j in range(i + 1, int(end[i])):
            sums += matrix[i, j] * f[j]
            rest[j] -= matrix[i, j] * y
        rest[i] -= sums
    most, size = 0.0, 0.0
    for i in range(n):
        most, size = max(most, abs(rest[i])), max(size, abs(c[i]))
    return most, size


@kernel
def _most(x, n):
    """The largest of n numbers, in magnitude."""
    most = 0.0
    for i in range(n):
        most = max(most, abs(x[i]))
    return most


@kernel
def _improve(work, n, c, f):
    """Proximal steps from f = 0."""
    mu, rest, step = work.loops.solve[S_MU, 0], work.loops.solve[S_REST], work.loops.solve[S_STEP]
    for i in range(n):
        f[i], rest[i] = 0.0, c[i]
    for _ in range(STEPS):
        for i in range(n):
            step[i] = rest[i]
        _back(work, n, step)
        for i in range(n):
            f[i] += step[i]
        most, size = _rest(work, n, c, f, rest)
        if most <= REST * (size + _most(f, n)):
            return
    for _ in range(DAMPINGS):
        _back(work, n, rest)
        for i in range(n):
            rest[i] *= mu
    for i in range(n):
        f[i] -= STEPS / mu * rest[i]


@kernel
def solve_admittance(work):
    """f in S_FORCE with Λ f = c, c in S_RIGHT, by the last factor; both without the rows' scales."""
    solve, n = work.loops.solve, work.loops.admittance.shape[0]
    scale, c, f = solve[S_SCALE], solve[S_RIGHT], solve[S_FORCE]
    for i in range(n):
        c[i] *= scale[i]
        f[i] = c[i]
    for i in range(n, solve.shape[1]):
        f[i], solve[S_STEP, i], solve[S_REST, i] = 0.0, 0.0, 0.0
    if solve[S_MU, 0] == 0.0:
        _back(work, n, f)
    else:
        _improve(work, n, c, f)
    for i in range(n):
        f[i] *= scale[i]
