"""O(N) Newton-Euler inverse dynamics and the forces between bodies (000, 002 "Newton-Euler inverse dynamics").

base to tip   V = φ* V(parent) + H* β,   α = φ* α(parent) + H* dβ/dt + a
tip to base   f = M α + b - f_external + Σ φ f(children),   T = H f + armature dβ/dt
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import (
    add,
    dot,
    load3,
    load6,
    store3,
)
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.compile.routine import FLAG, FLOATS, routine
from limberjack.engine.kernels.forces.body_forces import has_elements, put_elements, take_elements
from limberjack.engine.kernels.forces.link_forces import no_inputs
from limberjack.engine.kernels.nodes.accelerations import accelerate_body
from limberjack.engine.kernels.nodes.body_inertia import body_force
from limberjack.engine.kernels.nodes.modal_routines import force_flexible, project_flexible
from limberjack.engine.kernels.nodes.tree import begin_sweep, hinge_out, place_body
from limberjack.engine.tables.plant import (
    B_H,
    B_I,
    G_H,
    NV,
    PATH,
    PATH_BASE,
    PATH_MODAL,
    PATH_PRISMATIC,
    PATH_REVOLUTE,
    SLOT,
    UP,
    VI,
    W_F,
    W_V,
    plant_view,
    vectors,
    work_view,
)


@kernel
def _force(plant, work, k, vdot, aw, au, external, tau):
    """f(k) = M α + b - f_external, kept in work.rows; of a modal body τ of its modes as well."""
    body, row = plant.body[k], work.rows[k + 1]
    if plant.topo[k, PATH] >= PATH_MODAL:
        force_flexible(plant, work, k, vdot, external, tau)
        return
    n, f = body_force(plant, work, k, load3(body, B_H), load6(body, B_I), aw, au, external)
    store3(row, W_F, n)
    store3(row, W_F + 3, f)


@kernel
def _project(plant, work, k, vdot, tau):
    """T = H f + armature dβ/dt, and φ f handed to the parent."""
    topo = plant.topo[k]
    row, j, path = work.rows[k + 1], topo[VI], topo[PATH]
    if path >= PATH_MODAL:
        project_flexible(plant, work, k, tau)
        return
    n, f = load3(row, W_F), load3(row, W_F + 3)
    if path == PATH_REVOLUTE:
        tau[j] = n[2] + plant.armature[j] * vdot[j]
    elif path == PATH_PRISMATIC:
        tau[j] = f[2] + plant.armature[j] * vdot[j]
    elif path == PATH_BASE:
        store3(tau, j, n)
        store3(tau, j + 3, f)
    else:
        g = work.gen[topo[SLOT]]
        for c in range(topo[NV]):
            h = G_H + 6 * c
            tau[j + c] = dot(load3(g, h), n) + dot(load3(g, h + 3), f) + plant.armature[j + c] * vdot[j + c]
    if topo[UP] > 0:
        up = work.rows[topo[UP]]
        n, f = hinge_out(plant, work, k, n, f)
        store3(up, W_F, add(load3(up, W_F), n))
        store3(up, W_F + 3, add(load3(up, W_F + 3), f))


@routine(FLOATS, FLOATS, FLOATS, FLAG, FLOATS)
def driven_routine(ints, floats, vector, q, v, vdot, external, tau):
    """`inverse_dynamics` with gravity of a model with elements."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    n = plant.topo.shape[0]
    begin_sweep(plant, work, q, 1.0)
    for k in range(n):
        place_body(plant, work, k, q, v)
    put_elements(plant, work, external)
    for k in range(n):
        row = work.rows[k + 1]
        aw, au = accelerate_body(plant, work, k, v, vdot, load3(row, W_V), load3(row, W_V + 3))
        _force(plant, work, k, vdot, aw, au, True, tau)
    take_elements(work)
    for i in range(n):
        _project(plant, work, n - 1 - i, vdot, tau)


@kernel
def inverse_dynamics(plant, work, q, v, vdot, gravity, external, tau):
    """Generalized forces tau (nv,) for the accelerations vdot (nv,); gravity 1.0 counts it and what
    elements do, 0.0 leaves both out.

    Leaves in work.rows the force f(k) that each hinge passes to its body, at O_k in body axes.
    """
    if gravity != 0.0 and has_elements(plant):
        ints, floats, vector = vectors(plant, work)
        driven_routine(ints, floats, vector, q, v, vdot, external, tau)
        return
    n = plant.topo.shape[0]
    begin_sweep(plant, work, q, gravity)
    for k in range(n):
        Vw, Vu = place_body(plant, work, k, q, v)
        aw, au = accelerate_body(plant, work, k, v, vdot, Vw, Vu)
        _force(plant, work, k, vdot, aw, au, external, tau)
    for i in range(n):
        _project(plant, work, n - 1 - i, vdot, tau)


@entry
def inverse_dynamics_entry(ints, floats, work, q, v, vdot, external, tau):
    """One evaluation of `inverse_dynamics` with gravity and thrusters off, for Python callers."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    no_inputs(plant, scratch)
    inverse_dynamics(plant, scratch, q, v, vdot, 1.0, external, tau)


@entry
def hinge_force_entry(ints, work, row, out):
    """out (6,): the force f(k) that `inverse_dynamics` left for one body row, at O_k in engine axes."""
    scratch = work_view(ints, work)
    for i in range(6):
        out[i] = scratch.rows[row, W_F + i]
