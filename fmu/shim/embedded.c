/* The engine inside the FMU: opening, reading and setting. */
#include "embedded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

#define CACHE_LINE 64
#define MOST_SLOPES ((uint64_t)1 << 24) /* numbers, 128 MB: models with more take differences */

static bool check_tables(Model *model)
{
    static const char *const tables[] = WRONG_TABLES;
    int64_t wrong = 1;
    model->kernels->trust((int64_t *)model->file.ints, NULL, (int64_t)model->file.header->n_ints, &wrong); /* reads */
    if (!wrong)
        return true;
    instance_log(model->instance, STATUS_ERROR, NULL,
                 "resources/%s: its %s cannot be those of a model for this binary; unpack the FMU again, or export it "
                 "again.",
                 PLANT_FILE_NAME, tables[wrong - 1]);
    return false;
}

static bool check_sizes(Model *model)
{
    const PlantFileHeader *h = model->file.header;
    int64_t sizes[10] = {0};
    if (h->n_ints >= HEADER)
        model->kernels->sizes((int64_t *)model->file.ints, sizes); /* reads */
    const uint64_t given[8] = {h->n_ints,     h->n_floats,   h->n_work,     h->n_state,
                               h->n_observed, h->n_surveyed, h->n_switches, h->n_commands};
    bool same = h->n_ints >= HEADER && model->file.ints[C_Q] == (int64_t)h->n_q &&
                model->file.ints[C_V] == (int64_t)h->n_v && model->file.ints[C_LOOPS] == (int64_t)h->n_loops;
    for (int i = 0; i < 8; i++)
        same = same && sizes[i] >= 0 && (uint64_t)sizes[i] == given[i];
    model->n_room = (uint64_t)sizes[8], model->n_slopes = (uint64_t)sizes[9];
    if (!same)
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "resources/%s and this binary disagree on the lengths of the model's vectors: they come from "
                     "different exports; unpack the FMU again, or export it again.",
                     PLANT_FILE_NAME);
    return same;
}

/* Cuts `count` items of 8 bytes from the block at *used; without a block only counts. */
static void *cut(char *block, size_t *used, uint64_t count)
{
    void *start = block ? block + *used : NULL;
    *used += ((size_t)count * 8 + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return start;
}

static size_t lay_out(Model *model, char *block)
{
    const PlantFileHeader *h = model->file.header;
    uint64_t longest = 1, indicators = 0;
    for (uint64_t i = 0; i < h->n_variables; i++) {
        const Variable *variable = &model->file.variables[i];
        longest = variable->count > longest ? variable->count : longest;
        indicators += variable->region == REGION_SWITCH ? variable->count : 0;
    }
    size_t used = 0;
    model->work = cut(block, &used, h->n_work);
    model->ints = cut(block, &used, h->n_ints);
    model->floats = cut(block, &used, h->n_floats);
    model->state = cut(block, &used, h->n_state);
    model->unit = cut(block, &used, h->n_state);
    model->before = cut(block, &used, h->n_state);
    model->observed = cut(block, &used, h->n_observed);
    model->surveyed = cut(block, &used, h->n_surveyed);
    model->rates = cut(block, &used, h->n_q);
    model->switches = cut(block, &used, h->n_switches);
    model->saved_floats = cut(block, &used, h->n_floats);
    model->saved_state = cut(block, &used, h->n_state);
    model->scratch = cut(block, &used, longest);
    model->indicators = cut(block, &used, indicators);
    /* 0: differences. Last: pages that nobody needs stay untouched */
    if (model->n_room > 0 && model->n_room + model->n_slopes <= MOST_SLOPES) {
        model->room = cut(block, &used, model->n_room);
        model->slopes = cut(block, &used, model->n_slopes);
    }
    return used;
}

static bool allocate(Model *model)
{
    size_t bytes = lay_out(model, NULL);
    model->memory = calloc(1, bytes + CACHE_LINE);
    if (!model->memory) {
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "Instantiation refused: no memory for the model's %zu bytes; close other programs.", bytes);
        return false;
    }
    uintptr_t past = (uintptr_t)model->memory % CACHE_LINE;
    lay_out(model, (char *)model->memory + (past ? CACHE_LINE - past : 0));
    memcpy(model->ints, model->file.ints, (size_t)model->file.header->n_ints * sizeof(int64_t));
    size_t next = 0;
    for (uint64_t i = 0; i < model->file.header->n_variables; i++)
        if (model->file.variables[i].region == REGION_SWITCH)
            for (uint32_t k = 0; k < model->file.variables[i].count; k++)
                model->indicators[next++] = model->file.variables[i].offset + k;
    return true;
}

static bool find_kernels(Model *model)
{
    const char *name = NULL;
    model->kernels = limberjack_best(&name);
    if (model->kernels)
        instance_log(model->instance, STATUS_OK, NULL, "The engine runs its code for %s.", name);
    else
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "Instantiation refused: this processor cannot run the engine's code, which needs x86-64-v2 (any "
                     "x86-64 processor since about 2009) or aarch64; use another machine.");
    return model->kernels != NULL;
}

static bool is_embedded(Model *model)
{
    if (model->file.header->coupling == COUPLING_EMBEDDED)
        return true;
    instance_log(model->instance, STATUS_ERROR, NULL,
                 "Instantiation refused: resources/%s is for an FMU that is coupled to an engine process, this binary "
                 "holds the engine itself; unpack the FMU again, or export it again.",
                 PLANT_FILE_NAME);
    return false;
}

Model *model_open(Instance *instance, const char *resources)
{
    Model *model = calloc(1, sizeof *model);
    if (!model) {
        instance_log(instance, STATUS_ERROR, NULL, "Instantiation refused: no memory; close other programs.");
        return NULL;
    }
    model->instance = instance;
    char message[MESSAGE_BYTES];
    if (!plant_file_open(resources, &model->file, message, sizeof message))
        instance_log(instance, STATUS_ERROR, NULL, "Instantiation refused: %s", message);
    else if (is_embedded(model) && find_kernels(model) && check_tables(model) && check_sizes(model) &&
             allocate(model) && model_reset(model) == STATUS_OK)
        return model;
    model_close(model);
    return NULL;
}

void model_close(Model *model)
{
    plant_file_close(&model->file);
    free(model->memory);
    free(model);
}

const PlantFile *model_file(const Model *model)
{
    return &model->file;
}

Status model_reset(Model *model)
{
    const PlantFileHeader *header = model->file.header;
    memcpy(model->floats, model->file.floats, (size_t)header->n_floats * sizeof(double));
    memcpy(model->state, model->file.state, (size_t)header->n_state * sizeof(double));
    model->refresh_needed = false;
    model->fresh = 0;
    return STATUS_OK;
}

void model_terminate(Model *model)
{
    (void)model; /* the model stays readable */
}

/* Until the first step rotors of motors turn with their joints, as in engine/model/device_tables.py. */
static void carry_rotors(Model *model)
{
    const PlantFileHeader *h = model->file.header;
    const int64_t *c = model->ints;
    const int64_t *row = c + h->n_ints - VALVE_INT * c[C_VALVES] - MOTOR_INT * c[C_MOTORS];
    double *const drives = model->state + h->n_state - c[C_DRIVE_STATE];
    const double *const q = model->state + STATE_Q, *const v = q + h->n_q;
    for (int64_t m = 0; m < c[C_MOTORS]; m++, row += MOTOR_INT) {
        drives[row[MO_STATE] + MX_ANGLE] = q[row[MO_Q]];
        drives[row[MO_STATE] + MX_RATE] = v[row[MO_V]];
    }
}

void embedded_changed(Model *model, bool parameters)
{
    model->fresh = 0;
    if (model->state[STATE_STEPS] == 0.0)
        carry_rotors(model);
    model->refresh_needed = model->refresh_needed || parameters;
    model->unchecked = model->unchecked || parameters;
}

void embedded_settle(Model *model)
{
    if (!model->refresh_needed)
        return;
    model->kernels->refresh(model->ints, model->floats);
    model->refresh_needed = false;
}

/* Co-Simulation runs on the state itself, whose quaternions `check` and the integrator keep unit. */
static bool is_unit(const Model *model)
{
    return model->instance->interface == CO_SIMULATION && !model->perturbed &&
           !(model->instance->phase & (PHASE_INSTANTIATED | PHASE_INITIALIZATION));
}

/* The state to evaluate at. Importers set the components of a quaternion freely, and Model Exchange integrates them so:
 * a quaternion of any length means the unit quaternion along it. */
static double *evaluation_state(Model *model)
{
    embedded_settle(model);
    if (is_unit(model))
        return model->state;
    if (!(model->fresh & FRESH_UNIT)) {
        memcpy(model->unit, model->state, (size_t)model->file.header->n_state * sizeof(double));
        model->kernels->normalise(model->ints, model->floats, model->unit);
        model->fresh |= FRESH_UNIT;
    }
    return model->unit;
}

const double *embedded_observed(Model *model)
{
    const uint64_t n_v = model->file.header->n_v;
    double *tau = model->observed, *vdot = tau + n_v, *outputs = vdot + n_v;
    if (!(model->fresh & FRESH_OBSERVED))
        model->kernels->observe(model->ints, model->floats, model->work, evaluation_state(model), tau, vdot, outputs);
    model->fresh |= FRESH_OBSERVED;
    return model->observed;
}

const double *embedded_forces(Model *model)
{
    if (!(model->fresh & (FRESH_OBSERVED | FRESH_FORCES)))
        model->kernels->forces(model->ints, model->floats, model->work, evaluation_state(model), model->observed);
    model->fresh |= FRESH_FORCES;
    return model->observed;
}

static const double *surveyed(Model *model)
{
    if (!(model->fresh & FRESH_SURVEYED))
        model->kernels->survey(model->ints, model->floats, model->work, evaluation_state(model), model->surveyed);
    model->fresh |= FRESH_SURVEYED;
    return model->surveyed;
}

const double *embedded_rates(Model *model)
{
    embedded_settle(model);
    if (!(model->fresh & FRESH_RATES))
        model->kernels->rates(model->ints, model->floats, model->state, model->rates);
    model->fresh |= FRESH_RATES;
    return model->rates;
}

const double *embedded_switches(Model *model)
{
    if (!(model->fresh & FRESH_SWITCHES))
        model->kernels->switches(model->ints, model->floats, evaluation_state(model), model->switches);
    model->fresh |= FRESH_SWITCHES;
    return model->switches;
}

/* The vector that a variable's offset counts in, up to date; NULL for one that the embedded model does not have. */
static const double *vector(Model *model, const Variable *variable)
{
    const PlantFileHeader *header = model->file.header;
    switch (variable->region) {
    case REGION_TIME: return &model->instance->time;
    case REGION_PARAMETER: return model->floats;
    case REGION_Q: return model->state + STATE_Q;
    case REGION_V: return model->state + STATE_Q + header->n_q;
    case REGION_COMMAND: return model->state + STATE_Q + header->n_q + header->n_v;
    case REGION_OBSERVED:
        return variable->offset + variable->count <= header->n_v ? embedded_forces(model) : embedded_observed(model);
    case REGION_SURVEYED: return surveyed(model);
    case REGION_RATE: return embedded_rates(model);
    case REGION_SWITCH: return embedded_switches(model);
    default: return NULL;
    }
}

static Status no_such(Model *model, const Variable *variable, const char *what)
{
    instance_log(model->instance, STATUS_ERROR, NULL, "variable '%s' cannot be %s in this FMU.",
                 model->file.texts + variable->name, what);
    return STATUS_ERROR;
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
    const Status status = discard_of_values(model);
    instance_log(model->instance, status, NULL,
                 "At %.9g s variable '%s' is no finite number: the states are too large, or a quaternion is zero; "
                 "check them, and the solver's step.",
                 model->instance->time, model->file.texts + variable->name);
    return status;
}

Status model_get(Model *model, const Variable *variable, double *values)
{
    const double *from = vector(model, variable);
    if (!from)
        return no_such(model, variable, "read");
    bool finite = true;
    for (uint32_t i = 0; i < variable->count; i++) {
        values[i] = from[variable->offset + i];
        finite = finite && isfinite(values[i]);
    }
    if (finite || variable->region < REGION_OBSERVED) /* parameters may be infinite */
        return STATUS_OK;
    return embedded_not_finite(model, variable);
}

static bool check_value(Model *model, const Variable *variable, uint32_t element, double value)
{
    if (isfinite(value) && value >= variable->min && value <= variable->max)
        return true;
    const char *name = model->file.texts + variable->name;
    if (!isfinite(value))
        instance_log(model->instance, STATUS_ERROR, NULL, "variable '%s', element %u: %g is no finite number; set one.",
                     name, (unsigned)element + 1, value);
    else
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "variable '%s', element %u: %.17g is outside its range, %g to %g; set a value inside.", name,
                     (unsigned)element + 1, value, variable->min, variable->max);
    return false;
}

Status model_set(Model *model, const Variable *variable, const double *values)
{
    if (variable->region < REGION_PARAMETER || variable->region > REGION_COMMAND)
        return no_such(model, variable, "set");
    for (uint32_t i = 0; i < variable->count; i++)
        if (!check_value(model, variable, i, values[i]))
            return STATUS_ERROR;
    const PlantFileHeader *header = model->file.header;
    double *to = model->floats;
    if (variable->region != REGION_PARAMETER)
        to = model->state + STATE_Q + (variable->region >= REGION_V ? header->n_q : 0) +
             (variable->region >= REGION_COMMAND ? header->n_v : 0);
    for (uint32_t i = 0; i < variable->count; i++)
        to[variable->offset + i] = values[i];
    embedded_changed(model, variable->region == REGION_PARAMETER);
    return STATUS_OK;
}

Status model_get_text(Model *model, const Variable *variable, const char **text)
{
    (void)text;
    return no_such(model, variable, "read as a text");
}

Status model_set_text(Model *model, const Variable *variable, const char *text)
{
    (void)text;
    return no_such(model, variable, "set as a text");
}

const char *embedded_label(const Model *model, int64_t place)
{
    const int64_t n_q = (int64_t)model->file.header->n_q, n_v = (int64_t)model->file.header->n_v;
    int64_t label = place >= 0 ? n_q + place : -1 - place;
    return label >= 0 && label < n_q + n_v ? model->file.texts + model->file.labels[label] : "a coordinate";
}

const char *embedded_loop_label(const Model *model, int64_t loop)
{
    const PlantFileHeader *header = model->file.header;
    if (loop < 0 || loop >= (int64_t)header->n_loops)
        return "a loop";
    return model->file.texts + model->file.labels[header->n_q + header->n_v + (uint64_t)loop];
}
