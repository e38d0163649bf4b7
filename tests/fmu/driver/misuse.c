/* Runs the checks; what they share. */
#include "misuse.h"

#include "options.h"

#include <string.h>

void expect(Test *test, bool holds, const char *what)
{
    if (holds)
        return;
    test->failures++;
    fprintf(stderr, "FAIL %s (%s): %s\n", test->name, test->kind == CO_SIMULATION ? "CS" : "ME", what);
}

static void complain(Test *test, const Instance *instance, const char *what, const char *wanted, Status status)
{
    char text[768];
    snprintf(text, sizeof text, "%s: wanted %s, got status %d; last log line: %s", what, wanted, (int)status,
             instance->log.last);
    expect(test, false, text);
}

void expect_ok(Test *test, const Instance *instance, Status status, const char *what)
{
    if (status != FMI_OK)
        complain(test, instance, what, "OK", status);
}

void expect_refused(Test *test, const Instance *instance, size_t errors_before, Status status, const char *what)
{
    if (status != FMI_ERROR)
        complain(test, instance, what, "Error", status);
    else if (instance->log.errors == errors_before)
        complain(test, instance, what, "a log line with the error", status);
}

void fresh(Test *test, Instance *instance)
{
    Opening opening = opening_usual(test->fmu);
    instance_open(instance, test->fmu, test->kind, &opening);
    if (instance->component == NULL)
        give_up("%s: the FMU cannot be instantiated: %s", test->name, instance->log.last);
}

void ready(Test *test, Instance *instance)
{
    fresh(test, instance);
    GOOD(test, instance, instance_initialise(instance));
}

void restart(Test *test, Instance *instance)
{
    GOOD(test, instance, instance_reset(instance));
    GOOD(test, instance, instance_initialise(instance));
}

void done(Test *test, Instance *instance)
{
    EXPECT(test, instance->log.nameless == 0);
    EXPECT(test, instance->log.empty == 0);
    instance_free(instance);
}

Status run_kind(Instance *instance, Trace *trace)
{
    return instance->kind == CO_SIMULATION ? run_steps(instance, trace, 0) : run_exchange(instance, trace);
}

void reference_trace(Test *test, Trace *trace, int phase)
{
    Instance instance;
    trace_new(trace, test->fmu->description, SHORT_RUN, phase);
    ready(test, &instance);
    GOOD(test, &instance, run_kind(&instance, trace));
    done(test, &instance);
}

void expect_trace(Test *test, Instance *instance, const Trace *wanted, int phase, const char *what)
{
    Trace trace;
    trace_new(&trace, test->fmu->description, SHORT_RUN, phase);
    GOOD(test, instance, run_kind(instance, &trace));
    expect(test, traces_equal(&trace, wanted, test->fmu->description), what);
    trace_free(&trace);
}

/* Is `name` one of the comma-separated names? */
static bool is_listed(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *found = names; found != NULL && (found = strstr(found, name)) != NULL; found++)
        if ((found == names || found[-1] == ',') && (found[length] == ',' || found[length] == '\0'))
            return true;
    return false;
}

static int run_check(const Fmu *fmu, const Check *check, Kind kind)
{
    const Description *description = fmu->description;
    bool wanted = kind == CO_SIMULATION ? check->co_simulation : check->model_exchange;
    if (!wanted || !description->kinds[kind] || (check->needs_states && !description->serializes))
        return 0;
    Test test = {fmu, kind, check->name, 0};
    check->run(&test);
    printf("%s %s %s\n", test.failures == 0 ? "ok  " : "FAIL", kind == CO_SIMULATION ? "CS" : "ME", check->name);
    fflush(stdout);
    return test.failures;
}

int command_misuse(const Fmu *fmu, int n_options, char **options)
{
    const Check *groups[] = {life_checks,  order_checks,    value_checks,       step_checks,
                             state_checks, exchange_checks, interruption_checks};
    const char *only = option(n_options, options, "--only"), *skip = option(n_options, options, "--skip");
    int failures = 0, checks = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        for (const Check *check = groups[i]; check->name != NULL; check++) {
            if ((only != NULL && !is_listed(only, check->name)) || is_listed(skip, check->name))
                continue;
            checks++;
            failures += run_check(fmu, check, CO_SIMULATION);
            failures += run_check(fmu, check, MODEL_EXCHANGE);
        }
    }
    if (checks == 0)
        give_up("misuse: no check of that name");
    return failures > 0;
}
