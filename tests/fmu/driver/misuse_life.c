/* Instances: lives, many at once, threads, reset, freeing, opening, logging. */
#include "clock.h"
#include "misuse.h"

#include <stdlib.h>

enum { LIVES = 5, SIBLINGS = 6, THREADS = 4 };

static void lives(Test *test)
{
    Trace wanted;
    Instance instance;
    reference_trace(test, &wanted, 1);
    for (int i = 0; i < LIVES; i++) {
        ready(test, &instance);
        expect_trace(test, &instance, &wanted, 1, "every instance gives the same numbers");
        GOOD(test, &instance, instance_terminate(&instance));
        done(test, &instance);
    }
    trace_free(&wanted);
}

/* Steps of several instances in turn, each with its own inputs. */
static void siblings(Test *test)
{
    const Description *description = test->fmu->description;
    Instance instances[SIBLINGS];
    Trace wanted[SIBLINGS], step, got[SIBLINGS];
    size_t row = trace_row(description), width = description->inputs.numbers;
    for (int i = 0; i < SIBLINGS; i++) {
        reference_trace(test, &wanted[i], i);
        trace_new(&got[i], description, SHORT_RUN, i);
        ready(test, &instances[i]);
    }
    for (size_t k = 0; k < SHORT_RUN; k++) {
        for (int i = 0; i < SIBLINGS; i++) {
            step = (Trace){got[i].inputs + k * width, got[i].rows + k * row, 1, got[i].h};
            GOOD(test, &instances[i], run_steps(&instances[i], &step, k));
        }
    }
    for (int i = 0; i < SIBLINGS; i++) {
        expect(test, traces_equal(&wanted[i], &got[i], description), "instances in turn do not disturb each other");
        done(test, &instances[i]);
        trace_free(&wanted[i]);
        trace_free(&got[i]);
    }
}

typedef struct {
    Test test;
    Trace wanted;
    int phase;
} Lane;

static void run_lane(void *argument)
{
    Lane *lane = argument;
    for (int i = 0; i < LIVES; i++) {
        Instance instance;
        ready(&lane->test, &instance);
        expect_trace(&lane->test, &instance, &lane->wanted, lane->phase, "a thread's instance gives the same numbers");
        restart(&lane->test, &instance);
        expect_trace(&lane->test, &instance, &lane->wanted, lane->phase, "the same after a reset on its thread");
        done(&lane->test, &instance);
    }
}

static void threads(Test *test)
{
    static Lane lanes[THREADS];
    void *arguments[THREADS];
    for (int i = 0; i < THREADS; i++) {
        lanes[i].test = *test;
        lanes[i].phase = i;
        reference_trace(test, &lanes[i].wanted, i);
        arguments[i] = &lanes[i];
    }
    run_threads(run_lane, arguments, THREADS);
    for (int i = 0; i < THREADS; i++) {
        test->failures += lanes[i].test.failures;
        trace_free(&lanes[i].wanted);
    }
}

static void reset(Test *test)
{
    Trace wanted;
    Instance instance;
    reference_trace(test, &wanted, 2);
    fresh(test, &instance);
    restart(test, &instance);
    expect_trace(test, &instance, &wanted, 2, "reset of a fresh instance");
    restart(test, &instance);
    expect_trace(test, &instance, &wanted, 2, "reset during a run");
    GOOD(test, &instance, instance_terminate(&instance));
    GOOD(test, &instance, instance_reset(&instance));
    restart(test, &instance);
    expect_trace(test, &instance, &wanted, 2, "reset twice after the end");
    GOOD(test, &instance, instance_reset(&instance));
    GOOD(test, &instance, instance_enter_initialisation(&instance, 0.0));
    restart(test, &instance);
    expect_trace(test, &instance, &wanted, 2, "reset during initialisation");
    done(test, &instance);
    trace_free(&wanted);
}

static void reset_forgets(Test *test)
{
    const Group *parameters = &test->fmu->description->parameters;
    double *values = allocate(parameters->numbers, sizeof(double));
    Trace wanted;
    Instance instance;
    reference_trace(test, &wanted, 3);
    fresh(test, &instance);
    GOOD(test, &instance, instance_enter_initialisation(&instance, 0.0));
    GOOD(test, &instance, instance_get_group(&instance, parameters, values));
    for (size_t i = 0; i < parameters->numbers; i++)
        values[i] *= 1.25; /* stays inside a limit at zero */
    GOOD(test, &instance, instance_set_group(&instance, parameters, values));
    restart(test, &instance);
    expect_trace(test, &instance, &wanted, 3, "reset brings the parameters' start values back");
    done(test, &instance);
    trace_free(&wanted);
    free(values);
}

static void free_anywhere(Test *test)
{
    Instance instance;
    Trace trace;
    trace_new(&trace, test->fmu->description, SHORT_RUN, 0);
    fresh(test, &instance);
    done(test, &instance);
    fresh(test, &instance);
    GOOD(test, &instance, instance_enter_initialisation(&instance, 0.0));
    done(test, &instance);
    ready(test, &instance);
    done(test, &instance);
    ready(test, &instance);
    GOOD(test, &instance, run_kind(&instance, &trace));
    done(test, &instance);
    instance.component = NULL;
    instance_free(&instance);
    trace_free(&trace);
}

/* Refused with NULL and a log line. */
static void expect_no_instance(Test *test, const Opening *opening, const char *what)
{
    Instance instance;
    instance_open(&instance, test->fmu, test->kind, opening);
    expect(test, instance.component == NULL, what);
    expect(test, instance.log.errors > 0, what);
    instance_free(&instance);
}

static void opening(Test *test)
{
    Opening wrong = opening_usual(test->fmu);
    wrong.token = "{another}";
    expect_no_instance(test, &wrong, "another token is refused and reported");
    wrong.token = NULL;
    expect_no_instance(test, &wrong, "no token is refused and reported");
}

static void opening_without_resources(Test *test)
{
    Opening wrong = opening_usual(test->fmu);
    wrong.resources = test->fmu->description->version == 2 ? "file:///no/such/place" : "/no/such/place/";
    expect_no_instance(test, &wrong, "a place without resources is refused and reported");
    wrong.resources = "";
    expect_no_instance(test, &wrong, "an empty resources path is refused and reported");
    wrong.resources = NULL;
    expect_no_instance(test, &wrong, "no resources path is refused and reported");
    wrong.resources = "http://example.org/resources";
    expect_no_instance(test, &wrong, "resources elsewhere are refused and reported");
}

static void logging(Test *test)
{
    const Reference nowhere = 0xFFFFFFFFu;
    const char *unknown = "noSuchCategory", *known = test->fmu->description->categories[0], *nothing = NULL;
    double value;
    Instance instance;
    Opening quiet = opening_usual(test->fmu);
    Trace trace;
    quiet.logging = false;
    instance_open(&instance, test->fmu, test->kind, &quiet);
    trace_new(&trace, test->fmu->description, SHORT_RUN, 0);
    GOOD(test, &instance, instance_initialise(&instance));
    GOOD(test, &instance, run_kind(&instance, &trace));
    expect(test, instance.log.lines == 0, "without logging a good run logs nothing");
    GOOD(test, &instance, instance_set_logging(&instance, true, 0, NULL));
    if (test->fmu->description->n_categories > 0)
        GOOD(test, &instance, instance_set_logging(&instance, false, 1, &known));
    GOOD(test, &instance, instance_set_logging(&instance, true, 0, NULL));
    REFUSED_RESTART(test, &instance, instance_set_logging(&instance, true, 1, &unknown));
    REFUSED_RESTART(test, &instance, instance_set_logging(&instance, true, 1, NULL));
    REFUSED(test, &instance, instance_set_logging(&instance, true, 1, &nothing));
    done(test, &instance);
    if (test->fmu->description->version == 3) {
        quiet.silent = true;
        instance_open(&instance, test->fmu, test->kind, &quiet);
        GOOD(test, &instance, instance_initialise(&instance));
        expect(test, instance_get(&instance, &nowhere, 1, &value, 1) == FMI_ERROR, "no log callback: still an error");
        done(test, &instance);
    }
    trace_free(&trace);
}

const Check life_checks[] = {
    {"lives",                     lives,                     true,  true,  false},
    {"siblings",                  siblings,                  true,  false, false},
    {"threads",                   threads,                   true,  true,  false},
    {"reset",                     reset,                     true,  true,  false},
    {"reset_forgets",             reset_forgets,             true,  true,  false},
    {"free_anywhere",             free_anywhere,             true,  true,  false},
    {"opening",                   opening,                   true,  true,  false},
    {"opening_without_resources", opening_without_resources, true,  true,  false},
    {"logging",                   logging,                   true,  true,  false},
    {NULL,                        NULL,                      false, false, false},
};
