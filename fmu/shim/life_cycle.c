/* Transitions of the state machine that both versions of the standard share. */
#include <math.h>

#include "interruption.h"

/* How far two times of an importer may differ that are meant to be the same, s: importers add up steps, some of them in
 * single precision, whose rounding unit is 6e-8. */
static double slack(const Instance *instance, double time)
{
    return 1e-9 + 1e-7 * fabs(time) + instance->file->header->dt / 1000.0;
}

Status instance_set_experiment(Instance *instance, const char *function, double start, bool stop_defined, double stop)
{
    if (!isfinite(start)) {
        instance_log(instance, STATUS_ERROR, NULL, "%s: the start time is %g; give a finite time in s.", function,
                     start);
        return STATUS_ERROR;
    }
    if (stop_defined && !(stop >= start)) {
        instance_log(instance, STATUS_ERROR, NULL,
                     "%s: the stop time %.17g s is not after the start time %.17g s; give a later one, or none.",
                     function, stop, start);
        return STATUS_ERROR;
    }
    instance->time = instance->last_successful = start;
    instance->stop_defined = stop_defined;
    instance->stop = stop_defined ? stop : 0.0;
    return STATUS_OK;
}

Status instance_enter_initialization(Instance *instance)
{
    Status status = STATUS_OK;
    if (instance->interface == MODEL_EXCHANGE)
        status = model_set_time(instance->model, instance->time);
    if (status <= STATUS_WARNING)
        instance->phase = PHASE_INITIALIZATION;
    return status;
}

Status instance_exit_initialization(Instance *instance)
{
    Status status = model_start(instance->model);
    if (status <= STATUS_WARNING)
        instance->phase = instance->interface == MODEL_EXCHANGE ? PHASE_EVENT : PHASE_STEP;
    return status;
}

static bool check_step(Instance *instance, const char *function, double time, double h)
{
    if (!(h > 0.0) || !isfinite(h))
        instance_log(instance, STATUS_ERROR, NULL,
                     "%s: the communication step size is %g s; give a finite one greater than 0.", function, h);
    else if (!(fabs(time - instance->time) <= slack(instance, instance->time)))
        instance_log(instance, STATUS_ERROR, NULL,
                     "%s: the current communication point is %.17g s, but the model stands at %.17g s; steps must "
                     "follow each other, and going back needs a saved state.",
                     function, time, instance->time);
    else if (instance->stop_defined && time + h > instance->stop + slack(instance, instance->stop))
        instance_log(instance, STATUS_ERROR, NULL,
                     "%s: a step of %.17g s from %.17g s goes past the stop time %.17g s; shorten the last step, or "
                     "set up the experiment with a later stop time or none.",
                     function, h, time, instance->stop);
    else
        return true;
    return false;
}

static Status discarded(Instance *instance, double reached)
{
    instance->last_successful = reached;
    if (instance->version == 3) /* the computation may go on from where the step began: FMI 3.0.2, section 4.2.1.1 */
        return model_undo_step(instance->model) == STATUS_OK ? STATUS_DISCARD : STATUS_ERROR;
    instance->time = reached;
    instance->phase = PHASE_STEP_FAILED;
    return STATUS_DISCARD;
}

Status instance_step(Instance *instance, const char *function, double time, double h)
{
    if (!check_step(instance, function, time, h))
        return STATUS_ERROR;
    double reached = time;
    instance->early_return = false;
    Status status = model_step(instance->model, time, h, &reached);
    if (status == STATUS_DISCARD)
        status = discarded(instance, reached);
    else if (status <= STATUS_WARNING)
        instance->time = instance->last_successful = reached;
    instance->step_status = status;
    return status;
}

static Status reset(Instance *instance)
{
    Status status = model_reset(instance->model);
    if (status > STATUS_WARNING)
        return status;
    instance->phase = PHASE_INSTANTIATED;
    instance->stop_defined = false;
    instance->time = instance->stop = instance->last_successful = 0.0;
    instance->step_status = STATUS_OK;
    return status;
}

Status instance_reset(Instance *instance, const char *function)
{
    if (!instance || !instance_hold(instance, function))
        return STATUS_ERROR;
    const Status status = instance_done(instance, reset(instance));
    instance_leave(instance);
    return status;
}

Status instance_terminate(Instance *instance, const char *function, unsigned phases)
{
    if (!instance || !instance_hold(instance, function))
        return STATUS_ERROR;
    const bool allowed = instance_begin(instance, function, phases) != NULL;
    if (allowed) {
        model_terminate(instance->model);
        instance->phase = PHASE_TERMINATED;
    }
    instance_leave(instance);
    return allowed ? STATUS_OK : STATUS_ERROR;
}

void instance_free(Instance *instance, const char *function)
{
    if (instance && instance_hold(instance, function))
        instance_close(instance);
}
