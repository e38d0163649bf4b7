/* Declarations that the files limberjack*.c share: a model behind the C interface. */
#ifndef LIMBERJACK_MODEL_OF_C_H
#define LIMBERJACK_MODEL_OF_C_H

#define LJ_BUILD
#include "limberjack.h"

#include "core.h"

struct lj_model {
    Core core;
    uint32_t *slots; /* a hash table of names: index + 1, or 0 for an empty slot */
    uint64_t n_slots;
    bool is_open;
};

/* Is the model open? False for NULL, for which there is no message. */
bool lj_usable(lj_model *model);
/* Is the model open, and is no pointer NULL? `what` names the pointer for the message. */
bool lj_has(lj_model *model, const void *pointer, const char *what);
/* Prepares the model for reading or stepping after values were set. */
int lj_settle(lj_model *model);

/* limberjack_names.c: makes the table, false without memory; the index of a name, or -1. */
bool lj_index_names(lj_model *model);
int64_t lj_index_of(const lj_model *model, const char *name);

#endif
