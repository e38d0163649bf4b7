"""Tip-to-base step of a modal body inside an aggregated node: symbols of `embedding.py`, nodes/modal.py.

    F = P A + μ X(η),   D += A* F + X(η)* (μ* A + D_f X(η)),   ε -= A* z' + X(η)* e
    z' = z + P α' + μ β(η),   e = μ* α' + D_f β(η) - ε_f

X(η) and β(η) are the rows of X and β that belong to its modes, D_f and ε_f what nodes outside the group ask of them:
those inside it are bodies like others, which A = φ* A(body) + H* X(η) moves.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.blocks import load_block
from limberjack.engine.algebra.lanes import load_lanes, store_lanes
from limberjack.engine.algebra.spatial import ZERO, add, add_scaled, dot, inertia_mul, load3, load6
from limberjack.engine.compile.compiled import FLAG, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.groups.aggregated import hand_columns, hand_on, member_column, share_block
from limberjack.engine.kernels.groups.embedding import block_count, is_inside
from limberjack.engine.kernels.nodes.body_inertia import gather
from limberjack.engine.kernels.nodes.modal import deformation_bias, deformed_inertia, modal_column
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.flexible import MI_MODES, MS_EPS, modal_view
from limberjack.engine.tables.loops import GH_FREE, GI_BODIES, GI_PARENT, group_view
from limberjack.engine.tables.plant import plant_view, vectors, work_view


@kernel
def _place_of(plant, k, r):
    """Place of mode r of modal link k among the velocities of its group."""
    return plant.dof_int[plant.topo[k, t.VI] + r, t.DI_MEMBER]


@kernel
def _bias(plant, k, parts, modal, modes, w, u):
    """e of every mode, kept where ε of its body would stand; returns μ β(η). [w; u]: α'."""
    n, f = ZERO, ZERO
    for r in range(modes):
        a, l = modal_column(modal.coupling, r)
        rate = parts.bias[_place_of(plant, k, r)]
        n, f = add_scaled(n, rate, a), add_scaled(f, rate, l)
        e = dot(a, w) + dot(l, u) - modal.left[r]
        for s in range(modes):
            e += modal.d[min(r, s), max(r, s)] * parts.bias[_place_of(plant, k, s)]
        modal.solved[r, MS_EPS] = e
    return n, f


@kernel
def _add_modal_force(plant, k, parts, modal, modes, at, w, u):
    """[w; u] + μ X(η), eight columns."""
    for r in range(modes):
        a, l = modal_column(modal.coupling, r)
        x = load_lanes(parts.x[_place_of(plant, k, r)], at)
        w = w[0] + a[0] * x, w[1] + a[1] * x, w[2] + a[2] * x
        u = u[0] + l[0] * x, u[1] + l[1] * x, u[2] + l[2] * x
    return w, u


@kernel
def _share_modes(plant, k, parts, modal, modes, at, free, w, u):
    """D += X(η)* (μ* A + D_f X(η)), ε -= X(η)* e, for eight columns [w; u] of A."""
    for r in range(modes):
        a, l = modal_column(modal.coupling, r)
        own = parts.x[_place_of(plant, k, r)]
        g = a[0] * w[0] + a[1] * w[1] + a[2] * w[2] + l[0] * u[0] + l[1] * u[1] + l[2] * u[2]
        for s in range(modes):
            share = modal.d[min(r, s), max(r, s)]
            if share != 0.0:
                g = g + share * load_lanes(parts.x[_place_of(plant, k, s)], at)
        store_lanes(parts.eps, at, load_lanes(parts.eps, at) - modal.solved[r, MS_EPS] * load_lanes(own, at))
        for c in range(free):
            if own[c] != 0.0:
                store_lanes(parts.d[c], at, load_lanes(parts.d[c], at) + own[c] * g)


@routine(WHOLE, FLAG, either=True)
def inward_modal_member_routine(ints, floats, vector, k, external):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    topo, row = plant.topo[k], work.rows[k + 1]
    g, member = topo[t.GROUP], topo[t.MEMBER]
    group, modes = plant.loops.group_int[g], plant.flexible.modal_int[topo[t.SLOT], MI_MODES]
    parts, modal = group_view(group, work.loops.group), modal_view(plant.flexible.modal_int[topo[t.SLOT]], work.modal)
    free, fresh, inside = int(parts.head[GH_FREE]), member == group[GI_BODIES] - 1, is_inside(plant, topo[t.UP], g)
    h, I = deformed_inertia(plant, work, k, load3(plant.body[k], t.B_H), load6(plant.body[k], t.B_I))
    P, n, f = gather(plant, work, k, h, I, external)
    dn, df = deformation_bias(plant, work, k)
    bw, bu = member_column(parts, member, free)
    w, u = add(load3(row, t.W_ALPHA), bw), add(load3(row, t.W_ALPHA + 3), bu)
    pn, pf = inertia_mul(P, w, u)
    mn, mf = _bias(plant, k, parts, modal, modes, w, u)
    n, f = add(add(n, dn), add(pn, mn)), add(add(f, df), add(pf, mf))
    for b in range(block_count(parts)):
        w, u = load_block(parts.a[parts.u.shape[0] * member + b], 0)
        fw, fu = inertia_mul(P, w, u)
        fw, fu = _add_modal_force(plant, k, parts, modal, modes, LANES * b, fw, fu)
        share_block(parts, member, b, free, fresh, w, u, fw, fu, n, f)
        _share_modes(plant, k, parts, modal, modes, LANES * b, free, w, u)
        if group[GI_PARENT] > 0:
            hand_columns(plant, work, k, parts, b, inside, fw, fu)
    if group[GI_PARENT] > 0:
        hand_on(plant, work, k, parts, inside, P, n, f)


@kernel
def inward_modal_member(plant, work, k, external):
    """Process a modal body in a group; its nodes and other children have handed in their shares."""
    ints, floats, vector = vectors(plant, work)
    inward_modal_member_routine(ints, floats, vector, k, external)
