/* The entries of the engine (engine/compile/levels.h) that the shim calls, compiled from the functions that Python
 * runs.
 *
 * Every pointer is to memory of the instance; no entry allocates. `ints` and `floats` are the Plant, `work` its
 * scratch, `state` is [t, steps, q (nq), v (nv), command (nu), switches]: see engine/tables/plant.py.
 *
 * sizes(ints, sizes): lengths that follow from the counts at the head of ints: sizes[10] = ints, floats, work, state,
 * observed, surveyed, switches, commands, and room and slopes of `state_slopes`, 0 without them. Reads those counts
 * only.
 *
 * advance(ints, floats, work, state, dt, integrator, substeps, steps, ahead, report): `steps` steps of dt; report[3]
 * = status, velocity index j or -1 - coordinate index or loop, steps done. A step that fails leaves the state at the
 * last good one. Prescribed motions reach their commands `ahead` steps from now, at least `steps`: at the end of a
 * communication step.
 *
 * observe(ints, floats, work, state, tau, vdot, outputs): tau (nv), vdot (nv), sensor outputs (ny) at state and
 * commands
 *
 * survey(ints, floats, work, state, surveyed): [kinetic, potential, total energy | momentum (6) | strain energy | a
 * row of 13 a node: position (3), quaternion w x y z (4), angular velocity (3), linear velocity (3), inertial axes]
 *
 * rates(ints, floats, state, qdot): dq/dt (nq) at state, whose quaternions may have any length but 0. All other
 * entries need unit quaternions, as `normalise` makes them.
 *
 * normalise(ints, floats, state): brings the quaternions in state to unit length; one that is unit to 1e-15 keeps its
 * bits.
 *
 * switches(ints, floats, state, switches): event indicators: positive while a stop acts or an actuator is at its
 * limit, changing sign where that begins and ends; [upper (nv) | lower (nv) | actuator above (na) | actuator below
 * (na)]. Coordinates that have no stop give -1.
 *
 * refresh(ints, floats): recomputes what depends on tunable parameters (masses); call after any parameter changed.
 *
 * check(ints, floats, state, report): are parameters and state valid? report[2] = status; velocity index
 * (limits), first coordinate of the quaternion whose length is off by more than 1e-6, or coordinate / nq + velocity
 * index that is not finite.
 *
 * forces(ints, floats, work, state, tau): tau (nv) at state and commands, with the bits that `observe` gives, and
 * without the dynamics
 *
 * state_slopes(ints, floats, work, room, state, slopes): slopes (2 nv + ny + 1, nq + nv + nu), row by row:
 * derivatives of the observed vectors by [q | v | command] of state, whose quaternions may have any length but 0. The
 * last row has 1 in a column that is known, and 0 in one that is not: for coordinates of custom hinges, and
 * everywhere if a sensor's slopes have no closed form. `room` is scratch.
 *
 * trust(ints, floats, n, report): report[1] = 0, or the number of the table in ints (n numbers) with an index that
 * would lead an entry out of its vectors; reads no floats. A file may be damaged although its checksum is right:
 * call this before any other entry.
 */
#ifndef LIMBERJACK_KERNELS_H
#define LIMBERJACK_KERNELS_H

#include "levels.h"

/* status of `advance`, first number of its report */
enum { ADVANCE_OK = 0, ADVANCE_NOT_FINITE = 1, ADVANCE_DIVERGED = 2, ADVANCE_LOOP_OPEN = 3, ADVANCE_CROWDED = 4 };
/* status of `check`, first number of its report */
enum { CHECK_OK = 0, CHECK_LIMITS_CROSSED = 1, CHECK_QUATERNION = 2, CHECK_NOT_FINITE = 3 };

#endif
