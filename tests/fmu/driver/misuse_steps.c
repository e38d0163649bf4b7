/* Co-Simulation steps that make no sense, and inputs that drive the model out of its bounds. */
#include "misuse.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Steps that would never end are not begun. */
static void endless_steps(Test *test, Instance *instance)
{
    const double sizes[] = {DBL_MAX, 1e300};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t lines = instance->log.lines;
        double reached;
        Status status = instance_step(instance, 0.0, sizes[i], &reached);
        expect(test, status == FMI_ERROR || status == FMI_DISCARD, "an endless step is refused or discarded");
        expect(test, instance->log.lines > lines, "an endless step is logged");
        restart(test, instance);
    }
}

static void wrong_steps(Test *test)
{
    double h = test->fmu->description->step, reached;
    const double sizes[] = {0.0, -0.0, -h, NAN, INFINITY, -INFINITY};
    const double times[] = {-h, h, 100.0 * h, NAN, INFINITY, -INFINITY, DBL_MAX};
    Instance instance;
    Trace wanted;
    reference_trace(test, &wanted, 0);
    ready(test, &instance);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        REFUSED_RESTART(test, &instance, instance_step(&instance, 0.0, sizes[i], &reached));
    endless_steps(test, &instance);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        REFUSED_RESTART(test, &instance, instance_step(&instance, times[i], h, &reached));
    expect_trace(test, &instance, &wanted, 0, "a run after wrong steps");
    REFUSED_RESTART(test, &instance, instance_step(&instance, 0.0, h, &reached));
    done(test, &instance);
    trace_free(&wanted);
}

/* Steps of odd lengths end where they say, and as far as a run in one step. */
static void odd_steps(Test *test)
{
    double h = test->fmu->description->step, time = 0.0, reached;
    const double lengths[] = {h, 3.0 * h, 10.0 * h, 0.5 * h, 1.75 * h, 1e-6 * h};
    size_t n = test->fmu->description->any_step ? 6 : 3;
    Instance instance;
    ready(test, &instance);
    for (size_t i = 0; i < n; i++) {
        GOOD(test, &instance, instance_step(&instance, time, lengths[i], &reached));
        time += lengths[i];
        expect(test, fabs(reached - time) <= 1e-9 * (1.0 + time), "a step ends at its end");
    }
    done(test, &instance);
}

/* Whatever the inputs, a step is done, discarded or refused, and its last good time lies in the step. */
static void extreme_inputs(Test *test)
{
    const Description *description = test->fmu->description;
    const double extremes[] = {1e6, -1e12, 1e150, DBL_MAX};
    double *values = allocate(description->inputs.numbers, sizeof(double)), h = description->step, reached = 0.0;
    Instance instance;
    Trace wanted;
    reference_trace(test, &wanted, 0);
    ready(test, &instance);
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
        Status status = FMI_OK;
        for (size_t j = 0; j < description->inputs.numbers; j++)
            values[j] = extremes[i];
        for (size_t step = 0; status <= FMI_WARNING && step < 200; step++) {
            size_t lines = instance.log.lines;
            double time = (double)step * h;
            status = instance_set_group(&instance, &description->inputs, values);
            if (status <= FMI_WARNING)
                status = instance_step(&instance, time, h, &reached);
            expect(test, status == FMI_OK || instance.log.lines > lines, "a step that is not OK is logged");
            expect(test, status > FMI_DISCARD || (reached >= time && reached <= time + h), "the last good time");
        }
        expect(test, status == FMI_OK || status == FMI_DISCARD || status == FMI_ERROR, "OK, Discard or Error");
        restart(test, &instance);
    }
    expect_trace(test, &instance, &wanted, 0, "a run after extreme inputs");
    done(test, &instance);
    trace_free(&wanted);
    free(values);
}

/* Parameters changed between two steps and changed back. */
static void tuned_in_between(Test *test)
{
    const Description *description = test->fmu->description;
    const Group *parameters = &description->parameters;
    double *values = allocate(2 * parameters->numbers, sizeof(double)), reached;
    double *changed = values + parameters->numbers;
    Instance instance;
    ready(test, &instance);
    GOOD(test, &instance, instance_get_group(&instance, parameters, values));
    for (size_t i = 0; i < parameters->numbers; i++)
        changed[i] = 1.0625 * values[i];
    GOOD(test, &instance, instance_step(&instance, 0.0, description->step, &reached));
    GOOD(test, &instance, instance_set_group(&instance, parameters, changed));
    GOOD(test, &instance, instance_step(&instance, description->step, description->step, &reached));
    GOOD(test, &instance, instance_set_group(&instance, parameters, values));
    GOOD(test, &instance, instance_get_group(&instance, parameters, changed));
    for (size_t i = 0; i < parameters->numbers; i++)
        expect(test, values[i] == changed[i], "a parameter keeps what was set");
    done(test, &instance);
    free(values);
}

const Check step_checks[] = {
    {"wrong_steps",      wrong_steps,      true,  false, false},
    {"odd_steps",        odd_steps,        true,  false, false},
    {"extreme_inputs",   extreme_inputs,   true,  false, false},
    {"tuned_in_between", tuned_in_between, true,  false, false},
    {NULL,               NULL,             false, false, false},
};
