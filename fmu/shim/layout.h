/* Where numbers are in ints, the whole numbers of a model: engine/layout.py, which tests/fmu/test_shim_layout.py
 * compares with this file.
 */
#ifndef LIMBERJACK_LAYOUT_H
#define LIMBERJACK_LAYOUT_H

enum { FORMAT_VERSION = 2 };

/* clang-format off */

/* counts, the first HEADER numbers */
enum { C_VERSION, C_BODIES, C_Q, C_V, C_GENERAL, C_NODES, C_ACTUATORS, C_COMMANDS, C_SENSORS, C_OUTPUTS, C_MAPS,
       C_PARTS, HEADER = 16 };

/* tables that follow, in this order: topo, node_row, dof_int, actuator_int, sensor_int, part_body */
enum { UP, PATH, KIND, QI, VI, NV, SLOT, MAP, TURN, LEAF, FIRST, GROUNDED, VEND, TOPO = 14 };
enum { DI_Q, DI_BODY, DOF_INT };
enum { AI_MODE, AI_V, AI_Q, AI_COMMAND, ACTUATOR_INT };
enum { SI_TYPE, SI_TARGET, SI_OUTPUT, SI_SIZE, SENSOR_INT };

enum { PATH_REVOLUTE, PATH_PRISMATIC, PATH_GENERAL, PATH_BASE };
enum { MODE_TORQUE, MODE_VELOCITY, MODE_SERVO };
/* engine/system/hinge_types.py */
enum { FIXED, REVOLUTE, PRISMATIC, HELICAL, CYLINDRICAL, UNIVERSAL, GIMBAL, SPHERICAL, PLANAR, ROLLING, FREE, CUSTOM,
       HINGE_TYPES };
/* engine/outputs.py */
enum { POSITION, RATE, EFFORT, REACTION, NODE_POSITION, NODE_ORIENTATION, NODE_ANGULAR_VELOCITY, NODE_LINEAR_VELOCITY,
       GYRO, ACCELEROMETER, SENSOR_TYPES };
/* clang-format on */

#endif
