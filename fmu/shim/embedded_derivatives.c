/* The engine inside the FMU: sensitivities, by central differences where the matrix of embedded_slopes.c has none.
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
    const PlantFileHeader *header = model->core.file.header;
    double *states = model->core.state + STATE_Q;
    switch (known->region) {
    case REGION_TIME: *place = NULL; return true;
    case REGION_PARAMETER: *place = model->core.floats + known->offset; return true;
    case REGION_Q: *place = states + known->offset; return true;
    case REGION_V: *place = states + header->n_q + known->offset; return true;
    case REGION_COMMAND: *place = states + header->n_q + header->n_v + known->offset; return true;
    default:
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "variable '%s' is computed by the model and cannot be a known of a derivative; give inputs, "
                     "states or parameters.",
                     model->core.file.texts + known->name);
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

/* The state from which differences are taken, and the matrix of slopes there. */
static void begin(Model *model, const Variable *const *unknowns, size_t n_unknowns, const Variable *const *knowns,
                  size_t n_knowns)
{
    core_settle(&model->core);
    embedded_prepare_slopes(model, unknowns, n_unknowns, knowns, n_knowns);
    model->kept = model->core.fresh & FRESH_SLOPES;
    memcpy(model->saved_floats, model->core.floats, (size_t)model->core.file.header->n_floats * sizeof(double));
    memcpy(model->saved_state, model->core.state, (size_t)model->core.file.header->n_state * sizeof(double));
    model->perturbed = true;
    model->core.fresh = model->kept;
}

/* What depended on parameters is restored with them. */
static void restore(Model *model)
{
    memcpy(model->core.floats, model->saved_floats, (size_t)model->core.file.header->n_floats * sizeof(double));
    memcpy(model->core.state, model->saved_state, (size_t)model->core.file.header->n_state * sizeof(double));
    model->core.refresh_needed = false;
    model->core.fresh = model->kept;
}

static void finish(Model *model)
{
    restore(model);
    model->perturbed = false;
}

/* Must differences do for this known? `rows`: of unknowns that the matrix has. */
static bool is_left(const Model *model, bool rows, const Variable *known, uint32_t i)
{
    return !rows || !embedded_has_column(model, known, i);
}

/* Adds `by` times the seed to the knowns that are left. */
static void shift(Model *model, bool rows, const Variable *const *knowns, size_t n, const double *seed, double by)
{
    for (size_t k = 0; k < n; seed += knowns[k]->count, k++) {
        double *place = NULL;
        if (!known_place(model, knowns[k], &place) || !place)
            continue;
        for (uint32_t i = 0; i < knowns[k]->count; i++)
            place[i] += is_left(model, rows, knowns[k], i) ? by * seed[i] : 0.0;
        core_changed(&model->core, knowns[k]->region == REGION_PARAMETER);
    }
}

static bool check_seed(Model *model, const Variable *variable, const double *seed)
{
    for (uint32_t i = 0; i < variable->count; i++)
        if (!isfinite(seed[i])) {
            instance_log(model->instance, STATUS_ERROR, NULL, "the seed of variable '%s' is %g; give finite numbers.",
                         model->core.file.texts + variable->name, seed[i]);
            return false;
        }
    return true;
}

static bool check_knowns(Model *model, const Variable *const *knowns, size_t n)
{
    double *place = NULL;
    for (size_t k = 0; k < n; k++)
        if (!known_place(model, knowns[k], &place))
            return false;
    return true;
}

static bool check_seeds(Model *model, const Variable *const *variables, size_t n, const double *seed)
{
    for (size_t k = 0; k < n; seed += variables[k]->count, k++)
        if (!check_seed(model, variables[k], seed))
            return false;
    return true;
}

/* The e of the differences, 0 when the seed of what is left is zero (or too small for 1 / seed). */
static double choose_step(Model *model, bool rows, const Variable *const *knowns, size_t n, const double *seed)
{
    double largest = 0.0;
    for (size_t k = 0; k < n; seed += knowns[k]->count, k++) {
        double *place = NULL;
        if (!known_place(model, knowns[k], &place) || !place)
            continue;
        for (uint32_t i = 0; i < knowns[k]->count; i++)
            if (seed[i] != 0.0 && is_left(model, rows, knowns[k], i))
                largest = fmax(largest, fabs(seed[i]) / scale(knowns[k], place[i]));
    }
    return largest > DBL_MIN ? cbrt(DBL_EPSILON) / largest : 0.0;
}

/* Values of the unknowns that the matrix has, or of those that it has not, at their places. */
static Status read(Model *model, bool rows, const Variable *const *unknowns, size_t n, double *values)
{
    Status status = STATUS_OK;
    for (size_t k = 0; k < n && status == STATUS_OK; values += unknowns[k]->count, k++)
        if (embedded_has_rows(model, unknowns[k]) == rows)
            status = model_get(model, unknowns[k], values);
    return status;
}

/* values = (values - what the same unknowns are now) / width */
static Status subtract(Model *model, bool rows, const Variable *const *unknowns, size_t n, double width, double *values)
{
    Status status = STATUS_OK;
    for (size_t k = 0; k < n && status == STATUS_OK; values += unknowns[k]->count, k++) {
        if (embedded_has_rows(model, unknowns[k]) != rows)
            continue;
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

/* Is any of the unknowns in the matrix, or any not? */
static bool have(const Model *model, bool rows, const Variable *const *unknowns, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (embedded_has_rows(model, unknowns[k]) == rows)
            return true;
    return false;
}

/* Differences for the unknowns that the matrix has, over what is left, or for those that it has not, over all. */
static Status differences(Model *model, bool rows, const Variable *const *unknowns, size_t n_unknowns,
                          const Variable *const *knowns, size_t n_knowns, const double *seed, double *sensitivity)
{
    if (!have(model, rows, unknowns, n_unknowns))
        return STATUS_OK;
    const double step = choose_step(model, rows, knowns, n_knowns, seed);
    if (step == 0.0)
        return STATUS_OK;
    shift(model, rows, knowns, n_knowns, seed, step);
    Status status = read(model, rows, unknowns, n_unknowns, sensitivity);
    restore(model);
    shift(model, rows, knowns, n_knowns, seed, -step);
    if (status == STATUS_OK)
        status = subtract(model, rows, unknowns, n_unknowns, 2.0 * step, sensitivity);
    restore(model);
    return status;
}

Status model_directional(Model *model, const Variable *const *unknowns, size_t n_unknowns,
                         const Variable *const *knowns, size_t n_knowns, const double *seed, double *sensitivity)
{
    if (!check_knowns(model, knowns, n_knowns) || !check_seeds(model, knowns, n_knowns, seed))
        return STATUS_ERROR;
    memset(sensitivity, 0, elements(unknowns, n_unknowns) * sizeof(double));
    begin(model, unknowns, n_unknowns, knowns, n_knowns);
    Status status = differences(model, false, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
    if (status == STATUS_OK)
        status = differences(model, true, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
    if (status == STATUS_OK)
        status = embedded_add_directional(model, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
    finish(model);
    return status;
}

/* Sum of seed times unknown, over all elements; without unknowns that the matrix has, if it has the known. */
static Status project(Model *model, bool column, const Variable *const *unknowns, size_t n, const double *seed,
                      double *sum)
{
    Status status = STATUS_OK;
    *sum = 0.0;
    for (size_t k = 0; k < n && status == STATUS_OK; seed += unknowns[k]->count, k++) {
        if (column && embedded_has_rows(model, unknowns[k]))
            continue;
        status = model_get(model, unknowns[k], model->scratch);
        for (uint32_t i = 0; i < unknowns[k]->count; i++)
            *sum += seed[i] * model->scratch[i];
    }
    return status;
}

/* The projected unknowns' derivative in one element of a known, apart from what is in the matrix. */
static Status element(Model *model, bool rows, const Variable *const *unknowns, size_t n, const double *seed,
                      const Variable *known, uint32_t i, double *result)
{
    double *place = NULL, above = 0.0, below = 0.0;
    *result = 0.0;
    if (!known_place(model, known, &place) || !place)
        return STATUS_OK;
    const bool column = rows && embedded_has_column(model, known, i);
    if (column && !have(model, false, unknowns, n))
        return STATUS_OK;
    const double value = place[i], step = cbrt(DBL_EPSILON) * scale(known, value);
    place[i] = value + step;
    core_changed(&model->core, known->region == REGION_PARAMETER);
    Status status = project(model, column, unknowns, n, seed, &above);
    restore(model);
    place[i] = value - step;
    core_changed(&model->core, known->region == REGION_PARAMETER);
    if (status == STATUS_OK)
        status = project(model, column, unknowns, n, seed, &below);
    restore(model);
    *result = (above - below) / (2.0 * step);
    return status;
}

Status model_adjoint(Model *model, const Variable *const *unknowns, size_t n_unknowns, const Variable *const *knowns,
                     size_t n_knowns, const double *seed, double *sensitivity)
{
    if (!check_knowns(model, knowns, n_knowns) || !check_seeds(model, unknowns, n_unknowns, seed))
        return STATUS_ERROR;
    begin(model, unknowns, n_unknowns, knowns, n_knowns);
    const bool rows = have(model, true, unknowns, n_unknowns);
    Status status = STATUS_OK;
    double *next = sensitivity;
    for (size_t k = 0; k < n_knowns; k++)
        for (uint32_t i = 0; i < knowns[k]->count && status == STATUS_OK; i++)
            status = element(model, rows, unknowns, n_unknowns, seed, knowns[k], i, next++);
    if (status == STATUS_OK)
        status = embedded_add_adjoint(model, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
    finish(model);
    return status;
}
