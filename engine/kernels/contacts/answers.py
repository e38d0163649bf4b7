"""How the velocities at touches respond to forces there: h W = h J M⁻¹ J*, by the recursions of closed chains.

A unit force along each axis of a touch is propagated tip to base along the links that it moves (`groups/paths.py`), and

    W_ab = Σ e_a* D⁻¹ e_b        over the velocities that both touches move      (000 eq. 0.34)

which is Λ of 000 for the touches: their operational-space inertia. If loops act by force, their rows are eliminated:
W = W_cc - Λ_cl Λ_ll⁻¹ Λ_lc.
"""

from __future__ import annotations

from limberjack.engine.algebra.blocks import with_vector
from limberjack.engine.algebra.lanes import equal_lanes
from limberjack.engine.algebra.spatial import add_cross, add_scaled, load3, load9, scale, sub, unrot
from limberjack.engine.algebra.whole_numbers import whole
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.broad_phase import carried
from limberjack.engine.kernels.groups.admittance import element, shared, solve_admittance
from limberjack.engine.kernels.groups.multipliers import prepare
from limberjack.engine.kernels.groups.paths import acts, add_to, clear_path, trace_path
from limberjack.engine.kernels.loops.routines import place_one
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables import loops as lp


@kernel
def _pair_of(work, i):
    """Number of the pair of block i."""
    return int(work.contacts.active[i, t.AC_PAIR])


@kernel
def _put_forces(work, active, row, x, sign):
    """Add unit forces, or moments, along the axes of a touch at x to those on a link, at its origin in its axes."""
    pose, turns = work.pose[row], active[t.AC_TURNS]
    R, push = load9(pose, 0), sign * (1.0 - turns)
    zero = equal_lanes(0.0)
    moment, force = (zero, zero, zero), (zero, zero, zero)
    arm = sub(x, load3(pose, 9))
    for c in range(3):
        axis = load3(active, t.AC_BASIS + 3 * c)
        f = scale(push, axis)
        moment = with_vector(moment, c, unrot(R, add_cross(scale(sign * turns, axis), arm, f)))
        force = with_vector(force, c, unrot(R, f))
    add_to(work.loops.cross[row], (*moment, *force))


@kernel
def place_of(met, back):
    """Where the shapes of a touch are nearest: at the end of the step, and by a share `back` of the way nearer to where
    that was at its start. Corners of boxes may be other ones at the end; then it is the end's."""
    end = load3(met, t.ME_POINT)
    way = sub(load3(met, t.ME_FROM), end)
    return add_scaled(end, back, way) if met[t.ME_BEGAN] > 0.0 else end


@kernel
def _trace(plant, work, i, back, ahead):
    """e of block i at all velocities that it moves: work.contacts.path. back: of `place_of`; ahead, s: for how long
    links have yet to move when the force acts."""
    active = work.contacts.active[i]
    pair = plant.contacts.pair_int[_pair_of(work, i)]
    x = place_of(work.contacts.met[int(active[t.AC_TOUCH])], back)
    row_a = plant.contacts.collider_int[pair[t.PA_A], t.CO_ROW]
    row_b = plant.contacts.collider_int[pair[t.PA_B], t.CO_ROW]
    path, walk = work.contacts.path[i], plant.contacts.walk
    clear_path(plant, work, walk, pair[t.PA_WALK], pair[t.PA_WALKS], path)
    if row_a > 0:
        _put_forces(work, active, row_a, carried(work, pair[t.PA_A], x, ahead), -1.0)
    if row_b > 0:
        _put_forces(work, active, row_b, carried(work, pair[t.PA_B], x, ahead), 1.0)
    trace_path(plant, work, walk, pair[t.PA_WALK], pair[t.PA_WALKS], path)


@kernel
def _block(plant, work, i, j):
    """Whether blocks i and j move links in common, and W of them."""
    pairs, walk = plant.contacts.pair_int, plant.contacts.walk
    first, second = pairs[_pair_of(work, i)], pairs[_pair_of(work, j)]
    x, y = first[t.PA_WALK], second[t.PA_WALK]
    x_stop, y_stop = x + first[t.PA_WALKS], y + second[t.PA_WALKS]
    path_a, path_b = work.contacts.path[i], work.contacts.path[j]
    return shared(plant, work, walk, x, x_stop, path_a, walk, y, y_stop, path_b)


@kernel
def _through_loop(plant, work, i, l):
    """Λ_lc of block i and loop l by force: columns of work.contacts.through."""
    pair, loop = plant.contacts.pair_int[_pair_of(work, i)], plant.loops.loop_int[l]
    x, y, walk = loop[lp.L_WALK], pair[t.PA_WALK], plant.contacts.walk
    path_a, path_b = work.loops.path[loop[lp.L_FORCED]], work.contacts.path[i]
    x_stop, y_stop = x + loop[lp.L_WALKS], y + pair[t.PA_WALKS]
    sums = shared(plant, work, plant.loops.walk, x, x_stop, path_a, walk, y, y_stop, path_b)[1]
    for c in range(3):
        column = work.contacts.through[3 * i + c]
        for r in range(6):
            if r < loop[lp.L_ROWS]:
                column[loop[lp.L_ROW] + r] = element(sums[r], c)


@kernel
def _follow_loops(plant, work, matrix, n, h):
    """Eliminate the rows of loops by force: h W -= h Λ_cl Λ_ll⁻¹ Λ_lc."""
    through, force = work.contacts.through, work.loops.solve[lp.SO_FORCE]
    for m in range(3 * n):
        _clear(through[m])
    for i in range(n):
        for l in range(plant.loops.loop_int.shape[0]):
            if acts(plant, work, l):
                _through_loop(plant, work, i, l)
    for m in range(3 * n):
        _ask(through[m], work.loops.solve[lp.SO_RIGHT])
        solve_admittance(work)
        for other in range(m, 3 * n):
            matrix[m, other] -= h * _held(through[other], force)
            matrix[other, m] = matrix[m, other]


@kernel
def _clear(row):
    for r in range(row.shape[0]):
        row[r] = 0.0


@kernel
def _ask(row, right):
    for r in range(row.shape[0]):
        right[r] = row[r]


@kernel
def _held(row, force):
    held = 0.0
    for r in range(row.shape[0]):
        held += row[r] * force[r]
    return held


@kernel
def prepare_loops(plant, work, q):
    """Λ_ll and its factor of the loops that act by force at q, whose links are placed; whether there are any."""
    found = False
    for l in range(plant.loops.loop_int.shape[0]):
        if acts(plant, work, l):
            found = True
            place_one(plant, work, l, q)
    if found:
        prepare(plant, work, q, True)
    return found


@kernel
def _store(matrix, i, j, h, sums):
    """Store a block of h W, and its transpose as block (j, i)."""
    for r in range(3):
        row = h * sums[r]
        for c in range(3):
            matrix[3 * i + r, 3 * j + c] = matrix[3 * j + c, 3 * i + r] = element(row, c)


@kernel
def _find_profile(plant, work, n, looped):
    """AC_FIRST and AC_END of the n blocks: W is zero elsewhere. Through loops by force all may answer to all."""
    active, known = work.contacts.active, 0
    for i in range(n):
        last = n - 1
        while last >= max(known, i + 1) and not looped and not _block(plant, work, i, last)[0]:
            last -= 1
        for j in range(known, last + 1):
            active[j, t.AC_FIRST] = i
        known = last + 1
        active[i, t.AC_END] = known


@kernel
def find_answers(plant, work, n, h, looped):
    """work.contacts.answer = h W of the n blocks of an island, where it is not zero (AC_FIRST, AC_END); D and U of the
    links are those at the end of the step. looped: some loops act by force, and are prepared."""
    for i in range(n):
        _trace(plant, work, i, 0.0, 0.0)
    _find_profile(plant, work, n, looped)
    _find_blocks(plant, work, work.contacts.answer, n, h, looped)


@kernel
def find_answers_at(plant, work, matrix, n, h, looped, share):
    """The same into a matrix, where and when the forces act; the profile is known. share: c of `touching.py`; with rk4,
    c = ½, that is midway, where shapes have half a step to move yet."""
    for i in range(n):
        _trace(plant, work, i, share, 2.0 * share * (1.0 - share) * h)
    _find_blocks(plant, work, matrix, n, h, looped)


@kernel
def _find_blocks(plant, work, matrix, n, h, looped):
    for i in range(n):
        for j in range(i, whole(work.contacts.active[i, t.AC_END])):
            _store(matrix, i, j, h, _block(plant, work, i, j)[1])
    if looped:
        _follow_loops(plant, work, matrix, n, h)
