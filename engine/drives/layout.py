"""Where every number of drives with states lives: tables of the Plant, scratch of Work, their part of the State."""

from __future__ import annotations

from collections import namedtuple

from limberjack.engine.kernel import kernel
from limberjack.engine.views import Sections, matrix_view

# counts at the head of Plant.ints
C_MOTORS, C_VALVES, C_DRIVE_STATE = 32, 33, 34

# motor_int (motors, 4)
MOTOR_INT = 4
MO_V, MO_Q = 0, 1  # velocity and coordinate that it drives
MO_STATE = 2  # first of its numbers in the State's part of drives
MO_ELASTIC = 3  # 1: the rotor turns apart from the joint, behind an elastic gear with backlash

# motor (motors, 16). All but the electrical numbers are those seen at the joint: angles over, torques times the ratio N
MOTOR = 16
MO_K = 0  # torque at the joint for a current, N k_t, N·m/A; as well back-emf for a joint's rate, V·s/rad
MO_R = 1  # resistance, Ω
MO_L = 2  # inductance, H
MO_KP, MO_KI = 3, 4  # gains of the current loop, V/A, V/(A·s)
MO_VOLTAGE = 5  # largest, V
MO_CURRENT = 6  # largest that is asked for, A
MO_RATIO = 7  # N, turns of the rotor for one of the joint
MO_INERTIA = 8  # N² J of the rotor, kg·m²; of a stiff gear it is part of the hinge's armature
MO_FRICTION, MO_FRICTION_RATE, MO_DAMPING = 9, 10, 11  # of rotor and bearings: F tanh(ω/ω_F) + d ω
MO_PLAY = 12  # the whole backlash, rad
MO_STIFFNESS, MO_GEAR_DAMPING = 13, 14  # of the gear

# State of a motor: current A, integral of the current's error A·s, angle and rate of the rotor over N
X_CURRENT, X_INTEGRAL, X_ANGLE, X_RATE = range(4)
MOTOR_STATE = 4

# work.drives.now (motors, 8): the torque at the joint during a part of a step is F - C v, and what follows from it
MOTOR_WORK = 8
(
    Y_F,
    Y_C,
    Y_CURRENT,  # the current at its end is Y_CURRENT - Y_SLOPE v
    Y_SLOPE,
    Y_INTEGRAL,  # at its end
    Y_RATE,  # of the rotor at its end if the gear passed no torque
    Y_PER,  # what a torque in the gear takes from that rate, rad/s for N·m
    Y_SIDE,  # 1 or -1: the flank of the gear that touches, 0: none
) = range(8)

# valve_int (valves, 3)
VALVE_INT = 3
VA_THRUSTER = 0
VA_STATE = 1  # first of its numbers in the State's part of drives
VA_RING = 2  # commands of so many steps are kept

# valve (valves, 2)
VALVE = 2
VA_DELAY = 0  # s from command to thrust
VA_PULSE = 1  # shortest time that it stays open, s

# State of a valve: its flow now (thrust it would give, N), time until which it stays open, s, mean thrust in the last
# step, N, then VA_RING commands
U_FLOW, U_UNTIL, U_THRUST, U_RING = range(4)

DrivePlant = namedtuple("DrivePlant", "motor_int valve_int motor valve")
DriveWork = namedtuple("DriveWork", "now state")


def drive_int_sections(c: list[int]) -> Sections:
    """(name, rows, columns) of the tables of drives in Plant.ints."""
    return [("motor_int", c[C_MOTORS], MOTOR_INT), ("valve_int", c[C_VALVES], VALVE_INT)]


def drive_float_sections(c: list[int]) -> Sections:
    """(name, rows, columns) of the tables of drives in Plant.floats."""
    return [("motor", c[C_MOTORS], MOTOR), ("valve", c[C_VALVES], VALVE)]


def drive_work_sections(c: list[int]) -> Sections:
    """(name, rows, columns) of the scratch of drives."""
    return [("motor_now", c[C_MOTORS], MOTOR_WORK), ("motor_state", c[C_MOTORS], MOTOR_STATE)]


@kernel
def drive_ints_size(ints):
    """Length of the tables of drives in Plant.ints."""
    return MOTOR_INT * ints[C_MOTORS] + VALVE_INT * ints[C_VALVES]


@kernel
def drive_floats_size(ints):
    """Length of the tables of drives in Plant.floats."""
    return MOTOR * ints[C_MOTORS] + VALVE * ints[C_VALVES]


@kernel
def drive_work_size(ints):
    """Length of the scratch of drives."""
    return (MOTOR_WORK + MOTOR_STATE) * ints[C_MOTORS]


@kernel
def drive_plant_view(ints, floats, i, f):
    """The tables of drives, which begin at ints[i] and floats[f]."""
    motors, valves = ints[C_MOTORS], ints[C_VALVES]
    return DrivePlant(
        matrix_view(ints, i, motors, MOTOR_INT),
        matrix_view(ints, i + MOTOR_INT * motors, valves, VALVE_INT),
        matrix_view(floats, f, motors, MOTOR),
        matrix_view(floats, f + MOTOR * motors, valves, VALVE),
    )


@kernel
def drive_work_view(ints, work, at):
    """The scratch of drives, which begins at work[at]."""
    motors = ints[C_MOTORS]
    return DriveWork(
        matrix_view(work, at, motors, MOTOR_WORK), matrix_view(work, at + MOTOR_WORK * motors, motors, MOTOR_STATE)
    )
