/* FMU states: saved, restored and written as bytes, for both versions of the standard.
 *
 * A state that the importer holds is an entry in the instance's list: one that is not in it (freed, of another
 * instance, never made) is refused without looking at it.
 */
#ifndef LIMBERJACK_FMU_STATE_H
#define LIMBERJACK_FMU_STATE_H

#include "instance.h"

/* *state NULL: a new one; else that one is overwritten. */
Status fmu_state_save(Instance *instance, const char *function, void **state);
Status fmu_state_restore(Instance *instance, const char *function, void *state);
/* Frees and sets *state to NULL; nothing to do for NULL. */
Status fmu_state_free(Instance *instance, const char *function, void **state);
Status fmu_state_size(Instance *instance, const char *function, void *state, size_t *size);
Status fmu_state_write(Instance *instance, const char *function, void *state, void *bytes, size_t size);
Status fmu_state_read(Instance *instance, const char *function, const void *bytes, size_t size, void **state);
/* Frees all; for instance_close. */
void fmu_states_close(Instance *instance);

#endif
