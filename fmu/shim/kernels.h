/* The engine's compiled kernels as C sees them: object code made from the same functions that Python runs.
 *
 * Every pointer is to memory of the instance; no kernel allocates. `ints` and `floats` are the Plant, `work` its
 * scratch, `state` is [t, steps, q (nq), v (nv), command (nu), switches]: see engine/tables/plant.py.
 */
#ifndef LIMBERJACK_KERNELS_H
#define LIMBERJACK_KERNELS_H

#include <stdint.h>

/* status of `advance`, first number of its report */
enum { ADVANCE_OK = 0, ADVANCE_NOT_FINITE = 1, ADVANCE_DIVERGED = 2, ADVANCE_LOOP_OPEN = 3 };
/* status of `check`, first number of its report */
enum { CHECK_OK = 0, CHECK_LIMITS_CROSSED = 1, CHECK_QUATERNION = 2, CHECK_NOT_FINITE = 3 };

typedef struct {
    /* Lengths that the counts at the head of ints ask for:
     * sizes[10] = ints, floats, work, state, observed, surveyed, switches, commands, and room and slopes of
     * `state_slopes`, 0 without them. Reads the counts at the head of ints only. */
    void (*sizes)(const int64_t *ints, int64_t *sizes);
    /* `steps` steps of dt; report[3] = status, velocity index j or -1 - coordinate index or loop, steps done.
     * A step that fails leaves the state at the last good one. Prescribed motions are where their commands have them
     * `ahead` steps from now, at least `steps`: at the end of a communication step. */
    void (*advance)(int64_t *ints, double *floats, double *work, double *state, double dt, int64_t integrator,
                    int64_t substeps, int64_t steps, int64_t ahead, int64_t *report);
    /* observed = [tau (nv) | vdot (nv) | sensor outputs (ny)] at state and commands */
    void (*observe)(int64_t *ints, double *floats, double *work, double *state, double *observed);
    /* surveyed = [kinetic, potential, total energy | momentum (6) | strain energy | a row of 13 a node: position (3),
     * quaternion w x y z (4), angular velocity (3), linear velocity (3), inertial axes] */
    void (*survey)(int64_t *ints, double *floats, double *work, double *state, double *surveyed);
    /* dq/dt (nq) at state, whose quaternions may have any length but 0. All other kernels want unit quaternions, as
     * `normalise` makes them. */
    void (*rates)(int64_t *ints, double *floats, double *state, double *qdot);
    /* Brings the quaternions in state to unit length. One that is unit to 1e-15 keeps its bits. */
    void (*normalise)(int64_t *ints, double *floats, double *state);
    /* Event indicators: positive while a stop acts or an actuator is at its limit, changing sign where that begins
     * and ends; [upper (nv) | lower (nv) | actuator above (na) | actuator below (na)]. Coordinates that have no stop
     * give -1. */
    void (*switches)(int64_t *ints, double *floats, double *state, double *switches);
    /* Recomputes what depends on tunable parameters (masses); call after any parameter changed. */
    void (*refresh)(int64_t *ints, double *floats);
    /* Are parameters and state fit to run? report[2] = status; velocity index (limits), first coordinate of the
     * quaternion whose length is off by more than 1e-6, or coordinate / nq + velocity index that is not finite. */
    void (*check)(int64_t *ints, double *floats, double *state, int64_t *report);
    /* tau (nv) at state and commands, with the bits that `observe` gives, and without the dynamics */
    void (*forces)(int64_t *ints, double *floats, double *work, double *state, double *tau);
    /* slopes (2 nv + ny + 1, nq + nv + nu), row by row: derivatives of `observed` in [q | v | command] of state, whose
     * quaternions may have any length but 0. The last row has 1 over a column that is known, 0 where it is not, over
     * coordinates of custom hinges. `room` is scratch. */
    void (*state_slopes)(int64_t *ints, double *floats, double *work, double *room, double *state, double *slopes);
    /* 0, or the number of the table in ints (n numbers) with an index that would lead a kernel out of its vectors. A
     * file may be damaged and its checksum right: no other kernel is called before this. */
    int64_t (*trust)(const int64_t *ints, uint64_t n);
} Kernels;

/* The fastest code that this processor runs; `name` gets "x86-64-v3", "x86-64-v2", "aarch64", … or NULL when the
 * processor runs none of them (the return is then NULL too). */
const Kernels *kernels_for_this_processor(const char **name);

/* What `trust` finds wrong: "topology", "sensors", …; NULL where nothing is. */
const char *kernels_refuse(const Kernels *kernels, const int64_t *ints, uint64_t n);

#endif
