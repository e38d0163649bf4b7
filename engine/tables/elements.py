"""Where every number of force elements lives: tables of the Plant, scratch of Work.

They act as forces [moment; force] on links, at O_k in the axes of the link, on top of those in work.wrench.
"""

from __future__ import annotations

from limberjack.engine.tables.table import Family, Table

# counts at the head of Plant.ints; C_CENTRAL: 1 where there is a central field
C_THRUSTERS, C_ROTORS, C_CENTRAL = range(27, 30)
C_SPRINGS, C_BUSHINGS, C_EXTERNAL_FORCES, C_MAGNETIC_FIELDS = range(35, 39)

# thruster_int (thrusters, 3), thruster (thrusters, 8)
THRUSTER_INT, THRUSTER = 3, 8
TI_ROW = 0  # row (k + 1) of its link
TI_COMMAND = 1
TI_VALVE = 2  # 1: a valve gives its thrust (forces/valve.py), 0: its command
T_P = 0  # 3: where it acts, in the link's frame, m
T_AXIS = 3  # 3: unit direction of the force on the link
T_MOST = 6  # largest force, N
T_LEAST = 7  # commands below this give none, N

# rotor_row (rotors,): row (k + 1) of the link; rotor (rotors, 3): its momentum relative to the link, N·m·s
ROTOR = 3

# central (1, 5)
CENTRAL = 5
CE_MU = 0  # gravitational parameter, m³/s²
CE_P = 1  # 3: its centre, inertial frame, m
CE_GRADIENT = 4  # 1: the field's gradient across the bodies counts

# spring_int (springs, 2): nodes; spring (springs, 4)
SPRING_INT, SPRING = 2, 4
SP_FIRST, SP_SECOND = range(SPRING_INT)
SP_LENGTH, SP_STIFFNESS, SP_DAMPING, SP_PRELOAD = range(SPRING)

# bushing_int (bushings, 2): nodes; bushing (bushings, 72): 6 × 6, row by row, for [angular; linear]
BUSHING_INT, BUSHING = 2, 72
BU_FIRST, BU_SECOND = range(BUSHING_INT)
BU_STIFFNESS, BU_DAMPING = 0, 36

# external_force_int (external forces, 2): its node and the first of its six commands; external_force (external forces,
# 1): 1 where it is given along the axes of the node
EXTERNAL_INT, EXTERNAL, PUSHED = 2, 1, 6
EF_NODE, EF_COMMAND = range(EXTERNAL_INT)
EF_FOLLOWS = 0

# magnetic_field_int (magnetic fields, 1): the first of its three commands, or -1; magnetic_field (magnetic fields, 3):
# inertial axes, T, where it is constant
MAGNETIC_INT, MAGNETIC = 1, 3
MF_COMMAND = 0

#: how many elements act, and how many commands they take, as expressions in the counts
ACTING = "thrusters + rotors + central + springs + bushings + external_forces + magnetic_fields + pairs"
COMMANDS = "thrusters + 6 * external_forces + 3 * magnetic_fields"
ELEMENTS = Family(
    "elements",
    ints=(
        Table(
            "thruster_int",
            "thrusters",
            THRUSTER_INT,
            within={TI_ROW: (0, "bodies + 1"), TI_COMMAND: (0, "commands"), TI_VALVE: (0, 2)},
        ),
        Table("rotor_row", "rotors", within={0: (0, "bodies + 1")}),
        Table("spring_int", "springs", SPRING_INT, within={SP_FIRST: (0, "nodes"), SP_SECOND: (0, "nodes")}),
        Table(
            "external_force_int",
            "external_forces",
            EXTERNAL_INT,
            within={EF_NODE: (0, "nodes"), EF_COMMAND: (0, f"commands - {PUSHED - 1}")},
        ),
        Table(
            "magnetic_field_int",
            "magnetic_fields",
            MAGNETIC_INT,
            within={MF_COMMAND: (-1, f"commands - {MAGNETIC - 1}")},
        ),
        Table("bushing_int", "bushings", BUSHING_INT, within={BU_FIRST: (0, "nodes"), BU_SECOND: (0, "nodes")}),
    ),
    floats=(
        Table("thruster", "thrusters", THRUSTER),
        Table("rotor", "rotors", ROTOR),
        Table("central", "central", CENTRAL),
        Table("spring", "springs", SPRING),
        Table("bushing", "bushings", BUSHING),
        Table("external_force", "external_forces", EXTERNAL),
        Table("magnetic_field", "magnetic_fields", MAGNETIC),
    ),
    work=(
        Table("thrust", "thrusters"),  # forces now, N
        Table("pushed", "external_forces", PUSHED),  # moments and forces now
        Table("magnetism", "magnetic_fields", MAGNETIC),  # fields now
        # work.wrench before the elements acted
        Table("kept", f"(bodies + 1) * ({ACTING} > 0)", 6),
    ),
    numbers=("acting",),
)
