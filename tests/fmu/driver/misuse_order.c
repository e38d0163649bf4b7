/* Calls in states of the standard's state machine where they are not allowed. */
#include "misuse.h"

#include <stdlib.h>

static Status step(Instance *instance)
{
    double reached;
    return instance_step(instance, 0.0, instance->fmu->description->step, &reached);
}

/* Back to a fresh instance after a refused call. */
static void refused_fresh(Test *test, Instance *instance, size_t errors_before, Status status, const char *what)
{
    expect_refused(test, instance, errors_before, status, what);
    GOOD(test, instance, instance_reset(instance));
}

#define REFUSED_FRESH(test, instance, call)                              \
    do {                                                                 \
        size_t before_ = (instance)->log.errors;                         \
        refused_fresh(test, instance, before_, (call), "fresh: " #call); \
    } while (0)

static void order_fresh(Test *test)
{
    Instance instance;
    size_t n = test->fmu->description->n_continuous;
    double *numbers = allocate(n, sizeof(double));
    bool again;
    fresh(test, &instance);
    REFUSED_FRESH(test, &instance, step(&instance));
    REFUSED_FRESH(test, &instance, instance_exit_initialisation(&instance));
    REFUSED_FRESH(test, &instance, instance_terminate(&instance));
    REFUSED_FRESH(test, &instance, instance_enter_continuous(&instance));
    REFUSED_FRESH(test, &instance, instance_iterate_events(&instance, &again));
    REFUSED_FRESH(test, &instance, instance_set_time(&instance, 0.0));
    REFUSED_FRESH(test, &instance, instance_set_states(&instance, numbers, n));
    REFUSED_FRESH(test, &instance, instance_get_derivatives(&instance, numbers, n));
    GOOD(test, &instance, instance_initialise(&instance));
    done(test, &instance);
    free(numbers);
}

static void order_initialising(Test *test)
{
    Instance instance;
    fresh(test, &instance);
    GOOD(test, &instance, instance_enter_initialisation(&instance, 0.0));
    REFUSED(test, &instance, step(&instance));
    GOOD(test, &instance, instance_reset(&instance));
    GOOD(test, &instance, instance_enter_initialisation(&instance, 0.0));
    REFUSED(test, &instance, instance_enter_initialisation(&instance, 0.0));
    GOOD(test, &instance, instance_reset(&instance));
    GOOD(test, &instance, instance_enter_initialisation(&instance, 0.0));
    REFUSED_RESTART(test, &instance, instance_terminate(&instance));
    done(test, &instance);
}

static void order_running(Test *test)
{
    Instance instance;
    bool again;
    ready(test, &instance);
    REFUSED_RESTART(test, &instance, instance_exit_initialisation(&instance));
    REFUSED_RESTART(test, &instance, instance_enter_initialisation(&instance, 0.0));
    REFUSED_RESTART(test, &instance, instance_enter_continuous(&instance));
    REFUSED_RESTART(test, &instance, instance_iterate_events(&instance, &again));
    if (test->kind == MODEL_EXCHANGE)
        REFUSED_RESTART(test, &instance, step(&instance));
    else
        REFUSED_RESTART(test, &instance, instance_set_time(&instance, 0.0));
    done(test, &instance);
}

static void order_ended(Test *test)
{
    const Description *description = test->fmu->description;
    double *values = allocate(description->inputs.numbers + description->outputs.numbers, sizeof(double));
    Instance instance;
    Trace wanted;
    reference_trace(test, &wanted, 0);
    ready(test, &instance);
    GOOD(test, &instance, instance_terminate(&instance));
    GOOD(test, &instance, instance_get_group(&instance, &description->outputs, values));
    REFUSED(test, &instance, instance_terminate(&instance));
    restart(test, &instance);
    GOOD(test, &instance, instance_terminate(&instance));
    REFUSED(test, &instance, instance_initialise(&instance));
    if (test->kind == CO_SIMULATION) {
        restart(test, &instance);
        GOOD(test, &instance, instance_terminate(&instance));
        REFUSED(test, &instance, step(&instance));
    }
    if (description->inputs.count > 0) {
        restart(test, &instance);
        GOOD(test, &instance, instance_terminate(&instance));
        REFUSED(test, &instance, instance_set_group(&instance, &description->inputs, values));
    }
    restart(test, &instance);
    expect_trace(test, &instance, &wanted, 0, "a run after all these refusals");
    done(test, &instance);
    trace_free(&wanted);
    free(values);
}

static void after_error(Test *test)
{
    const Reference nowhere = 0xFFFFFFFFu;
    Instance instance;
    Trace wanted;
    double value;
    reference_trace(test, &wanted, 4);
    ready(test, &instance);
    REFUSED(test, &instance, instance_get(&instance, &nowhere, 1, &value, 1));
    if (test->kind == CO_SIMULATION)
        REFUSED(test, &instance, step(&instance));
    else
        REFUSED(test, &instance, instance_set_time(&instance, 0.0));
    REFUSED(test, &instance, instance_exit_initialisation(&instance));
    restart(test, &instance);
    expect_trace(test, &instance, &wanted, 4, "a run after an error and a reset");
    done(test, &instance);
    trace_free(&wanted);
}

static void unsupported3(Test *test, Instance *instance, const Fmi3 *three)
{
    Component c = instance->component;
    const Reference zero = 0;
    const int32_t order = 1;
    double value = 0.0;
    size_t count = 0;
    REFUSED_RESTART(test, instance, three->EnterConfigurationMode(c));
    REFUSED_RESTART(test, instance, three->ExitConfigurationMode(c));
    REFUSED_RESTART(test, instance, three->GetOutputDerivatives(c, &zero, 1, &order, &value, 1));
    REFUSED_RESTART(test, instance, three->GetIntervalDecimal(c, &zero, 1, &value, NULL));
    REFUSED_RESTART(test, instance, three->SetShiftDecimal(c, &zero, 1, &value));
    REFUSED_RESTART(test, instance, three->ActivateModelPartition(c, 0, 0.0));
    REFUSED_RESTART(test, instance, three->GetNumberOfVariableDependencies(c, 0xFFFFFFFFu, &count));
    if (test->kind == CO_SIMULATION)
        REFUSED_RESTART(test, instance, three->EnterStepMode(c));
}

static void unsupported(Test *test)
{
    Instance instance;
    const Reference zero = 0;
    const int order = 1;
    double value = 0.0;
    ready(test, &instance);
    if (test->fmu->description->version == 3) {
        unsupported3(test, &instance, &test->fmu->three);
    } else {
        const Fmi2 *two = &test->fmu->two;
        Component c = instance.component;
        Text text;
        REFUSED_RESTART(test, &instance, two->SetRealInputDerivatives(c, &zero, 1, &order, &value));
        REFUSED_RESTART(test, &instance, two->GetRealOutputDerivatives(c, &zero, 1, &order, &value));
        if (test->kind == MODEL_EXCHANGE)
            REFUSED_RESTART(test, &instance, two->GetRealStatus(c, FMI2_LAST_SUCCESSFUL_TIME, &value));
        if (test->kind == MODEL_EXCHANGE)
            REFUSED_RESTART(test, &instance, two->CancelStep(c));
        else
            expect(test, two->CancelStep(c) == FMI_DISCARD, "there is no step to cancel");
        expect(test, two->GetStringStatus(c, FMI2_PENDING_STATUS, &text) != FMI_OK, "no step is pending");
    }
    done(test, &instance);
}

static void events3(Test *test)
{
    const Fmi3 *three = &test->fmu->three;
    const Description *description = test->fmu->description;
    Component none = three->InstantiateScheduledExecution("x", description->token, description->resources, false, false,
                                                          NULL, NULL, NULL, NULL, NULL);
    expect(test, none == NULL, "there is no scheduled execution");
    none = three->InstantiateCoSimulation("x", description->token, description->resources, false, false, true, false,
                                          NULL, 0, NULL, NULL, NULL);
    expect(test, none == NULL, "eventModeUsed without hasEventMode is refused");
}

static void not_offered(Test *test)
{
    expect(test, test->fmu->description->version == 2 || test->fmu->three.GetVersion()[0] == '3',
           "fmi3GetVersion begins with 3");
    expect(test, test->fmu->description->version == 3 || test->fmu->two.GetVersion()[0] == '2',
           "fmi2GetVersion begins with 2");
    if (test->fmu->description->version == 3)
        events3(test);
}

const Check order_checks[] = {
    {"order_fresh",        order_fresh,        true,  true,  false},
    {"order_initialising", order_initialising, true,  true,  false},
    {"order_running",      order_running,      true,  true,  false},
    {"order_ended",        order_ended,        true,  true,  false},
    {"after_error",        after_error,        true,  true,  false},
    {"unsupported",        unsupported,        true,  true,  false},
    {"not_offered",        not_offered,        true,  false, false},
    {NULL,                 NULL,               false, false, false},
};
