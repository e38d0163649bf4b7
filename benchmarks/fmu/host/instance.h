/* One instance of an FMU, called in the same way whichever the FMI version. */
#ifndef HOST_INSTANCE_H
#define HOST_INSTANCE_H

#include "fmu.h"

/* What the FMU said through its log callback. */
typedef struct {
    size_t lines, errors; /* all; with status Error or Fatal */
    size_t nameless;      /* with a category that the description does not declare */
    size_t empty;         /* without text */
    _Atomic long updates; /* calls of the callback within steps */
    char last[512];
    const Description *description;
} Log;

typedef struct {
    const Fmu *fmu;
    Kind kind;
    Component component;
    Callbacks2 callbacks; /* FMI 2; FMUs keep the pointer */
    Log log;
} Instance;

/* What instance_open asks for where it shall differ from the description. */
typedef struct {
    const char *name, *token, *resources;
    bool logging, silent; /* silent: no log callback at all (FMI 3) */
    Update3 update;       /* FMI 3: called within long steps with the instance's log; NULL: none */
    bool early_return;    /* FMI 3: it may be asked for there */
} Opening;

Opening opening_usual(const Fmu *fmu);
/* component is NULL when the FMU refused. The instance must stay where it is: the log points at it. */
void instance_open(Instance *instance, const Fmu *fmu, Kind kind, const Opening *opening);
void instance_free(Instance *instance);

/* The description's start values, both initialisation calls and, for Model Exchange, the first event iteration up to
 * continuous time. */
Status instance_initialise(Instance *instance);
/* The first part of it, for an instance that a saved state shall start. */
Status instance_set_starts(Instance *instance);
Status instance_enter_initialisation(Instance *instance, double start);
Status instance_exit_initialisation(Instance *instance);
Status instance_terminate(Instance *instance);
Status instance_reset(Instance *instance);

Status instance_get(Instance *instance, const Reference *references, size_t n, double *values, size_t n_values);
Status instance_set(Instance *instance, const Reference *references, size_t n, const double *values, size_t n_values);
Status instance_get_group(Instance *instance, const Group *group, double *values);
Status instance_set_group(Instance *instance, const Group *group, const double *values);
Status instance_get_text(Instance *instance, Reference reference, const char **text);
Status instance_set_text(Instance *instance, Reference reference, const char *text);
Status instance_get_whole(Instance *instance, Reference reference, int32_t *value);
Status instance_set_logging(Instance *instance, bool on, size_t count, const char *const *categories);

/* *reached: FMI 3 last successful time; FMI 2: time + h when the step was OK, else the FMU's LastSuccessfulTime. */
Status instance_step(Instance *instance, double time, double h, double *reached);

Status instance_save(Instance *instance, FmuState *state);
Status instance_restore(Instance *instance, FmuState state);
Status instance_drop(Instance *instance, FmuState *state);
Status instance_state_size(Instance *instance, FmuState state, size_t *size);
Status instance_pack(Instance *instance, FmuState state, uint8_t *bytes, size_t size);
Status instance_unpack(Instance *instance, const uint8_t *bytes, size_t size, FmuState *state);

/* Model Exchange */
Status instance_enter_event(Instance *instance);
Status instance_iterate_events(Instance *instance, bool *again);
Status instance_enter_continuous(Instance *instance);
Status instance_set_time(Instance *instance, double time);
Status instance_set_states(Instance *instance, const double *states, size_t n);
Status instance_get_states(Instance *instance, double *states, size_t n);
Status instance_get_derivatives(Instance *instance, double *derivatives, size_t n);
Status instance_get_indicators(Instance *instance, double *indicators, size_t n);
Status instance_get_nominals(Instance *instance, double *nominals, size_t n);
Status instance_completed(Instance *instance, bool *enter_event, bool *terminate);

Status instance_directional(Instance *instance, const Reference *unknowns, size_t n_unknowns, const Reference *knowns,
                            size_t n_knowns, const double *seed, size_t n_seed, double *sensitivity,
                            size_t n_sensitivity);

#endif
