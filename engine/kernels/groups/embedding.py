"""Constraint embedding (001 §4, §7, §8): the bodies of embedded loops as one node with independent velocities θ̇_R.

    θ̇ = X θ̇_R,    θ̈ = X θ̈_R + β,    β = Ẋ θ̇_R (and prescribed motion)
    base to tip   A(k) = φ* A(parent) + H*(k) X(k),   α'(k) = φ* α'(parent) + a(k) + H*(k) β(k), 0 at the group's parent
    tip to base   D = Σ A* P A + X* (armature) X,    U = Σ φ P A,    ε = X* (T - armature β) - Σ A* (z + P α')
                  P(parent) += Σ φ P φ* - U D⁻¹ U*,   z(parent) += Σ φ (z + P α') + U D⁻¹ ε      (001 eqs. 50 to 55)
    base to tip   θ̈_R = D⁻¹ (ε - U* α(parent)),   θ̈ = X θ̈_R + β                                  (001 eqs. 56, 57)

A(k), the columns of φ* H* X (k), lie in lanes: one vector instruction works on eight independent velocities. Bodies of
a group hand on their articulated inertia unreduced; the group's first body applies the reduction by U D⁻¹ U* once. A
group on the ground hands on nothing: there α' begins with -g, and U is not needed.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import BLOCK, LANES
from limberjack.engine.algebra.blocks import load_block, store_block
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes
from limberjack.engine.algebra.spatial import ZERO, load3, store3
from limberjack.engine.compile.compiled import FLOATS, MATRIX, VECTOR, VECTORS, WHOLE
from limberjack.engine.compile.kernel import entry, kernel, routine
from limberjack.engine.kernels.groups.elimination import eliminate, is_poor, least_pivot, read_solution
from limberjack.engine.kernels.groups.group_rows import fill_rows
from limberjack.engine.kernels.groups.loop_rows import move_loop, place_rows, power
from limberjack.engine.kernels.nodes import modal
from limberjack.engine.kernels.nodes.dispatch import has_modes, hinge_in
from limberjack.engine.kernels.nodes.dispatch_loops import bias_body, push_lanes
from limberjack.engine.kernels.nodes.tree import sweep_velocities
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.loops import group_view
from limberjack.engine.tables.plant import plant_view, vectors, work_view


@routine(WHOLE, FLOATS, WHOLE)
def choose_routine(ints, floats, vector, g, q, which):
    """Solve the group's rows for the velocities that suit the present configuration best."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    group = plant.loops.group_int[g]
    parts = group_view(group, work.loops.group)
    fill_rows(plant, work, group, parts, q, which)
    n, m, rank = group[lp.GI_DOFS], group[lp.GI_ROWS], group[lp.GI_RANK]
    eliminate(parts, plant.loops.listed, group[lp.GI_DOF], n, m, rank, least_pivot(parts, which == lp.R_ACCEL), True)


@kernel
def solve_group(plant, work, g, q, which):
    """X, and as bias the velocities' answer to the right-hand sides -work.loops.row[l, which + i].

    The rows' coblocks and hinge frames are those of the last `place_loop`.
    """
    group = plant.loops.group_int[g]
    parts = group_view(group, work.loops.group)
    n, rank, least = group[lp.GI_DOFS], group[lp.GI_RANK], least_pivot(parts, which == lp.R_ACCEL)
    fill_rows(plant, work, group, parts, q, which)
    eliminate(parts, plant.loops.listed, group[lp.GI_DOF], n, group[lp.GI_ROWS], rank, least, False)
    if is_poor(parts) and rank > 0:
        ints, floats, vector = vectors(plant, work)
        choose_routine(ints, floats, vector, g, q, which)
    read_solution(parts, n, plant.loops.scale, group[lp.GI_DOF])


@kernel
def is_inside(plant, up, g):
    """Whether the parent in row `up` belongs to group g."""
    return up > 0 and plant.topo[up - 1, t.GROUP] == g


@kernel
def _bias_accelerations(plant, work, g, v, still):
    """α' of the group's bodies before β is known: with all its velocities steady and its parent not accelerated.

    On the ground they begin with what stands for gravity: no U is then needed.
    """
    group = plant.loops.group_int[g]
    for i in range(group[lp.GI_BODY], group[lp.GI_BODY] + group[lp.GI_BODIES]):
        k = plant.loops.listed[i]
        row, up = work.rows[k + 1], plant.topo[k, t.UP]
        w, u = ZERO, ZERO
        if up == 0 or is_inside(plant, up, g):
            w, u = hinge_in(plant, work, k, load3(work.rows[up], t.W_ALPHA), load3(work.rows[up], t.W_ALPHA + 3))
        w, u = bias_body(plant, work, k, v, still, w, u)
        store3(row, t.W_ALPHA, w)
        store3(row, t.W_ALPHA + 3, u)


@kernel
def block_count(parts):
    """Blocks that hold the columns of X and the one of β."""
    return int(parts.head[lp.GH_FREE]) // LANES + 1


@kernel
def _columns(plant, work, g, parts):
    """A(k) of the group's bodies, and as one column more what β adds to their α'; U, ε and D of modes begin at zero."""
    group, zero = plant.loops.group_int[g], equal_lanes(0.0)
    blocks, stride = block_count(parts), parts.u.shape[0]
    for i in range(group[lp.GI_BODIES]):
        k = plant.loops.listed[group[lp.GI_BODY] + i]
        up = plant.topo[k, t.UP]
        for b in range(blocks):
            w, u = (zero, zero, zero), (zero, zero, zero)
            if is_inside(plant, up, g):
                w, u = load_block(parts.a[stride * plant.topo[up - 1, t.MEMBER] + b], 0)
                w, u = hinge_in(plant, work, k, w, u)
            w, u = push_lanes(plant, work, k, parts.x, LANES * b, w, u)
            store_block(parts.a[stride * i + b], 0, w, u)
        if has_modes(plant.topo[k]):
            modal.clear_shares(plant, work, k)
    for b in range(blocks):
        store_block(parts.u[b], 0, (zero, zero, zero), (zero, zero, zero))
        store_lanes(parts.eps, LANES * b, zero)


@kernel
def _is_still(plant, row, g):
    """Whether a body's α' is left out: it is neither the ground nor one of group g, but carries the group."""
    return row > 0 and plant.topo[row - 1, t.GROUP] != g


@kernel
def _bias_loop(plant, work, l):
    """d²r/dt² of an embedded loop, moved before, from α' of its group's bodies and of the ground; others have none."""
    ints, row, coblock = plant.loops.loop_int[l], work.loops.row[l], work.loops.coblock[l]
    s = load_lanes(row, lp.R_QUAD)
    if ints[lp.L_KIND] >= lp.COUPLING:
        store_lanes(row, lp.R_ACCEL, s)
        return
    if not _is_still(plant, ints[lp.L_A], ints[lp.L_GROUP]):
        a = work.rows[ints[lp.L_A]]
        s = s + power(coblock, 0, load3(a, t.W_ALPHA), load3(a, t.W_ALPHA + 3))
    if not _is_still(plant, ints[lp.L_B], ints[lp.L_GROUP]):
        b = work.rows[ints[lp.L_B]]
        s = s + power(coblock, BLOCK, load3(b, t.W_ALPHA), load3(b, t.W_ALPHA + 3))
    store_lanes(row, lp.R_ACCEL, s)


@kernel
def _embed(plant, work, g, q, v):
    """X, β, A and α' of a group whose bodies are placed."""
    group = plant.loops.group_int[g]
    _bias_accelerations(plant, work, g, v, work.zeros)
    for i in range(group[lp.GI_LOOP], group[lp.GI_LOOP] + group[lp.GI_LOOPS]):
        l = plant.loops.listed[i]
        if plant.loops.loop_int[l, lp.L_KIND] < lp.COUPLING:
            place_rows(plant, work, l)
        move_loop(plant, work, l, q, v)
        _bias_loop(plant, work, l)
    solve_group(plant, work, g, q, lp.R_ACCEL)
    _columns(plant, work, g, group_view(group, work.loops.group))


@kernel
def embed_groups(plant, work, q, v):
    """Embed every group of a model whose bodies are placed."""
    for g in range(plant.loops.group_int.shape[0]):
        _embed(plant, work, g, q, v)


@kernel
def rest_groups(plant, work):
    """A of every group as `solve_group` left X and β, and no α': the model rests at where its bodies are placed."""
    for g in range(plant.loops.group_int.shape[0]):
        group = plant.loops.group_int[g]
        for i in range(group[lp.GI_BODY], group[lp.GI_BODY] + group[lp.GI_BODIES]):
            row = work.rows[plant.loops.listed[i] + 1]
            store3(row, t.W_ALPHA, ZERO)
            store3(row, t.W_ALPHA + 3, ZERO)
        _columns(plant, work, g, group_view(group, work.loops.group))


@entry(VECTORS, VECTOR, VECTOR, MATRIX, VECTOR, VECTOR)
def embedding_entry(ints, floats, work, q, v, x, bias, pick):
    """X (nv, nv), a column for each velocity that is independent now, and β (nv,): dv/dt = X (dv/dt)_R + β.

    pick (nv,): 1 for independent velocities, whose rows and columns are those of the identity outside of groups.
    """
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    nv = v.shape[0]
    sweep_velocities(plant, scratch, q, v)
    embed_groups(plant, scratch, q, v)
    for j in range(nv):
        bias[j], pick[j] = 0.0, 1.0
        for i in range(nv):
            x[j, i] = 1.0 if i == j else 0.0
    for g in range(plant.loops.group_int.shape[0]):
        _write_group(plant, scratch, g, x, bias, pick)


@kernel
def _write_group(plant, work, g, x, bias, pick):
    """A group's share of X, β and pick."""
    group, listed = plant.loops.group_int[g], plant.loops.listed
    parts, n, at = group_view(group, work.loops.group), group[lp.GI_DOFS], group[lp.GI_DOF]
    free = int(parts.head[lp.GH_FREE])
    for i in range(n):
        row = listed[at + i]
        x[row, row], bias[row] = 0.0, parts.bias[i]
        for r in range(free):
            x[row, listed[at + int(parts.pick[n - free + r])]] = parts.x[i, r]
    for s in range(n - free):
        pick[listed[at + int(parts.pick[s])]] = 0.0
