/* The engine inside the FMU: analytic sensitivities of what is observed (forces, accelerations, sensor outputs) in
 * coordinates, velocities and commands, from one matrix that is kept until the state changes.
 */
#include <math.h>

#include "embedded.h"

static uint64_t columns(const Model *model)
{
    const PlantFileHeader *header = model->core.file.header;
    return header->n_q + header->n_v + header->n_commands;
}

/* The matrix's column of a known's first element; false for knowns that it does not have. */
static bool first_column(const Model *model, const Variable *known, uint64_t *column)
{
    const PlantFileHeader *header = model->core.file.header;
    switch (known->region) {
    case REGION_Q: *column = known->offset; return true;
    case REGION_V: *column = header->n_q + known->offset; return true;
    case REGION_COMMAND: *column = header->n_q + header->n_v + known->offset; return true;
    default: return false;
    }
}

bool embedded_has_rows(const Model *model, const Variable *unknown)
{
    return unknown->region == REGION_OBSERVED && model->slopes;
}

bool embedded_has_column(const Model *model, const Variable *known, uint32_t i)
{
    uint64_t column = 0;
    return first_column(model, known, &column) &&
           model->slopes[model->core.file.header->n_observed * columns(model) + column + i] != 0.0;
}

/* Does any pair of unknown and known need the matrix? */
static bool is_needed(const Model *model, const Variable *const *unknowns, size_t n_unknowns,
                      const Variable *const *knowns, size_t n_knowns)
{
    bool rows = false, have_columns = false;
    uint64_t column = 0;
    for (size_t k = 0; k < n_unknowns; k++)
        rows = rows || embedded_has_rows(model, unknowns[k]);
    for (size_t k = 0; k < n_knowns; k++)
        have_columns = have_columns || first_column(model, knowns[k], &column);
    return rows && have_columns;
}

void embedded_prepare_slopes(Model *model, const Variable *const *unknowns, size_t n_unknowns,
                             const Variable *const *knowns, size_t n_knowns)
{
    if ((model->core.fresh & FRESH_SLOPES) || !is_needed(model, unknowns, n_unknowns, knowns, n_knowns))
        return;
    model->core.kernels->state_slopes(model->core.ints, model->core.floats, model->core.work, model->room,
                                      model->core.state, model->slopes);
    model->core.fresh |= FRESH_SLOPES;
}

/* A row of the matrix times the seed. */
static double product(const Model *model, const double *row, const Variable *const *knowns, size_t n,
                      const double *seed)
{
    double sum = 0.0;
    uint64_t column = 0;
    for (size_t k = 0; k < n; seed += knowns[k]->count, k++)
        if (first_column(model, knowns[k], &column))
            for (uint32_t i = 0; i < knowns[k]->count; i++)
                sum += row[column + i] * seed[i];
    return sum;
}

Status embedded_add_directional(Model *model, const Variable *const *unknowns, size_t n_unknowns,
                                const Variable *const *knowns, size_t n_knowns, const double *seed, double *sensitivity)
{
    for (size_t k = 0; k < n_unknowns; sensitivity += unknowns[k]->count, k++) {
        if (!embedded_has_rows(model, unknowns[k]))
            continue;
        const double *row = model->slopes + unknowns[k]->offset * columns(model);
        for (uint32_t i = 0; i < unknowns[k]->count; i++, row += columns(model)) {
            sensitivity[i] += product(model, row, knowns, n_knowns, seed);
            if (!isfinite(sensitivity[i]))
                return embedded_not_finite(model, unknowns[k]);
        }
    }
    return STATUS_OK;
}

/* Adds weight times a row of the matrix; false where that is not a finite number. */
static bool add_row(const Model *model, const double *row, double weight, const Variable *const *knowns, size_t n,
                    double *sensitivity)
{
    bool finite = true;
    uint64_t column = 0;
    for (size_t k = 0; k < n; sensitivity += knowns[k]->count, k++)
        if (first_column(model, knowns[k], &column))
            for (uint32_t i = 0; i < knowns[k]->count; i++) {
                sensitivity[i] += weight * row[column + i];
                finite = finite && isfinite(sensitivity[i]);
            }
    return finite;
}

Status embedded_add_adjoint(Model *model, const Variable *const *unknowns, size_t n_unknowns,
                            const Variable *const *knowns, size_t n_knowns, const double *seed, double *sensitivity)
{
    for (size_t k = 0; k < n_unknowns; seed += unknowns[k]->count, k++) {
        if (!embedded_has_rows(model, unknowns[k]))
            continue;
        const double *row = model->slopes + unknowns[k]->offset * columns(model);
        for (uint32_t i = 0; i < unknowns[k]->count; i++, row += columns(model))
            if (!add_row(model, row, seed[i], knowns, n_knowns, sensitivity))
                return embedded_not_finite(model, unknowns[k]);
    }
    return STATUS_OK;
}
