"""Λ = J M⁻¹ J* of the loops by force, and the solution for their forces (000 STEPs C and D).

    Λ = Σ e* D⁻¹ e over the velocities that two loops both move;   Λ f = c

A block is zero if two loops move no common body. For each row the last nonzero column is known, and the Cholesky factor
U* U has the same ends. Rows are scaled to a unit diagonal. Rows that depend on earlier ones have too small pivots and
are left out of the factor. If the mechanism tells how many rows depend on others, the largest possible pivots are kept:
with loops that are not quite closed, dependent rows seem independent and would demand accelerations that the mechanism
does not need. Conjugate gradients find, among all forces with the same effect, those of least norm; they begin at zero
and stay where Λ does not vanish. The choice of rows, their scales and the factor stay in work.loops.solve for further
right-hand sides.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.lanes import between_lanes, equal_lanes, load_lanes, store_lanes, sum_lanes
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.groups.loop_rows import first_probe
from limberjack.engine.kernels.groups.paths import acts, largest_weight
from limberjack.engine.kernels.nodes.dispatch_loops import weight
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables.plant import NV, VI

#: a row moves nothing if Λ_ii is below this share of that of a typical row of its size: e is then rounding (squared)
IDLE = 1e-24
#: a row is left out if its pivot, of unit rows, or its mobility relative to other rows of its loop is not above RANK;
#: in accelerations already if its mobility is not above COAST. Squares of the limits in `elimination.py`
RANK, COAST = 1e-10, 1e-9
#: the same for exact rows, and for rows that are held
KEEN = 1e-14
#: rows with a smaller pivot or share are weak
WEAK = 2.5e-3
#: the first limit where rows depend on each other, what it is lowered by while too few are found, and how often
SOUND, LOWER, TRIES = 0.5, 0.3, 12
#: conjugate gradients end when the square of the residual falls below this share of its initial value
REST = 1e-30


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
def shared(plant, work, walk_a, i, i_stop, path_a, walk_b, j, j_stop, path_b):
    """Whether two slices of walks, tip to base, have velocities in common, and Σ e_a* D⁻¹ e_b over these."""
    sums, found = _zeros(), False
    while i < i_stop and j < j_stop:
        k, other = walk_a[i], walk_b[j]
        if k == other:
            found = True
            w, at = weight(plant, work, k), LANES * plant.topo[k, VI]
            for c in range(at, at + LANES * plant.topo[k, NV], LANES):
                sums = _products(path_a, path_b, c, w, sums)  # 000 eq. 0.34, e = H ψ B A*
        i += k >= other
        j += other >= k
    return found, sums


@kernel
def _block(plant, work, a, b):
    """Λ of loops a and b over all velocities that both move, and whether there are any."""
    first, second, walk = plant.loops.loop_int[a], plant.loops.loop_int[b], plant.loops.walk
    path_a, path_b = work.loops.path[first[lp.L_FORCED]], work.loops.path[second[lp.L_FORCED]]
    i, j = first[lp.L_WALK], second[lp.L_WALK]
    return shared(plant, work, walk, i, i + first[lp.L_WALKS], path_a, walk, j, j + second[lp.L_WALKS], path_b)


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
def element(lanes, i):
    """The number in lane i."""
    return sum_lanes(between_lanes(lanes, i, i + 1))


@kernel
def _note_probes(plant, work, l, sums):
    """F_MOBILE of loop l, from Λ of the loop with itself."""
    probe, most = first_probe(plant, l), 0.0
    if probe == 1:
        most = max(element(sums[1], 1), element(sums[2], 2), element(sums[3], 3))
    elif probe == 3:
        most = max(element(sums[3], 3), element(sums[4], 4), element(sums[5], 5))
    work.loops.frame[l, lp.F_MOBILE] = most


@kernel
def _row_of_blocks(plant, work, a, end):
    """Upper blocks of loop a's rows; returns where they end, at least `end`."""
    ints = plant.loops.loop_int
    row, rows = ints[a, lp.L_ROW], ints[a, lp.L_ROWS]
    end = max(end, row + rows)
    for b in range(a, ints.shape[0]):
        if ints[b, lp.L_FORCED] < 0:
            continue
        sums = _zeros()
        if acts(plant, work, a) and acts(plant, work, b):
            found, sums = _block(plant, work, a, b)
            if found:
                end = max(end, ints[b, lp.L_ROW] + ints[b, lp.L_ROWS])
            if a == b:
                _note_probes(plant, work, a, sums)
        if rows > 0:
            _store_block(work.loops.admittance, row, rows, ints[b, lp.L_ROW], sums)
    return end


@kernel
def is_linear(plant, l, i):
    """Whether row i of loop l constrains distances."""
    a = plant.loops.loop[l]
    if plant.loops.loop_int[l, lp.L_KIND] == lp.DISTANCE:
        return True
    return (
        a[lp.LP_ROWS + 3 * LANES + i] != 0.0
        or a[lp.LP_ROWS + 4 * LANES + i] != 0.0
        or a[lp.LP_ROWS + 5 * LANES + i] != 0.0
    )


@kernel
def _mobility(plant, work, l, i):
    """Λ_ii of a row of loop l of its usual size."""
    row, size = plant.loops.loop_int[l, lp.L_ROW] + i, plant.loops.loop[l, lp.LP_SCALE + i]
    return work.loops.admittance[row, row] * size * size


@kernel
def _scale_rows(plant, work, l):
    """Scales of loop l's rows, 0 for those that move nothing, and how much they move beside the others."""
    row, rows, solve = plant.loops.loop_int[l, lp.L_ROW], plant.loops.loop_int[l, lp.L_ROWS], work.loops.solve
    idle, linear, angular = IDLE * largest_weight(plant, work, l), 0.0, 0.0
    for i in range(rows):
        if is_linear(plant, l, i):
            linear = max(linear, _mobility(plant, work, l, i))
        else:
            angular = max(angular, _mobility(plant, work, l, i))
    if rows > 0 and first_probe(plant, l) >= 0:
        size = plant.loops.loop[l, lp.LP_SCALE + rows - 1]
        linear = max(linear, work.loops.frame[l, lp.F_MOBILE] * size * size)
    for i in range(rows):
        own, moved = work.loops.admittance[row + i, row + i], _mobility(plant, work, l, i)
        found = moved > idle and own < math.inf
        solve[lp.SO_SCALE, row + i] = 1.0 / math.sqrt(own) if found else 0.0
        solve[lp.SO_SHARE, row + i] = moved / (linear if is_linear(plant, l, i) else angular) if found else 0.0


@kernel
def _apply_scales(work, n):
    """s Λ s, and a vector of zeros behind each row's end."""
    scale, end = work.loops.solve[lp.SO_SCALE], work.loops.solve[lp.SO_END]
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
        if loops[l, lp.L_FORCED] >= 0:
            end = _row_of_blocks(plant, work, l, end)
            for i in range(loops[l, lp.L_ROW], loops[l, lp.L_ROW] + loops[l, lp.L_ROWS]):
                work.loops.solve[lp.SO_END, i] = end
            _scale_rows(plant, work, l)
    for i in range(n, work.loops.solve.shape[1]):
        work.loops.solve[lp.SO_SCALE, i] = 0.0
    _apply_scales(work, n)
    return n


@kernel
def _eliminate(factor, k, stop):
    """Subtract row k of the factor, whose diagonal is inverted, from the rows below."""
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
def _factor(work, n, limit, least, held):
    """U with U* U = Λ, diagonal inverted, 0 for rows that take no part, whose pivots or shares are not above the limit,
    or whose shares are not above `least`; returns the number of the others, and the smallest of their pivots and
    shares. held: those take part that did last."""
    factor, scale, end, found = work.loops.factor, work.loops.solve[lp.SO_SCALE], work.loops.solve[lp.SO_END], 0
    share, taken, smallest = work.loops.solve[lp.SO_SHARE], work.loops.solve[lp.SO_TAKEN], math.inf
    for i in range(n):
        for j in range(i, int(end[i]), LANES):
            store_lanes(factor[i], j, load_lanes(work.loops.admittance[i], j))
        store_lanes(factor[i], int(end[i]), equal_lanes(0.0))
    for k in range(n):
        open_ = scale[k] == 0.0 or (held and taken[k] == 0.0)
        if open_ or not (factor[k, k] > limit and share[k] > max(limit, least)):
            factor[k, k] = taken[k] = 0.0
            continue
        own = min(factor[k, k], share[k])
        taken[k], smallest = 1.0 if own > WEAK else 2.0, min(smallest, own)
        factor[k, k] = 1.0 / math.sqrt(factor[k, k])
        _eliminate(factor, k, int(end[k]))
        found += 1
    return found, smallest


@kernel
def _wanted(plant, work):
    """How many rows of the loops that act now are independent in general, whether that is known of all of them, and how
    many rows there are that move anything."""
    wanted, known, rows = 0, True, 0
    for l in range(plant.loops.loop_int.shape[0]):
        if acts(plant, work, l):
            ints = plant.loops.loop_int[l]
            known = known and ints[lp.L_RANK] >= 0
            wanted += ints[lp.L_RANK] if ints[lp.L_RANK] >= 0 else ints[lp.L_ROWS]
    for i in range(work.loops.admittance.shape[0]):
        rows += 1 if work.loops.solve[lp.SO_SCALE, i] != 0.0 else 0
    return wanted, known, rows


@kernel
def factor_admittance(plant, work, least):
    """Λ of the loops that act by force, whose `trace` is done, and its factor, of rows with shares above `least`."""
    n, head = _assemble(plant, work), work.loops.solve[lp.SO_LEFT]
    general, known, rows = _wanted(plant, work)
    wanted = min(general, rows)
    held, lowest = head[lp.SO_CHOICE] == lp.HELD, RANK
    if held or head[lp.SO_CHOICE] == lp.KEENLY:
        lowest = least = KEEN
    found, smallest, limit = 0, 0.0, lowest if held or wanted == rows else SOUND
    for i in range(TRIES):
        found, smallest = _factor(work, n, limit, least, held)
        if held and smallest < lp.SPENT * lp.SPENT * head[lp.SO_FIRST] * head[lp.SO_FIRST]:
            held, lowest, limit = False, RANK, RANK if wanted == rows else SOUND
            continue
        if found >= wanted or limit <= lowest:
            break
        limit = LOWER * limit if i < TRIES - 2 else lowest
    head[0] = max(0, wanted - found)
    head[lp.SO_PIVOT] = math.sqrt(smallest) if found >= general or not known else 0.0
    if not held:
        head[lp.SO_FIRST] = head[lp.SO_PIVOT]


@kernel
def _back(work, n, x):
    """x ← (U* U)⁻¹ x; numbers behind the last row must be zero and stay so."""
    factor, end = work.loops.factor, work.loops.solve[lp.SO_END]
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
def _multiply(work, n, x, y):
    """y = Λ x, in unit rows; returns x* Λ x."""
    matrix, end, product = work.loops.admittance, work.loops.solve[lp.SO_END], 0.0
    for i in range(n):
        y[i] = 0.0
    for i in range(n):
        sums = matrix[i, i] * x[i]
        for j in range(i + 1, int(end[i])):
            sums += matrix[i, j] * x[j]
            y[j] += matrix[i, j] * x[i]
        y[i] += sums
    for i in range(n):
        product += x[i] * y[i]
    return product


@kernel
def _square(n, x):
    s = 0.0
    for i in range(n):
        s += x[i] * x[i]
    return s


@kernel
def _descend(work, n, x, rest):
    """x = 0, improved by conjugate gradients: c - Λ x in the place of the c that rest holds."""
    step, product = work.loops.solve[lp.SO_STEP], work.loops.solve[lp.SO_RIGHT]
    for i in range(n):
        x[i], step[i] = 0.0, rest[i]
    first = size = _square(n, rest)
    for _ in range(2 * n):
        curved = _multiply(work, n, step, product)
        if not (size > REST * first and curved > 0.0):
            break
        share = size / curved
        for i in range(n):
            x[i] += share * step[i]
            rest[i] -= share * product[i]
        before, size = size, _square(n, rest)
        for i in range(n):
            step[i] = rest[i] + size / before * step[i]


@kernel
def least_forces(work):
    """Replace the forces in SO_FORCE by those of least norm, in unit rows, with the same effect; overwrites SO_RIGHT.

    What conjugate gradients leave is added by the factor, so that what moves is the same to rounding.
    """
    solve, n = work.loops.solve, work.loops.admittance.shape[0]
    scale, f, rest, dependent = solve[lp.SO_SCALE], solve[lp.SO_FORCE], solve[lp.SO_REST], False
    for i in range(n):
        dependent = dependent or (scale[i] != 0.0 and work.loops.factor[i, i] == 0.0)
    if not dependent:
        return
    for i in range(n):
        solve[lp.SO_STEP, i] = f[i] / scale[i] if scale[i] != 0.0 else 0.0
    _multiply(work, n, solve[lp.SO_STEP], rest)
    _descend(work, n, f, rest)
    for i in range(n, solve.shape[1]):
        rest[i] = 0.0
    _back(work, n, rest)
    for i in range(n):
        f[i] = scale[i] * (f[i] + rest[i])


@kernel
def solve_admittance(work):
    """f in SO_FORCE with Λ f = c, c in SO_RIGHT, by the last factor; both without the rows' scales. Rows that are left
    out have none."""
    solve, n = work.loops.solve, work.loops.admittance.shape[0]
    scale, c, f = solve[lp.SO_SCALE], solve[lp.SO_RIGHT], solve[lp.SO_FORCE]
    for i in range(n):
        f[i] = c[i] * scale[i]
    for i in range(n, solve.shape[1]):
        f[i] = 0.0
    _back(work, n, f)
    for i in range(n):
        f[i] *= scale[i]
