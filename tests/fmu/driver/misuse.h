/* Checks of what an FMU does when it is used wrongly, or by many at once. */
#ifndef DRIVER_MISUSE_H
#define DRIVER_MISUSE_H

#include "runs.h"

#include <stdio.h>

/* One check of one interface type; `failures` counts what it found, printed as it is found. */
typedef struct {
    const Fmu *fmu;
    Kind kind;
    const char *name;
    int failures;
} Test;

typedef struct {
    const char *name;
    void (*run)(Test *test);
    bool co_simulation, model_exchange, needs_states;
} Check;

/* NULL-terminated by an entry without name. */
extern const Check life_checks[], order_checks[], value_checks[], step_checks[], state_checks[], exchange_checks[],
    interruption_checks[];

enum { SHORT_RUN = 40 };

void expect(Test *test, bool holds, const char *what);
void expect_ok(Test *test, const Instance *instance, Status status, const char *what);
/* Status Error and at least one more log line that says so. */
void expect_refused(Test *test, const Instance *instance, size_t errors_before, Status status, const char *what);

#define EXPECT(test, condition) expect(test, condition, #condition)
#define GOOD(test, instance, call) expect_ok(test, instance, (call), #call)
#define REFUSED(test, instance, call)                                   \
    do {                                                                \
        size_t errors_before_ = (instance)->log.errors;                 \
        Status status_ = (call);                                        \
        expect_refused(test, instance, errors_before_, status_, #call); \
    } while (0)
/* Refused, after which the instance is started again. */
#define REFUSED_RESTART(test, instance, call) \
    do {                                      \
        REFUSED(test, instance, call);        \
        restart(test, instance);              \
    } while (0)

/* Opens; ends the program when even that fails. */
void fresh(Test *test, Instance *instance);
/* Opens and initialises. */
void ready(Test *test, Instance *instance);
void restart(Test *test, Instance *instance); /* reset, initialise */
/* Frees, after a look at the log: declared categories, no empty lines. */
void done(Test *test, Instance *instance);

/* The run that all others are compared with: SHORT_RUN steps of a fresh instance, Co-Simulation or Model Exchange. */
void reference_trace(Test *test, Trace *trace, int phase);
Status run_kind(Instance *instance, Trace *trace);
/* Does the instance, which stands at its start, give this trace? */
void expect_trace(Test *test, Instance *instance, const Trace *wanted, int phase, const char *what);

#endif
