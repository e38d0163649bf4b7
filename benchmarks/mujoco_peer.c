// MuJoCo as the peer of the benchmarks: calls its C functions in a loop and times them.
//
// The model and data are made in Python (benchmarks/mujoco_peer.py), which hands over their addresses; contacts,
// limits, passive forces, actuators and sensors are disabled there. Closed loops are equality constraints.

#include <mujoco/mujoco.h>

#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum { FORWARD, INVERSE, MASS_MATRIX, STEP, FORWARD_LOOPS, OPERATION_COUNT };

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void position_stage(const mjModel *m, mjData *d)
{
    mj_kinematics(m, d);
    mj_comPos(m, d);
}

// qacc = M⁻¹ (u - bias): what mj_forward does to a tree without anything but joints.
static void forward(const mjModel *m, mjData *d, const mjtNum *u)
{
    position_stage(m, d);
    mj_makeM(m, d);
    mj_factorM(m, d);
    mj_comVel(m, d);
    mj_rne(m, d, 0, d->qfrc_bias);
    for (int i = 0; i < m->nv; ++i)
        d->qfrc_smooth[i] = u[i] - d->qfrc_bias[i];
    mj_solveM(m, d, d->qacc, d->qfrc_smooth, 1);
}

// The same with equality constraints, by the model's own solver: what of mj_forward such a model needs.
static void forward_loops(const mjModel *m, mjData *d, const mjtNum *u)
{
    memcpy(d->qfrc_applied, u, sizeof(mjtNum) * (size_t)m->nv);
    position_stage(m, d);
    mj_makeM(m, d);
    mj_factorM(m, d);
    mj_makeConstraint(m, d);
    mj_projectConstraint(m, d);
    mj_comVel(m, d);
    mj_referenceConstraint(m, d);
    mj_rne(m, d, 0, d->qfrc_bias);
    mj_fwdAcceleration(m, d);
    mj_fwdConstraint(m, d);
}

static void inverse(const mjModel *m, mjData *d, const mjtNum *vdot)
{
    memcpy(d->qacc, vdot, sizeof(mjtNum) * (size_t)m->nv);
    position_stage(m, d);
    mj_comVel(m, d);
    mj_rne(m, d, 1, d->qfrc_inverse);
    for (int i = 0; i < m->nv; ++i)
        d->qfrc_inverse[i] += m->dof_armature[i] * vdot[i]; // mj_rne leaves it out
}

static void call(const mjModel *m, mjData *d, int operation, const mjtNum *q, const mjtNum *v, const mjtNum *u)
{
    memcpy(d->qpos, q, sizeof(mjtNum) * (size_t)m->nq);
    memcpy(d->qvel, v, sizeof(mjtNum) * (size_t)m->nv);
    switch (operation) {
    case FORWARD: forward(m, d, u); break;
    case FORWARD_LOOPS: forward_loops(m, d, u); break;
    case INVERSE: inverse(m, d, u); break;
    case MASS_MATRIX:
        position_stage(m, d);
        mj_makeM(m, d);
        break;
    case STEP:
        memcpy(d->qfrc_applied, u, sizeof(mjtNum) * (size_t)m->nv);
        mj_step(m, d);
        break;
    }
}

// CPU seconds of this thread for `calls` calls, cycling through `count` states (row major), or -1.
EXPORT double peer_time(const mjModel *m, mjData *d, int operation, long calls, const mjtNum *q, const mjtNum *v,
                        const mjtNum *u, int count)
{
    if (operation < 0 || operation >= OPERATION_COUNT || count < 1)
        return -1.0;
    const double begin = cpu_seconds();
    for (long i = 0; i < calls; ++i) {
        const long k = i % count;
        call(m, d, operation, q + k * m->nq, v + k * m->nv, u + k * m->nv);
    }
    return cpu_seconds() - begin;
}
