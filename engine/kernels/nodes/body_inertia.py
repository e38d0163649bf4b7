"""Inertia and inertial forces of one body, including what its children hand in."""

from __future__ import annotations

from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add6,
    add9,
    add_cross,
    cross,
    load3,
    load6,
    load9,
    rigid,
    rigid_mul,
    sub,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables.plant import A_H, A_I, A_M, A_Z, B_M, LEAF, W_V


@kernel
def _rigid_bias(n, m, h, I, w, u):
    """(n, 0) + V × M V as (moment, force), without u × m u: at orbital speed its rounding errors would be large enough
    to turn small satellites."""
    L, p = rigid_mul(m, h, I, w, u)
    return add_cross(add_cross(n, w, L), u, cross(w, h)), cross(w, p)


@kernel
def gather(plant, work, k, h, I, external):
    """P = M + Σ φ P⁺ φ* and z = b - f_external + Σ φ z⁺ of body k, whose children have handed in theirs.

    h, I: its first moment and rotational inertia.
    """
    topo, row, acc, m = plant.topo[k], work.rows[k + 1], work.acc[k + 1], plant.body[k, B_M]
    w, u = load3(row, W_V), load3(row, W_V + 3)
    n, f = _rigid_bias(ZERO, m, h, I, w, u)
    if external:
        wrench = work.wrench[k + 1]
        n, f = sub(n, load3(wrench, 0)), sub(f, load3(wrench, 3))
    P = rigid(m, h, I)
    if topo[LEAF]:
        return P, n, f
    Pa, Pc, Pl = add6(P[0], load6(acc, A_I)), add9(P[1], load9(acc, A_H)), add6(P[2], load6(acc, A_M))
    return (Pa, Pc, Pl), add(n, load3(acc, A_Z)), add(f, load3(acc, A_Z + 3))


@kernel
def body_force(plant, work, k, h, I, aw, au, external):
    """f = M α + b - f_external of body k, α = [aw; au]; h, I: its first moment and rotational inertia."""
    m, row = plant.body[k, B_M], work.rows[k + 1]
    w, u = load3(row, W_V), load3(row, W_V + 3)
    n, f = rigid_mul(m, h, I, aw, au)
    n, bf = _rigid_bias(n, m, h, I, w, u)
    f = add(f, bf)
    if external:
        wrench = work.wrench[k + 1]
        n, f = sub(n, load3(wrench, 0)), sub(f, load3(wrench, 3))
    return n, f
