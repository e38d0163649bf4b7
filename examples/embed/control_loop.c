/* Joint controllers around Limberjack's engine, as a control program runs them: read, compute, command, step.
 *
 *     limberjack compile examples/torque_arm.yaml -o torque_arm.ljm
 *     control_loop torque_arm.ljm 1000
 *
 * The arm has no drives of its own: a PD law here moves its seven joints to their goals. The last line is the state
 * with all its digits.
 */
#include <limberjack.h>
#include <stdio.h>
#include <stdlib.h>

enum { JOINTS = 7 };
static const double goal[JOINTS] = {0.5, 0.8, -0.3, -1.5, 0.2, 0.9, -0.4}; /* rad */
static const double kp = 400.0, kd = 40.0;                                 /* N·m/rad, N·m·s/rad */

/* What the loop reads and writes; lj_find turned the names into these indices. */
typedef struct {
    uint32_t motion[2 * JOINTS]; /* angles, then rates */
    uint32_t torque[JOINTS];
} Signals;

/* The index of "<group>.joint<number>": the status of lj_find. */
static int find(lj_model *model, const char *group, int number, uint32_t *index)
{
    char name[32];
    snprintf(name, sizeof name, "%s.joint%d", group, number);
    return lj_find(model, name, index);
}

static int find_all(lj_model *model, Signals *signals)
{
    int status = LJ_OK;
    for (int i = 0; i < JOINTS && status == LJ_OK; i++) {
        status = find(model, "q", i + 1, &signals->motion[i]);
        if (status == LJ_OK)
            status = find(model, "v", i + 1, &signals->motion[JOINTS + i]);
        if (status == LJ_OK)
            status = find(model, "command", i + 1, &signals->torque[i]);
    }
    return status;
}

/* One period of the loop. */
static int control(lj_model *model, const Signals *signals)
{
    double motion[2 * JOINTS], torque[JOINTS];
    int status = lj_get(model, signals->motion, 2 * JOINTS, motion);
    for (int i = 0; i < JOINTS && status == LJ_OK; i++)
        torque[i] = kp * (goal[i] - motion[i]) - kd * motion[JOINTS + i];
    if (status == LJ_OK)
        status = lj_set(model, signals->torque, JOINTS, torque);
    return status == LJ_OK ? lj_step(model, 1) : status;
}

static int print(lj_model *model, const Signals *signals)
{
    double motion[2 * JOINTS];
    const int status = lj_get(model, signals->motion, 2 * JOINTS, motion);
    printf("%.17g", lj_time(model));
    for (int i = 0; i < 2 * JOINTS && status == LJ_OK; i++)
        printf(" %.17g", motion[i]);
    printf("\n");
    return status;
}

int main(int count, char **arguments)
{
    lj_model *model = NULL;
    Signals signals;
    const long steps = count > 2 ? atol(arguments[2]) : 1000;
    int status = lj_open(count > 1 ? arguments[1] : "torque_arm.ljm", &model);
    if (status == LJ_OK)
        status = find_all(model, &signals);
    for (long k = 0; k < steps && status == LJ_OK; k++)
        status = control(model, &signals);
    if (status == LJ_OK)
        status = print(model, &signals);
    if (status != LJ_OK)
        fprintf(stderr, "%s\n", lj_error(model));
    lj_close(model);
    return status;
}
