"""O(N) articulated-body forward dynamics (000 eqs. for P, D, G, psi, z, eps, nu, alpha; 002 same).

    base to tip   V(k) = φ* V(parent) + H* β,   b(k) = V × M V,   a(k) = V × ΔV + (dH*/dt) β
    tip to base   P = M + Σ φ P⁺ φ*,   D = H P H* + armature,   G = P H* D⁻¹,   P⁺ = P - G D G*
                  z = b - f_external + Σ φ z⁺,   ε = T - H z,   z⁺ = z + P⁺ a + G ε
    base to tip   α⁺ = φ* α(parent) + a,   dβ/dt = D⁻¹ ε - G* α⁺,   α = α⁺ + H* dβ/dt

The seeds write z with P a inside and ε without it; moving a into α⁺ gives the same numbers (z⁺ and dβ/dt are
equal term by term) and meets the zero rows of P⁺: for a hinge along z without armature P⁺ has no z row or column.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.small_solves import is_definite6, solve6
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    dot,
    load3,
    load6,
    store3,
    sub,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.compile.routine import FLAG, FLOATS, WHOLE, routine
from limberjack.engine.kernels.forces.body_forces import has_elements, put_elements, take_elements
from limberjack.engine.kernels.groups.aggregated import inward_member, outward_member, reduce_group
from limberjack.engine.kernels.groups.embedding import embed_groups, rest_groups
from limberjack.engine.kernels.groups.modal_member import inward_modal_member
from limberjack.engine.kernels.groups.multipliers import constrain
from limberjack.engine.kernels.nodes.articulated import (
    inward_general,
    inward_prismatic,
    inward_revolute,
    outward_general,
)
from limberjack.engine.kernels.nodes.body_inertia import gather
from limberjack.engine.kernels.nodes.modal_placing import place_flexible
from limberjack.engine.kernels.nodes.modal_routines import inward_flexible, outward_flexible
from limberjack.engine.kernels.nodes.tree import begin_sweep, hinge_in, place_body
from limberjack.engine.tables.plant import (
    B_H,
    B_I,
    G_A,
    GROUP,
    MEMBER,
    NV,
    PATH,
    PATH_BASE,
    PATH_GENERAL,
    PATH_MODAL,
    PATH_PRISMATIC,
    PATH_REVOLUTE,
    SLOT,
    UP,
    VI,
    W_ALPHA,
    W_DINV,
    W_EPS,
    W_U,
    W_V,
    plant_view,
    vectors,
    work_view,
)

#: what `_closed` is for
MOVE, _SETTLE, _CHANGE = range(3)


@kernel
def _inward(plant, work, k, v, tau, add_inertia, external):
    """P⁺ and z⁺ of body k, handed to its parent."""
    topo, body = plant.topo[k], plant.body[k]
    row, up = work.rows[k + 1], work.acc[topo[UP]]
    path, j = topo[PATH], topo[VI]
    if path >= PATH_MODAL:
        inward_flexible(plant, work, k, tau, add_inertia, external)
        return
    P, n, f = gather(plant, work, k, load3(body, B_H), load6(body, B_I), external)
    if path == PATH_REVOLUTE:
        inward_revolute(topo, body, row, up, P, n, f, tau[j], add_inertia[j], v[j])
    elif path == PATH_PRISMATIC:
        inward_prismatic(topo, row, up, P, n, f, tau[j], add_inertia[j], v[j])
    elif path == PATH_GENERAL:
        inward_general(topo, row, up, P, n, f, work.gen[topo[SLOT]], tau, add_inertia)
    else:
        _solve_base(plant, row, P, n, f, tau, j)


@kernel
def _solve_base(plant, row, P, n, f, tau, j):
    """A free base: P α = T - z. No finite numbers, as of `pivot`, where deformed bodies make P indefinite."""
    a, l = solve6(P, sub(load3(tau, j), n), sub(load3(tau, j + 3), f))
    if plant.flexible.modal_int.shape[0] > 0 and not is_definite6(P):
        a = (math.nan, math.nan, math.nan)
    store3(row, W_U, a)
    store3(row, W_U + 3, l)


@kernel
def _solve_hinge(row, w, u):
    """dβ/dt = D⁻¹ (ε - U* α⁺) of a 1-dof hinge."""
    return row[W_DINV] * (row[W_EPS] - dot(load3(row, W_U), w) - dot(load3(row, W_U + 3), u))


@kernel
def _outward(plant, work, k, v, vdot):
    """α⁺, dβ/dt and α of body k."""
    topo, row = plant.topo[k], work.rows[k + 1]
    up = work.rows[topo[UP]]
    path, j = topo[PATH], topo[VI]
    if path >= PATH_MODAL:
        outward_flexible(plant, work, k, vdot)
        return
    w, u = hinge_in(plant, work, k, load3(up, W_ALPHA), load3(up, W_ALPHA + 3))
    if path == PATH_REVOLUTE:
        rate = v[j]
        w = (w[0] + row[W_V + 1] * rate, w[1] - row[W_V] * rate, w[2])
        u = (u[0] + row[W_V + 4] * rate, u[1] - row[W_V + 3] * rate, u[2])
        vdot[j] = _solve_hinge(row, w, u)
        w = (w[0], w[1], w[2] + vdot[j])
    elif path == PATH_PRISMATIC:
        rate = v[j]
        u = (u[0] + row[W_V + 1] * rate, u[1] - row[W_V] * rate, u[2])
        vdot[j] = _solve_hinge(row, w, u)
        u = (u[0], u[1], u[2] + vdot[j])
    elif path == PATH_BASE:
        a, l = load3(row, W_U), load3(row, W_U + 3)
        store3(vdot, j, sub(a, w))
        store3(vdot, j + 3, sub(l, u))
        w, u = a, l
    else:
        g = work.gen[topo[SLOT]]
        w, u = add(w, load3(g, G_A)), add(u, load3(g, G_A + 3))
        w, u = outward_general(g, vdot, j, topo[NV], w, u)
    store3(row, W_ALPHA, w)
    store3(row, W_ALPHA + 3, u)


@kernel
def _inward_closed(plant, work, v, tau, add_inertia, external):
    """The sweep tip to base of a model with loops."""
    n = plant.topo.shape[0]
    for i in range(n):
        k = n - 1 - i
        if plant.topo[k, GROUP] < 0:
            _inward(plant, work, k, v, tau, add_inertia, external)
            continue
        if plant.topo[k, PATH] == PATH_MODAL:
            inward_modal_member(plant, work, k, external)
        else:
            body = plant.body[k]
            P, m, f = gather(plant, work, k, load3(body, B_H), load6(body, B_I), external)
            inward_member(plant, work, k, P, m, f)
        if plant.topo[k, MEMBER] == 0:
            reduce_group(plant, work, plant.topo[k, GROUP], tau, add_inertia)


@kernel
def _outward_closed(plant, work, v, vdot):
    """The sweep base to tip of a model with loops."""
    for k in range(plant.topo.shape[0]):
        if plant.topo[k, GROUP] >= 0:
            outward_member(plant, work, k, v, vdot)
        else:
            _outward(plant, work, k, v, vdot)


@kernel
def _rest(plant, work, q):
    """V and Coriolis accelerations of all bodies 0; what sweeps add to in modal bodies begins anew."""
    for k in range(plant.topo.shape[0]):
        row, topo = work.rows[k + 1], plant.topo[k]
        store3(row, W_V, ZERO)
        store3(row, W_V + 3, ZERO)
        if topo[PATH] == PATH_GENERAL:
            store3(work.gen[topo[SLOT]], G_A, ZERO)
            store3(work.gen[topo[SLOT]], G_A + 3, ZERO)
        elif topo[PATH] >= PATH_MODAL:
            place_flexible(plant, work, k, q, work.zeros)


@routine(FLOATS, FLOATS, FLOATS, FLOATS, FLAG, FLOATS, WHOLE)
def closed_routine(ints, floats, vector, q, v, tau, add_inertia, external, vdot, what):
    """`forward_dynamics` of a model with loops or elements; a second sweep base to tip counts the constraint forces.

    what: MOVE; with _SETTLE gravity and elements are left out and the sweeps base to tip are too; with _CHANGE
    these and constraint forces are left out, bodies are placed already, and X and β are as they were solved before.
    """
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    if what == _CHANGE:
        _rest(plant, work, q)
        rest_groups(plant, work)
    else:
        begin_sweep(plant, work, q, 1.0 if what == MOVE else 0.0)
        for k in range(plant.topo.shape[0]):
            place_body(plant, work, k, q, v)
        embed_groups(plant, work, q, v)
    driven = what == MOVE and has_elements(plant)
    if driven:
        put_elements(plant, work, external)
    _inward_closed(plant, work, v, tau, add_inertia, external or driven)
    if driven:
        take_elements(work)
    for again in range(2 if what != _SETTLE else 0):
        _outward_closed(plant, work, v, vdot)
        if again == 1 or what == _CHANGE or work.loops.path.shape[0] == 0:
            break
        if not constrain(plant, work, q, v, vdot):
            break


@kernel
def forward_dynamics(plant, work, q, v, tau, add_inertia, external, vdot):
    """Accelerations dβ/dt (nv,) from q, v and generalized forces tau (nv,).

    add_inertia (nv,) is the armature, plus what an implicit integrator adds to it; external says whether
    work.wrench holds spatial forces on the bodies. Leaves V and α of every body in work.rows.
    """
    if plant.loops.loop_int.shape[0] > 0 or has_elements(plant):
        ints, floats, vector = vectors(plant, work)
        closed_routine(ints, floats, vector, q, v, tau, add_inertia, external, vdot, MOVE)
        return
    n = plant.topo.shape[0]
    begin_sweep(plant, work, q, 1.0)
    for k in range(n):
        place_body(plant, work, k, q, v)
    for i in range(n):
        _inward(plant, work, n - 1 - i, v, tau, add_inertia, external)
    for k in range(n):
        _outward(plant, work, k, v, vdot)


@kernel
def settle(plant, work, q):
    """P, D, G and X of all bodies of a model with loops, at rest at q, with the model's own armature."""
    ints, floats, vector = vectors(plant, work)
    still = work.zeros
    closed_routine(ints, floats, vector, q, still, still, plant.armature, False, still, _SETTLE)


@kernel
def least_change(plant, work, q, out):
    """out (nv,): what `solve_group` found for every group, and with it the change of the independent velocities and of
    all others outside that makes the kinetic energy of the whole change least. Leaves P, D and G at q, where the bodies
    are placed, and V = 0 there."""
    ints, floats, vector = vectors(plant, work)
    still = work.zeros
    closed_routine(ints, floats, vector, q, still, still, plant.armature, False, out, _CHANGE)
