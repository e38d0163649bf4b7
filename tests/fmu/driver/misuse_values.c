/* Null pointers, numbers that are none, references and counts that do not fit. */
#include "misuse.h"

#include <math.h>
#include <stdlib.h>

static void null_component(Test *test)
{
    Instance ghost = {.fmu = test->fmu, .kind = test->kind, .log.description = test->fmu->description};
    const Reference zero = 0;
    double value = 0.0;
    FmuState state = NULL;
    bool flag, other;
    size_t size;
    uint8_t bytes[8] = {0};
    EXPECT(test, instance_get(&ghost, &zero, 1, &value, 1) == FMI_ERROR);
    EXPECT(test, instance_set(&ghost, &zero, 1, &value, 1) == FMI_ERROR);
    EXPECT(test, instance_enter_initialisation(&ghost, 0.0) == FMI_ERROR);
    EXPECT(test, instance_exit_initialisation(&ghost) == FMI_ERROR);
    EXPECT(test, instance_terminate(&ghost) == FMI_ERROR);
    EXPECT(test, instance_reset(&ghost) == FMI_ERROR);
    EXPECT(test, instance_step(&ghost, 0.0, 0.1, &value) == FMI_ERROR);
    EXPECT(test, instance_set_logging(&ghost, true, 0, NULL) == FMI_ERROR);
    EXPECT(test, instance_save(&ghost, &state) == FMI_ERROR);
    EXPECT(test, instance_restore(&ghost, state) == FMI_ERROR);
    EXPECT(test, instance_state_size(&ghost, state, &size) == FMI_ERROR);
    EXPECT(test, instance_pack(&ghost, state, bytes, sizeof bytes) == FMI_ERROR);
    EXPECT(test, instance_unpack(&ghost, bytes, sizeof bytes, &state) == FMI_ERROR);
    EXPECT(test, instance_set_time(&ghost, 0.0) == FMI_ERROR);
    EXPECT(test, instance_set_states(&ghost, &value, 1) == FMI_ERROR);
    EXPECT(test, instance_get_states(&ghost, &value, 1) == FMI_ERROR);
    EXPECT(test, instance_get_derivatives(&ghost, &value, 1) == FMI_ERROR);
    EXPECT(test, instance_get_indicators(&ghost, &value, 1) == FMI_ERROR);
    EXPECT(test, instance_get_nominals(&ghost, &value, 1) == FMI_ERROR);
    EXPECT(test, instance_enter_event(&ghost) == FMI_ERROR);
    EXPECT(test, instance_iterate_events(&ghost, &flag) == FMI_ERROR);
    EXPECT(test, instance_enter_continuous(&ghost) == FMI_ERROR);
    EXPECT(test, instance_completed(&ghost, &flag, &other) == FMI_ERROR);
    EXPECT(test, instance_directional(&ghost, &zero, 1, &zero, 1, &value, 1, &value, 1) == FMI_ERROR);
}

static void null_pointers(Test *test)
{
    const Description *description = test->fmu->description;
    const Variable *output = description_first(description, "output");
    const Reference reference = output != NULL ? output->reference : 0;
    size_t count = output != NULL ? output->count : 1;
    double *values = allocate(count, sizeof(double));
    Instance instance;
    ready(test, &instance);
    REFUSED_RESTART(test, &instance, instance_get(&instance, NULL, 1, values, count));
    REFUSED_RESTART(test, &instance, instance_get(&instance, &reference, 1, NULL, count));
    REFUSED_RESTART(test, &instance, instance_set(&instance, NULL, 1, values, count));
    REFUSED_RESTART(test, &instance, instance_set(&instance, &reference, 1, NULL, count));
    if (description->version == 3 && test->kind == CO_SIMULATION) {
        Status status =
            test->fmu->three.DoStep(instance.component, 0.0, description->step, true, NULL, NULL, NULL, NULL);
        expect(test, status == FMI_ERROR, "fmi3DoStep without room for its answers");
        restart(test, &instance);
    }
    GOOD(test, &instance, instance_get(&instance, NULL, 0, NULL, 0));
    GOOD(test, &instance, instance_set(&instance, NULL, 0, NULL, 0));
    done(test, &instance);
    free(values);
}

/* Each number that is none, in the first of the variable's elements. */
static void refuse_numbers(Test *test, const Variable *variable, bool running)
{
    const double wrong[] = {NAN, -NAN, INFINITY, -INFINITY};
    double *values = allocate(variable->count, sizeof(double));
    Instance instance;
    fresh(test, &instance);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        GOOD(test, &instance, running ? instance_initialise(&instance) : instance_enter_initialisation(&instance, 0.0));
        GOOD(test, &instance, instance_get(&instance, &variable->reference, 1, values, variable->count));
        values[variable->count - 1] = wrong[i];
        REFUSED(test, &instance, instance_set(&instance, &variable->reference, 1, values, variable->count));
        GOOD(test, &instance, instance_reset(&instance));
    }
    done(test, &instance);
    free(values);
}

static void not_finite(Test *test)
{
    const Description *description = test->fmu->description;
    const Variable *input = description_first(description, "input");
    const Variable *parameter = description_first(description, "parameter");
    if (input != NULL) {
        refuse_numbers(test, input, true);
        refuse_numbers(test, input, false);
    }
    if (parameter != NULL)
        refuse_numbers(test, parameter, false);
}

static void out_of_limits(Test *test)
{
    const Description *description = test->fmu->description;
    Instance instance;
    fresh(test, &instance);
    for (size_t i = 0; i < description->n_variables; i++) {
        const Variable *variable = &description->variables[i];
        bool settable = variable->causality[0] == 'i' ? variable->causality[2] == 'p' : variable->causality[0] == 'p';
        double beyond[2] = {variable->minimum - 1.0, variable->maximum + 1.0};
        for (int side = 0; side < 2; side++) {
            if (!variable->real || !settable || variable->count != 1 || !isfinite(beyond[side]))
                continue;
            REFUSED(test, &instance, instance_set(&instance, &variable->reference, 1, &beyond[side], 1));
            GOOD(test, &instance, instance_reset(&instance));
        }
    }
    done(test, &instance);
}

static void references(Test *test)
{
    const Description *description = test->fmu->description;
    const Reference wrong[] = {description_last_reference(description) + 1, 0x7FFFFFFFu, 0xFFFFFFFFu};
    Instance instance;
    double value = 0.0;
    int32_t whole;
    const char *text;
    ready(test, &instance);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        REFUSED_RESTART(test, &instance, instance_get(&instance, &wrong[i], 1, &value, 1));
        REFUSED_RESTART(test, &instance, instance_set(&instance, &wrong[i], 1, &value, 1));
        REFUSED_RESTART(test, &instance, instance_get_text(&instance, wrong[i], &text));
        REFUSED_RESTART(test, &instance, instance_set_text(&instance, wrong[i], "x"));
        REFUSED_RESTART(test, &instance, instance_get_whole(&instance, wrong[i], &whole));
    }
    done(test, &instance);
}

static void wrong_type_or_cause(Test *test)
{
    const Description *description = test->fmu->description;
    const Variable *output = description_first(description, "output");
    const Variable *time = description_first(description, "independent");
    Instance instance;
    double value = 0.0;
    int32_t whole;
    const char *text;
    if (output == NULL)
        return;
    ready(test, &instance);
    REFUSED_RESTART(test, &instance, instance_get_text(&instance, output->reference, &text));
    REFUSED_RESTART(test, &instance, instance_set_text(&instance, output->reference, "x"));
    REFUSED_RESTART(test, &instance, instance_get_whole(&instance, output->reference, &whole));
    if (time != NULL) {
        GOOD(test, &instance, instance_get(&instance, &time->reference, 1, &value, 1));
        REFUSED_RESTART(test, &instance, instance_set(&instance, &time->reference, 1, &value, 1));
    }
    done(test, &instance);
}

/* What the model computes cannot be set; states, the outputs with a start value, can in Model Exchange. */
static void computed(Test *test)
{
    const Description *description = test->fmu->description;
    Instance instance;
    ready(test, &instance);
    for (size_t i = 0; i < description->n_variables; i++) {
        const Variable *variable = &description->variables[i];
        bool state = variable->started && test->kind == MODEL_EXCHANGE;
        if (!variable->real || variable->causality[0] != 'o' || state)
            continue;
        double *values = allocate(variable->count, sizeof(double));
        GOOD(test, &instance, instance_get(&instance, &variable->reference, 1, values, variable->count));
        REFUSED_RESTART(test, &instance, instance_set(&instance, &variable->reference, 1, values, variable->count));
        free(values);
    }
    done(test, &instance);
}

static void fixed_parameters(Test *test)
{
    const Description *description = test->fmu->description;
    Instance instance;
    ready(test, &instance);
    for (size_t i = 0; i < description->n_variables; i++) {
        const Variable *variable = &description->variables[i];
        double value = 0.0;
        if (!variable->real || !variable->fixed || variable->causality[0] != 'p' || variable->count != 1)
            continue;
        GOOD(test, &instance, instance_get(&instance, &variable->reference, 1, &value, 1));
        REFUSED_RESTART(test, &instance, instance_set(&instance, &variable->reference, 1, &value, 1));
    }
    done(test, &instance);
}

/* FMI 3 passes the number of values. */
static void counts(Test *test)
{
    const Description *description = test->fmu->description;
    const Variable *variable = description_first(description, "input");
    Instance instance;
    if (variable == NULL)
        variable = description_first(description, "output");
    if (description->version == 2 || variable == NULL)
        return;
    bool input = variable->causality[0] == 'i';
    size_t n = variable->count;
    double *values = allocate(n + 1, sizeof(double));
    ready(test, &instance);
    REFUSED_RESTART(test, &instance, instance_get(&instance, &variable->reference, 1, values, n - 1));
    REFUSED_RESTART(test, &instance, instance_get(&instance, &variable->reference, 1, values, n + 1));
    REFUSED_RESTART(test, &instance, instance_get(&instance, &variable->reference, 1, values, SIZE_MAX));
    if (input) {
        REFUSED_RESTART(test, &instance, instance_set(&instance, &variable->reference, 1, values, n - 1));
        REFUSED_RESTART(test, &instance, instance_set(&instance, &variable->reference, 1, values, n + 1));
    }
    GOOD(test, &instance, instance_get(&instance, &variable->reference, 1, values, n));
    done(test, &instance);
    free(values);
}

const Check value_checks[] = {
    {"null_component",      null_component,      true,  true,  false},
    {"null_pointers",       null_pointers,       true,  true,  false},
    {"not_finite",          not_finite,          true,  true,  false},
    {"out_of_limits",       out_of_limits,       true,  true,  false},
    {"references",          references,          true,  true,  false},
    {"wrong_type_or_cause", wrong_type_or_cause, true,  true,  false},
    {"computed",            computed,            true,  true,  false},
    {"fixed_parameters",    fixed_parameters,    true,  true,  false},
    {"counts",              counts,              true,  true,  false},
    {NULL,                  NULL,                false, false, false},
};
