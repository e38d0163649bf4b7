"""Where every number of closed loops lives: tables of the Plant, scratch of Work, switches of the State.

A loop joins frame a on body A with frame b on body B (or constrains coordinates) by up to six rows, each linear in
the velocities. For loops that join frames a row is a spatial vector a with a · [w; u] = 0, where [w; u] is the
velocity of b relative to a: w the relative angular velocity, u the rate of b's origin in frame a, in the axes of a.

An embedded loop belongs to a group: the bodies that constraint embedding aggregates to one node (001 §4). All others
act by constraint forces (000, steps A to F).
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import ACC, BLOCK, LANES
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables.table import Family, Scratch, Table

# counts at the head of Plant.ints
(
    C_LOOPS,
    C_ROWS,  # rows of all loops, those that are kept
    C_TERMS,  # terms of couplings
    C_WALK,  # length of walk
    C_GROUPS,
    C_LISTED,  # length of listed
    C_GROUP_WORK,  # length of work.group
    C_SWITCHES,  # loops that may be switched
    C_DRIVES,  # loops whose motion is prescribed
    C_FORCED,  # loops by force
    C_FORCE_ROWS,  # rows of the loops by force
) = range(12, 23)

# loop_int (loops, 20)
LOOP_INT = 20
L_KIND = 0  # hinge type code, or one of those below
L_A, L_B = 1, 2  # rows (k + 1) of the bodies of frames a and b; 0 is the ground
L_ROW, L_ROWS = 3, 4  # first of its rows among those of its group (by force: of all loops by force), and their number
L_TERM, L_TERMS = 5, 6  # slice of term: coupled coordinates; the velocities of a locked hinge
L_GROUP = 7  # group, or -1 for a loop by force
L_SWITCH = 8  # row of the State's switches, or -1 for a loop that is always closed
L_DRIVE = 9  # row of work.drive, or -1
L_COMMAND = 10  # first of the loop's commands, or -1: whether it is closed if it is switched, then the drive's three
L_FORCED = 11  # rank among the loops by force, or -1
L_PROJECT = 12  # 1 for a loop by force that is brought back after each step
L_CHAIN_A, L_CHAIN_AS = 13, 14  # slice of walk: bodies from A down to the last common body of A and B, exclusive
L_CHAIN_B, L_CHAIN_BS = 15, 16  # the same from B
L_WALK, L_WALKS = 17, 18  # slice of walk, loops by force: bodies, tip to base, that a force of the loop moves
L_RANK = 19  # loops by force: number of its rows that are independent where it is not singular; -1 unknown

# L_KIND beyond the hinge types: wheels that roll on the x, y plane of frame a; the others
DISC, BALL = 98, 99
DISTANCE, COUPLING, LOCK = 100, 101, 102

# loop (loops, 88)
LOOP = 88
LP_A = 0  # 12: R (9) body A ← frame a, p (3) of a in body A, m
LP_B = 12  # 12: the same of frame b on body B; frames have canonical hinge axes
LP_X = 24  # pitch (m/rad), radius (m), length (m), offset; universal: lane of its fourth row, -1 if it was dropped
LP_FADE = 25  # rate of stabilisation, 1/s
LP_REACH = 26  # largest distance of the frames at which a switched loop closes, m
LP_AXES = 27  # 4: unit quaternion, the user's axes of frame a ← its canonical ones
LP_ROWS = 32  # 48: a of every row as a block, row i in lane i: component c at LP_ROWS + LANES c + i; a is 0 where it
#     depends on the configuration (universal's fourth row, distance, the angular part of wheels), for coupling and lock
LP_SCALE = (
    80  # 8: what makes row i's numbers of order one, 1 / (largest scaled coefficient at the initial state), lane i
)

# term_int (terms, 3), term (terms, 4)
TERM_INT, TERM = 3, 4
TM_Q = 0  # coordinate, or -1 for a locked quasi-velocity
TM_V = 1  # velocity
TM_BODY = 2  # row (k + 1) of the hinge's body

# group_int (groups, 10)
GROUP_INT = 10
GI_BODY, GI_BODIES = 0, 1  # slice of listed: the group's bodies k, ascending
GI_DOF, GI_DOFS = (
    2,
    3,
)  # slice of listed: its velocities, the GI_RANK dependent ones first; their rows follow
GI_RANK = 4  # number of dependent velocities, which is that of independent rows
GI_LOOP, GI_LOOPS = 5, 6  # slice of listed: its loops; their rows in this order are the group's
GI_PARENT = 7  # row (k + 1) of the body that carries the group, 0 the ground
GI_WORK = 8  # first place in work.group
GI_ROWS = 9  # number of its rows; more than GI_RANK where other rows are independent at other configurations

# switches of the State (switches, 16)
SWITCH = 16
SW_CLOSED = 0  # 1 closed, 0 open
SW_HELD = 1  # 12: what it holds: frame b (as LP_B) for a joining loop; length or offset; locked coordinates
SW_LOSS = 13  # kinetic energy lost when it last closed, J
SW_WANTED = 14  # the command that it followed last

# work.drive (drives, 8): a prescribed motion p(x) = p1 - v1 x + a1 x²/2 + c3 x³ + c4 x⁴, x s before its commands hold
DRIVE = 8
PM_NOW = 0  # 3: position, rate and acceleration as they are prescribed now
PM_COMMAND = 3  # 3: those commanded, p1, v1, a1
PM_CUBIC, PM_QUARTIC = 6, 7  # c3, c4

# work.frame (loops, 16): what `loop_rows.place_loop` and `loop_rows.move_loop` know of a loop
FRAME = 16
F_R = 0  # 9: R a ← b
F_D = 9  # 3: d, position of b's origin in a, m
F_MOBILE = 12  # by force: the largest Λ_ii of unit forces between the frames along the axes of a, where there are some

# work.row (loops, 40), row i of the loop in lane i: residual r, rate dr/dt, its derivative d²r/dt², that derivative's
# part without accelerations, constraint force
ROW_WORK = 5 * LANES
R_RESIDUAL, R_RATE, R_ACCEL, R_QUAD, R_FORCE = range(0, ROW_WORK, LANES)

# work.coblock (loops, 96): forces of the rows on body A and on body B, at O in body axes, a block each, row i in lane i
COBLOCK = 2 * BLOCK

# work.solve (9, padded rows by force + LANES): vectors over the rows by force, `admittance.py`
SOLVE = 9
SO_SCALE = 0  # scale s of each row: s Λ s has a unit diagonal; 0 for rows that take no part
SO_END = 1  # one past the last column that is not zero in the row's upper triangle
SO_RIGHT, SO_FORCE, SO_REST, SO_STEP = 2, 3, 4, 5  # right-hand side, forces, what they leave of it, their change
SO_SHARE = 6  # how much a row moves beside the most mobile one of its loop
SO_LEFT = 7  # first: how many rows are missing in the factor that are independent at other configurations; then, at
#     SO_PIVOT, SO_CHOICE and SO_FIRST, the same as GH_PIVOT, GH_CHOICE and GH_FIRST of a group
SO_PIVOT, SO_CHOICE, SO_FIRST = 1, 2, 3
SO_TAKEN = 8  # 1 for rows that the factor holds, 2 for weak ones

GROUP_HEAD = 8  # number of independent velocities now; smallest pivot; 1 where the chosen set was left; how rows and
#     velocities are chosen; smallest pivot when they were chosen
GH_FREE, GH_PIVOT, GH_SWITCHED, GH_CHOICE, GH_FIRST = range(5)

# how rows and independent velocities are chosen (GH_CHOICE, SO_CHOICE): by the present configuration, as they were
# last, or including rows with very small pivots. A held choice is dropped if its smallest pivot falls below this share
# of its value when chosen
AFRESH, HELD, KEENLY = range(3)
SPENT = 0.3
#: below this pivot of scaled rows the choice of dependent velocities made at build is given up: errors of independent
#: velocities grow 1 / pivot times in dependent ones
KEEP = 0.05

LOOPS = Family(
    "loops",
    ints=(
        Table(
            "loop_int",
            "loops",
            LOOP_INT,
            within={
                L_A: (0, "bodies + 1"),
                L_B: (0, "bodies + 1"),
                L_GROUP: (-1, "groups"),
                L_SWITCH: (-1, "switches"),
                L_DRIVE: (-1, "drives"),
            },
        ),
        Table("term_int", "terms", TERM_INT, within={TM_Q: (-1, "q"), TM_V: (0, "v"), TM_BODY: (1, "bodies + 1")}),
        Table("walk", "walk", within={0: (0, "bodies")}),
        Table("group_int", "groups", GROUP_INT, within={GI_PARENT: (0, "bodies + 1")}),
        Table("listed", "listed"),
    ),
    floats=(
        Table("loop", "loops", LOOP),
        Table("term", "terms", TERM),
        Table("scale", "listed"),  # goes with listed: typical velocities
    ),
    work=(
        Table("switch", "switches", SWITCH),
        Table("drive", "drives", DRIVE),
        Table("frame", "loops", FRAME),
        Table("row_work", "loops", ROW_WORK, field="row"),
        Table("coblock", "loops", COBLOCK),
        Table("cross", "(bodies + 1) * (forced + active > 0)", BLOCK),
        Table("path", "forced", "LANES * v"),
        Table("admittance", "force_rows", "padded(force_rows) + LANES"),
        Table("factor", "force_rows", "padded(force_rows) + LANES"),
        Table("solve", f"{SOLVE} * (force_rows > 0)", "padded(force_rows) + LANES"),
        Table("group", "group_work"),
    ),
)

# scratch of a group of n velocities, m rows and so many bodies
_BLOCKS = "padded(n + 1) // LANES"
_GROUP = Scratch(
    "GroupWork",
    "n m bodies",
    Table("head", GROUP_HEAD),
    Table("pick", "n"),  # ranks of the velocities in the group's list, dependent ones first
    Table("pair", "n"),  # the row that gives each dependent one
    # rows (in lanes) over velocities, then their right-hand sides, then which are solved (0, 1, weakly 2)
    Table("y", "n + 2", "padded(m) + LANES"),
    Table("x", "n", "padded(n + 1)"),  # X, then β
    Table("bias", "n"),  # β, what accelerations are without the independent ones
    Table("d", "n", "padded(n + 1)"),  # factor L of D, diagonal inverted
    Table("eps", "padded(n + 1)"),  # L⁻¹ε
    Table("free", "padded(n + 1)"),  # accelerations of the independent velocities
    Table("a", f"bodies * ({_BLOCKS})", BLOCK),  # columns of X seen at each body,
    Table("f", f"bodies * ({_BLOCKS})", BLOCK),  # and their forces
    Table("u", _BLOCKS, BLOCK),  # U L⁻* at the parent
    Table("whole", "bodies", ACC),  # sums that bodies of the group hand to each other, as in work.acc
)
GroupWork, group_work_size, _group_view = _GROUP.type, _GROUP.size, _GROUP.view


@kernel
def group_view(group, work):
    """Scratch of one group, a row of group_int; work is work.loops.group."""
    return _group_view(work, group[GI_WORK], group[GI_DOFS], group[GI_ROWS], group[GI_BODIES])
