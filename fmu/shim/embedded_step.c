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
#define BATCH 256           /* integrator's steps from one look to the next at whether to go on */

/* Tells what `check` found, and what the model cannot do therefore; `place` is its second number. */
static void tell(Model *model, const char *verb, int64_t status, int64_t place)
{
    const int64_t n_q = (int64_t)model->file.header->n_q;
    if (status == CHECK_LIMITS_CROSSED)
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "The model cannot %s: the stops of %s are crossed, the lower one lies above the upper; set them "
                     "in order.",
                     verb, embedded_label(model, place));
    else if (status == CHECK_QUATERNION)
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "The model cannot %s: the quaternion (w, x, y, z) that begins with %s does not have length 1; "
                     "scale its start values.",
                     verb, embedded_label(model, -1 - place));
    else
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "The model cannot %s: the start value of %s is no finite number; set one.", verb,
                     embedded_label(model, place < n_q ? -1 - place : place - n_q));
}

static Status check(Model *model, const char *verb)
{
    embedded_settle(model);
    int64_t report[2] = {CHECK_OK, 0};
    model->kernels->check(model->ints, model->floats, model->state, report);
    model->unchecked = report[0] != CHECK_OK;
    if (!model->unchecked)
        return STATUS_OK;
    tell(model, verb, report[0], report[1]);
    return STATUS_ERROR;
}

Status model_start(Model *model)
{
    model->fresh = 0;
    return check(model, "start");
}

/* Internal steps of a communication step: as many of dt as fit, or the fewest equal ones that are no longer. An
 * importer may have computed h as the difference of two times, which rounds as they do. */
static double divide(const Model *model, double time, double h, double *step)
{
    const double dt = model->file.header->dt;
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
    return model->ints[C_INSTRUMENTS] + model->ints[C_VALVES] > 0;
}

static Status diverged(Model *model, const int64_t *report, double reached)
{
    if (report[0] == ADVANCE_LOOP_OPEN) {
        instance_log(model->instance, STATUS_DISCARD, NULL,
                     "At %.9g s %s cannot be closed again: the mechanism came to the end of its reach, or start values "
                     "do not fit it. Check commands and start values, or reduce the step with which the FMU was "
                     "exported (%g s).",
                     reached, embedded_loop_label(model, report[1]), model->file.header->dt);
        return STATUS_DISCARD;
    }
    instance_log(model->instance, STATUS_DISCARD, NULL,
                 "At %.9g s %s %s. Reduce the step with which the FMU was exported (%g s), or check stiffnesses, gains "
                 "and commands.",
                 reached, embedded_label(model, report[1]),
                 report[0] == ADVANCE_NOT_FINITE ? "is no longer a finite number: the motion diverged"
                                                 : "grew beyond all bounds: the motion diverges",
                 model->file.header->dt);
    return STATUS_DISCARD;
}

/* A communication step that the model does not begin: it has too many internal steps, or they are of another length
 * than instruments and valves count in. */
static bool refuses(Model *model, double h, double count, double step)
{
    const double dt = model->file.header->dt;
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

/* `count` internal steps, in batches between which the step may be ended; `*done` of them were made. */
static Status advance(Model *model, double time, double step, int64_t count, int64_t *done)
{
    const PlantFileHeader *header = model->file.header;
    const int64_t substeps = (int64_t)header->substeps, batch = substeps < BATCH ? BATCH / substeps : 1;
    Status status = STATUS_OK;
    for (bool on = true; on && *done < count;) {
        const int64_t portion = count - *done < batch ? count - *done : batch;
        int64_t report[3] = {ADVANCE_OK, 0, 0};
        model->kernels->advance(model->ints, model->floats, model->work, model->state, step,
                                (int64_t)header->integrator, substeps, portion, count - *done, report);
        *done += report[2];
        const double reached = time + (double)*done * step;
        if (report[0] != ADVANCE_OK)
            return diverged(model, report, reached);
        on = *done == count || instance_goes_on(model->instance, reached, &status);
    }
    return status;
}

Status model_step(Model *model, double time, double h, double *reached)
{
    double step = 0.0;
    const double count = divide(model, time, h, &step);
    *reached = time;
    memcpy(model->before, model->state, (size_t)model->file.header->n_state * sizeof(double));
    if (refuses(model, h, count, step))
        return STATUS_DISCARD;
    if (model->unchecked && check(model, "go on") != STATUS_OK) /* single parameters may pass where two disagree */
        return STATUS_ERROR;
    embedded_settle(model);
    int64_t done = 0;
    const Status status = advance(model, time, step, (int64_t)count, &done);
    embedded_changed(model, false);
    *reached = done == (int64_t)count ? time + h : time + (double)done * step;
    return status;
}

Status model_undo_step(Model *model)
{
    memcpy(model->state, model->before, (size_t)model->file.header->n_state * sizeof(double));
    embedded_changed(model, false);
    return STATUS_OK;
}
