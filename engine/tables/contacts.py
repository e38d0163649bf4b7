"""Where every number of contacts lives: tables of the Plant, scratch of Work, their part of the State.

A contact is a law between two sets of shapes. Each pair of shapes has a fixed number of places for points at which
they may touch ("touches"), such as the eight corners of a box above a plane. The State contains the forces of touches:
a force holds over a step, and the next solution begins with it.
"""

from __future__ import annotations

from limberjack.engine.tables.table import Family, Table

# counts at the head of Plant.ints; C_ACTIVE: blocks of an island: forces of a touch, and moments of one that has them
C_CONTACTS, C_COLLIDERS, C_PAIRS, C_CONTACT_WALK, C_TOUCHES, C_ACTIVE = range(39, 45)
C_MESH_CORNERS, C_MESH_FACES, C_MESH_LINKS = range(45, 48)

# collider_int (colliders, 2), collider (colliders, 22)
COLLIDER_INT, COLLIDER = 2, 22
CO_ROW, CO_SHAPE = range(COLLIDER_INT)  # row (k + 1) of its link, 0 the ground; shape, below
CL_R, CL_P = 0, 9  # R (9) link ← shape, p (3) of its centre in the link, m
CL_SIZE = 12  # 3: sphere: radius; capsule, cylinder: radius, half length along z; box: half edges;
#     funnel, cone: radii at -z and at +z, half length; height field: half edges along x and y, greatest height;
#     ring: radius of its circle about z, radius of its tube
CL_REACH = 15  # radius of a sphere about the centre that holds the shape, m; a plane has none
CL_MIDDLE, CL_HALF = 16, 19  # 3 + 3: of a box along the shape's axes that holds it, middle and half edges, m; a plane
#     and a height field have none

#: shapes that may touch, in the order of their codes; a plane is z = 0 of its frame, a height field z = h(x, y), both
#: solid below
SHAPES = ("plane", "sphere", "capsule", "box", "cylinder", "funnel", "cone", "mesh", "height_field", "ring")
PLANE, SPHERE, CAPSULE, BOX, CYLINDER, FUNNEL, CONE, MESH, HEIGHT_FIELD, RING = range(len(SHAPES))
#: a triangle of a height field; its size are the numbers of its corners
TRIANGLE = len(SHAPES)
#: the inside of a funnel's wall, for what has corners
INSIDE = TRIANGLE + 1
#: (code of a, code of b), a ≤ b → how many points of such a pair may touch
TOUCHES = {
    (PLANE, SPHERE): 1,
    (PLANE, CAPSULE): 2,
    (PLANE, BOX): 8,
    (PLANE, CYLINDER): 8,
    (PLANE, FUNNEL): 8,
    (PLANE, CONE): 8,
    (SPHERE, SPHERE): 1,
    (SPHERE, CAPSULE): 1,
    (SPHERE, BOX): 1,
    (SPHERE, CYLINDER): 1,
    (SPHERE, FUNNEL): 3,
    (SPHERE, CONE): 1,
    (CAPSULE, CAPSULE): 2,
    (CAPSULE, BOX): 3,
    (CAPSULE, CYLINDER): 3,
    (CAPSULE, CONE): 3,
    (BOX, BOX): 8,
    (BOX, CYLINDER): 8,
    (BOX, CONE): 8,
    (CYLINDER, CYLINDER): 8,
    (CYLINDER, CONE): 8,
    (CONE, CONE): 8,
    (PLANE, MESH): 8,
    (SPHERE, MESH): 1,
    (CAPSULE, MESH): 3,
    (BOX, MESH): 8,
    (CYLINDER, MESH): 8,
    (CONE, MESH): 8,
    (MESH, MESH): 8,
    (SPHERE, HEIGHT_FIELD): 8,
    (CAPSULE, HEIGHT_FIELD): 8,
    (BOX, HEIGHT_FIELD): 8,
    (CYLINDER, HEIGHT_FIELD): 8,
    (CONE, HEIGHT_FIELD): 8,
    (MESH, HEIGHT_FIELD): 8,
    (PLANE, RING): 7,
    (SPHERE, RING): 7,
    (CAPSULE, RING): 10,
    (BOX, RING): 18,
    (CYLINDER, RING): 18,
    (FUNNEL, RING): 10,
    (CONE, RING): 18,
    (RING, RING): 10,
    (MESH, RING): 18,
    (CAPSULE, FUNNEL): 26,
    (BOX, FUNNEL): 44,
    (CYLINDER, FUNNEL): 56,
    (FUNNEL, CONE): 56,
    (FUNNEL, MESH): 44,
}

# mesh_int (colliders, if there are meshes), corner_int (corners of meshes), face_int (their faces): slices of the
# corners of a mesh, of the faces at a corner and of the corners of a face, the last two in mesh_link. Corners of a
# height field: rows along x, one behind the other along y, of ML_ACROSS corners each
MESH_INT, MESH_SLICE = 3, 2
ML_FIRST, ML_COUNT, ML_ACROSS = range(MESH_INT)
#: sectors of directions n by the order of |nx|, |ny|, |nz| (6) and the signs of n (8); sector_int (SECTORS of each
#: collider, if there are meshes): slices of those corners of a mesh in mesh_link that may be farthest along some n
SECTORS = 48
#: largest number of corners of a face of a mesh
MOST_CORNERS = 64
# scratch of a pair of shapes: faces of boxes; scratch of the search for the normal of convex shapes, their features
SCRATCH = 800

#: shapes are examined closely if they may meet within this many steps at their speed, or are this near, m
WARY, NEARBY = 4.0, 1e-3

# contact_int (contacts, 2): its slice of pair_int; contact (contacts, 8)
CONTACT_INT, CONTACT = 2, 8
CI_PAIR, CI_PAIRS = range(CONTACT_INT)
(
    K_STIFFNESS,  # N/m^exponent; 0: nearly rigid
    K_EXPONENT,  # of the penetration
    K_DISSIPATION,  # s/m
    K_RESTITUTION,  # of nearly rigid contacts
    K_FRICTION,
    K_TORSION,  # torsional friction, m
    K_ROLLING,  # rolling friction, m
) = range(7)

# pair_int (pairs, 8): contact; colliders, of which the first has the lower code; slices of touch and of contact_walk:
# links, tip to base, that a force between the two moves; whether b is one of the contact's first shapes
PAIR_INT = 8
PA_CONTACT, PA_A, PA_B, PA_TOUCH, PA_TOUCHES, PA_WALK, PA_WALKS, PA_FLIP = range(PAIR_INT)

#: gap of shapes before the first step, m
APART = 1e9

# touch of the State (touches, 17)
TOUCH = 17
TO_LAW = 0  # normal force of the law at the end of the last step, N
TO_GAP = 1  # distance at that time, negative where they penetrate, m
TO_FORCE = 2  # 3: on the second shape over the last step, inertial axes, N
TO_POINT = 5  # 3: where it acts, inertial frame, m
TO_NORMAL = 8  # 3: from the first to the second shape, inertial axes
TO_ACTS = 11  # for how many steps it has acted; below 0 while the step is found in which it acts no longer
TO_SLIP = 12  # tangential speed at its end, m/s
TO_MOMENT = 13  # 3: on the second shape over the last step, inertial axes, N m
TO_STORED = 16  # compliant: work that the normal force took up and has not returned, over the stiffness; -1: not known

# work.contacts.placed (colliders, 16): shapes where their links are
PLACED = 16
PC_R, PC_P = 0, 9  # R (9) inertial ← shape, p (3) of its centre
PC_U, PC_W = 12, 15  # velocity (3) of its centre, inertial axes; angular speed

# work.contacts.met (touches, 24): the end of a step with the held forces
MET = 24
ME_GAP = 0
ME_NORMAL = 1  # 3
ME_POINT = 4  # 3
ME_SPEED = 7  # 3: velocity of b relative to a, inertial axes
ME_NEAR = 10  # 1: all of this is known; 0: shapes are out of reach, and only a least gap is
ME_BEGAN = 11  # 1: they were near at the start of the step as well
ME_FROM = 12  # 3: where they were nearest there
ME_START = 15  # gap there
ME_SPIN = 16  # 3: angular velocity of b relative to a, inertial axes, of touches in the list
ME_ONCE = 19  # 3: velocity of b relative to a there; of those not near then, of the place where they are at the end

# work.contacts.awake (pairs, 5): loops over touches leave out those of pairs that sleep: pairs out of reach, whose
# touches have neither force nor law
AWAKE = 5
AW_NEAR = 0  # 1: its rows of met are known; 0: it is out of reach, and ME_NEAR of its rows is 0
AW_BEGAN = 1  # 0: ME_BEGAN of its rows is 0
AW_LIVE = 2  # 0: its rows of touch have neither force nor law
AW_KEPT = 3  # 0: and so are those of the State
AW_GAP = 4  # of a pair out of reach: lower bound of the distance, m

# work.contacts.account (2 touches, 7): what forces do over the step, as mean of f·(u₋ + u), W: those of touches of
# islands with restitution, an island behind the other, and normal forces of compliant touches beyond what these may
# return. work.contacts.opened (1,): how many there are
ACCOUNT = 7
WK_TOUCH, WK_PAIR, WK_ISLAND = range(3)  # WK_ISLAND: row of the first one of its island
WK_OWN = 3  # 1: of one compliant touch
WK_SIZE = 4  # sum of the sizes of its parts
WK_EXPECTED, WK_DONE = 5, 6  # as predicted, and as the stages of rk4 add up

# work.contacts.found (2,): how many touches a step was solved for; how often the forces found were not the solution
FOUND = 2
FO_TOUCHES, FO_FAILED = range(FOUND)

# work.contacts.missed (touches, 2): work that predictions missed when the step was last solved, as in account
MISSED = 2
MI_ISLAND, MI_OWN = range(MISSED)

# work.contacts.listed (touches, 4): touches that are solved for; those of an island are a chain
LISTED = 4
LI_TOUCH, LI_PAIR, LI_TREE, LI_NEXT = range(LISTED)  # LI_TREE: row of a tree that it moves; LI_NEXT: -1 at the end

# work.contacts.tree (bodies + 1, 4), of links that hang on the ground: the row of another tree of the same island with
# a lower number, or its own; first and last of the island's touches in the list, -1 if none; how many blocks they are
TREE = 4
TR_UP, TR_FIRST, TR_LAST, TR_BLOCKS = range(TREE)

#: pairs of differences of sweeps that are kept; rows of work.contacts.tried, which `acceleration.py` explains
KEPT_PAIRS = 8
TRIED = 4 + 3 * KEPT_PAIRS

#: most independent velocities of the touches of an island whose forces are found from inside their laws
RANK = 64

# work.contacts.active (active, 56): blocks of the island that is solved: forces of a touch along three axes, and behind
# them its moments about these if it has torsional or rolling friction
ACTIVE = 56
AC_TOUCH, AC_PAIR = 0, 1
AC_BASIS = 2  # 9: normal and two tangents, inertial axes
AC_FREE = 11  # 3: velocity at the end of the step with the forces that are held, along these
AC_FORCE = 14  # 3: along these
AC_SHARE = 17  # θ: how much of the law at the end of the step counts
AC_MOVE = 18  # derivative of the gap by the velocity, s
AC_BOUND = 19  # largest friction; of moments: largest rolling friction
AC_AIM = 20  # nearly rigid: velocity to which it brings the shapes
AC_SOFT = 21  # and how far it stays from that for a force of 1 N
AC_HELD = 22  # 3: the force with which AC_FREE was found
AC_STEPS = 25  # for how many steps it has acted
AC_TURNS = 26  # 1: moments, of the forces in the row before
AC_TWIST = 27  # largest torsional friction
AC_CAME = 28  # velocity along the normal at the start of the step
AC_STORED = 29  # compliant: work that the normal force may return in this step, over half of the step, W
AC_MOST = 30  # largest normal force
AC_PUSH = 31  # nearly rigid: speed at which a deep overlap would decay, until it may push; 0 of all others
AC_FIRST, AC_END = 32, 33  # blocks first … end - 1 may answer to this one; both ascend with the block
AC_CALM = 34  # nearly rigid: AC_AIM without restitution
AC_LIVELY = 35  # 3: the forces with the whole restitution, where that is too much
AC_LIGHT = 38  # h / M: the answer of all bodies of the model as one mass; 0 of moments
AC_BEST = 39  # 3: the forces that were nearest to a solution
# inside the laws (`interior.py`): slacks of the normal force, of its bound, of friction and of torsional friction, m/s
# or rad/s, 0 where there is no such law; what is left to the bound, N; changes of the velocities in a step (3); forces
# (3)
AC_SLACK, AC_UPPER, AC_CONE, AC_TURN = 42, 43, 44, 45
AC_LEFT, AC_MOVED, AC_INSIDE = 46, 47, 50
AC_BORNE = 53  # 3: of deep overlaps, the forces of the first solution

CONTACTS = Family(
    "contacts",
    ints=(
        Table("contact_int", "contacts", CONTACT_INT, within={CI_PAIR: (0, "pairs + 1")}),
        Table(
            "collider_int", "colliders", COLLIDER_INT, within={CO_ROW: (0, "bodies + 1"), CO_SHAPE: (0, len(SHAPES))}
        ),
        Table(
            "pair_int",
            "pairs",
            PAIR_INT,
            within={
                PA_CONTACT: (0, "contacts"),
                PA_A: (0, "colliders"),
                PA_B: (0, "colliders"),
                PA_TOUCH: (0, "touches"),
                PA_WALK: (0, "contact_walk + 1"),
                PA_FLIP: (0, 2),
            },
        ),
        Table("contact_walk", "contact_walk", field="walk", within={0: (0, "bodies")}),
        Table("mesh_int", "colliders * (mesh_corners > 0)", MESH_INT),
        Table("mesh_corner_int", "mesh_corners", MESH_SLICE, field="corner_int"),
        Table("mesh_face_int", "mesh_faces", MESH_SLICE, field="face_int"),
        Table("mesh_sector_int", f"{SECTORS} * colliders * (mesh_corners > 0)", MESH_SLICE, field="sector_int"),
        Table("mesh_link", "mesh_links"),
    ),
    floats=(
        Table("collider", "colliders", COLLIDER),
        Table("contact", "contacts", CONTACT),
        Table("mesh_corner", "mesh_corners", 3),  # in axes of the shape, m
        Table("mesh_face", "mesh_faces", 3),  # unit normal, outwards
    ),
    work=(
        Table("touch", "touches", TOUCH),
        Table("touch_before", "touches", TOUCH, field="before"),  # of the State at the start of a step of several parts
        Table("account", "2 * touches", ACCOUNT),
        Table("opened", "1 * (pairs > 0)"),
        Table("found", f"{FOUND} * (pairs > 0)"),
        Table("missed", "touches", MISSED),
        Table("met", "touches", MET),
        Table("awake", "pairs", AWAKE),
        Table("placed", "colliders", PLACED),
        Table("listed", "touches", LISTED),
        Table("tree", "(bodies + 1) * (pairs > 0)", TREE),
        Table("active", "active", ACTIVE),
        Table("contact_path", "active", "LANES * v", field="path"),
        Table("answer", "3 * active", "padded(3 * active)"),  # h W: velocities for forces of 1 N
        Table("through", "3 * active", "force_rows"),  # response of loops by force to forces of 1 N
        Table("speed", "padded(3 * active)"),  # velocities of all blocks with the present forces
        Table("system", "3 * active", "padded(3 * active)"),  # equations for all forces
        Table("right", "padded(3 * active)"),  # their right-hand sides
        Table("tried", TRIED, "padded(3 * active)"),  # forces, changes and velocities of sweeps
        Table("root", "3 * active", f"padded(min(3 * active, {RANK}))"),  # B, h W = B B* (`low_rank.py`)
        Table("reduced", f"min(3 * active, {RANK})", f"padded(min(3 * active, {RANK}))"),  # equations of its rank
        Table("few", f"padded(min(3 * active, {RANK}))"),  # their right-hand sides
        Table("scratch", f"{SCRATCH} * (pairs > 0)"),
    ),
)
