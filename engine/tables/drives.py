"""Where every number of drives with states lives: tables of the Plant, scratch of Work, their part of the State."""

from __future__ import annotations

from limberjack.engine.tables.table import Family, Table

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
MX_CURRENT, MX_INTEGRAL, MX_ANGLE, MX_RATE = range(4)
MOTOR_STATE = 4

# work.drives.now (motors, 8): the torque at the joint during a part of a step is F - C v, and what follows from it
MOTOR_WORK = 8
(
    MW_F,
    MW_C,
    MW_CURRENT,  # the current at its end is MW_CURRENT - MW_SLOPE v
    MW_SLOPE,
    MW_INTEGRAL,  # at its end
    MW_RATE,  # of the rotor at its end if the gear passed no torque
    MW_PER,  # what a torque in the gear takes from that rate, rad/s for N·m
    MW_SIDE,  # 1 or -1: the flank of the gear that touches, 0: none
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

DRIVES = Family(
    "drives",
    ints=(
        Table("motor_int", "motors", MOTOR_INT, within={MO_V: (0, "v"), MO_Q: (0, "q"), MO_ELASTIC: (0, 2)}),
        Table("valve_int", "valves", VALVE_INT, within={VA_THRUSTER: (0, "thrusters")}),
    ),
    floats=(Table("motor", "motors", MOTOR), Table("valve", "valves", VALVE)),
    work=(
        Table("motor_now", "motors", MOTOR_WORK, field="now"),
        Table("motor_state", "motors", MOTOR_STATE, field="state"),
    ),
)
