/* An engine process behind model.h: opening, reading, setting. Numbers are kept here between communication steps. */
#include "coupled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "resources.h"

#define TIMEOUT_MOST 1e6 /* s */

static bool open_file(Model *model, const char *resources)
{
    static const Advice advice = {RESOURCES_REMEDY, RESOURCES_MISSING};
    char message[MESSAGE_BYTES], path[PLANT_PATH_BYTES];
    resources_plant_file(resources, path);
    if (snprintf(model->resources, sizeof model->resources, "%s", resources) >= (int)sizeof model->resources)
        snprintf(message, sizeof message, "the path of its resources is too long; unpack the FMU to a shorter one.");
    else if (plant_file_open(path, &advice, &model->file, &(Message){message, sizeof message}))
        return true;
    instance_log(model->instance, STATUS_ERROR, NULL, "Instantiation refused: %s", message);
    return false;
}

/* Are all variables such that an engine process answers for them? */
static bool check_variables(Model *model)
{
    const PlantFileHeader *h = model->file.header;
    bool good = h->coupling == COUPLING_PROCESS && h->n_observed >= 2 * h->n_v && h->integrator <= 2;
    for (uint64_t i = 0; good && i < h->n_variables; i++) {
        const Variable *variable = &model->file.variables[i];
        const uint64_t end = variable->offset + variable->count;
        switch (variable->region) {
        case REGION_PARAMETER: good = end <= h->n_floats; break;
        case REGION_OBSERVED: good = end <= h->n_v || variable->offset >= 2 * h->n_v; break; /* not vdot */
        case REGION_SURVEYED:
        case REGION_RATE:
        case REGION_SWITCH:
        case REGION_STATE: good = false; break;
        case REGION_SETTING: good = (variable->type == TYPE_TEXT) == (variable->offset < TEXTS); break;
        default: break;
        }
    }
    if (!good)
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "Instantiation refused: resources/%s is not for an FMU that is coupled to an engine process; "
                     "unpack the FMU again, or export it again.",
                     PLANT_FILE_NAME);
    return good;
}

static double *cut(double **from, size_t count)
{
    double *start = *from;
    *from += count;
    return start;
}

static bool allocate(Model *model)
{
    const PlantFileHeader *h = model->file.header;
    Shape *shape = &model->shape;
    shape->v = (size_t)h->n_q;
    shape->tau = shape->v + (size_t)h->n_v;
    shape->outputs = shape->tau + (size_t)h->n_v;
    shape->command = shape->outputs + (size_t)(h->n_observed - 2 * h->n_v);
    shape->count = shape->command + (size_t)h->n_commands;
    const size_t floats = (size_t)h->n_floats, commands = (size_t)h->n_commands;
    const size_t all = 2 * floats + commands + shape->tau + 2 * shape->count + coupled_snapshot_size(model) / 8;
    model->memory = calloc(all + 1, sizeof(double));
    if (!model->memory) {
        instance_log(model->instance, STATUS_ERROR, NULL, "Instantiation refused: no memory; close other programs.");
        return false;
    }
    double *at = model->memory;
    model->parameters = cut(&at, floats);
    model->held = cut(&at, floats);
    model->command = cut(&at, commands);
    model->start = cut(&at, shape->tau);
    model->now = cut(&at, shape->count);
    model->before = cut(&at, shape->count);
    model->snapshot = (char *)at;
    return true;
}

Model *model_open(Instance *instance, const char *resources)
{
    Model *model = calloc(1, sizeof *model);
    if (!model) {
        instance_log(instance, STATUS_ERROR, NULL, "Instantiation refused: no memory; close other programs.");
        return NULL;
    }
    model->instance = instance;
    if (open_file(model, resources) && check_variables(model) && allocate(model) && model_reset(model) == STATUS_OK)
        return model;
    model_close(model);
    return NULL;
}

void model_close(Model *model)
{
    coupled_disconnect(model);
    plant_file_close(&model->file);
    free(model->memory);
    free(model);
}

const PlantFile *model_file(const Model *model)
{
    return &model->file;
}

/* Settings as the file has them. */
static void default_settings(Model *model)
{
    memset(&model->settings, 0, sizeof model->settings);
    model->settings.timeout = 5.0;
    for (uint64_t i = 0; i < model->file.header->n_variables; i++) {
        const Variable *variable = &model->file.variables[i];
        if (variable->region != REGION_SETTING)
            continue;
        if (variable->type == TYPE_TEXT)
            snprintf(model->settings.texts[variable->offset], PATH_BYTES, "%s",
                     model->file.texts + variable->start_text);
        else
            model->settings.timeout = variable->start;
    }
}

/* An engine of this instance's own may have died since it last answered. */
static bool is_lost(Model *model)
{
    char why[MESSAGE_BYTES];
    return model->link && (link_broken(model->link) || (model->engine && engine_ended(model->engine, why, sizeof why)));
}

Status model_reset(Model *model)
{
    const PlantFileHeader *h = model->file.header;
    const double *state = model->file.state + 2; /* [t, steps, q, v, command] */
    default_settings(model);
    memcpy(model->parameters, model->file.floats, (size_t)h->n_floats * sizeof(double));
    memcpy(model->start, state, model->shape.tau * sizeof(double));
    memcpy(model->command, state + model->shape.tau, (size_t)h->n_commands * sizeof(double));
    model->started = model->current = false;
    if (is_lost(model))
        coupled_disconnect(model);
    return STATUS_OK;
}

static const char *name_of(const Model *model, const Variable *variable)
{
    return model->file.texts + variable->name;
}

static Status no_such(Model *model, const Variable *variable, const char *what)
{
    instance_log(model->instance, STATUS_ERROR, NULL,
                 "variable '%s' cannot be %s in an FMU that is coupled to an engine process; see modelDescription.xml.",
                 name_of(model, variable), what);
    return STATUS_ERROR;
}

/* Where a variable's numbers are; NULL for what is not a number. */
static const double *place_of(const Model *model, const Variable *variable)
{
    const double *state = model->started ? model->now : model->start;
    const uint64_t observed = variable->offset < model->file.header->n_v
                                  ? model->shape.tau + variable->offset
                                  : model->shape.outputs + variable->offset - 2 * model->file.header->n_v;
    switch (variable->region) {
    case REGION_TIME: return &model->instance->time;
    case REGION_PARAMETER: return model->parameters + variable->offset;
    case REGION_Q: return state + variable->offset;
    case REGION_V: return state + model->shape.v + variable->offset;
    case REGION_COMMAND: return model->command + variable->offset;
    case REGION_OBSERVED: return model->now + observed;
    case REGION_SETTING: return variable->type == TYPE_TEXT ? NULL : &model->settings.timeout;
    default: return NULL;
    }
}

Status model_get(Model *model, const Variable *variable, double *values)
{
    const double *from = place_of(model, variable);
    if (!from)
        return no_such(model, variable, "read as a number");
    if (variable->region == REGION_OBSERVED && !model->started && !model->current) {
        const Status status = coupled_sync(model); /* only the engine knows forces and sensor outputs */
        if (status != STATUS_OK)
            return STATUS_ERROR;
    }
    memcpy(values, from, variable->count * sizeof(double));
    return STATUS_OK;
}

static bool check_value(Model *model, const Variable *variable, uint32_t element, double value)
{
    const bool limit = variable->region == REGION_SETTING;
    if (isfinite(value) && value >= variable->min && value <= variable->max &&
        !(limit && !(value > 0.0 && value <= TIMEOUT_MOST)))
        return true;
    if (!isfinite(value))
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "variable '%s', element %u: %g is not a finite number; set one.", name_of(model, variable),
                     (unsigned)element + 1, value);
    else
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "variable '%s', element %u: %.17g is outside its range, %g to %g; set a value inside.",
                     name_of(model, variable), (unsigned)element + 1, value, limit ? 0.0 : variable->min,
                     limit ? TIMEOUT_MOST : variable->max);
    return false;
}

/* A parameter goes to the running engine at once, so that its refusal is the answer to this call. */
static Status set_parameter(Model *model, const Variable *variable, const double *values)
{
    memcpy(model->parameters + variable->offset, values, variable->count * sizeof(double));
    if (!model->started)
        return STATUS_OK;
    return coupled_alive(model) ? coupled_push(model) : STATUS_ERROR;
}

Status model_set(Model *model, const Variable *variable, const double *values)
{
    const uint32_t region = variable->region;
    const bool state = region == REGION_Q || region == REGION_V;
    if ((!state && region != REGION_PARAMETER && region != REGION_COMMAND && region != REGION_SETTING) ||
        variable->type == TYPE_TEXT)
        return no_such(model, variable, "set as a number");
    if (state && model->started)
        return no_such(model, variable, "set after the initialisation");
    for (uint32_t i = 0; i < variable->count; i++)
        if (!check_value(model, variable, i, values[i]))
            return STATUS_ERROR;
    model->current = false;
    if (region == REGION_PARAMETER)
        return set_parameter(model, variable, values);
    double *to = region == REGION_COMMAND ? model->command
                 : region == REGION_Q     ? model->start
                 : region == REGION_V     ? model->start + model->shape.v
                                          : &model->settings.timeout;
    if (region != REGION_SETTING)
        to += variable->offset;
    memcpy(to, values, variable->count * sizeof(double));
    return STATUS_OK;
}

Status model_get_text(Model *model, const Variable *variable, const char **text)
{
    if (variable->region != REGION_SETTING || variable->offset >= TEXTS)
        return no_such(model, variable, "read as a text");
    *text = model->settings.texts[variable->offset];
    return STATUS_OK;
}

Status model_set_text(Model *model, const Variable *variable, const char *text)
{
    if (variable->region != REGION_SETTING || variable->offset >= TEXTS)
        return no_such(model, variable, "set as a text");
    if (strlen(text) >= PATH_BYTES) {
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "variable '%s': the text is longer than %d bytes; set a "
                     "shorter one.",
                     name_of(model, variable), PATH_BYTES - 1);
        return STATUS_ERROR;
    }
    snprintf(model->settings.texts[variable->offset], PATH_BYTES, "%s", text);
    model->current = false;
    return STATUS_OK;
}
