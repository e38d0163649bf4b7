"""Planar rotations: how a z-turning hinge carries vectors and inertias between its body and its parent.

The rotation from the parent to the inboard hinge frame is split as Rz(turn) Rx(tilt) Rz(·). The last factor adds a
constant offset to the hinge angle, and `build` chooses the parent's frame so that the first is the identity for one
child of every body. A z-turning hinge is then two planar rotations, R = Rx(tilt) Rz(angle). The first keeps the zero
row and column that P⁺ = P - G D G* has along z. Each (c, s) is a cosine and a sine.
"""

from __future__ import annotations

from limberjack.engine.compile.kernel import kernel


@kernel
def turn_z(c, s, a):
    """Rz a."""
    return c * a[0] - s * a[1], s * a[0] + c * a[1], a[2]


@kernel
def turn_x(c, s, a):
    """Rx a."""
    return a[0], c * a[1] - s * a[2], s * a[1] + c * a[2]


@kernel
def _turn_plane(c, s, xx, yy, xy):
    """The in-plane numbers of Rz S Rz* for a symmetric S."""
    d = xx - yy
    e = s * d + 2.0 * c * xy
    f = c * d - 2.0 * s * xy
    return xx - s * e, yy + s * e, xy + s * f


@kernel
def _turn_sym_z(c, s, S):
    xx, yy, xy = _turn_plane(c, s, S[0], S[1], S[3])
    return xx, yy, S[2], xy, c * S[4] - s * S[5], s * S[4] + c * S[5]


@kernel
def _turn_sym_x(c, s, S):
    yy, zz, yz = _turn_plane(c, s, S[1], S[2], S[5])
    return S[0], yy, zz, c * S[3] - s * S[4], s * S[3] + c * S[4], yz


@kernel
def _turn_mat_z(c, s, H):
    """Rz H Rz*."""
    a0, a1, a2 = c * H[0] - s * H[3], c * H[1] - s * H[4], c * H[2] - s * H[5]
    b0, b1, b2 = s * H[0] + c * H[3], s * H[1] + c * H[4], s * H[2] + c * H[5]
    return (
        c * a0 - s * a1,
        s * a0 + c * a1,
        a2,
        c * b0 - s * b1,
        s * b0 + c * b1,
        b2,
        c * H[6] - s * H[7],
        s * H[6] + c * H[7],
        H[8],
    )


@kernel
def _turn_mat_x(c, s, H):
    """Rx H Rx*."""
    a0, a1, a2 = H[3], c * H[4] - s * H[5], s * H[4] + c * H[5]
    b0, b1, b2 = H[6], c * H[7] - s * H[8], s * H[7] + c * H[8]
    return (
        H[0],
        c * H[1] - s * H[2],
        s * H[1] + c * H[2],
        c * a0 - s * b0,
        c * a1 - s * b1,
        c * a2 - s * b2,
        s * a0 + c * b0,
        s * a1 + c * b1,
        s * a2 + c * b2,
    )


@kernel
def tilt(c, s, P):
    """Rx P Rx* for a spatial inertia."""
    return _turn_sym_x(c, s, P[0]), _turn_mat_x(c, s, P[1]), _turn_sym_x(c, s, P[2])


@kernel
def spin(c, s, P):
    """Rz P Rz* for a spatial inertia."""
    return _turn_sym_z(c, s, P[0]), _turn_mat_z(c, s, P[1]), _turn_sym_z(c, s, P[2])


@kernel
def spin_flat(c, s, xx, yy, xy, Pc, Pl):
    """Rz P⁺ Rz* where Pa has only xx, yy, xy and Pc (six numbers) has no third row."""
    xx, yy, xy = _turn_plane(c, s, xx, yy, xy)
    a0, a1, a2 = c * Pc[0] - s * Pc[3], c * Pc[1] - s * Pc[4], c * Pc[2] - s * Pc[5]
    b0, b1, b2 = s * Pc[0] + c * Pc[3], s * Pc[1] + c * Pc[4], s * Pc[2] + c * Pc[5]
    Pc = (c * a0 - s * a1, s * a0 + c * a1, a2, c * b0 - s * b1, s * b0 + c * b1, b2)
    return xx, yy, xy, Pc, _turn_sym_z(c, s, Pl)


@kernel
def tilt_flat(c, s, xx, yy, xy, Pc, Pl):
    """Rx P Rx* of what `spin_flat` returns; the result is a full spatial inertia."""
    e = s * yy
    Pa = (xx, yy - s * e, s * e, c * xy, s * xy, c * e)
    Pc = (
        Pc[0],
        c * Pc[1] - s * Pc[2],
        s * Pc[1] + c * Pc[2],
        c * Pc[3],
        c * (c * Pc[4] - s * Pc[5]),
        c * (s * Pc[4] + c * Pc[5]),
        s * Pc[3],
        s * (c * Pc[4] - s * Pc[5]),
        s * (s * Pc[4] + c * Pc[5]),
    )
    return Pa, Pc, _turn_sym_x(c, s, Pl)


@kernel
def turns_matrix(ct, st, cx, sx, c, s):
    """Rz(turn) Rx(tilt) Rz(angle) as nine numbers."""
    a0, a1, a2 = cx * s, cx * c, -sx
    return (
        ct * c - st * a0,
        -ct * s - st * a1,
        -st * a2,
        st * c + ct * a0,
        -st * s + ct * a1,
        ct * a2,
        sx * s,
        sx * c,
        cx,
    )
