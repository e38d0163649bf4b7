"""Mass matrix by composite rigid bodies (002 Algorithm 4.1 and the mass-matrix recursion).

    R(k) = M(k) + Σ φ R(child) φ*,   X = R(k) H*(k),   M(k, k) = H X + armature,   M(j, k) = H(j) φ(j, k) X

The composite of a rigid subtree is a rigid body, so R travels as ten numbers: m, h, I.
"""

from __future__ import annotations

from limberjack.engine.hinges import hinge_map, place_frame
from limberjack.engine.kernel import entry, kernel
from limberjack.engine.layout import (
    A_I,
    A_Z,
    B_H,
    B_I,
    B_M,
    G_H,
    NV,
    PATH,
    PATH_BASE,
    PATH_GENERAL,
    PATH_PRISMATIC,
    PATH_REVOLUTE,
    QI,
    SLOT,
    UP,
    VI,
    W_C,
    plant_view,
    work_view,
)
from limberjack.engine.spatial import (
    add,
    add6,
    dot,
    load3,
    load6,
    rigid_mul,
    rot,
    scale,
    store3,
    store6,
    turn_sym,
)
from limberjack.engine.tree import begin_sweep, hinge_frame, hinge_out, place_prismatic

# A composite body in work.acc: I at A_I, h at A_Z, m at A_Z + 3.
_C_H, _C_M = A_Z, A_Z + 3


@kernel
def _place(plant, work, k, q, no_rate):
    """Frames (and H* on the general path) of body k, and R(k) = M(k) before its children."""
    topo, body, row = plant.topo[k], plant.body[k], work.rows[k + 1]
    path = topo[PATH]
    if path == PATH_REVOLUTE:
        row[W_C], row[W_C + 1] = work.cosine[topo[QI]], work.sine[topo[QI]]
    elif path == PATH_PRISMATIC:
        place_prismatic(body, q[topo[QI]], row)
    else:
        place_frame(plant, work, k, q, row)
        if path == PATH_GENERAL:
            hinge_map(plant, work, k, no_rate, work.gen[topo[SLOT]])
    acc = work.acc[k + 1]
    store6(acc, A_I, load6(body, B_I))
    store3(acc, _C_H, load3(body, B_H))
    acc[_C_M] = body[B_M]


@kernel
def _shift_composite(m, h, I, p):
    """A rigid body's (h, I) about a point that it sees at lever p: h + m p, I - p~ h~ - h~ p~ - m p~ p~."""
    a = (2.0 * h[0] + m * p[0], 2.0 * h[1] + m * p[1], 2.0 * h[2] + m * p[2])
    x, y, z = p[0] * a[0], p[1] * a[1], p[2] * a[2]
    J = (
        I[0] + y + z,
        I[1] + x + z,
        I[2] + x + y,
        I[3] - 0.5 * (p[0] * a[1] + p[1] * a[0]),
        I[4] - 0.5 * (p[0] * a[2] + p[2] * a[0]),
        I[5] - 0.5 * (p[1] * a[2] + p[2] * a[1]),
    )
    return add(h, scale(m, p)), J


@kernel
def _hand_composite(plant, work, k, up):
    """Parent's R += φ R(k) φ*."""
    acc = work.acc[k + 1]
    R, p = hinge_frame(plant, work, k)
    m = acc[_C_M]
    h, I = _shift_composite(m, rot(R, load3(acc, _C_H)), turn_sym(R, load6(acc, A_I)), p)
    store6(up, A_I, add6(load6(up, A_I), I))
    store3(up, _C_H, add(load3(up, _C_H), h))
    up[_C_M] += m


@kernel
def _project(plant, work, j, column, n, f, M):
    """M(j, column) = H(j) X for the hinge of body j, and its mirror."""
    topo = plant.topo[j]
    path, r = topo[PATH], topo[VI]
    if path == PATH_REVOLUTE:
        M[r, column] = M[column, r] = n[2]
    elif path == PATH_PRISMATIC:
        M[r, column] = M[column, r] = f[2]
    elif path == PATH_BASE:
        for i in range(3):
            M[r + i, column] = M[column, r + i] = n[i]
            M[r + 3 + i, column] = M[column, r + 3 + i] = f[i]
    else:
        g = work.gen[topo[SLOT]]
        for c in range(topo[NV]):
            h = G_H + 6 * c
            x = dot(load3(g, h), n) + dot(load3(g, h + 3), f)
            M[r + c, column] = M[column, r + c] = x


@kernel
def _column(plant, work, k, column, n, f, M):
    """One column: X at body k, then φ X at every body towards the base."""
    while True:
        _project(plant, work, k, column, n, f, M)
        up = plant.topo[k, UP]
        if up == 0:
            return
        n, f = hinge_out(plant, work, k, n, f)
        k = up - 1


@kernel
def _columns(plant, work, k, M):
    """The columns of all velocities of hinge k: X = R(k) H*(k)."""
    topo, acc = plant.topo[k], work.acc[k + 1]
    m, h, I = acc[_C_M], load3(acc, _C_H), load6(acc, A_I)
    path, v = topo[PATH], topo[VI]
    if path == PATH_REVOLUTE:
        _column(plant, work, k, v, (I[4], I[5], I[2]), (-h[1], h[0], 0.0), M)
    elif path == PATH_PRISMATIC:
        _column(plant, work, k, v, (h[1], -h[0], 0.0), (0.0, 0.0, m), M)
    elif path == PATH_BASE:
        for c in range(6):
            w = (1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2))
            u = (1.0 * (c == 3), 1.0 * (c == 4), 1.0 * (c == 5))
            n, f = rigid_mul(m, h, I, w, u)
            _column(plant, work, k, v + c, n, f, M)
    else:
        g = work.gen[topo[SLOT]]
        for c in range(topo[NV]):
            n, f = rigid_mul(m, h, I, load3(g, G_H + 6 * c), load3(g, G_H + 6 * c + 3))
            _column(plant, work, k, v + c, n, f, M)


@kernel
def mass_matrix(plant, work, q, M):
    """M (nv, nv), symmetric, both triangles written."""
    n = plant.topo.shape[0]
    nv = M.shape[0]
    for i in range(nv):
        for j in range(nv):
            M[i, j] = 0.0
    begin_sweep(plant, work, q, 0.0)
    for k in range(n):
        _place(plant, work, k, q, work.zeros)
    for i in range(n):
        k = n - 1 - i
        _columns(plant, work, k, M)
        up = plant.topo[k, UP]
        if up > 0:
            _hand_composite(plant, work, k, work.acc[up])
    for i in range(nv):
        M[i, i] += plant.armature[i]


@entry
def mass_matrix_entry(ints, floats, work, q, M):
    """One evaluation of `mass_matrix`, for Python callers."""
    mass_matrix(plant_view(ints, floats), work_view(ints, work), q, M)
