/* Calls of an instance for saved states, Model Exchange and derivatives. */
#include "instance.h"

#define TWO(instance) ((instance)->fmu->description->version == 2)
#define C(instance) ((instance)->component)

Status instance_save(Instance *instance, FmuState *state)
{
    return TWO(instance) ? instance->fmu->two.GetFMUstate(C(instance), state)
                         : instance->fmu->three.GetFMUState(C(instance), state);
}

Status instance_restore(Instance *instance, FmuState state)
{
    return TWO(instance) ? instance->fmu->two.SetFMUstate(C(instance), state)
                         : instance->fmu->three.SetFMUState(C(instance), state);
}

Status instance_drop(Instance *instance, FmuState *state)
{
    return TWO(instance) ? instance->fmu->two.FreeFMUstate(C(instance), state)
                         : instance->fmu->three.FreeFMUState(C(instance), state);
}

Status instance_state_size(Instance *instance, FmuState state, size_t *size)
{
    return TWO(instance) ? instance->fmu->two.SerializedFMUstateSize(C(instance), state, size)
                         : instance->fmu->three.SerializedFMUStateSize(C(instance), state, size);
}

Status instance_pack(Instance *instance, FmuState state, uint8_t *bytes, size_t size)
{
    return TWO(instance) ? instance->fmu->two.SerializeFMUstate(C(instance), state, (char *)bytes, size)
                         : instance->fmu->three.SerializeFMUState(C(instance), state, bytes, size);
}

Status instance_unpack(Instance *instance, const uint8_t *bytes, size_t size, FmuState *state)
{
    return TWO(instance) ? instance->fmu->two.DeSerializeFMUstate(C(instance), (const char *)bytes, size, state)
                         : instance->fmu->three.DeserializeFMUState(C(instance), bytes, size, state);
}

Status instance_enter_event(Instance *instance)
{
    return TWO(instance) ? instance->fmu->two.EnterEventMode(C(instance))
                         : instance->fmu->three.EnterEventMode(C(instance));
}

Status instance_iterate_events(Instance *instance, bool *again)
{
    bool terminate = false, nominals = false, values = false, next = false;
    double time = 0.0;
    if (!TWO(instance))
        return instance->fmu->three.UpdateDiscreteStates(C(instance), again, &terminate, &nominals, &values, &next,
                                                         &time);
    EventInfo2 info = {0};
    Status status = instance->fmu->two.NewDiscreteStates(C(instance), &info);
    *again = info.new_discrete_states_needed != 0;
    return status;
}

Status instance_enter_continuous(Instance *instance)
{
    return TWO(instance) ? instance->fmu->two.EnterContinuousTimeMode(C(instance))
                         : instance->fmu->three.EnterContinuousTimeMode(C(instance));
}

Status instance_set_time(Instance *instance, double time)
{
    return TWO(instance) ? instance->fmu->two.SetTime(C(instance), time)
                         : instance->fmu->three.SetTime(C(instance), time);
}

Status instance_set_states(Instance *instance, const double *states, size_t n)
{
    return TWO(instance) ? instance->fmu->two.SetContinuousStates(C(instance), states, n)
                         : instance->fmu->three.SetContinuousStates(C(instance), states, n);
}

Status instance_get_states(Instance *instance, double *states, size_t n)
{
    return TWO(instance) ? instance->fmu->two.GetContinuousStates(C(instance), states, n)
                         : instance->fmu->three.GetContinuousStates(C(instance), states, n);
}

Status instance_get_derivatives(Instance *instance, double *derivatives, size_t n)
{
    return TWO(instance) ? instance->fmu->two.GetDerivatives(C(instance), derivatives, n)
                         : instance->fmu->three.GetContinuousStateDerivatives(C(instance), derivatives, n);
}

Status instance_get_indicators(Instance *instance, double *indicators, size_t n)
{
    return TWO(instance) ? instance->fmu->two.GetEventIndicators(C(instance), indicators, n)
                         : instance->fmu->three.GetEventIndicators(C(instance), indicators, n);
}

Status instance_get_nominals(Instance *instance, double *nominals, size_t n)
{
    return TWO(instance) ? instance->fmu->two.GetNominalsOfContinuousStates(C(instance), nominals, n)
                         : instance->fmu->three.GetNominalsOfContinuousStates(C(instance), nominals, n);
}

Status instance_completed(Instance *instance, bool *enter_event, bool *terminate)
{
    if (!TWO(instance))
        return instance->fmu->three.CompletedIntegratorStep(C(instance), true, enter_event, terminate);
    Bool2 event = 0, end = 0;
    Status status = instance->fmu->two.CompletedIntegratorStep(C(instance), 1, &event, &end);
    *enter_event = event != 0;
    *terminate = end != 0;
    return status;
}

Status instance_directional(Instance *instance, const Reference *unknowns, size_t n_unknowns, const Reference *knowns,
                            size_t n_knowns, const double *seed, size_t n_seed, double *sensitivity,
                            size_t n_sensitivity)
{
    if (TWO(instance))
        return instance->fmu->two.GetDirectionalDerivative(C(instance), unknowns, n_unknowns, knowns, n_knowns, seed,
                                                           sensitivity);
    return instance->fmu->three.GetDirectionalDerivative(C(instance), unknowns, n_unknowns, knowns, n_knowns, seed,
                                                         n_seed, sensitivity, n_sensitivity);
}
