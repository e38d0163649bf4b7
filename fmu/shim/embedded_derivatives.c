/* The engine inside the FMU: sensitivities by central differences.
 *
 * J s = (f(x + e s) - f(x - e s)) / 2e + O(e²): with e near the cube root of the rounding unit, truncation and
 * rounding are both about 1e-11 of the model's scale.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "embedded.h"

/* Where a known's numbers live; NULL after a log line, and for time, on which nothing depends. */
static bool known_place(Model *model, const Variable *known, double **place)
{
    const PlantFileHeader *header = model->file.header;
    double *states = model->state + STATE_Q;
    switch (known->region) {
    case REGION_TIME: *place = NULL; return true;
    case REGION_PARAMETER: *place = model->floats + known->offset; return true;
    case REGION_Q: *place = states + known->offset; return true;
    case REGION_V: *place = states + header->n_q + known->offset; return true;
    case REGION_COMMAND: *place = states + header->n_q + header->n_v + known->offset; return true;
    default:
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "variable '%s' is computed by the model and cannot be a known of a derivative; give inputs, "
                     "states or parameters.",
                     model->file.texts + known->name);
        return false;
    }
}

/* The size of change that matters: parameters have scales of their own, angles, rates and forces that of their unit. */
static double scale(const Variable *known, double value)
{
    if (known->region == REGION_PARAMETER)
        return value != 0.0 ? fabs(value) : 1.0;
    return fmax(1.0, fabs(value));
}

static void save(Model *model)
{
    embedded_settle(model);
    memcpy(model->saved_floats, model->floats, (size_t)model->file.header->n_floats * sizeof(double));
    memcpy(model->saved_state, model->state, (size_t)model->file.header->n_state * sizeof(double));
    model->perturbed = true;
    model->fresh = 0;
}

/* What depended on parameters is restored with them. */
static void restore(Model *model)
{
    memcpy(model->floats, model->saved_floats, (size_t)model->file.header->n_floats * sizeof(double));
    memcpy(model->state, model->saved_state, (size_t)model->file.header->n_state * sizeof(double));
    model->refresh_needed = false;
    model->fresh = 0;
}

static void finish(Model *model)
{
    restore(model);
    model->perturbed = false;
}

/* Adds `by` times the seed to the knowns. */
static void shift(Model *model, const Variable *const *knowns, size_t n, const double *seed, double by)
{
    for (size_t k = 0; k < n; seed += knowns[k]->count, k++) {
        double *place = NULL;
        if (!known_place(model, knowns[k], &place) || !place)
            continue;
        for (uint32_t i = 0; i < knowns[k]->count; i++)
            place[i] += by * seed[i];
        embedded_changed(model, knowns[k]->region == REGION_PARAMETER);
    }
}

static bool check_seed(Model *model, const Variable *variable, const double *seed)
{
    for (uint32_t i = 0; i < variable->count; i++)
        if (!isfinite(seed[i])) {
            instance_log(model->instance, STATUS_ERROR, NULL, "the seed of variable '%s' is %g; give finite numbers.",
                         model->file.texts + variable->name, seed[i]);
            return false;
        }
    return true;
}

/* The e of the differences, 0 when the seed is zero (or too small for 1 / seed); false after a log line. */
static bool choose_step(Model *model, const Variable *const *knowns, size_t n, const double *seed, double *step)
{
    double largest = 0.0;
    for (size_t k = 0; k < n; seed += knowns[k]->count, k++) {
        double *place = NULL;
        if (!known_place(model, knowns[k], &place) || !check_seed(model, knowns[k], seed))
            return false;
        for (uint32_t i = 0; place && i < knowns[k]->count; i++)
            largest = fmax(largest, fabs(seed[i]) / scale(knowns[k], place[i]));
    }
    *step = largest > DBL_MIN ? cbrt(DBL_EPSILON) / largest : 0.0;
    return true;
}

/* Values of the unknowns one after the other. */
static Status read(Model *model, const Variable *const *unknowns, size_t n, double *values)
{
    Status status = STATUS_OK;
    for (size_t k = 0; k < n && status == STATUS_OK; values += unknowns[k]->count, k++)
        status = model_get(model, unknowns[k], values);
    return status;
}

/* values = (values - what the unknowns are now) / width */
static Status subtract(Model *model, const Variable *const *unknowns, size_t n, double width, double *values)
{
    Status status = STATUS_OK;
    for (size_t k = 0; k < n && status == STATUS_OK; values += unknowns[k]->count, k++) {
        status = model_get(model, unknowns[k], model->scratch);
        for (uint32_t i = 0; i < unknowns[k]->count; i++)
            values[i] = (values[i] - model->scratch[i]) / width;
    }
    return status;
}

static size_t elements(const Variable *const *variables, size_t n)
{
    size_t count = 0;
    for (size_t k = 0; k < n; k++)
        count += variables[k]->count;
    return count;
}

Status model_directional(Model *model, const Variable *const *unknowns, size_t n_unknowns,
                         const Variable *const *knowns, size_t n_knowns, const double *seed, double *sensitivity)
{
    double step = 0.0;
    if (!choose_step(model, knowns, n_knowns, seed, &step))
        return STATUS_ERROR;
    if (step == 0.0) {
        memset(sensitivity, 0, elements(unknowns, n_unknowns) * sizeof(double));
        return STATUS_OK;
    }
    save(model);
    shift(model, knowns, n_knowns, seed, step);
    Status status = read(model, unknowns, n_unknowns, sensitivity);
    restore(model);
    shift(model, knowns, n_knowns, seed, -step);
    if (status == STATUS_OK)
        status = subtract(model, unknowns, n_unknowns, 2.0 * step, sensitivity);
    finish(model);
    return status;
}

/* Sum of seed times unknown, over all elements. */
static Status project(Model *model, const Variable *const *unknowns, size_t n, const double *seed, double *sum)
{
    Status status = STATUS_OK;
    *sum = 0.0;
    for (size_t k = 0; k < n && status == STATUS_OK; seed += unknowns[k]->count, k++) {
        status = model_get(model, unknowns[k], model->scratch);
        for (uint32_t i = 0; i < unknowns[k]->count; i++)
            *sum += seed[i] * model->scratch[i];
    }
    return status;
}

/* The projected unknowns' derivative in one element of a known. */
static Status element(Model *model, const Variable *const *unknowns, size_t n, const double *seed,
                      const Variable *known, uint32_t i, double *result)
{
    double *place = NULL, above = 0.0, below = 0.0;
    *result = 0.0;
    if (!known_place(model, known, &place) || !place)
        return STATUS_OK;
    const double value = place[i], step = cbrt(DBL_EPSILON) * scale(known, value);
    place[i] = value + step;
    embedded_changed(model, known->region == REGION_PARAMETER);
    Status status = project(model, unknowns, n, seed, &above);
    restore(model);
    place[i] = value - step;
    embedded_changed(model, known->region == REGION_PARAMETER);
    if (status == STATUS_OK)
        status = project(model, unknowns, n, seed, &below);
    restore(model);
    *result = (above - below) / (2.0 * step);
    return status;
}

Status model_adjoint(Model *model, const Variable *const *unknowns, size_t n_unknowns, const Variable *const *knowns,
                     size_t n_knowns, const double *seed, double *sensitivity)
{
    double *place = NULL;
    for (size_t k = 0; k < n_knowns; k++)
        if (!known_place(model, knowns[k], &place))
            return STATUS_ERROR;
    const double *rest = seed;
    for (size_t k = 0; k < n_unknowns; rest += unknowns[k]->count, k++)
        if (!check_seed(model, unknowns[k], rest))
            return STATUS_ERROR;
    save(model);
    Status status = STATUS_OK;
    for (size_t k = 0; k < n_knowns; k++)
        for (uint32_t i = 0; i < knowns[k]->count && status == STATUS_OK; i++)
            status = element(model, unknowns, n_unknowns, seed, knowns[k], i, sensitivity++);
    finish(model);
    return status;
}
