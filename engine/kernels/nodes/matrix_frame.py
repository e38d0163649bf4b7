"""Functions of all kinds whose nodes store the rotation matrix and the lever of their hinge: all but the revolute
one."""

from __future__ import annotations

from limberjack.engine.algebra import spatial
from limberjack.engine.algebra.spatial import add, load3, load9, shift, store3, turn
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.articulated import hand_in
from limberjack.engine.tables import plant as t


@kernel
def hinge_frame(plant, work, k):
    """R_(parent, k) and the lever p."""
    row = work.rows[k + 1]
    return load9(row, t.W_R), load3(row, t.W_P)


@kernel
def hinge_in(plant, work, k, w, u):
    """φ*(parent, k) [w; u] (000 eq. 0.1)."""
    row = work.rows[k + 1]
    return spatial.motion_in(load9(row, t.W_R), load3(row, t.W_P), w, u)


@kernel
def motion_of(row, up, at):
    """φ*(parent, k) of the motion at `at` in the parent's row; reads R and p first, since contraction depends on the
    order."""
    return spatial.motion_in(load9(row, t.W_R), load3(row, t.W_P), load3(up, at), load3(up, at + 3))


@kernel
def force_of(row, n, f):
    """φ(parent, k) [n; f] across the hinge of this row (000 eq. 0.1)."""
    return spatial.force_out(load9(row, t.W_R), load3(row, t.W_P), n, f)


@kernel
def hinge_out(plant, work, k, n, f):
    """φ(parent, k) [n; f] (000 eq. 0.1)."""
    return force_of(work.rows[k + 1], n, f)


@kernel
def hand_across(first, row, up, P, n, f):
    """φ P φ* and φ z, handed to the parent's sums (000 eqs. .39, .40)."""
    R, p = load9(row, t.W_R), load3(row, t.W_P)
    n, f = spatial.force_out(R, p, n, f)
    hand_in(first, up, shift(turn(R, P), p), n, f)


@kernel
def hand(plant, work, k, first, up, P, n, f):
    """φ P φ* and φ z of body k as they are, into the sums `up`."""
    hand_across(first, work.rows[k + 1], up, P, n, f)


@kernel
def hand_force(first, row, up, n, f):
    """φ z of a node that hands no inertia to its parent."""
    n, f = spatial.force_out(load9(row, t.W_R), load3(row, t.W_P), n, f)
    if first:
        for i in range(t.A_Z):
            up[i] = 0.0
    else:
        n, f = add(load3(up, t.A_Z), n), add(load3(up, t.A_Z + 3), f)
    store3(up, t.A_Z, n)
    store3(up, t.A_Z + 3, f)
