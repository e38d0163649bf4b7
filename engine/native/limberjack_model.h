/* What the files limberjack*.c share: a model behind the C interface. */
#ifndef LIMBERJACK_MODEL_OF_C_H
#define LIMBERJACK_MODEL_OF_C_H

#define LJ_BUILD
#include "limberjack.h"

#include "core.h"

struct lj_model {
    Core core;
    uint32_t *slots; /* a table of names: index + 1, or 0 where nothing is */
    uint64_t n_slots;
    bool is_open;
};

/* May the model be used? If it is open; NULL may not, and says nothing. */
bool lj_usable(lj_model *model);
/* Are the model and the pointers handed over? `what` names the one that may be NULL. */
bool lj_has(lj_model *model, const void *pointer, const char *what);
/* Brings the model into a condition to be asked or stepped, after values were set. */
int lj_settle(lj_model *model);

/* limberjack_names.c: makes the table, false without memory; the index of a name, or -1. */
bool lj_index_names(lj_model *model);
int64_t lj_index_of(const lj_model *model, const char *name);

#endif
