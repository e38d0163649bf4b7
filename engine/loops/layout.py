"""Where every number of closed loops lives: tables of the Plant, scratch of Work, switches of the State.

A loop joins frame a on body A with frame b on body B (or constrains coordinates) by up to six rows, each linear in
the velocities. For loops that join frames a row is a spatial vector a with a · [w; u] = 0, where [w; u] is the
velocity of b relative to a: w the relative angular velocity, u the rate of b's origin in frame a, in the axes of a.

An embedded loop belongs to a group: the bodies that constraint embedding aggregates to one node (001 §4). All others
act by constraint forces (000, steps A to F).
"""

from __future__ import annotations

from collections import namedtuple

from limberjack.engine.kernel import formula, kernel
from limberjack.engine.views import ACC, BLOCK, LANES, Sections, matrix_view, padded, vector_view

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
L_RANK = 19  # loops by force: how many of its rows do not follow from others where it is not singular; -1 unknown

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
LP_ROWS = 32  # 48: a of every row as a block, row i in lane i: component c at LP_ROWS + LANES c + i; a is 0 where it
#     depends on the configuration (universal's fourth row, distance, the angular part of wheels), for coupling and lock
LP_SCALE = (
    80  # 8: what makes row i's numbers of order one, 1 / (largest scaled coefficient at the initial state), lane i
)

# term_int (terms, 3), term (terms, 4)
TERM_INT, TERM = 3, 4
TI_Q = 0  # coordinate, or -1 for a locked quasi-velocity
TI_V = 1  # velocity
TI_BODY = 2  # row (k + 1) of the hinge's body

# group_int (groups, 10)
GROUP_INT = 10
GI_BODY, GI_BODIES = 0, 1  # slice of listed: the group's bodies k, ascending
GI_DOF, GI_DOFS = (
    2,
    3,
)  # slice of listed: its velocities, the GI_RANK dependent ones first; their rows follow
GI_RANK = 4  # number of dependent velocities: of rows that do not follow from others
GI_LOOP, GI_LOOPS = 5, 6  # slice of listed: its loops; their rows in this order are the group's
GI_PARENT = 7  # row (k + 1) of the body that carries the group, 0 the ground
GI_WORK = 8  # first place in work.group
GI_ROWS = 9  # number of its rows; more than GI_RANK where other rows are independent at other configurations

# switches of the State (switches, 16)
SWITCH = 16
SW_CLOSED = 0  # 1 closed, 0 open
SW_HELD = 1  # 12: what it holds: frame b (as LP_B) for a joining loop; length or offset; locked coordinates
SW_LOSS = 13  # kinetic energy lost when it last closed, J
SW_WANTED = 14  # the command that was followed last

# work.drive (drives, 8): a prescribed motion p(x) = p1 - v1 x + a1 x²/2 + c3 x³ + c4 x⁴, x s before its commands hold
DRIVE = 8
D_NOW = 0  # 3: position, rate and acceleration as they are prescribed now
D_COMMAND = 3  # 3: those commanded, p1, v1, a1
D_CUBIC, D_QUARTIC = 6, 7  # c3, c4

# work.frame (loops, 32): what `closures.place_loop` and `closures.move_loop` know of a loop
FRAME = 32
F_R = 0  # 9: R a ← b
F_D = 9  # 3: d, position of b's origin in a, m
F_W = 12  # 6: velocity [w; u] of b relative to a, axes of a
F_TWIST_B = 18  # 6: [R ω; R v] of frame b in the axes of a
F_TWIST_A = 24  # 6: [ω; v] of frame a in its axes
F_MOBILE = 30  # by force: the largest Λ_ii of unit forces between the frames along the axes of a, where there are some

# work.row (loops, 40), row i of the loop in lane i: residual r, rate dr/dt, its derivative d²r/dt², that derivative's
# part without accelerations, constraint force
ROW_WORK = 5 * LANES
R_RESIDUAL, R_RATE, R_ACCEL, R_QUAD, R_FORCE = range(0, ROW_WORK, LANES)

# work.coblock (loops, 96): forces of the rows on body A and on body B, at O in body axes, a block each, row i in lane i
COBLOCK = 2 * BLOCK

# work.solve (9, padded rows by force + LANES): vectors over the rows by force, `admittance.py`
SOLVE = 9
S_SCALE = 0  # scale s of each row: s Λ s has a unit diagonal; 0 for rows that take no part
S_END = 1  # one past the last column that is not zero in the row's upper triangle
S_RIGHT, S_FORCE, S_REST, S_STEP = 2, 3, 4, 5  # right-hand side, forces, what they leave of it, their change
S_SHARE = 6  # how much a row moves beside the most mobile one of its loop
S_LEFT = 7  # first: how many rows are missing in the factor that do not follow from others elsewhere; then, at S_PIVOT
#     S_CHOICE and S_FIRST, the same as GH_PIVOT, GH_CHOICE and GH_FIRST of a group
S_PIVOT, S_CHOICE, S_FIRST = 1, 2, 3
S_TAKEN = 8  # 1 for rows that the factor holds, 2 for weak ones

# scratch of a group of n velocities, m rows and b bodies, in this order; P = padded(n + 1)
GROUP_HEAD = 8  # number of independent velocities now; smallest pivot; 1 where the chosen set was left; how rows and
#     velocities are chosen; smallest pivot when they were chosen
GH_FREE, GH_PIVOT, GH_SWITCHED, GH_CHOICE, GH_FIRST = range(5)

# how rows and independent velocities are chosen (GH_CHOICE, S_CHOICE): by the present configuration, as they were
# last, or with rows that say next to nothing as well. Held ones are given up where their smallest pivot falls below
# this share of what it was
AFRESH, HELD, KEENLY = range(3)
SPENT = 0.3

LoopPlant = namedtuple("LoopPlant", "loop_int loop term_int term walk group_int listed scale")
LoopWork = namedtuple("LoopWork", "switch drive frame row coblock cross path admittance factor solve group")
#: head (8,); pick (n,): ranks of the velocities in the group's list, dependent ones first; pair (n,): the row that
#: gives each dependent one; y (n + 2, padded(m) + LANES): rows (in lanes) over velocities, then their right-hand
#: sides, then which are solved (0, 1, weakly 2); x (n, P): X, then β; bias (n,): β, what accelerations are without the
#: independent ones; d (n, P): factor L of D, diagonal inverted; eps (P,): L⁻¹ε; free (P,): accelerations of the
#: independent velocities; a, f (b blocks, BLOCK): columns of X seen at each body, and their forces;
#: u (blocks, BLOCK): U L⁻* at the parent;
#: whole (b, 28): what bodies of the group hand to each other, as work.acc
GroupWork = namedtuple("GroupWork", "head pick pair y x bias d eps free a f u whole")


def loop_int_sections(c: list[int]) -> Sections:
    """(name, rows, columns) of the tables of loops in Plant.ints."""
    return [
        ("loop_int", c[C_LOOPS], LOOP_INT),
        ("term_int", c[C_TERMS], TERM_INT),
        ("walk", c[C_WALK], 1),
        ("group_int", c[C_GROUPS], GROUP_INT),
        ("listed", c[C_LISTED], 1),
    ]


def loop_float_sections(c: list[int]) -> Sections:
    """(name, rows, columns) of the tables of loops in Plant.floats; scale goes with listed: typical velocities."""
    return [
        ("loop", c[C_LOOPS], LOOP),
        ("term", c[C_TERMS], TERM),
        ("scale", c[C_LISTED], 1),
    ]


def loop_work_sections(c: list[int], n: int, nv: int) -> Sections:
    """(name, rows, columns) of the scratch of loops, for a model of n bodies and nv velocities."""
    forced = c[C_FORCE_ROWS]
    return [
        ("switch", c[C_SWITCHES], SWITCH),
        ("drive", c[C_DRIVES], DRIVE),
        ("frame", c[C_LOOPS], FRAME),
        ("row_work", c[C_LOOPS], ROW_WORK),
        ("coblock", c[C_LOOPS], COBLOCK),
        ("cross", (n + 1) * (c[C_FORCED] > 0), BLOCK),
        ("path", c[C_FORCED], LANES * nv),
        ("admittance", forced, padded(forced) + LANES),
        ("factor", forced, padded(forced) + LANES),
        ("solve", SOLVE * (forced > 0), padded(forced) + LANES),
        ("group", c[C_GROUP_WORK], 1),
    ]


@kernel
def loop_ints_size(ints):
    """Length of the tables of loops in Plant.ints."""
    size = LOOP_INT * ints[C_LOOPS] + TERM_INT * ints[C_TERMS] + ints[C_WALK]
    return size + GROUP_INT * ints[C_GROUPS] + ints[C_LISTED]


@kernel
def loop_floats_size(ints):
    """Length of the tables of loops in Plant.floats."""
    return LOOP * ints[C_LOOPS] + TERM * ints[C_TERMS] + ints[C_LISTED]


@kernel
def loop_work_size(ints, n, nv):
    """Length of the scratch of loops."""
    forced = ints[C_FORCE_ROWS]
    cross = (n + 1) * BLOCK if ints[C_FORCED] > 0 else 0
    size = SWITCH * ints[C_SWITCHES] + DRIVE * ints[C_DRIVES] + (FRAME + ROW_WORK + COBLOCK) * ints[C_LOOPS]
    size += cross + LANES * nv * ints[C_FORCED]
    solve = SOLVE if forced > 0 else 0
    return size + (2 * forced + solve) * (padded(forced) + LANES) + ints[C_GROUP_WORK]


@formula
def group_work_size(n, m, bodies):
    """Length of the scratch of a group of n velocities, m rows and so many bodies."""
    width = padded(n + 1)
    blocks = width // LANES * BLOCK
    return (
        GROUP_HEAD
        + 3 * n
        + (n + 2) * (padded(m) + LANES)
        + (2 * n + 2) * width
        + (2 * bodies + 1) * blocks
        + ACC * bodies
    )


@kernel
def loop_plant_view(ints, floats, i, f):
    """The tables of loops, which begin at ints[i] and floats[f]."""
    loops, terms = ints[C_LOOPS], ints[C_TERMS]
    term_int = i + LOOP_INT * loops
    walk = term_int + TERM_INT * terms
    group = walk + ints[C_WALK]
    listed = group + GROUP_INT * ints[C_GROUPS]
    term = f + LOOP * loops
    return LoopPlant(
        matrix_view(ints, i, loops, LOOP_INT),
        matrix_view(floats, f, loops, LOOP),
        matrix_view(ints, term_int, terms, TERM_INT),
        matrix_view(floats, term, terms, TERM),
        vector_view(ints, walk, ints[C_WALK]),
        matrix_view(ints, group, ints[C_GROUPS], GROUP_INT),
        vector_view(ints, listed, ints[C_LISTED]),
        vector_view(floats, term + TERM * terms, ints[C_LISTED]),
    )


@kernel
def loop_work_view(ints, work, at, n, nv):
    """The scratch of loops, which begins at work[at]."""
    loops, forced, width = ints[C_LOOPS], ints[C_FORCED], padded(ints[C_FORCE_ROWS]) + LANES
    switches, drives, force_rows = ints[C_SWITCHES], ints[C_DRIVES], ints[C_FORCE_ROWS]
    crossed = n + 1 if forced > 0 else 0
    drive = at + SWITCH * switches
    frame = drive + DRIVE * drives
    row = frame + FRAME * loops
    coblock = row + ROW_WORK * loops
    cross = coblock + COBLOCK * loops
    path = cross + BLOCK * crossed
    admittance = path + LANES * nv * forced
    factor = admittance + force_rows * width
    solve = factor + force_rows * width
    vectors = SOLVE if force_rows > 0 else 0
    return LoopWork(
        matrix_view(work, at, switches, SWITCH),
        matrix_view(work, drive, drives, DRIVE),
        matrix_view(work, frame, loops, FRAME),
        matrix_view(work, row, loops, ROW_WORK),
        matrix_view(work, coblock, loops, COBLOCK),
        matrix_view(work, cross, crossed, BLOCK),
        matrix_view(work, path, forced, LANES * nv),
        matrix_view(work, admittance, force_rows, width),
        matrix_view(work, factor, force_rows, width),
        matrix_view(work, solve, vectors, width),
        vector_view(work, solve + vectors * width, ints[C_GROUP_WORK]),
    )


@kernel
def group_view(group, work):
    """Scratch of one group, a row of group_int; work is work.loops.group."""
    n, m, bodies, at = group[GI_DOFS], group[GI_ROWS], group[GI_BODIES], group[GI_WORK]
    width = padded(n + 1)
    blocks = width // LANES
    pick = at + GROUP_HEAD
    y = pick + 2 * n
    x = y + (n + 2) * (padded(m) + LANES)
    bias = x + n * width
    d = bias + n
    eps = d + n * width
    a = eps + 2 * width
    f = a + bodies * blocks * BLOCK
    return GroupWork(
        vector_view(work, at, GROUP_HEAD),
        vector_view(work, pick, n),
        vector_view(work, pick + n, n),
        matrix_view(work, y, n + 2, padded(m) + LANES),
        matrix_view(work, x, n, width),
        vector_view(work, bias, n),
        matrix_view(work, d, n, width),
        vector_view(work, eps, width),
        vector_view(work, eps + width, width),
        matrix_view(work, a, bodies * blocks, BLOCK),
        matrix_view(work, f, bodies * blocks, BLOCK),
        matrix_view(work, f + bodies * blocks * BLOCK, blocks, BLOCK),
        matrix_view(work, f + (bodies + 1) * blocks * BLOCK, bodies, ACC),
    )
