"""Where every number of modal bodies lives: tables of the Plant, scratch of Work.

A modal body is a link of its own, fixed to the link that its hinge moves: its velocities are η̇ and do not move its
frame. Each of its attachment nodes is a further link, fixed to it but for the deformation; what is attached hangs
there.

Vectors over modes lie in lanes, eight to a block, padded with zeros: a block of spatial vectors is [angular; linear],
component by component (array_views.py); one of symmetric matrices has xx, yy, zz, xy, xz, yz in their places.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import BLOCK, LANES, padded
from limberjack.engine.compile.kernel import formula, kernel
from limberjack.engine.tables.table import Family, Scratch, Table

# counts at the head of Plant.ints
C_MODAL, C_ATTACHED, C_MODAL_TABLE, C_MODAL_WORK = range(23, 27)

# modal_int (modal links, 6)
MODAL_INT = 6
MI_MODES = 0  # n
MI_TABLE = 1  # first place in plant.flexible.table; equal bodies share theirs
MI_WORK = 2  # first place in work.modal
MI_FULL = 3  # 1: the mass matrix depends on the deformation; 0: ruthlessly linearised
MI_RANK = 4  # largest rank that bodies on the nodes add to D besides the modal masses: 6 for each loaded node
MI_CONDENSED = 5  # 1: accelerations by this rank (modal_condensed.py); 0: by all of D (modal_elimination.py)

# attached_int (attachment nodes, 5)
ATTACHED_INT = 5
AN_MODAL = 0  # row of modal_int
AN_TABLE, AN_WORK = 1, 2
AN_CURVED = 3  # 1: displacements are of second order in η
AN_COLUMN = (
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
# then η (padded n), η̇ (padded n). Placing sets to zero, and nodes add to: forces on the modes that are left without
# their own (padded n); μ (b, BLOCK), coupling [N; S] to the motion of the frame; D (n, padded n). What solving leaves,
# for further right-hand sides: solved (n, LANES), L⁻¹ [μ* | ε | 0] of D = L L*, a row for each mode; factor (n,
# padded n), L* with its diagonal inverted; inverse (padded n), inverted pivots; whole (6, LANES), sums of products of
# rows. Of condensed bodies also weight (padded n), inverse modal masses, and rows (n + 1, _ROW_WIDTH), [N | ε | 0 | H]
# of every mode and what they are multiplied with; solved, factor and d then hold Z, 1 + P S and W (condensed.py)
MS_EPS = 6  # where L⁻¹ ε stands in a row of solved

# scratch of an attachment node: Coriolis acceleration (6), then H* (b, BLOCK) in the node's axes
ATTACHED_A = 8

FLEXIBLE = Family(
    "flexible",
    ints=(
        Table("modal_int", "modal", MODAL_INT, within={MI_FULL: (0, 2), MI_CONDENSED: (0, 2)}),
        Table("attached_int", "attached", ATTACHED_INT, within={AN_MODAL: (0, "modal"), AN_CURVED: (0, 2)}),
        Table("modal_table", "modal_table", field="table", real=True),
    ),
)


@formula
def blocks_of(n):
    """Blocks that hold n modes."""
    return padded(n) // LANES


@formula
def modal_table_size(n, full):
    """Length of a modal link's table; full: 1 or 0."""
    return blocks_of(n) * (2 * BLOCK + n * PER_MODE * full)


@formula
def attached_table_size(n, curved):
    """Length of an attachment node's table; curved: 1 or 0."""
    return ATTACHED_HEAD + blocks_of(n) * (BLOCK + n * HALF * curved)


@formula
def attached_work_size(n):
    """Length of an attachment node's scratch."""
    return ATTACHED_A + blocks_of(n) * BLOCK


#: length of a row [N | ε | 0 | H]: every node's six columns are written eight at a time
_ROW_WIDTH = "LANES + padded(rank + 2) * (rank > 0)"

_MODAL = Scratch(
    "ModalWork",
    "n rank condensed",
    Table("rigid", RIGID),
    Table("eta", "padded(n)"),
    Table("rate", "padded(n)"),
    Table("left", "padded(n)"),
    Table("coupling", "padded(n) // LANES", BLOCK),
    Table("d", "n", "padded(n)"),
    Table("solved", "n", LANES),
    Table("factor", "n", "padded(n)"),
    Table("inverse", "padded(n)"),
    Table("whole", 6, LANES),
    Table("weight", "condensed * padded(n)"),
    Table("rows", "condensed * (n + 1)", _ROW_WIDTH),
)
ModalWork, modal_work_size, _modal_view = _MODAL.type, _MODAL.size, _MODAL.view


@kernel
def modal_view(modal, work):
    """Scratch of one modal link, a row of modal_int; work is work.modal."""
    return _modal_view(work, modal[MI_WORK], modal[MI_MODES], modal[MI_RANK], modal[MI_CONDENSED])
