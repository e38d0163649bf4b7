"""Accelerations of a node from its parent's: across the hinge, and those of the modes (000 eqs. for α)."""

from __future__ import annotations

from limberjack.engine.algebra.spatial import (
    add,
    load3,
    store3,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.hinges import relative_velocity
from limberjack.engine.kernels.nodes.modal_routines import accelerate_flexible
from limberjack.engine.kernels.nodes.tree import hinge_in
from limberjack.engine.tables.plant import (
    G_A,
    NV,
    PATH,
    PATH_BASE,
    PATH_MODAL,
    PATH_PRISMATIC,
    PATH_REVOLUTE,
    SLOT,
    UP,
    VI,
    W_ALPHA,
)


@kernel
def hinge_acceleration(plant, work, k, v, vdot, Vw, Vu, w, u):
    """α(k) = α⁺ + a + H* dβ/dt for [w; u] = φ* α(parent), with V(k) given."""
    topo = plant.topo[k]
    path, j = topo[PATH], topo[VI]
    if path == PATH_REVOLUTE:
        rate = v[j]
        w = (w[0] + Vw[1] * rate, w[1] - Vw[0] * rate, w[2] + vdot[j])
        u = (u[0] + Vu[1] * rate, u[1] - Vu[0] * rate, u[2])
    elif path == PATH_PRISMATIC:
        rate = v[j]
        u = (u[0] + Vw[1] * rate, u[1] - Vw[0] * rate, u[2] + vdot[j])
    elif path == PATH_BASE:
        w, u = add(w, load3(vdot, j)), add(u, load3(vdot, j + 3))
    else:
        g = work.gen[topo[SLOT]]
        dw, du = relative_velocity(g, vdot, j, topo[NV])
        w, u = add(add(w, load3(g, G_A)), dw), add(add(u, load3(g, G_A + 3)), du)
    return w, u


@kernel
def accelerate_body(plant, work, k, v, vdot, Vw, Vu):
    """α(k) from the parent's, with V(k) given; returns it as (angular, linear)."""
    row, up = work.rows[k + 1], work.rows[plant.topo[k, UP]]
    if plant.topo[k, PATH] >= PATH_MODAL:
        accelerate_flexible(plant, work, k, vdot)
        return load3(row, W_ALPHA), load3(row, W_ALPHA + 3)
    w, u = hinge_in(plant, work, k, load3(up, W_ALPHA), load3(up, W_ALPHA + 3))
    w, u = hinge_acceleration(plant, work, k, v, vdot, Vw, Vu, w, u)
    store3(row, W_ALPHA, w)
    store3(row, W_ALPHA + 3, u)
    return w, u
