"""Scratch of the derivative kernels: a float64 vector separate from Work, which has only what a step needs.

All is expressed in the tree frame 𝓣: the inertial frame that coincides at this moment with the frame of the tree's
first body. Levers thus stay short however far the tree is from the inertial origin, and the columns of a free base are
unit vectors.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import BLOCK, LANES
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables.plant import C_BODIES, C_V
from limberjack.engine.tables.table import Scratch, Table

# slopes.lanes (blocks, 168): the numbers that velocity m hands to its ancestors, LANES velocities to a block, component
# by component: component i of velocity m at [m // LANES, LANES i + m % LANES]
SL_Q = 0  # 6: ∂F/∂q_m of the subtree's force
SL_V = 6  # 6: ∂F/∂v_m
SL_M = 12  # 6: R S_m
SL_B = 18  # 3: 𝓑* S_m, angular part; the linear part is zero
SLOPE_BLOCK = 21 * LANES

# slopes.square (3 blocks, 8 nv): three (nv, nv) matrices by blocks of columns: column j of row m of matrix i at
# [i blocks + j // LANES, LANES m + j % LANES]. Then rows that are worked on together lie at known distances.

# slopes.force, slopes.motion (3 (bodies + 1), 48): z and α of body k for eight columns of matrix i at row 3 (k + 1) + i

# slopes.body (bodies + 1, 56): row k + 1, as in Work
Y_R = 0  # 9: R_(𝓣, k)
Y_P = 9  # 3: position of O_k
Y_V = 12  # 6: V(k), at the origin of 𝓣
Y_A = 18  # 6: alpha(k)
Y_M, Y_H, Y_I = 24, 25, 28  # composite of the subtree: mass, first moment (3), rotational inertia (6)
Y_W = 34  # 9: angular block of 𝓑, summed over the subtree
Y_L = 43  # 3: twice the linear momentum of the subtree
Y_F = 46  # 6: force that the hinge passes to the subtree
SLOPE_BODY = 56

# slopes.column (nv, 40): row j belongs to velocity j
X_S = 0  # 6: column of H*, seen in 𝓣
X_PSI = 6  # 6: ψ'
X_PSI2 = 12  # 6: ψ''
X_PHI = 18  # 6: χ
X_G = 24  # 6: column of G = P H* D⁻¹
X_D = 30  # 6: row of D⁻¹
SLOPE_COLUMN = 40


_SLOPES = Scratch(
    "Slopes",
    "bodies v",
    Table("lanes", "padded(v) // LANES", SLOPE_BLOCK),
    Table("square", "3 * (padded(v) // LANES)", "LANES * v"),
    Table("body", "bodies + 1", SLOPE_BODY),
    Table("column", "v", SLOPE_COLUMN),
    Table("force", "3 * (bodies + 1)", BLOCK),
    Table("motion", "3 * (bodies + 1)", BLOCK),
)
Slopes, slopes_size, slope_sections, _slopes_view = _SLOPES.type, _SLOPES.size, _SLOPES.sections, _SLOPES.view


@kernel
def slopes_view(ints, slopes):
    """The named scratch arrays of a slopes vector."""
    return _slopes_view(slopes, 0, ints[C_BODIES], ints[C_V])
