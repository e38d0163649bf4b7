"""Where every number of force elements lives: tables of the Plant, scratch of Work.

They act as forces [moment; force] on links, at O_k in the axes of the link, on top of those in work.wrench.
"""

from __future__ import annotations

from collections import namedtuple

from limberjack.engine.kernel import kernel
from limberjack.engine.views import Sections, matrix_view, vector_view

# counts at the head of Plant.ints; C_CENTRAL: 1 where there is a central field
C_THRUSTERS, C_ROTORS, C_CENTRAL = range(27, 30)

# thruster_int (thrusters, 3), thruster (thrusters, 8)
THRUSTER_INT, THRUSTER = 3, 8
TI_ROW = 0  # row (k + 1) of its link
TI_COMMAND = 1
TI_VALVE = 2  # 1: a valve gives its thrust (drives/valve.py), 0: its command
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

ElementPlant = namedtuple("ElementPlant", "thruster_int rotor_row thruster rotor central")
#: thrust (thrusters,): forces now, N; kept (bodies + 1, 6): what work.wrench held before elements acted
ElementWork = namedtuple("ElementWork", "thrust kept")


def element_int_sections(c: list[int]) -> Sections:
    """(name, rows, columns) of the tables of elements in Plant.ints."""
    return [("thruster_int", c[C_THRUSTERS], THRUSTER_INT), ("rotor_row", c[C_ROTORS], 1)]


def element_float_sections(c: list[int]) -> Sections:
    """(name, rows, columns) of the tables of elements in Plant.floats."""
    return [
        ("thruster", c[C_THRUSTERS], THRUSTER),
        ("rotor", c[C_ROTORS], ROTOR),
        ("central", c[C_CENTRAL], CENTRAL),
    ]


def element_work_sections(c: list[int], bodies: int) -> Sections:
    """(name, rows, columns) of the scratch of elements."""
    any_of_them = c[C_THRUSTERS] + c[C_ROTORS] + c[C_CENTRAL] > 0
    return [("thrust", c[C_THRUSTERS], 1), ("kept", (bodies + 1) * any_of_them, 6)]


@kernel
def element_ints_size(ints):
    """Length of the tables of elements in Plant.ints."""
    return THRUSTER_INT * ints[C_THRUSTERS] + ints[C_ROTORS]


@kernel
def element_floats_size(ints):
    """Length of the tables of elements in Plant.floats."""
    return THRUSTER * ints[C_THRUSTERS] + ROTOR * ints[C_ROTORS] + CENTRAL * ints[C_CENTRAL]


@kernel
def _kept_rows(ints, bodies):
    return bodies + 1 if ints[C_THRUSTERS] + ints[C_ROTORS] + ints[C_CENTRAL] > 0 else 0


@kernel
def element_work_size(ints, bodies):
    """Length of the scratch of elements."""
    return ints[C_THRUSTERS] + 6 * _kept_rows(ints, bodies)


@kernel
def element_plant_view(ints, floats, i, f):
    """The tables of elements, which begin at ints[i] and floats[f]."""
    thrusters, rotors = ints[C_THRUSTERS], ints[C_ROTORS]
    rotor = f + THRUSTER * thrusters
    return ElementPlant(
        matrix_view(ints, i, thrusters, THRUSTER_INT),
        vector_view(ints, i + THRUSTER_INT * thrusters, rotors),
        matrix_view(floats, f, thrusters, THRUSTER),
        matrix_view(floats, rotor, rotors, ROTOR),
        matrix_view(floats, rotor + ROTOR * rotors, ints[C_CENTRAL], CENTRAL),
    )


@kernel
def element_work_view(ints, work, at, bodies):
    """The scratch of elements, which begins at work[at]."""
    thrusters = ints[C_THRUSTERS]
    return ElementWork(vector_view(work, at, thrusters), matrix_view(work, at + thrusters, _kept_rows(ints, bodies), 6))
