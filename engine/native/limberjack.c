/* The C interface: opening, reading, setting, stepping. */
#include <math.h>
#include <stdlib.h>

#include "layout.h"
#include "limberjack_model.h"

#define MOST_STEPS ((int64_t)1 << 53) /* of a call: the state's float64 cannot count more */

static const Words words = {
    {"write it again with 'limberjack compile MODEL'", "give the path of a file that 'limberjack compile MODEL' wrote"},
    "the step with which the model was compiled",
};

int lj_abi(void)
{
    return LJ_ABI;
}

int lj_format(void)
{
    return FORMAT_VERSION;
}

const char *lj_level(void)
{
    const char *processors;
    limberjack_best(&processors);
    return processors;
}

const char *lj_error(const lj_model *model)
{
    return model ? model->core.message : "the model is NULL: there was no memory for it, or lj_open was not called.";
}

bool lj_usable(lj_model *model)
{
    if (model && !model->is_open && !*model->core.message)
        core_say(&model->core, "the model is not open.");
    return model && model->is_open;
}

bool lj_has(lj_model *model, const void *pointer, const char *what)
{
    if (!pointer)
        core_say(&model->core, "the argument '%s' is NULL; give the address of one.", what);
    return pointer;
}

static bool is_opened(lj_model *model, const char *path, int abi)
{
    if (abi != LJ_ABI) {
        core_say(&model->core,
                 "the program was compiled with a limberjack.h of ABI %d, this library has ABI %d; compile it again "
                 "with the header that came with the library.",
                 abi, LJ_ABI);
        return false;
    }
    if (!core_open(&model->core, path, &words))
        return false;
    if (!lj_index_names(model))
        core_say(&model->core, "no memory for the names of the model's quantities; close other programs.");
    return model->slots;
}

int lj_open_abi(const char *path, int abi, lj_model **model)
{
    if (!model)
        return LJ_BAD_ARGUMENT;
    *model = calloc(1, sizeof **model);
    if (!*model)
        return LJ_CANNOT_OPEN;
    if (!lj_has(*model, path, "path"))
        return LJ_BAD_ARGUMENT;
    (*model)->is_open = is_opened(*model, path, abi);
    return (*model)->is_open ? LJ_OK : LJ_CANNOT_OPEN;
}

void lj_close(lj_model *model)
{
    if (!model)
        return;
    core_close(&model->core);
    free(model->slots);
    free(model);
}

int lj_settle(lj_model *model)
{
    if (model->core.unchecked && core_check(&model->core, "go on") != CORE_OK)
        return LJ_BAD_ARGUMENT;
    core_settle(&model->core);
    return LJ_OK;
}

/* The variables with these indices; NULL if one is beyond the table, or a vector is NULL. */
static const Variable *table(lj_model *model, const uint32_t *indices, size_t n, const double *values)
{
    if (!lj_usable(model) || (n && (!lj_has(model, indices, "indices") || !lj_has(model, values, "values"))))
        return NULL;
    const size_t count = lj_count(model);
    for (size_t i = 0; i < n; i++)
        if (indices[i] >= count) {
            core_say(&model->core, "indices[%zu] is %lu; the model has %zu quantities, counted from 0.", i,
                     (unsigned long)indices[i], count);
            return NULL;
        }
    return model->core.file.variables;
}

int lj_get(lj_model *model, const uint32_t *indices, size_t n, double *values)
{
    const Variable *variables = table(model, indices, n, values);
    if (!variables)
        return LJ_BAD_ARGUMENT;
    for (size_t i = 0; i < n; i++) {
        const Variable *variable = &variables[indices[i]];
        const bool computed = variable->region == REGION_OBSERVED || variable->region == REGION_SURVEYED;
        if (computed && lj_settle(model) != LJ_OK)
            return LJ_BAD_ARGUMENT;
        if (core_get(&model->core, variable, core_vector(&model->core, variable), values + i) != CORE_OK)
            return LJ_NOT_FINITE;
    }
    return LJ_OK;
}

/* May these values be set? */
static bool accepts(lj_model *model, const Variable *variable, const double *value)
{
    if (variable->flags & FLAG_TUNABLE)
        return core_accepts(&model->core, variable, value) == CORE_OK;
    core_no_such(&model->core, variable,
                 variable->region == REGION_PARAMETER ? "set: it is a stop where the model gives no limits"
                                                      : "set: it is computed");
    return false;
}

int lj_set(lj_model *model, const uint32_t *indices, size_t n, const double *values)
{
    const Variable *variables = table(model, indices, n, values);
    if (!variables)
        return LJ_BAD_ARGUMENT;
    for (size_t i = 0; i < n; i++)
        if (!accepts(model, &variables[indices[i]], values + i))
            return LJ_BAD_ARGUMENT;
    for (size_t i = 0; i < n; i++) {
        core_set(&model->core, &variables[indices[i]], values + i);
        if (variables[indices[i]].region == REGION_Q)
            model->core.unchecked = true; /* the other components of a quaternion may follow */
    }
    return LJ_OK;
}

int lj_step(lj_model *model, int64_t n)
{
    if (!lj_usable(model))
        return LJ_BAD_ARGUMENT;
    if (n < 0 || n > MOST_STEPS) {
        core_say(&model->core, "%lld steps cannot be made; give a number from 0 to 2^53.", (long long)n);
        return LJ_BAD_ARGUMENT;
    }
    if (lj_settle(model) != LJ_OK)
        return LJ_BAD_ARGUMENT;
    int64_t done = 0;
    Core *core = &model->core;
    const CoreStatus found = core_advance(core, *core->time, core->file.header->dt, n, NULL, NULL, &done);
    return found == CORE_OK ? LJ_OK : LJ_DIVERGED;
}

double lj_time(const lj_model *model)
{
    return model && model->is_open ? *model->core.time : 0.0;
}

double lj_dt(const lj_model *model)
{
    return model && model->is_open ? model->core.file.header->dt : 0.0;
}

int lj_reset(lj_model *model, int parameters)
{
    if (!lj_usable(model))
        return LJ_BAD_ARGUMENT;
    core_reset(&model->core, parameters != 0);
    return LJ_OK;
}
