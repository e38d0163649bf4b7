/* The engine inside the FMU: what the files embedded*.c share. */
#ifndef LIMBERJACK_EMBEDDED_H
#define LIMBERJACK_EMBEDDED_H

#include "core.h"
#include "instance.h"

/* what was computed since the last change, besides the core's own */
enum { FRESH_RATES = FRESH_OTHERS, FRESH_SWITCHES = 2 * FRESH_OTHERS, FRESH_SLOPES = 4 * FRESH_OTHERS };

struct Model {
    Instance *instance;
    Core core;
    void *memory;   /* all vectors below, each on a cache line of its own */
    double *before; /* the state where the last step began */
    double *rates, *switches;
    double *saved_floats, *saved_state; /* while sensitivities are computed */
    double *scratch;                    /* as long as the longest variable */
    double *room, *slopes;              /* kernels.h state_slopes; NULL where they would be too large */
    uint64_t *indicators;               /* places of the event indicators in `switches` */
    unsigned kept;                      /* of fresh, when sensitivities come back to the state */
    bool perturbed;                     /* sensitivities are being computed */
};

/* The core, about to be asked for what it computes: whether quaternions have unit length depends on the phase. */
Core *embedded_core(Model *model);
/* Logs what the core said, where it is not OK, with this status; the status of the call. */
static inline Status embedded_report(Model *model, CoreStatus found, Status status)
{
    if (found == CORE_OK)
        return STATUS_OK;
    instance_log(model->instance, status, NULL, "%s", model->core.message);
    return status;
}

/* Vectors that are computed when they are asked for. */
const double *embedded_rates(Model *model);
const double *embedded_switches(Model *model);
/* Says that a variable is not a finite number; the status of that. */
Status embedded_not_finite(Model *model, const Variable *variable);
/* embedded_slopes.c: the matrix of slopes, at the state, if any pair of these variables is in it. */
void embedded_prepare_slopes(Model *model, const Variable *const *unknowns, size_t n_unknowns,
                             const Variable *const *knowns, size_t n_knowns);
/* Does the matrix have this unknown, and element i of this known? Differences must do for a pair where one is not. */
bool embedded_has_rows(const Model *model, const Variable *unknown);
bool embedded_has_column(const Model *model, const Variable *known, uint32_t i);
/* Add J seed, or seed* J, over all pairs in the matrix. */
Status embedded_add_directional(Model *model, const Variable *const *unknowns, size_t n_unknowns,
                                const Variable *const *knowns, size_t n_knowns, const double *seed,
                                double *sensitivity);
Status embedded_add_adjoint(Model *model, const Variable *const *unknowns, size_t n_unknowns,
                            const Variable *const *knowns, size_t n_knowns, const double *seed, double *sensitivity);

#endif
