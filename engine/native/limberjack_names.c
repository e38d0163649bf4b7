/* The C interface: names of quantities. */
#include <stdlib.h>
#include <string.h>

#include "limberjack_model.h"

#define MOST_SHOWN 200 /* characters of a name in messages */

/* FNV-1a */
static uint64_t hash(const char *name)
{
    uint64_t found = 0xCBF29CE484222325u;
    for (; *name; name++)
        found = (found ^ (unsigned char)*name) * 0x100000001B3u;
    return found;
}

static const char *name_of(const lj_model *model, uint32_t index)
{
    return model->core.file.texts + model->core.file.variables[index].name;
}

/* The slot that has a name, or the empty one where it would be. */
static uint32_t *slot_of(const lj_model *model, const char *name)
{
    uint64_t at = hash(name) & (model->n_slots - 1);
    while (model->slots[at] && strcmp(name_of(model, model->slots[at] - 1), name) != 0)
        at = (at + 1) & (model->n_slots - 1);
    return &model->slots[at];
}

bool lj_index_names(lj_model *model)
{
    const uint32_t count = (uint32_t)model->core.file.header->n_variables;
    for (model->n_slots = 2; model->n_slots < 2 * (uint64_t)count;) /* at least half of the slots stay empty */
        model->n_slots *= 2;
    model->slots = calloc((size_t)model->n_slots, sizeof *model->slots);
    for (uint32_t i = 0; model->slots && i < count; i++)
        *slot_of(model, name_of(model, i)) = i + 1;
    return model->slots != NULL;
}

int64_t lj_index_of(const lj_model *model, const char *name)
{
    return (int64_t)*slot_of(model, name) - 1;
}

size_t lj_count(const lj_model *model)
{
    return model && model->is_open ? (size_t)model->core.file.header->n_variables : 0;
}

/* The first name that ends with "." and this one, for callers who forget the group; NULL if there is none. */
static const char *completed(const lj_model *model, const char *name)
{
    const size_t length = strlen(name), count = lj_count(model);
    for (uint32_t i = 0; i < count; i++) {
        const char *whole = name_of(model, i);
        const size_t more = strlen(whole);
        if (more > length && whole[more - length - 1] == '.' && strcmp(whole + more - length, name) == 0)
            return whole;
    }
    return NULL;
}

static void say_unknown(lj_model *model, const char *name)
{
    const char *whole = completed(model, name);
    if (whole)
        core_say(&model->core, "the model has no quantity '%.*s'; the whole name may be '%s'.", MOST_SHOWN, name,
                 whole);
    else
        core_say(&model->core,
                 "the model has no quantity '%.*s'; take a name of limberjack.catalogue, as 'q.elbow', or 'parameter.' "
                 "and the name of a parameter; lj_describe gives those of this model.",
                 MOST_SHOWN, name);
}

int lj_find(lj_model *model, const char *name, uint32_t *index)
{
    if (!lj_usable(model) || !lj_has(model, name, "name") || !lj_has(model, index, "index"))
        return LJ_BAD_ARGUMENT;
    const int64_t found = lj_index_of(model, name);
    if (found < 0) {
        say_unknown(model, name);
        return LJ_BAD_ARGUMENT;
    }
    *index = (uint32_t)found;
    return LJ_OK;
}

int lj_describe(lj_model *model, uint32_t index, lj_quantity *quantity)
{
    if (!lj_usable(model) || !lj_has(model, quantity, "quantity"))
        return LJ_BAD_ARGUMENT;
    if (index >= lj_count(model)) {
        core_say(&model->core, "there is no quantity %lu; the model has %zu of them, counted from 0.",
                 (unsigned long)index, lj_count(model));
        return LJ_BAD_ARGUMENT;
    }
    const Variable *variable = &model->core.file.variables[index];
    quantity->name = name_of(model, index);
    quantity->unit = model->core.file.texts + variable->unit;
    quantity->low = variable->min;
    quantity->high = variable->max;
    quantity->settable = (variable->flags & FLAG_TUNABLE) != 0;
    return LJ_OK;
}
