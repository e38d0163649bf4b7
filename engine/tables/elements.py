"""Where every number of force elements lives: tables of the Plant, scratch of Work.

They act as forces [moment; force] on links, at O_k in the axes of the link, on top of those in work.wrench.
"""

from __future__ import annotations

from limberjack.engine.tables.table import Family, Table

# counts at the head of Plant.ints; C_CENTRAL: 1 where there is a central field
C_THRUSTERS, C_ROTORS, C_CENTRAL = range(27, 30)

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
    ),
    floats=(
        Table("thruster", "thrusters", THRUSTER),
        Table("rotor", "rotors", ROTOR),
        Table("central", "central", CENTRAL),
    ),
    work=(
        Table("thrust", "thrusters"),  # forces now, N
        # what work.wrench held before elements acted
        Table("kept", "(bodies + 1) * (thrusters + rotors + central > 0)", 6),
    ),
)
