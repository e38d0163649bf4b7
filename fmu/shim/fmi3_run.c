/* FMI 3.0: running the model, by Model Exchange and by Co-Simulation. */
#include "exchange.h"
#include "fmi3_api.h"
#include "interruption.h"

#define EVALUATED ((unsigned)(PHASE_INITIALIZATION | PHASE_EVENT | PHASE_CONTINUOUS | PHASE_TERMINATED | PHASE_ERROR))

static fmi3Status done(Instance *instance, Status status)
{
    return (fmi3Status)instance_done(instance, status);
}

fmi3Status fmi3EnterEventMode(fmi3Instance c)
{
    Instance *instance = instance_begin_exchange(c, __func__, PHASE_CONTINUOUS);
    if (!instance)
        return fmi3Error;
    instance->phase = PHASE_EVENT;
    return fmi3OK;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *states_need_update, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals_changed, fmi3Boolean *values_changed,
                                    fmi3Boolean *next_event_time_defined, fmi3Float64 *next_event_time)
{
    Instance *instance = instance_begin_exchange(c, __func__, PHASE_EVENT);
    if (!instance)
        return fmi3Error;
    if (!instance_has(instance, __func__, states_need_update, "discreteStatesNeedUpdate") ||
        !instance_has(instance, __func__, terminate, "terminateSimulation") ||
        !instance_has(instance, __func__, nominals_changed, "nominalsOfContinuousStatesChanged") ||
        !instance_has(instance, __func__, values_changed, "valuesOfContinuousStatesChanged") ||
        !instance_has(instance, __func__, next_event_time_defined, "nextEventTimeDefined") ||
        !instance_has(instance, __func__, next_event_time, "nextEventTime"))
        return done(instance, STATUS_ERROR);
    /* an event changes which stops and limits act, but neither states nor time events */
    *states_need_update = *terminate = *nominals_changed = *values_changed = *next_event_time_defined = false;
    *next_event_time = 0.0;
    return fmi3OK;
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c)
{
    Instance *instance = instance_begin_exchange(c, __func__, PHASE_EVENT);
    if (!instance)
        return fmi3Error;
    instance->phase = PHASE_CONTINUOUS;
    return fmi3OK;
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_set_state_before, fmi3Boolean *enter_event_mode,
                                       fmi3Boolean *terminate)
{
    (void)no_set_state_before;
    Instance *instance = instance_begin_exchange(c, __func__, PHASE_CONTINUOUS);
    if (!instance)
        return fmi3Error;
    if (!instance_has(instance, __func__, enter_event_mode, "enterEventMode") ||
        !instance_has(instance, __func__, terminate, "terminateSimulation"))
        return done(instance, STATUS_ERROR);
    *enter_event_mode = *terminate = false;
    return fmi3OK;
}

fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time)
{
    Instance *instance = instance_begin_exchange(c, __func__, PHASE_EVENT | PHASE_CONTINUOUS);
    return instance ? done(instance, exchange_set_time(instance, __func__, time)) : fmi3Error;
}

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t n)
{
    Instance *instance = instance_begin_exchange(c, __func__, PHASE_CONTINUOUS);
    return instance ? done(instance, exchange_set_states(instance, __func__, x, n)) : fmi3Error;
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 derivatives[], size_t n)
{
    Instance *instance = instance_begin_exchange(c, __func__, EVALUATED);
    return instance ? done(instance, exchange_get_derivatives(instance, __func__, derivatives, n)) : fmi3Error;
}

fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 indicators[], size_t n)
{
    Instance *instance = instance_begin_exchange(c, __func__, EVALUATED);
    return instance ? done(instance, exchange_get_indicators(instance, __func__, indicators, n)) : fmi3Error;
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t n)
{
    Instance *instance = instance_begin_exchange(c, __func__, EVALUATED);
    return instance ? done(instance, exchange_get_states(instance, __func__, x, n)) : fmi3Error;
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t n)
{
    Instance *instance = instance_begin_exchange(c, __func__, EVALUATED);
    return instance ? done(instance, exchange_get_nominals(instance, __func__, nominals, n)) : fmi3Error;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *n)
{
    Instance *instance = instance_begin_exchange(c, __func__, PHASES_ANY);
    if (!instance)
        return fmi3Error;
    if (!instance_has(instance, __func__, n, "the number"))
        return done(instance, STATUS_ERROR);
    *n = instance->n_states;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *n)
{
    Instance *instance = instance_begin_exchange(c, __func__, PHASES_ANY);
    if (!instance)
        return fmi3Error;
    if (!instance_has(instance, __func__, n, "the number"))
        return done(instance, STATUS_ERROR);
    *n = instance->n_indicators;
    return fmi3OK;
}

/* What a step reports besides its status. */
typedef struct {
    fmi3Boolean *event_handling_needed, *terminate, *early_return;
    fmi3Float64 *last_successful_time;
} StepResult;

static Status step(Instance *instance, const char *function, double time, double h, const StepResult *result)
{
    if (!instance_has(instance, function, result->event_handling_needed, "eventHandlingNeeded") ||
        !instance_has(instance, function, result->terminate, "terminateSimulation") ||
        !instance_has(instance, function, result->early_return, "earlyReturn") ||
        !instance_has(instance, function, result->last_successful_time, "lastSuccessfulTime"))
        return STATUS_ERROR;
    *result->event_handling_needed = *result->terminate = *result->early_return = false;
    const Status status = instance_step(instance, function, time, h);
    *result->early_return = status <= STATUS_WARNING && instance->early_return;
    *result->last_successful_time = instance->last_successful;
    return status;
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 h, fmi3Boolean no_set_state_before,
                      fmi3Boolean *event_handling_needed, fmi3Boolean *terminate, fmi3Boolean *early_return,
                      fmi3Float64 *last_successful_time)
{
    (void)no_set_state_before;
    Instance *instance = c;
    if (!instance || !instance_enter(instance, __func__))
        return fmi3Error;
    fmi3Status status = fmi3Error;
    if (instance_begin(instance, __func__, PHASE_STEP)) {
        const StepResult result = {event_handling_needed, terminate, early_return, last_successful_time};
        status = done(instance, step(instance, __func__, time, h, &result));
    }
    instance_leave(instance);
    return status;
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Int32 orders[],
                                    fmi3Float64 values[], size_t n_values)
{
    (void)vr, (void)orders, (void)values, (void)n_values;
    Instance *instance = instance_begin(c, __func__, PHASE_STEP | PHASE_TERMINATED | PHASE_ERROR);
    if (!instance)
        return fmi3Error;
    if (n == 0)
        return fmi3OK;
    return done(instance, instance_unsupported(instance, __func__,
                                               "rates and accelerations are variables of their own "
                                               "(maxOutputDerivativeOrder is 0)"));
}
