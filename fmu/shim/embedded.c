/* The engine inside the FMU: opening, reading and setting. */
#include "embedded.h"

#include <stdlib.h>

#include "memory.h"
#include "resources.h"

#define MOST_SLOPES ((uint64_t)1 << 24) /* numbers, 128 MB: models with more take differences */

static const Words words = {
    {RESOURCES_REMEDY, RESOURCES_MISSING},
    "the step with which the FMU was exported",
};

static size_t lay_out(Model *model, char *block)
{
    const PlantFileHeader *h = model->core.file.header;
    const uint64_t n_room = model->core.n_room, n_slopes = model->core.n_slopes;
    uint64_t longest = 1, indicators = 0;
    for (uint64_t i = 0; i < h->n_variables; i++) {
        const Variable *variable = &model->core.file.variables[i];
        longest = variable->count > longest ? variable->count : longest;
        indicators += variable->region == REGION_SWITCH ? variable->count : 0;
    }
    size_t used = 0;
    model->before = memory_cut(block, &used, h->n_state);
    model->rates = memory_cut(block, &used, h->n_q);
    model->switches = memory_cut(block, &used, h->n_switches);
    model->saved_floats = memory_cut(block, &used, h->n_floats);
    model->saved_state = memory_cut(block, &used, h->n_state);
    model->scratch = memory_cut(block, &used, longest);
    model->indicators = memory_cut(block, &used, indicators);
    /* 0: differences. Last: pages that nobody needs stay untouched */
    if (n_room > 0 && n_room + n_slopes <= MOST_SLOPES) {
        model->room = memory_cut(block, &used, n_room);
        model->slopes = memory_cut(block, &used, n_slopes);
    }
    return used;
}

static bool allocate(Model *model)
{
    const PlantFile *file = &model->core.file;
    const size_t bytes = lay_out(model, NULL);
    model->memory = calloc(1, bytes + CACHE_LINE);
    if (!model->memory) {
        core_say(&model->core, "no memory for the model's %zu bytes; close other programs.", bytes);
        return false;
    }
    lay_out(model, memory_aligned(model->memory));
    size_t next = 0;
    for (uint64_t i = 0; i < file->header->n_variables; i++)
        if (file->variables[i].region == REGION_SWITCH)
            for (uint32_t k = 0; k < file->variables[i].count; k++)
                model->indicators[next++] = file->variables[i].offset + k;
    return true;
}

Model *model_open(Instance *instance, const char *resources)
{
    Model *model = calloc(1, sizeof *model);
    char path[PLANT_PATH_BYTES];
    if (!model) {
        instance_log(instance, STATUS_ERROR, NULL, "Instantiation refused: no memory; close other programs.");
        return NULL;
    }
    model->instance = instance;
    resources_plant_file(resources, path);
    if (core_open(&model->core, path, &words) && allocate(model)) {
        instance_log(instance, STATUS_OK, NULL, "The engine runs its code for %s.", model->core.processor);
        model->core.time = &instance->time;
        return model;
    }
    instance_log(instance, STATUS_ERROR, NULL, "Instantiation refused: %s", model->core.message);
    model_close(model);
    return NULL;
}

void model_close(Model *model)
{
    core_close(&model->core);
    free(model->memory);
    free(model);
}

const PlantFile *model_file(const Model *model)
{
    return &model->core.file;
}

Status model_reset(Model *model)
{
    core_reset(&model->core, true);
    return STATUS_OK;
}

void model_terminate(Model *model)
{
    (void)model; /* the model stays readable */
}

Core *embedded_core(Model *model)
{
    /* Co-Simulation runs on the state itself, whose quaternions `check` and the integrator keep unit. Importers set the
     * components of a quaternion freely, and Model Exchange integrates them so. */
    model->core.any_length = model->instance->interface != CO_SIMULATION || model->perturbed ||
                             model->instance->phase & (PHASE_INSTANTIATED | PHASE_INITIALIZATION);
    return &model->core;
}

const double *embedded_rates(Model *model)
{
    Core *core = &model->core;
    core_settle(core);
    if (!(core->fresh & FRESH_RATES))
        core->kernels->rates(core->ints, core->floats, core->state, model->rates);
    core->fresh |= FRESH_RATES;
    return model->rates;
}

const double *embedded_switches(Model *model)
{
    Core *core = embedded_core(model);
    if (!(core->fresh & FRESH_SWITCHES))
        core->kernels->switches(core->ints, core->floats, core_evaluation_state(core), model->switches);
    core->fresh |= FRESH_SWITCHES;
    return model->switches;
}

/* The vector that a variable's offset counts in, up to date; NULL for one that the embedded model does not have. */
static const double *vector(Model *model, const Variable *variable)
{
    const double *stored = core_settable(&model->core, variable);
    if (stored)
        return stored;
    switch (variable->region) {
    case REGION_RATE: return embedded_rates(model);
    case REGION_SWITCH: return embedded_switches(model);
    case REGION_OBSERVED:
    case REGION_SURVEYED: return core_vector(embedded_core(model), variable);
    default: return core_vector(&model->core, variable);
    }
}

/* FMI 2 lets Model Exchange alone discard values, and no derivatives: 2.0.5, section 2.1.3. */
static Status discard_of_values(const Model *model)
{
    const bool may =
        model->instance->version == 3 || (model->instance->interface == MODEL_EXCHANGE && !model->perturbed);
    return may ? STATUS_DISCARD : STATUS_ERROR;
}

Status embedded_not_finite(Model *model, const Variable *variable)
{
    return embedded_report(model, core_not_finite(&model->core, variable), discard_of_values(model));
}

Status model_get(Model *model, const Variable *variable, double *values)
{
    const CoreStatus found = core_get(&model->core, variable, vector(model, variable), values);
    return embedded_report(model, found, found == CORE_NOT_FINITE ? discard_of_values(model) : STATUS_ERROR);
}

Status model_set(Model *model, const Variable *variable, const double *values)
{
    return embedded_report(model, core_set(&model->core, variable, values), STATUS_ERROR);
}

Status model_get_text(Model *model, const Variable *variable, const char **text)
{
    (void)text;
    return embedded_report(model, core_no_such(&model->core, variable, "read as a text"), STATUS_ERROR);
}

Status model_set_text(Model *model, const Variable *variable, const char *text)
{
    (void)text;
    return embedded_report(model, core_no_such(&model->core, variable, "set as a text"), STATUS_ERROR);
}
