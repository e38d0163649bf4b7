/* The engine inside the FMU: start and communication steps. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "embedded.h"
#include "interruption.h"
#include "layout.h"

#define MOST_STEPS 1e9      /* internal steps of one communication step: hours of computing */
#define STEP_TOLERANCE 1e-9 /* relative: how far a communication step may be from whole internal steps */
#define STRETCH 1e-6        /* relative: how much longer than dt equal steps may be, rather than one more of them */

Status model_start(Model *model)
{
    model->core.fresh = 0;
    return embedded_report(model, core_check(&model->core, "start"), STATUS_ERROR);
}

/* Internal steps of a communication step: as many of dt as fit, or the fewest equal ones that are no longer. An
 * importer may have computed h as the difference of two times, which rounds as they do. */
static double divide(const Model *model, double time, double h, double *step)
{
    const double dt = model->core.file.header->dt;
    const double whole = round(h / dt);
    if (whole >= 1.0 && fabs(h - whole * dt) <= STEP_TOLERANCE * h + 2.0 * DBL_EPSILON * fabs(time)) {
        *step = dt;
        return whole;
    }
    const double count = fmax(1.0, ceil(h / dt * (1.0 - STRETCH))); /* h / dt may be too small for a double */
    *step = h / count;
    return count;
}

/* Samples and delays are counted in steps, which must all be of one length. */
static bool counts_steps(const Model *model)
{
    return model->core.ints[C_INSTRUMENTS] + model->core.ints[C_VALVES] > 0;
}

/* A communication step that the model does not begin: it has too many internal steps, or they are of another length
 * than instruments and valves count in. */
static bool refuses(Model *model, double h, double count, double step)
{
    const double dt = model->core.file.header->dt;
    if (!(count <= MOST_STEPS))
        instance_log(model->instance, STATUS_DISCARD, NULL,
                     "A communication step of %g s has more than %g internal steps of %g s; make it shorter.", h,
                     MOST_STEPS, dt);
    else if (step != dt && counts_steps(model))
        instance_log(model->instance, STATUS_DISCARD, NULL,
                     "A communication step of %.17g s is not a multiple of the step of %.17g s, in which the model's "
                     "instruments and valves count; choose a multiple, or export the FMU with another --dt.",
                     h, dt);
    else
        return false;
    return true;
}

/* A running step, and how it ends where the importer ends it. */
typedef struct {
    Instance *instance;
    Status status;
} Run;

static bool goes_on(void *owner, double reached)
{
    Run *run = owner;
    return instance_goes_on(run->instance, reached, &run->status);
}

Status model_step(Model *model, double time, double h, double *reached)
{
    Core *core = &model->core;
    double step = 0.0;
    const double count = divide(model, time, h, &step);
    *reached = time;
    memcpy(model->before, core->state, (size_t)core->file.header->n_state * sizeof(double));
    if (refuses(model, h, count, step))
        return STATUS_DISCARD;
    if (core->unchecked && core_check(core, "go on") != CORE_OK) /* single parameters may pass where two disagree */
        return embedded_report(model, CORE_REFUSED, STATUS_ERROR);
    int64_t done = 0;
    Run run = {model->instance, STATUS_OK};
    const CoreStatus found = core_advance(core, time, step, (int64_t)count, goes_on, &run, &done);
    *reached = done == (int64_t)count ? time + h : time + (double)done * step;
    return found == CORE_OK ? run.status : embedded_report(model, found, STATUS_DISCARD);
}

Status model_undo_step(Model *model)
{
    memcpy(model->core.state, model->before, (size_t)model->core.file.header->n_state * sizeof(double));
    core_changed(&model->core, false);
    return STATUS_OK;
}
