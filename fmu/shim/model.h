/* What the FMI functions (fmi2.c, fmi3.c) ask of a running model. Two models answer: `embedded*.c` holds the engine
 * itself, `coupled*.c` talks to an engine process. A binary is linked with one of them.
 *
 * Every function that can fail returns a Status and has then written a log line through `instance_log`.
 */
#ifndef LIMBERJACK_MODEL_H
#define LIMBERJACK_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plant_file.h"

typedef enum { STATUS_OK, STATUS_WARNING, STATUS_DISCARD, STATUS_ERROR, STATUS_FATAL } Status;

typedef struct Instance Instance; /* instance.h */
typedef struct Model Model;       /* private to the implementation */

/* Opens the model of the file at `resources` (a directory path without final slash), at its start state. NULL after
 * a log line. The model belongs to `instance`, which outlives it, and is used by one thread at a time. */
Model *model_open(Instance *instance, const char *resources);
void model_close(Model *model);

/* The file's header, variables and texts; valid while the model is open. */
const PlantFile *model_file(const Model *model);

/* Copies variable->count numbers out of or into the model. `get` computes what it must first. `set` refuses NaN,
 * infinities and values outside the variable's min and max. */
Status model_get(Model *model, const Variable *variable, double *values);
Status model_set(Model *model, const Variable *variable, const double *values);
/* Texts (settings of the process coupling); the embedded model has none. The pointer lives until the next set. */
Status model_get_text(Model *model, const Variable *variable, const char **text);
Status model_set_text(Model *model, const Variable *variable, const char *text);

/* End of the initialisation: parameters and state are checked and the model is ready to run. */
Status model_start(Model *model);
/* One communication step from `time` over `h` > 0; *reached is where the model stands afterwards. DISCARD: the step
 * could not be completed (divergence, cancelled); ERROR: it never will (lost engine). Long steps ask
 * `instance_goes_on` on the way, and may end early therefore. */
Status model_step(Model *model, double time, double h, double *reached);
/* After a step that gave DISCARD: back to where it began (FMI 3). ERROR if the model cannot. */
Status model_undo_step(Model *model);
/* Back to the state after model_open. */
Status model_reset(Model *model);
void model_terminate(Model *model);

/* The whole state as bytes: parameters, start values, time, all that makes the next step. */
size_t model_snapshot_size(const Model *model);
Status model_save(Model *model, void *bytes); /* where it fails, bytes stay as they were */
Status model_restore(Model *model, const void *bytes, size_t size);

/* Model Exchange. The continuous states are [q | v]. Not answered (STATUS_ERROR) by a coupled model. */
Status model_set_time(Model *model, double time);
Status model_set_states(Model *model, const double *states);
Status model_get_states(Model *model, double *states);
Status model_get_derivatives(Model *model, double *derivatives);
Status model_get_indicators(Model *model, double *indicators);

/* Sensitivity J seed of the unknowns in the knowns, or seed* J (adjoint), element by element of the variables. */
Status model_directional(Model *model, const Variable *const *unknowns, size_t n_unknowns,
                         const Variable *const *knowns, size_t n_knowns, const double *seed, double *sensitivity);
Status model_adjoint(Model *model, const Variable *const *unknowns, size_t n_unknowns, const Variable *const *knowns,
                     size_t n_knowns, const double *seed, double *sensitivity);

#endif
