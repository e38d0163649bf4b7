/* The engine in C: a model from a plant file, its vectors, and the functions that work on them. The FMU with the engine
 * inside (fmu/shim) and the C interface (limberjack.h) are built on it.
 *
 * Only one thread at a time may use a core; several cores share nothing. Opening a core allocates its memory; nothing
 * allocates afterwards.
 */
#ifndef LIMBERJACK_CORE_H
#define LIMBERJACK_CORE_H

#include <stdbool.h>

#include "kernels.h"
#include "plant_file.h"

enum { STATE_TIME, STATE_STEPS, STATE_Q }; /* tables/plant.py: [t, steps, q, v, command, switches, readings, drives] */

/* vectors that were computed since the last change of state, commands or parameters */
enum {
    FRESH_UNIT = 1,
    FRESH_OBSERVED = 2,
    FRESH_FORCES = 4, /* tau, the first part of what is observed */
    FRESH_SURVEYED = 8,
    FRESH_OTHERS = 16 /* this bit and higher ones belong to the owner */
};

/* All but CORE_OK leave a sentence in `message`. */
typedef enum {
    CORE_OK,
    CORE_REFUSED,    /* nothing changed */
    CORE_NOT_FINITE, /* a requested value is NaN or infinite */
    CORE_DIVERGED,   /* the model is at the last good step */
} CoreStatus;

/* Advice in messages. */
typedef struct {
    Advice file;
    const char *step; /* what to reduce if a step fails: "the step with which the FMU was exported" */
} Words;

typedef struct {
    PlantFile file;
    const Words *words;
    const Entries *kernels;
    const char *processor; /* the level of processors that the code is for */
    const double *time;    /* the value of REGION_TIME; that of the state, unless the owner counts differently */
    void *memory;          /* all vectors below, each on a cache line of its own */
    int64_t *ints;
    double *floats, *work, *state;
    double *settable[REGION_COMMAND + 1]; /* where the settable numbers of each region begin; NULL for the time */
    double *unit;                         /* the state with quaternions of unit length */
    double *observed, *surveyed;
    uint64_t n_room, n_slopes; /* kernels.h state_slopes */
    unsigned fresh;
    bool refresh_needed; /* a parameter changed */
    bool unchecked;      /* a value was set, and has not yet been checked for consistency with the others */
    bool any_length;     /* quaternions may have any length but 0, and mean the unit quaternion along it */
    char message[MESSAGE_BYTES];
} Core;

/* Opens a plant file or compiled model, at its start state. Returns false on failure; close the core in any case. */
bool core_open(Core *core, const char *path, const Words *words);
void core_close(Core *core);
/* Resets to the start state, and to the parameters that were loaded. */
void core_reset(Core *core, bool parameters);

/* Brings what depends on parameters up to date. */
void core_settle(Core *core);
/* The state at which to evaluate, see any_length. */
double *core_evaluation_state(Core *core);
/* Until the first step rotors of motors turn with their joints. */
void core_carry_rotors(Core *core);
/* Compute vectors: those of observe (kernels.h), tau alone (its first part), and those of survey. */
void core_observe(Core *core);
void core_compute_forces(Core *core);
void core_survey(Core *core);

/* Would `core_set` take these numbers? */
CoreStatus core_accepts(Core *core, const Variable *variable, const double *values);
/* Write the message that a variable cannot be read or set, or is NaN or infinite. */
CoreStatus core_no_such(Core *core, const Variable *variable, const char *what);
CoreStatus core_not_finite(Core *core, const Variable *variable);

/* Are parameters and state valid? `verb`: what the model cannot do otherwise. */
CoreStatus core_check(Core *core, const char *verb);
/* Called between two portions of steps, with the time reached; returns whether to continue. */
typedef bool (*GoesOn)(void *owner, double reached);
/* Makes `count` steps from `time` on, in portions between which it calls `goes_on`, if given; *done: steps made. */
CoreStatus core_advance(Core *core, double time, double step, int64_t count, GoesOn goes_on, void *owner,
                        int64_t *done);

/* "rate 'elbow' of body …" of velocity j, or the coordinate -1 - j; "loop 'grasp'". */
const char *core_label(const Core *core, int64_t place);
const char *core_loop_label(const Core *core, int64_t loop);
/* Replaces the message. */
__attribute__((format(printf, 2, 3))) void core_say(Core *core, const char *format, ...);

#include "core_values.h" /* inline functions that run for every number that is read or set */

#endif
