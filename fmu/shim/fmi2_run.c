/* FMI 2.0: running the model, by Model Exchange and by Co-Simulation. */
#include "exchange.h"
#include "fmi2_api.h"
#include "interruption.h"
#include "values.h"

#define EVALUATED ((unsigned)(PHASE_INITIALIZATION | PHASE_EVENT | PHASE_CONTINUOUS | PHASE_TERMINATED | PHASE_ERROR))
#define STEPPED ((unsigned)(PHASE_STEP | PHASE_STEP_FAILED | PHASE_TERMINATED | PHASE_ERROR))

static fmi2Status done(Instance *instance, Status status)
{
    return (fmi2Status)instance_done(instance, status);
}

fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    Instance *instance = instance_begin(c, __func__, PHASE_EVENT | PHASE_CONTINUOUS);
    if (!instance)
        return fmi2Error;
    instance->phase = PHASE_EVENT;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    Instance *instance = instance_begin(c, __func__, PHASE_EVENT);
    if (!instance)
        return fmi2Error;
    if (!instance_has(instance, __func__, info, "eventInfo"))
        return done(instance, STATUS_ERROR);
    *info = (fmi2EventInfo){0}; /* an event changes which stops and limits act, but neither states nor time events */
    return fmi2OK;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    Instance *instance = instance_begin(c, __func__, PHASE_EVENT);
    if (!instance)
        return fmi2Error;
    instance->phase = PHASE_CONTINUOUS;
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_set_state_before, fmi2Boolean *enter_event_mode,
                                       fmi2Boolean *terminate)
{
    (void)no_set_state_before;
    Instance *instance = instance_begin(c, __func__, PHASE_CONTINUOUS);
    if (!instance)
        return fmi2Error;
    if (!instance_has(instance, __func__, enter_event_mode, "enterEventMode") ||
        !instance_has(instance, __func__, terminate, "terminateSimulation"))
        return done(instance, STATUS_ERROR);
    *enter_event_mode = *terminate = 0;
    return fmi2OK;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time)
{
    Instance *instance = instance_begin_exchange(c, __func__, PHASE_EVENT | PHASE_CONTINUOUS);
    return instance ? done(instance, exchange_set_time(instance, __func__, time)) : fmi2Error;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n)
{
    Instance *instance = instance_begin_exchange(c, __func__, PHASE_CONTINUOUS);
    return instance ? done(instance, exchange_set_states(instance, __func__, x, n)) : fmi2Error;
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t n)
{
    Instance *instance = instance_begin_exchange(c, __func__, EVALUATED);
    return instance ? done(instance, exchange_get_derivatives(instance, __func__, derivatives, n)) : fmi2Error;
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicators[], size_t n)
{
    Instance *instance = instance_begin_exchange(c, __func__, EVALUATED);
    return instance ? done(instance, exchange_get_indicators(instance, __func__, indicators, n)) : fmi2Error;
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    Instance *instance = instance_begin_exchange(c, __func__, EVALUATED);
    return instance ? done(instance, exchange_get_states(instance, __func__, x, n)) : fmi2Error;
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t n)
{
    Instance *instance = instance_begin_exchange(c, __func__, EVALUATED | PHASE_INSTANTIATED);
    return instance ? done(instance, exchange_get_nominals(instance, __func__, nominals, n)) : fmi2Error;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    (void)vr, (void)order, (void)value;
    Instance *instance = instance_begin(c, __func__, PHASE_INSTANTIATED | PHASE_INITIALIZATION | PHASE_STEP);
    if (!instance)
        return fmi2Error;
    if (n == 0)
        return fmi2OK;
    return done(instance, instance_unsupported(instance, __func__,
                                               "inputs are held during a step "
                                               "(canInterpolateInputs is false)"));
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[])
{
    (void)vr, (void)order, (void)value;
    Instance *instance = instance_begin(c, __func__, STEPPED);
    if (!instance)
        return fmi2Error;
    if (n == 0)
        return fmi2OK;
    return done(instance, instance_unsupported(instance, __func__,
                                               "rates and accelerations are variables of their own "
                                               "(maxOutputDerivativeOrder is 0)"));
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real h, fmi2Boolean no_set_state_before)
{
    (void)no_set_state_before;
    Instance *instance = c;
    if (!instance || !instance_enter(instance, __func__))
        return fmi2Error;
    fmi2Status status = fmi2Error;
    if (instance_begin(instance, __func__, PHASE_STEP))
        status = done(instance, instance_step(instance, __func__, time, h));
    instance_leave(instance);
    return status;
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    Instance *instance = c;
    if (!instance)
        return fmi2Error;
    if (instance->interface == CO_SIMULATION)
        return (fmi2Status)instance_cancel(instance, __func__);
    return done(instance, instance_unsupported(instance, __func__, "Model Exchange has no steps to cancel"));
}

/* FMI 2.0.4, section 4.2.3: a status that a slave cannot report is discarded. */
static fmi2Status unanswered(Instance *instance, const char *function, fmi2StatusKind kind)
{
    instance_log(instance, STATUS_DISCARD, NULL, "%s: status %d is not kept: no step is ever pending.", function,
                 (int)kind);
    return fmi2Discard;
}

fmi2Status fmi2GetStatus(fmi2Component c, fmi2StatusKind kind, fmi2Status *value)
{
    Instance *instance = instance_begin(c, __func__, STEPPED);
    if (!instance)
        return fmi2Error;
    if (!instance_has(instance, __func__, value, "value"))
        return done(instance, STATUS_ERROR);
    if (kind != fmi2DoStepStatus)
        return unanswered(instance, __func__, kind);
    *value = (fmi2Status)instance->step_status;
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, fmi2StatusKind kind, fmi2Real *value)
{
    Instance *instance = instance_begin(c, __func__, STEPPED);
    if (!instance)
        return fmi2Error;
    if (!instance_has(instance, __func__, value, "value"))
        return done(instance, STATUS_ERROR);
    if (kind != fmi2LastSuccessfulTime)
        return unanswered(instance, __func__, kind);
    *value = instance->last_successful;
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, fmi2StatusKind kind, fmi2Integer *value)
{
    (void)value;
    Instance *instance = instance_begin(c, __func__, STEPPED);
    return instance ? unanswered(instance, __func__, kind) : fmi2Error;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, fmi2StatusKind kind, fmi2Boolean *value)
{
    Instance *instance = instance_begin(c, __func__, STEPPED);
    if (!instance)
        return fmi2Error;
    if (!instance_has(instance, __func__, value, "value"))
        return done(instance, STATUS_ERROR);
    if (kind != fmi2Terminated)
        return unanswered(instance, __func__, kind);
    *value = 0; /* the model never asks to end the run */
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, fmi2StatusKind kind, fmi2String *value)
{
    (void)value;
    Instance *instance = instance_begin(c, __func__, STEPPED);
    return instance ? unanswered(instance, __func__, kind) : fmi2Error;
}
