/* The engine inside the FMU: what the files embedded*.c share. */
#ifndef LIMBERJACK_EMBEDDED_H
#define LIMBERJACK_EMBEDDED_H

#include "instance.h"
#include "kernels.h"

enum { STATE_TIME = 0, STATE_Q = 2 }; /* engine/layout.py: [t, steps, q, v, command] */

/* what was computed since the last change of state, commands or parameters */
enum { FRESH_UNIT = 1, FRESH_OBSERVED = 2, FRESH_SURVEYED = 4, FRESH_RATES = 8, FRESH_SWITCHES = 16 };

struct Model {
    Instance *instance;
    PlantFile file;
    const Kernels *kernels;
    void *memory; /* all vectors below, each on a cache line of its own */
    int64_t *ints;
    double *floats, *work, *state;
    double *unit;   /* the state with quaternions of unit length */
    double *before; /* the state where the last step began */
    double *observed, *surveyed, *rates, *switches;
    double *saved_floats, *saved_state; /* while sensitivities are computed */
    double *scratch;                    /* as long as the longest variable */
    uint64_t *indicators;               /* places of the event indicators in `switches` */
    unsigned fresh;
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
const double *embedded_rates(Model *model);
const double *embedded_switches(Model *model);
/* "rate 'elbow' of body …" of velocity j, or the coordinate -1 - j. */
const char *embedded_label(const Model *model, int64_t place);

#endif
