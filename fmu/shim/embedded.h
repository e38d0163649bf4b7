/* The engine inside the FMU: what the files embedded*.c share. */
#ifndef LIMBERJACK_EMBEDDED_H
#define LIMBERJACK_EMBEDDED_H

#include "instance.h"
#include "kernels.h"

enum { STATE_TIME, STATE_STEPS, STATE_Q }; /* tables/plant.py: [t, steps, q, v, command, switches, readings, drives] */

/* what was computed since the last change of state, commands or parameters */
enum {
    FRESH_UNIT = 1,
    FRESH_OBSERVED = 2,
    FRESH_FORCES = 4, /* tau, the first part of what is observed */
    FRESH_SURVEYED = 8,
    FRESH_RATES = 16,
    FRESH_SWITCHES = 32,
    FRESH_SLOPES = 64
};

struct Model {
    Instance *instance;
    PlantFile file;
    const Entries *kernels;
    void *memory; /* all vectors below, each on a cache line of its own */
    int64_t *ints;
    double *floats, *work, *state;
    double *unit;   /* the state with quaternions of unit length */
    double *before; /* the state where the last step began */
    double *observed, *surveyed, *rates, *switches;
    double *saved_floats, *saved_state; /* while sensitivities are computed */
    double *scratch;                    /* as long as the longest variable */
    double *room, *slopes;              /* kernels.h state_slopes; NULL where they would be too large */
    uint64_t n_room, n_slopes;
    uint64_t *indicators; /* places of the event indicators in `switches` */
    unsigned fresh;
    unsigned kept;       /* of fresh, when sensitivities come back to the state */
    bool refresh_needed; /* a parameter changed */
    bool unchecked;      /* and whether it goes with the others has not been looked at */
    bool perturbed;      /* sensitivities are being computed */
};

/* Lets the next question see a change. */
void embedded_changed(Model *model, bool parameters);
/* Brings what depends on parameters up to date. */
void embedded_settle(Model *model);
/* Vectors that are computed when they are asked for. */
const double *embedded_observed(Model *model);
const double *embedded_forces(Model *model);
const double *embedded_rates(Model *model);
const double *embedded_switches(Model *model);
/* Says that a variable is no finite number; the status of that. */
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
/* "rate 'elbow' of body …" of velocity j, or the coordinate -1 - j. */
const char *embedded_label(const Model *model, int64_t place);
/* "loop 'grasp'" */
const char *embedded_loop_label(const Model *model, int64_t loop);

#endif
