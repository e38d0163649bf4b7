/* An engine process behind model.h: its state as bytes, [steps, started | parameters | command | start |
 * newest state | snapshot of the engine], and what only the embedded engine answers. Mark, model and checksum are in
 * fmu_state.c. The settings say where an engine is, not in which state: they are not part of it. */
#include <string.h>

#include "coupled.h"

enum { FIRST = 2 }; /* numbers before the parameters */

static size_t numbers(const Model *model)
{
    const PlantFileHeader *h = model->file.header;
    return FIRST + (size_t)(h->n_floats + h->n_commands) + model->shape.tau + model->shape.count;
}

size_t model_snapshot_size(const Model *model)
{
    return numbers(model) * sizeof(double) + coupled_snapshot_size(model);
}

/* Moves the numbers between the model and the bytes, in their order. */
static void move(Model *model, double *saved, bool out)
{
    const PlantFileHeader *h = model->file.header;
    double *const vectors[] = {model->parameters, model->command, model->start, model->now};
    const size_t counts[] = {(size_t)h->n_floats, (size_t)h->n_commands, model->shape.tau, model->shape.count};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        memcpy(out ? saved : vectors[i], out ? vectors[i] : saved, counts[i] * sizeof(double));
        saved += counts[i];
    }
}

Status model_save(Model *model, void *bytes)
{
    double *const saved = bytes;
    if (model->started && (!coupled_alive(model) || coupled_snapshot(model) != STATUS_OK))
        return STATUS_ERROR; /* bytes stay: they may be an older state, to which the importer returns now */
    memset(bytes, 0, model_snapshot_size(model));
    saved[0] = model->started ? (double)model->steps : 0.0;
    saved[1] = model->started ? 1.0 : 0.0;
    if (model->started)
        memcpy(saved + numbers(model), model->snapshot, coupled_snapshot_size(model));
    move(model, saved + FIRST, true);
    return STATUS_OK;
}

Status model_restore(Model *model, const void *bytes, size_t size)
{
    if (size != model_snapshot_size(model)) {
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "the saved state has %zu bytes instead of %zu: it is of another model; save one with this FMU.",
                     size, model_snapshot_size(model));
        return STATUS_ERROR;
    }
    const double *const saved = bytes;
    move(model, (double *)(uintptr_t)(saved + FIRST), false); /* only read */
    model->started = saved[1] != 0.0;
    model->current = false;
    if (!model->started)
        return STATUS_OK;
    if (coupled_connect(model) != STATUS_OK || coupled_push(model) != STATUS_OK)
        return STATUS_ERROR;
    memcpy(model->snapshot, saved + numbers(model), coupled_snapshot_size(model));
    return coupled_restore(model);
}

static Status not_answered(Model *model, const char *what)
{
    instance_log(model->instance, STATUS_ERROR, NULL,
                 "An FMU that is coupled to an engine process has no %s; export the model with the embedded coupling.",
                 what);
    return STATUS_ERROR;
}

Status model_set_time(Model *model, double time)
{
    (void)time;
    return not_answered(model, "Model Exchange");
}

Status model_set_states(Model *model, const double *states)
{
    (void)states;
    return not_answered(model, "Model Exchange");
}

Status model_get_states(Model *model, double *states)
{
    (void)states;
    return not_answered(model, "Model Exchange");
}

Status model_get_derivatives(Model *model, double *derivatives)
{
    (void)derivatives;
    return not_answered(model, "Model Exchange");
}

Status model_get_indicators(Model *model, double *indicators)
{
    (void)indicators;
    return not_answered(model, "Model Exchange");
}

Status model_directional(Model *model, const Variable *const *unknowns, size_t n_unknowns,
                         const Variable *const *knowns, size_t n_knowns, const double *seed, double *sensitivity)
{
    (void)unknowns, (void)n_unknowns, (void)knowns, (void)n_knowns, (void)seed, (void)sensitivity;
    return not_answered(model, "directional derivatives");
}

Status model_adjoint(Model *model, const Variable *const *unknowns, size_t n_unknowns, const Variable *const *knowns,
                     size_t n_knowns, const double *seed, double *sensitivity)
{
    (void)unknowns, (void)n_unknowns, (void)knowns, (void)n_knowns, (void)seed, (void)sensitivity;
    return not_answered(model, "adjoint derivatives");
}
