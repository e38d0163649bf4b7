/* Where numbers are in ints, the whole numbers of a model: engine/layout.py, engine/loops/layout.py,
 * engine/flexible/layout.py, engine/elements/layout.py, engine/instruments/layout.py and engine/drives/layout.py, which
 * tests/fmu/test_shim_layout.py compares with this file.
 */
#ifndef LIMBERJACK_LAYOUT_H
#define LIMBERJACK_LAYOUT_H

enum { FORMAT_VERSION = 4 };

/* clang-format off */

/* counts, the first HEADER numbers */
enum { C_VERSION, C_BODIES, C_Q, C_V, C_GENERAL, C_NODES, C_ACTUATORS, C_COMMANDS, C_SENSORS, C_OUTPUTS, C_MAPS,
       C_PARTS, C_LOOPS, C_ROWS, C_TERMS, C_WALK, C_GROUPS, C_LISTED, C_GROUP_WORK, C_SWITCHES, C_DRIVES, C_FORCED,
       C_FORCE_ROWS, C_MODAL, C_ATTACHED, C_MODAL_TABLE, C_MODAL_WORK, C_THRUSTERS, C_ROTORS,
       C_CENTRAL, C_INSTRUMENTS, C_INSTRUMENT_STATE, C_MOTORS, C_VALVES, C_DRIVE_STATE, HEADER = 40 };

/* tables that follow, in this order: topo, node_row, dof_int, actuator_int, sensor_int, part_body, modal_int,
 * attached_int, loop_int, term_int, walk, group_int, listed, thruster_int, rotor_row, instrument_int, motor_int,
 * valve_int */
enum { UP, PATH, KIND, QI, VI, NV, SLOT, MAP, TURN, LEAF, FIRST, GROUNDED, VEND, GROUP, MEMBER, TOPO = 16 };
enum { DI_Q, DI_BODY, DI_MEMBER, DOF_INT };
enum { AI_MODE, AI_V, AI_Q, AI_COMMAND, AI_MOTOR, ACTUATOR_INT };
enum { SI_TYPE, SI_TARGET, SI_OUTPUT, SI_SIZE, SENSOR_INT };
enum { MI_MODES, MI_TABLE, MI_WORK, MI_FULL, MI_RANK, MI_CONDENSED, MODAL_INT };
enum { AI_MODAL, AI_TABLE, AI_WORK, AI_CURVED, AI_COLUMN, ATTACHED_INT };
enum { L_KIND, L_A, L_B, L_ROW, L_ROWS, L_TERM, L_TERMS, L_GROUP, L_SWITCH, L_DRIVE, L_COMMAND, L_FORCED, L_PROJECT,
       L_CHAIN_A, L_CHAIN_AS, L_CHAIN_B, L_CHAIN_BS, L_WALK, L_WALKS, L_RANK, LOOP_INT };
enum { TI_Q, TI_V, TI_BODY, TERM_INT };
enum { GI_BODY, GI_BODIES, GI_DOF, GI_DOFS, GI_RANK, GI_LOOP, GI_LOOPS, GI_PARENT, GI_WORK, GI_ROWS,
       GROUP_INT };
enum { TI_ROW, TI_COMMAND, TI_VALVE, THRUSTER_INT };
enum { NI_KIND, NI_OUTPUT, NI_SIZE, NI_OUTPUTS, NI_STATE, NI_RING, NI_CHANNEL, NI_LEVEL, INSTRUMENT_INT };
enum { MO_V, MO_Q, MO_STATE, MO_ELASTIC, MOTOR_INT };
enum { VA_THRUSTER, VA_STATE, VA_RING, VALVE_INT };

/* of instruments and drives: kinds, numbers with errors, numbers of the state */
enum { PLAIN, RESOLVER, ATTITUDE, DIRECTION };
enum { MOST_NUMBERS = 6, X_ANGLE = 2, X_RATE = 3, MOTOR_STATE = 4, U_RING = 3 };

/* widths of scratch: engine/views.py, engine/loops/layout.py; of modal tables and scratch: engine/flexible/layout.py */
enum { LANES = 8, BLOCK = 48, ACC = 28, GROUP_HEAD = 8 };
enum { HALF = 24, PER_MODE = 120, ATTACHED_HEAD = 16, RIGID = 16, ATTACHED_A = 8 };

enum { PATH_REVOLUTE, PATH_PRISMATIC, PATH_GENERAL, PATH_BASE, PATH_MODAL, PATH_NODE };
enum { MODE_TORQUE, MODE_VELOCITY, MODE_SERVO };
/* engine/system/hinge_types.py */
enum { FIXED, REVOLUTE, PRISMATIC, HELICAL, CYLINDRICAL, UNIVERSAL, GIMBAL, SPHERICAL, PLANAR, ROLLING, FREE, CUSTOM,
       MODAL, ATTACHED, HINGE_TYPES = 12 };
/* L_KIND beyond the hinge types */
enum { DISC = 98, BALL, DISTANCE, COUPLING, LOCK };
/* engine/outputs.py */
enum { POSITION, RATE, EFFORT, REACTION, NODE_POSITION, NODE_ORIENTATION, NODE_ANGULAR_VELOCITY, NODE_LINEAR_VELOCITY,
       GYRO, ACCELEROMETER, STRAIN_ENERGY, LOOP_WRENCH, LOOP_FORCE, LOOP_RESIDUAL, LOOP_CLOSED, LOOP_ENERGY_LOSS,
       MOTOR_CURRENT, MOTOR_POSITION, MOTOR_RATE, THRUST, STAR_TRACKER, SUN_SENSOR, SENSOR_TYPES };
/* clang-format on */

#endif
