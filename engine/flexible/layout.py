"""Where every number of modal bodies lives: tables of the Plant, scratch of Work.

A modal body is a link of its own, fixed to the link that its hinge moves: its velocities are η̇ and do not move its
frame. Each of its attachment nodes is a further link, fixed to it but for the deformation; what is attached hangs
there.

Vectors over modes lie in lanes, eight to a block, padded with zeros: a block of spatial vectors is [angular; linear],
component by component (views.py); one of symmetric matrices has xx, yy, zz, xy, xz, yz in the places of components.
"""

from __future__ import annotations

from collections import namedtuple

from limberjack.engine.kernel import formula, kernel
from limberjack.engine.views import BLOCK, LANES, Sections, matrix_view, padded, vector_view

# counts at the head of Plant.ints
C_MODAL, C_ATTACHED, C_MODAL_TABLE, C_MODAL_WORK = range(23, 27)

# modal_int (modal links, 6)
MODAL_INT = 6
MI_MODES = 0  # n
MI_TABLE = 1  # first place in plant.flexible.table; equal bodies share theirs
MI_WORK = 2  # first place in work.modal
MI_FULL = 3  # 1: the mass matrix depends on the deformation; 0: ruthlessly linearised
MI_RANK = 4  # what hangs on the nodes gives D at most this rank beside the modal masses: 6 for each loaded node
MI_CONDENSED = 5  # 1: accelerations by this rank (condensed.py); 0: by all of D (articulated.py)

# attached_int (attachment nodes, 5)
ATTACHED_INT = 5
AI_MODAL = 0  # row of modal_int
AI_TABLE, AI_WORK = 1, 2
AI_CURVED = 3  # 1: displacements are of second order in η
AI_COLUMN = (
    4  # first of its six columns of V, in the order in which nodes hand inward; -1: nothing with inertia is on it
)

# table of a modal link: N0 and S1 (blocks of [N0; S1]), J1 (blocks), then for each mode s, if the mass matrix depends
# on the deformation: N1 and S2 (blocks of [N1_rs; S2_rs], r in lanes), J2 (blocks), N1_rs - N1_sr (half blocks)
HALF = 3 * LANES
PER_MODE = 2 * BLOCK + HALF

# table of an attachment node: R (9) and p (3) undeformed, in the modal link's frame; [Πr; Πt] (blocks); for each mode
# s, if displacements are of second order: G_rs (half blocks, r in lanes)
ATTACHED_HEAD = 16

# scratch of a modal link of b blocks, in this order
RIGID = 16
MR_S = 0  # 3: what deformation adds to the first moment, kg·m
MR_J = 3  # 6: and to the rotational inertia, kg·m²
MR_BIAS = 9  # 6: force that holds the body's frame against the modes' rates, beyond that of a rigid body
# then η (padded n), η̇ (padded n). What placing begins anew, and nodes add to: forces on the modes that are left without
# their own (padded n); μ (b, BLOCK), coupling [N; S] to the motion of the frame; D (n, padded n). What solving leaves,
# for further right-hand sides: solved (n, LANES), L⁻¹ [μ* | ε | 0] of D = L L*, a row for each mode; factor (n,
# padded n), L* with its diagonal inverted; inverse (padded n), inverted pivots; whole (6, LANES), sums of products of
# rows. Of condensed bodies also weight (padded n), inverse modal masses, and rows (n + 1, row_width), [N | ε | 0 | H]
# of every mode and what they are multiplied with; solved, factor and d then hold Z, 1 + P S and W (condensed.py)
MS_EPS = 6  # where L⁻¹ ε stands in a row of solved

# scratch of an attachment node: Coriolis acceleration (6), then H* (b, BLOCK) in the node's axes
ATTACHED_A = 8

FlexiblePlant = namedtuple("FlexiblePlant", "modal_int attached_int table")
#: scratch of one modal link
ModalWork = namedtuple("ModalWork", "rigid eta rate left coupling d solved factor inverse whole weight rows")


@formula
def blocks_of(n):
    """Blocks that hold n modes."""
    return padded(n) // LANES


def modal_table_size(n: int, full: bool) -> int:
    """Length of a modal link's table."""
    b = padded(n) // LANES
    return int(b * (2 * BLOCK + (n * PER_MODE if full else 0)))


def attached_table_size(n: int, curved: bool) -> int:
    """Length of an attachment node's table."""
    b = padded(n) // LANES
    return int(ATTACHED_HEAD + b * (BLOCK + (n * HALF if curved else 0)))


@formula
def row_width(rank):
    """Length of a row [N | ε | 0 | H]: every node's six columns are written eight at a time."""
    return LANES + padded(rank + 2) if rank > 0 else LANES


def modal_work_size(n: int, rank: int, condensed: bool) -> int:
    """Length of a modal link's scratch."""
    p = padded(n)
    size = RIGID + (4 + 2 * n) * p + p // LANES * BLOCK + LANES * n + BLOCK
    return int(size + (p + (n + 1) * row_width(rank) if condensed else 0))


def attached_work_size(n: int) -> int:
    """Length of an attachment node's scratch."""
    return int(ATTACHED_A + padded(n) // LANES * BLOCK)


def flexible_int_sections(c: list[int]) -> Sections:
    """(name, rows, columns) of the tables of modal bodies in Plant.ints."""
    return [("modal_int", c[C_MODAL], MODAL_INT), ("attached_int", c[C_ATTACHED], ATTACHED_INT)]


def flexible_float_sections(c: list[int]) -> Sections:
    """(name, rows, columns) of the tables of modal bodies in Plant.floats."""
    return [("modal_table", c[C_MODAL_TABLE], 1)]


def flexible_work_sections(c: list[int]) -> Sections:
    """(name, rows, columns) of the scratch of modal bodies."""
    return [("modal", c[C_MODAL_WORK], 1)]


@kernel
def flexible_ints_size(ints):
    """Length of the tables of modal bodies in Plant.ints."""
    return MODAL_INT * ints[C_MODAL] + ATTACHED_INT * ints[C_ATTACHED]


@kernel
def flexible_plant_view(ints, floats, i, f):
    """The tables of modal bodies, which begin at ints[i] and floats[f]."""
    return FlexiblePlant(
        matrix_view(ints, i, ints[C_MODAL], MODAL_INT),
        matrix_view(ints, i + MODAL_INT * ints[C_MODAL], ints[C_ATTACHED], ATTACHED_INT),
        vector_view(floats, f, ints[C_MODAL_TABLE]),
    )


@kernel
def modal_view(modal, work):
    """Scratch of one modal link, a row of modal_int; work is work.modal."""
    n, at = modal[MI_MODES], modal[MI_WORK]
    p = padded(n)
    eta = at + RIGID
    coupling = eta + 3 * p
    d = coupling + p // LANES * BLOCK
    solved = d + n * p
    factor = solved + LANES * n
    inverse = factor + n * p
    whole = inverse + p
    weight = whole + BLOCK
    condensed, width = modal[MI_CONDENSED], row_width(modal[MI_RANK])
    return ModalWork(
        vector_view(work, at, RIGID),
        vector_view(work, eta, p),
        vector_view(work, eta + p, p),
        vector_view(work, eta + 2 * p, p),
        matrix_view(work, coupling, p // LANES, BLOCK),
        matrix_view(work, d, n, p),
        matrix_view(work, solved, n, LANES),
        matrix_view(work, factor, n, p),
        vector_view(work, inverse, p),
        matrix_view(work, whole, 6, LANES),
        vector_view(work, weight, condensed * p),
        matrix_view(work, weight + condensed * p, condensed * (n + 1), width),
    )
