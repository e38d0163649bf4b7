"""Spatial algebra on plain tuples of floats: the compiler keeps every number in a register.

Shapes: vector (x, y, z); matrix 9 numbers row by row; symmetric matrix (xx, yy, zz, xy, xz, yz). A spatial
inertia is (Pa, Pc, Pl): the 6×6 matrix [[Pa, Pc], [Pc*, Pl]], its diagonal symmetric, for [angular; linear] vectors.
R takes components in the body frame to components in its parent's frame.
"""

from __future__ import annotations

import math

from limberjack.engine.compile.kernel import kernel

ZERO = (0.0, 0.0, 0.0)


@kernel
def load3(a, i):
    return a[i], a[i + 1], a[i + 2]


@kernel
def load6(a, i):
    return a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5]


@kernel
def load9(a, i):
    return a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5], a[i + 6], a[i + 7], a[i + 8]


@kernel
def store3(a, i, x):
    a[i] = x[0]
    a[i + 1] = x[1]
    a[i + 2] = x[2]


@kernel
def store6(a, i, x):
    store3(a, i, (x[0], x[1], x[2]))
    store3(a, i + 3, (x[3], x[4], x[5]))


@kernel
def store9(a, i, x):
    store6(a, i, (x[0], x[1], x[2], x[3], x[4], x[5]))
    store3(a, i + 6, (x[6], x[7], x[8]))


@kernel
def add(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def sub(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def neg(a):
    return -a[0], -a[1], -a[2]


@kernel
def scale(s, a):
    return s * a[0], s * a[1], s * a[2]


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def dot6(a, b):
    """Σ a b of spatial vectors, as two sums that do not depend on each other."""
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5])


@kernel
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def add_cross(x, a, b):
    """x + a × b, written so that every product is a fused multiply-add."""
    return (
        x[0] + a[1] * b[2] - a[2] * b[1],
        x[1] + a[2] * b[0] - a[0] * b[2],
        x[2] + a[0] * b[1] - a[1] * b[0],
    )


@kernel
def add_scaled(x, s, a):
    """x + s a."""
    return x[0] + s * a[0], x[1] + s * a[1], x[2] + s * a[2]


@kernel
def add_sym_mul(x, S, a):
    """x + S a for a symmetric S."""
    return (
        x[0] + S[0] * a[0] + S[3] * a[1] + S[4] * a[2],
        x[1] + S[3] * a[0] + S[1] * a[1] + S[5] * a[2],
        x[2] + S[4] * a[0] + S[5] * a[1] + S[2] * a[2],
    )


@kernel
def add6(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@kernel
def add9(a, b):
    x = add6((a[0], a[1], a[2], a[3], a[4], a[5]), (b[0], b[1], b[2], b[3], b[4], b[5]))
    return x[0], x[1], x[2], x[3], x[4], x[5], a[6] + b[6], a[7] + b[7], a[8] + b[8]


@kernel
def rot(R, a):
    """R a."""
    return (
        R[0] * a[0] + R[1] * a[1] + R[2] * a[2],
        R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
        R[6] * a[0] + R[7] * a[1] + R[8] * a[2],
    )


@kernel
def unrot(R, a):
    """R* a."""
    return (
        R[0] * a[0] + R[3] * a[1] + R[6] * a[2],
        R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
        R[2] * a[0] + R[5] * a[1] + R[8] * a[2],
    )


@kernel
def mul(A, B):
    """A B."""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@kernel
def mul_t(A, B):
    """A B*."""
    return mul(A, (B[0], B[3], B[6], B[1], B[4], B[7], B[2], B[5], B[8]))


@kernel
def sym_mul(S, a):
    """S a for a symmetric S."""
    return (
        S[0] * a[0] + S[3] * a[1] + S[4] * a[2],
        S[3] * a[0] + S[1] * a[1] + S[5] * a[2],
        S[4] * a[0] + S[5] * a[1] + S[2] * a[2],
    )


@kernel
def sym_of_product(T, R):
    """The symmetric matrix T R*, when it is known to be symmetric."""
    return (
        T[0] * R[0] + T[1] * R[1] + T[2] * R[2],
        T[3] * R[3] + T[4] * R[4] + T[5] * R[5],
        T[6] * R[6] + T[7] * R[7] + T[8] * R[8],
        T[0] * R[3] + T[1] * R[4] + T[2] * R[5],
        T[0] * R[6] + T[1] * R[7] + T[2] * R[8],
        T[3] * R[6] + T[4] * R[7] + T[5] * R[8],
    )


@kernel
def turn_sym(R, S):
    """R S R* for a symmetric S."""
    return sym_of_product(mul(R, (S[0], S[3], S[4], S[3], S[1], S[5], S[4], S[5], S[2])), R)


@kernel
def turn_mat(R, A):
    """R A R*."""
    return mul_t(mul(R, A), R)


@kernel
def add_tilde_sym(H, p, M):
    """H + p~ M for a symmetric M."""
    return (
        H[0] + p[1] * M[4] - p[2] * M[3],
        H[1] + p[1] * M[5] - p[2] * M[1],
        H[2] + p[1] * M[2] - p[2] * M[5],
        H[3] + p[2] * M[0] - p[0] * M[4],
        H[4] + p[2] * M[3] - p[0] * M[5],
        H[5] + p[2] * M[4] - p[0] * M[2],
        H[6] + p[0] * M[3] - p[1] * M[0],
        H[7] + p[0] * M[1] - p[1] * M[3],
        H[8] + p[0] * M[5] - p[1] * M[4],
    )


@kernel
def shift(inertia, p):
    """φ P φ* for the lever p: [[Pa + p~Pc* + (Pc + p~Pl)p~*, Pc + p~Pl], [·, Pl]]."""
    Pa, Pc, Pl = inertia
    A = add_tilde_sym(Pc, p, Pl)
    J = (
        Pa[0] + p[1] * Pc[2] - p[2] * Pc[1] + A[2] * p[1] - A[1] * p[2],
        Pa[1] + p[2] * Pc[3] - p[0] * Pc[5] + A[3] * p[2] - A[5] * p[0],
        Pa[2] + p[0] * Pc[7] - p[1] * Pc[6] + A[7] * p[0] - A[6] * p[1],
        Pa[3] + p[1] * Pc[5] - p[2] * Pc[4] + A[0] * p[2] - A[2] * p[0],
        Pa[4] + p[1] * Pc[8] - p[2] * Pc[7] + A[1] * p[0] - A[0] * p[1],
        Pa[5] + p[2] * Pc[6] - p[0] * Pc[8] + A[4] * p[0] - A[3] * p[1],
    )
    return J, A, Pl


@kernel
def turn(R, inertia):
    """The same spatial inertia in the parent's axes."""
    Pa, Pc, Pl = inertia
    return turn_sym(R, Pa), turn_mat(R, Pc), turn_sym(R, Pl)


@kernel
def inertia_mul(inertia, w, v):
    """P [w; v] as a pair (angular, linear)."""
    Pa, Pc, Pl = inertia
    return add_sym_mul(rot(Pc, v), Pa, w), add_sym_mul(unrot(Pc, w), Pl, v)


@kernel
def rigid(m, h, I):
    """Spatial inertia of a rigid body: mass, first moment h = m c, rotational inertia I about the frame's origin."""
    return I, (0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0), (m, m, m, 0.0, 0.0, 0.0)


@kernel
def rigid_mul(m, h, I, w, v):
    """Momentum of a rigid body: [I w + h × v; m v − h × w]."""
    return add_cross(sym_mul(I, w), h, v), add_cross((m * v[0], m * v[1], m * v[2]), w, h)


@kernel
def motion_cross(w, v, a, b):
    """[w; v] × [a; b] for motions: [w × a; w × b + v × a]."""
    return cross(w, a), add_cross(cross(w, b), v, a)


@kernel
def force_cross(w, v, n, f):
    """[w; v] × [n; f] for forces: [w × n + v × f; w × f]."""
    return add_cross(cross(w, n), v, f), cross(w, f)


@kernel
def motion_in(R, p, w, v):
    """φ*: a motion at the parent's origin, seen at the body's origin (lever p) in the body's axes."""
    return unrot(R, w), unrot(R, add_cross(v, w, p))


@kernel
def force_out(R, p, n, f):
    """φ: a force at the body's origin, seen at the parent's origin (lever p) in the parent's axes."""
    g = rot(R, f)
    return add_cross(rot(R, n), p, g), g


@kernel
def quaternion_matrix(w, x, y, z):
    """Rotation matrix (body to parent) of a unit quaternion."""
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@kernel
def matrix_quaternion(R):
    """Unit quaternion (w ≥ 0) of a rotation matrix, from the largest of its four squares."""
    t = (
        1.0 + R[0] + R[4] + R[8],
        1.0 + R[0] - R[4] - R[8],
        1.0 - R[0] + R[4] - R[8],
        1.0 - R[0] - R[4] + R[8],
    )
    a, b, c = R[7] - R[5], R[2] - R[6], R[3] - R[1]
    d, e, f = R[1] + R[3], R[2] + R[6], R[5] + R[7]
    if t[0] >= t[1] and t[0] >= t[2] and t[0] >= t[3]:
        q, s = (t[0], a, b, c), t[0]
    elif t[1] >= t[2] and t[1] >= t[3]:
        q, s = (a, t[1], d, e), t[1]
    elif t[2] >= t[3]:
        q, s = (b, d, t[2], f), t[2]
    else:
        q, s = (c, e, f, t[3]), t[3]
    s = 0.5 / math.sqrt(s)
    if q[0] < 0.0:
        s = -s
    return s * q[0], s * q[1], s * q[2], s * q[3]
