/* A model small enough to be written twice: here as kernels, in shim_model.py as the oracle.
 *
 * A damped pendulum with a stop and a bounded motor, and a top that turns freely without torques:
 *   q = [angle, w, x, y, z], v = [rate, wx, wy, wz], commands [torque, latch], outputs [angle, distance of work from a
 *   cache line in bytes, latch].
 *   floats = [stiffness, damping, mass, 1/mass, lower, upper, limit]
 * Semi-implicit Euler: the new rate moves the angle, so that C and Python round alike.
 */
#include <math.h>
#include <string.h>

#include "kernels.h"

enum { STIFFNESS, DAMPING, MASS, INVERSE, LOWER, UPPER, LIMIT, FLOATS };
#ifndef ROOM
#define ROOM 3 /* a test defines one that the shim finds too large */
#endif
enum { INTS = 48, WORK = 24, NQ = 5, NV = 4, NU = 2, NY = 3, COLUMNS = NQ + NV + NU };
enum { Q = 2, V = Q + NQ, U = V + NV };
static const double fastest = 1e3;

static void sizes(int64_t *ints, int64_t *out)
{
    const int64_t fit = ints[2] == NQ && ints[3] == NV;
    const int64_t all[10] = {INTS,       FLOATS, WORK, Q + NQ + NV + NU,           2 * NV + NY, 9 + 13,
                             2 * NV + 2, NU,     ROOM, (2 * NV + NY + 1) * COLUMNS};
    for (int i = 0; i < 10; i++)
        out[i] = fit ? all[i] : -1;
}

static double torque(const double *floats, const double *state)
{
    const double asked = fmax(-floats[LIMIT], fmin(floats[LIMIT], state[U]));
    return asked - floats[DAMPING] * state[V];
}

static double acceleration(const double *floats, const double *state)
{
    return (torque(floats, state) - floats[STIFFNESS] * sin(state[Q])) * floats[INVERSE];
}

static void rates(int64_t *ints, double *floats, double *state, double *qdot)
{
    (void)ints, (void)floats;
    const double *p = state + Q + 1, *w = state + V + 1;
    qdot[0] = state[V];
    qdot[1] = 0.5 * (-p[1] * w[0] - p[2] * w[1] - p[3] * w[2]);
    qdot[2] = 0.5 * (p[0] * w[0] + p[2] * w[2] - p[3] * w[1]);
    qdot[3] = 0.5 * (p[0] * w[1] - p[1] * w[2] + p[3] * w[0]);
    qdot[4] = 0.5 * (p[0] * w[2] + p[1] * w[1] - p[2] * w[0]);
}

static void normalise(int64_t *ints, double *floats, double *state)
{
    (void)ints, (void)floats;
    double *p = state + Q + 1;
    const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    if (fabs(length - 1.0) > 1e-15)
        for (int i = 0; i < 4; i++)
            p[i] /= length;
}

static int64_t step(int64_t *ints, double *floats, double *state, double dt)
{
    double qdot[NQ];
    state[V] += dt * acceleration(floats, state);
    rates(ints, floats, state, qdot);
    for (int i = 0; i < NQ; i++)
        state[Q + i] += dt * qdot[i];
    normalise(ints, floats, state);
    state[1] += 1.0;
    state[0] = state[1] * dt;
    if (!isfinite(state[V]))
        return ADVANCE_NOT_FINITE;
    return fabs(state[V]) > fastest ? ADVANCE_DIVERGED : ADVANCE_OK;
}

static void advance(int64_t *ints, double *floats, double *work, double *state, double dt, int64_t integrator,
                    int64_t substeps, int64_t steps, int64_t ahead, int64_t *report)
{
    (void)integrator, (void)substeps, (void)ahead;
    enum { NUMBERS = U + NU };
    report[0] = ADVANCE_OK, report[1] = 0, report[2] = 0;
    for (; report[2] < steps; report[2]++) {
        memcpy(work, state, NUMBERS * sizeof *work);
        report[0] = step(ints, floats, state, dt);
        if (report[0] != ADVANCE_OK) {
            memcpy(state, work, NUMBERS * sizeof *work);
            return;
        }
    }
}

static void observe(int64_t *ints, double *floats, double *work, double *state, double *tau, double *vdot,
                    double *outputs)
{
    (void)ints;
    memset(tau, 0, NV * sizeof *tau);
    memset(vdot, 0, NV * sizeof *vdot);
    tau[0] = torque(floats, state);
    vdot[0] = acceleration(floats, state);
    outputs[0] = state[Q];
    outputs[1] = (double)((uintptr_t)work % 64);
    outputs[2] = state[U + 1];
}

/* Potential energy also depends on the quaternion's length, which is 1 wherever this is asked. */
static void survey(int64_t *ints, double *floats, double *work, double *state, double *surveyed)
{
    (void)ints, (void)work;
    const double *p = state + Q + 1;
    memset(surveyed, 0, (9 + 13) * sizeof *surveyed);
    surveyed[0] = 0.5 * floats[MASS] * state[V] * state[V];
    surveyed[1] = -floats[STIFFNESS] * cos(state[Q]);
    surveyed[2] = surveyed[0] + surveyed[1];
    surveyed[3] = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3];
}

static void switches(int64_t *ints, double *floats, double *state, double *out)
{
    (void)ints;
    for (int i = 0; i < 2 * NV + 2; i++)
        out[i] = -1.0;
    out[0] = state[Q] - floats[UPPER];
    out[NV] = floats[LOWER] - state[Q];
    out[2 * NV] = state[U] - floats[LIMIT];
    out[2 * NV + 1] = -floats[LIMIT] - state[U];
}

static void refresh(int64_t *ints, double *floats)
{
    (void)ints;
    floats[INVERSE] = 1.0 / floats[MASS];
}

static void check(int64_t *ints, double *floats, double *state, int64_t *report)
{
    (void)ints;
    const double *p = state + Q + 1;
    const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    report[0] = CHECK_OK, report[1] = 0;
    if (floats[LOWER] > floats[UPPER])
        report[0] = CHECK_LIMITS_CROSSED;
    else if (fabs(length - 1.0) > 1e-6)
        report[0] = CHECK_QUATERNION, report[1] = 1;
}

static void forces(int64_t *ints, double *floats, double *work, double *state, double *tau)
{
    (void)ints, (void)work;
    memset(tau, 0, NV * sizeof *tau);
    tau[0] = torque(floats, state);
}

/* The top's quaternion plays a custom hinge: its columns are not known. */
static void state_slopes(int64_t *ints, double *floats, double *work, double *room, double *state, double *slopes)
{
    (void)ints, (void)work;
    memset(room, 0, ROOM * sizeof *room);
    memset(slopes, 0, (2 * NV + NY + 1) * COLUMNS * sizeof *slopes);
    double *tau = slopes, *vdot = slopes + NV * COLUMNS;
    tau[NQ] = -floats[DAMPING];
    tau[NQ + NV] = fabs(state[U]) < floats[LIMIT] ? 1.0 : 0.0;
    for (int c = 0; c < COLUMNS; c++)
        vdot[c] = tau[c] * floats[INVERSE];
    vdot[0] = -floats[STIFFNESS] * cos(state[Q]) * floats[INVERSE];
    slopes[2 * NV * COLUMNS] = 1.0;
    for (int c = 0; c < COLUMNS; c++)
        slopes[(2 * NV + NY) * COLUMNS + c] = c >= 1 && c < NQ ? 0.0 : 1.0;
}

/* There are no indices in the toy's ints. */
static void trust(int64_t *ints, double *floats, int64_t n, int64_t *report)
{
    (void)ints, (void)floats, (void)n;
    report[0] = 0;
}

#define TOY(name, arguments, cells) .name = name,
static const Entries entries = {LIMBERJACK_ENTRIES(TOY)};

const Entries *limberjack_best(const char **level)
{
    *level = "toys";
    return &entries;
}
