"""Forces of elements on links, beside what work.wrench holds: those of `link_forces.py` and of a central field.

central field   U = -µ m / r + µ/(2 r³) (3 e·J e - tr J)        e from the centre to the centre of mass, J about it
                f = -∂U/∂r = -µ/r² [m e + 3/(2 r²) ((tr J - 5 e·J e) e + 2 J e)],   n = 3 µ/r³ e × J e

The terms with J are those of the field's gradient T = µ/r³ (3 e e* - 1): U = -µ m / r + ½ tr(T J). Both force and
moment come from this one potential, so that energy is kept. On the modes of a flexible body it acts with

    Q_r = -∂U/∂η_r = S_r·(f / m - T c) - ½ tr(T ∂J_O/∂η_r)          c the centre of mass, J_O about the body's origin

since ∂c/∂η_r = S_r / m and J = J_O - m (c² 1 - c c*).
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import BLOCK, LANES
from limberjack.engine.algebra.blocks import load_block
from limberjack.engine.algebra.lanes import load_lanes, store_lanes
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    cross,
    dot,
    load3,
    load6,
    load9,
    rot,
    scale,
    sub,
    sym_mul,
    unrot,
)
from limberjack.engine.compile.compiled import FLAG, REAL
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.forces.contact_forces import push_touches
from limberjack.engine.kernels.forces.link_forces import needs_poses, push, push_links
from limberjack.engine.kernels.nodes.dispatch import body_inertia, has_modes
from limberjack.engine.kernels.nodes.tree import sweep_poses
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.elements import CE_GRADIENT, CE_MU, CE_P
from limberjack.engine.tables.flexible import MI_FULL, MI_MODES, MI_TABLE, PER_MODE, blocks_of, modal_view
from limberjack.engine.tables.plant import plant_view, vectors, work_view


@kernel
def has_elements(plant):
    """Whether elements act."""
    return plant.elements.acting > 0


@kernel
def attraction(central, x):
    """The field at a place x of the inertial frame, m/s²."""
    r = sub(x, load3(central, CE_P))
    square = dot(r, r)
    return scale(-central[CE_MU] / (square * math.sqrt(square)), r)


@kernel
def _central_inertia(m, c, I):
    """J about the centre of mass c, from I about the origin."""
    x, y, z = c
    return (
        I[0] - m * (y * y + z * z),
        I[1] - m * (x * x + z * z),
        I[2] - m * (x * x + y * y),
        I[3] + m * x * y,
        I[4] + m * x * z,
        I[5] + m * y * z,
    )


@kernel
def _moments(plant, work, k):
    """Centre of mass and inertia about it of link k, whose mass is not zero, in its axes."""
    m = plant.body[k, t.B_M]
    h, I = body_inertia(plant, work, k, load3(plant.body[k], t.B_H), load6(plant.body[k], t.B_I))
    c = scale(1.0 / m, h)
    return c, _central_inertia(m, c, I)


@kernel
def _distance(plant, work, k, c):
    """(e, r): direction from the field's centre to the centre of mass of link k, in its axes, and distance."""
    pose = work.pose[k + 1]
    R = load9(pose, 0)
    d = add(sub(load3(pose, 9), load3(plant.elements.central[0], CE_P)), rot(R, c))
    r = math.sqrt(dot(d, d))
    return scale(1.0 / r, unrot(R, d)), r


@kernel
def _pull(central, m, J, e, r):
    """(n, f) of the field on a body, about and at its centre of mass."""
    near = central[CE_MU] / (r * r)
    f = scale(-near * m, e)
    if central[CE_GRADIENT] == 0.0:
        return ZERO, f
    Je = sym_mul(J, e)
    along = J[0] + J[1] + J[2] - 5.0 * dot(e, Je)
    s = -1.5 * near / (r * r)
    f = add(f, (s * (along * e[0] + 2.0 * Je[0]), s * (along * e[1] + 2.0 * Je[1]), s * (along * e[2] + 2.0 * Je[2])))
    return scale(3.0 * near / r, cross(e, Je)), f


@kernel
def _gradient(central, e, r):
    """T = µ/r³ (3 e e* - 1), six numbers; zero where it does not count."""
    s = central[CE_GRADIENT] * central[CE_MU] / (r * r * r)
    x, y, z = e
    return (
        s * (3.0 * x * x - 1.0),
        s * (3.0 * y * y - 1.0),
        s * (3.0 * z * z - 1.0),
        3.0 * s * x * y,
        3.0 * s * x * z,
        3.0 * s * y * z,
    )


@kernel
def _swelling(table, at, full, n, blocks, b, eta):
    """Block b of ∂J_O/∂η at η."""
    w, u = load_block(table, at + BLOCK * (blocks + b))
    if full:
        for s in range(n):
            first = at + blocks * (2 * BLOCK + s * PER_MODE)
            x = eta[s]
            dw, du = load_block(table, first + BLOCK * (blocks + b))
            w = (w[0] + x * dw[0], w[1] + x * dw[1], w[2] + x * dw[2])
            u = (u[0] + x * du[0], u[1] + x * du[1], u[2] + x * du[2])
    return w, u


@kernel
def _pull_modes(plant, work, k, f, c, T):
    """Add the field's forces on the modes of link k; f as of a body of mass 1."""
    modal = plant.flexible.modal_int[plant.topo[k, t.SLOT]]
    parts, table, at = modal_view(modal, work.modal), plant.flexible.table, modal[MI_TABLE]
    n, blocks, full = modal[MI_MODES], blocks_of(modal[MI_MODES]), modal[MI_FULL] > 0
    g = sub(f, sym_mul(T, c))
    for b in range(blocks):
        S = load_block(parts.coupling[b], 0)[1]
        w, u = _swelling(table, at, full, n, blocks, b, parts.eta)
        Q = g[0] * S[0] + g[1] * S[1] + g[2] * S[2]
        Q = Q - ((0.5 * T[0]) * w[0] + (0.5 * T[1]) * w[1] + (0.5 * T[2]) * w[2])
        Q = Q - (T[3] * u[0] + T[4] * u[1] + T[5] * u[2])
        store_lanes(parts.left, LANES * b, load_lanes(parts.left, LANES * b) + Q)


@kernel
def _attract(plant, work):
    """The central field on all links; poses are known."""
    central = plant.elements.central[0]
    for k in range(plant.topo.shape[0]):
        m = plant.body[k, t.B_M]
        if m > 0.0:
            c, J = _moments(plant, work, k)
            e, r = _distance(plant, work, k, c)
            n, f = _pull(central, m, J, e, r)
            push(work, k + 1, add(n, cross(c, f)), f)
            if has_modes(plant.topo[k]):
                _pull_modes(plant, work, k, scale(1.0 / m, f), c, _gradient(central, e, r))


@routine(FLAG)
def put_elements_routine(ints, floats, vector, external):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    for k in range(work.wrench.shape[0]):
        for i in range(6):
            work.elements.kept[k, i] = work.wrench[k, i]
            if not external:
                work.wrench[k, i] = 0.0
    if needs_poses(plant):
        sweep_poses(plant, work)
    if plant.elements.central.shape[0] > 0:
        _attract(plant, work)
    push_links(plant, work)
    push_touches(plant, work)


@kernel
def put_elements(plant, work, external):
    """work.wrench = forces of all elements on links that are placed and move, with `external` on top of what it holds;
    of a central field those on modes as well."""
    ints, floats, vector = vectors(plant, work)
    put_elements_routine(ints, floats, vector, external)


@kernel
def take_elements(work):
    """work.wrench as before `put_elements`."""
    for k in range(work.wrench.shape[0]):
        for i in range(6):
            work.wrench[k, i] = work.elements.kept[k, i]


@routine(returns=REAL)
def central_energy_routine(ints, floats, vector):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    central, energy = plant.elements.central[0], 0.0
    for k in range(plant.topo.shape[0]):
        m = plant.body[k, t.B_M]
        if m > 0.0 and not plant.topo[k, t.GROUNDED]:
            c, J = _moments(plant, work, k)
            e, r = _distance(plant, work, k, c)
            T = _gradient(central, e, r)
            energy -= central[CE_MU] * m / r
            energy += 0.5 * (T[0] * J[0] + T[1] * J[1] + T[2] * J[2]) + T[3] * J[3] + T[4] * J[4] + T[5] * J[5]
    return energy


@kernel
def central_energy(plant, work):
    """Potential energy in the central field of all moving bodies, which are placed in the inertial frame, J."""
    ints, floats, vector = vectors(plant, work)
    return central_energy_routine(ints, floats, vector)
