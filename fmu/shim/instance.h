/* One FMU instance: what fmi2.c and fmi3.c share. Names, life cycle and logging; the model itself is behind model.h.
 *
 * An instance is used by one thread at a time, but for calls that end a running step (interruption.h); several
 * instances share nothing.
 */
#ifndef LIMBERJACK_INSTANCE_H
#define LIMBERJACK_INSTANCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"

/* Log categories, in both versions of the standard; the default of a message follows from its status. */
#define CATEGORY_EVENTS "logEvents"
#define CATEGORY_WARNING "logStatusWarning"
#define CATEGORY_DISCARD "logStatusDiscard"
#define CATEGORY_ERROR "logStatusError"
#define CATEGORY_FATAL "logStatusFatal"
enum { CATEGORIES = 5 };

/* The states of both standards' state machines, as bits: a function's allowed states are a mask. */
typedef enum {
    PHASE_OPENING = 0, /* the call that instantiates has not returned */
    PHASE_INSTANTIATED = 1 << 0,
    PHASE_INITIALIZATION = 1 << 1,
    PHASE_EVENT = 1 << 2,       /* Model Exchange */
    PHASE_CONTINUOUS = 1 << 3,  /* Model Exchange */
    PHASE_STEP = 1 << 4,        /* Co-Simulation; FMI 2 stepComplete */
    PHASE_STEP_FAILED = 1 << 5, /* Co-Simulation of FMI 2, after a discarded step */
    PHASE_TERMINATED = 1 << 6,
    PHASE_ERROR = 1 << 7,        /* a call returned error: FMI 2 error, FMI 3 terminated by an error */
    PHASE_INTERMEDIATE = 1 << 8, /* Co-Simulation of FMI 3: in the importer's callback within a step */
} Phase;
#define PHASES_ANY 0xFFu /* in which calls may come at all */

typedef enum { MODEL_EXCHANGE, CO_SIMULATION } Interface;

/* The importer's logger behind one face; `message` is escaped as that version of the standard asks. */
typedef void (*LogSink)(Instance *instance, Status status, const char *category, const char *message);

/* The importer's callback within a step, with the time reached: whether it asks for an early return. */
typedef bool (*Updates)(Instance *instance, double time);

typedef struct FmuState FmuState; /* fmu_state.c */

struct Instance {
    int version; /* of the FMI: 2 or 3 */
    Interface interface;
    Phase phase;
    const char *name;
    bool enabled[CATEGORIES]; /* log categories */

    LogSink sink;
    void (*logger)(void); /* the importer's, of the version's own type; may be NULL */
    void *environment;

    Model *model;
    const PlantFile *file;
    size_t n_states, n_indicators;       /* Model Exchange */
    FmuState *fmu_states;                /* those that the importer has not freed */
    const Variable **unknowns, **knowns; /* room for all variables, for derivatives */

    bool stop_defined;
    double time, stop;      /* current (communication) time; end of the experiment; s */
    double last_successful; /* where the last step ended, also a discarded one; s */
    Status step_status;     /* of the last step */

    Updates updates;           /* NULL: the importer gave no callback */
    void (*updater)(void);     /* the importer's */
    bool early_return_allowed; /* by the importer */
    bool early_return;         /* the last step ended where the importer asked for it */
    _Atomic uint64_t owner;    /* interruption.c */
};

typedef struct {
    int version;
    Interface interface;
    const char *name, *token, *resources; /* as the importer gave them, NULL included */
    bool logging;
    LogSink sink;
    void (*logger)(void);
    void *environment;
    Updates updates;
    void (*updater)(void);
    bool early_return_allowed;
} InstanceOptions;

/* NULL after a log line. */
Instance *instance_open(const InstanceOptions *options);
void instance_close(Instance *instance);

/* Writes a log line: what, where, why, remedy, in one sentence or two, without a line end. `category` NULL: that of the
 * status. It reaches the importer when its category is on. Errors also reach it otherwise in FMI 2, whose loggingOn is
 * about debugging (2.0.5, sections 2.1.3 and 2.1.5), and in FMI 3 while the instance is opened: loggingOn false
 * silences all, but a refusal has no other way to be reported (3.0.2, sections 2.2.4 and 2.3.1). */
__attribute__((format(printf, 4, 5))) void instance_log(Instance *instance, Status status, const char *category,
                                                        const char *format, ...);
/* fmi2SetDebugLogging, fmi3SetDebugLogging */
Status instance_set_logging(Instance *instance, const char *function, bool on, size_t count,
                            const char *const categories[]);

/* Starts every call: the instance behind the importer's pointer if `function` may be called now. NULL, after a log line
 * that names the states where it may and the transition to the error state, if not; NULL also for NULL. */
Instance *instance_begin(void *component, const char *function, unsigned phases);
/* The same for functions of Model Exchange. */
Instance *instance_begin_exchange(void *component, const char *function, unsigned phases);
/* A function that this FMU declares not to support: logs `why` and gives STATUS_ERROR. */
Status instance_unsupported(Instance *instance, const char *function, const char *why);
/* A pointer that must not be NULL: false after a log line. `what`: the argument's name. */
bool instance_has(Instance *instance, const char *function, const void *pointer, const char *what);
/* The states that an instance of this interface can be in. */
unsigned instance_phases(const Instance *instance);
/* The status of a call, after the state machine has followed it: error ends the run. */
Status instance_done(Instance *instance, Status status);

/* The transitions that both versions share; their callers have asked `instance_begin`. */
Status instance_set_experiment(Instance *instance, const char *function, double start, bool stop_defined, double stop);
Status instance_enter_initialization(Instance *instance);
Status instance_exit_initialization(Instance *instance);
/* A communication step, between `instance_enter` and `instance_leave`. After DISCARD, instance->last_successful is the
 * end of the last good internal step; the model stands there (FMI 2) or where the step began (FMI 3). After an early
 * return it stands there too. */
Status instance_step(Instance *instance, const char *function, double time, double h);
/* Whole calls, which may come from another thread while a step runs: they end it. NULL is an error; for `free` none. */
Status instance_reset(Instance *instance, const char *function);
Status instance_terminate(Instance *instance, const char *function, unsigned phases);
void instance_free(Instance *instance, const char *function);

#endif
