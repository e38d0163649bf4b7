"""O(N) articulated-body forward dynamics (000 eqs. 0.25, 0.26, .39, .40; 002 same).

    base to tip   V(k) = φ* V(parent) + H* β,   b(k) = V × M V,   a(k) = V × ΔV + (dH*/dt) β
    tip to base   P = M + Σ φ P⁺ φ*,   D = H P H* + armature,   G = P H* D⁻¹,   P⁺ = P - G D G*
                  z = b - f_external + Σ φ z⁺,   ε = T - H z,   z⁺ = z + P⁺ a + G ε
    base to tip   α⁺ = φ* α(parent) + a,   dβ/dt = D⁻¹ ε - G* α⁺,   α = α⁺ + H* dβ/dt

The seeds write z with P a inside and ε without it; moving a into α⁺ gives the same numbers (z⁺ and dβ/dt are
equal term by term) and meets the zero rows of P⁺: for a hinge along z without armature P⁺ has no z row or column.
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import load3, load6
from limberjack.engine.compile.compiled import FLAG, FLOATS, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.forces.body_forces import has_elements, put_elements, take_elements
from limberjack.engine.kernels.groups.aggregated import inward_member, outward_member, reduce_group
from limberjack.engine.kernels.groups.embedding import embed_groups, rest_groups
from limberjack.engine.kernels.groups.modal_member import inward_modal_member
from limberjack.engine.kernels.groups.multipliers import constrain
from limberjack.engine.kernels.nodes.body_inertia import gather
from limberjack.engine.kernels.nodes.dispatch import has_modes, inward_body, outward_body, place_body, rest_body
from limberjack.engine.kernels.nodes.tree import begin_sweep
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.plant import plant_view, vectors, work_view

#: purposes of `closed_routine`
MOVE, _SETTLE, _CHANGE = range(3)


@kernel
def _inward_closed(plant, work, v, tau, add_inertia, external):
    """Run the sweep tip to base of a model with loops."""
    n = plant.topo.shape[0]
    for i in range(n):
        k = n - 1 - i
        if plant.topo[k, t.GROUP] < 0:
            inward_body(plant, work, k, v, tau, add_inertia, external)
            continue
        if has_modes(plant.topo[k]):
            inward_modal_member(plant, work, k, external)
        else:
            body = plant.body[k]
            P, m, f = gather(plant, work, k, load3(body, t.B_H), load6(body, t.B_I), external)
            inward_member(plant, work, k, P, m, f)
        if plant.topo[k, t.MEMBER] == 0:
            reduce_group(plant, work, plant.topo[k, t.GROUP], tau, add_inertia)


@kernel
def _outward_closed(plant, work, v, vdot):
    """Run the sweep base to tip of a model with loops."""
    for k in range(plant.topo.shape[0]):
        if plant.topo[k, t.GROUP] >= 0:
            outward_member(plant, work, k, v, vdot)
        else:
            outward_body(plant, work, k, v, vdot)


@routine(FLOATS, FLOATS, FLOATS, FLOATS, FLAG, FLOATS, WHOLE, either=True)
def closed_routine(ints, floats, vector, q, v, tau, add_inertia, external, vdot, what):
    """`forward_dynamics` of a model with loops or elements; a second sweep base to tip counts the constraint forces.

    what: MOVE; with _SETTLE gravity and elements are left out and the sweeps base to tip are too; with _CHANGE
    these and constraint forces are left out, bodies are placed already, and X and β are as they were solved before.
    """
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    if what == _CHANGE:
        for k in range(plant.topo.shape[0]):
            rest_body(plant, work, k, q)
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
        inward_body(plant, work, n - 1 - i, v, tau, add_inertia, external)
    for k in range(n):
        outward_body(plant, work, k, v, vdot)


@kernel
def settle(plant, work, q):
    """Compute P, D, G and X of all bodies of a model with loops, at rest at q, with the model's own armature."""
    settle_with(plant, work, q, plant.armature)


@kernel
def settle_with(plant, work, q, add_inertia):
    """`settle` with this armature (nv,)."""
    ints, floats, vector = vectors(plant, work)
    still = work.zeros
    closed_routine(ints, floats, vector, q, still, still, add_inertia, False, still, _SETTLE)


@kernel
def least_change(plant, work, q, out):
    """out (nv,): what `solve_group` found for every group, and with it the change of the independent velocities and of
    all others outside that makes the kinetic energy of the whole change least. Leaves P, D and G at q, where the bodies
    are placed, and V = 0 there."""
    ints, floats, vector = vectors(plant, work)
    still = work.zeros
    closed_routine(ints, floats, vector, q, still, still, plant.armature, False, out, _CHANGE)
