/* Model Exchange: what both versions of the standard share. */
#include "exchange.h"

#include <math.h>

static bool check_vector(Instance *instance, const char *function, const void *vector, size_t n, size_t needed,
                         const char *what)
{
    if (n == needed)
        return n == 0 || instance_has(instance, function, vector, what);
    instance_log(instance, STATUS_ERROR, NULL, "%s: %zu %s were asked for, the model has %zu; give that number.",
                 function, n, what, needed);
    return false;
}

Status exchange_set_time(Instance *instance, const char *function, double time)
{
    if (!isfinite(time)) {
        instance_log(instance, STATUS_ERROR, NULL, "%s: the time is %g; give a finite one in s.", function, time);
        return STATUS_ERROR;
    }
    instance->time = time;
    return model_set_time(instance->model, time);
}

Status exchange_set_states(Instance *instance, const char *function, const double *states, size_t n)
{
    if (!check_vector(instance, function, states, n, instance->n_states, "continuous states"))
        return STATUS_ERROR;
    return model_set_states(instance->model, states);
}

Status exchange_get_states(Instance *instance, const char *function, double *states, size_t n)
{
    if (!check_vector(instance, function, states, n, instance->n_states, "continuous states"))
        return STATUS_ERROR;
    return model_get_states(instance->model, states);
}

Status exchange_get_derivatives(Instance *instance, const char *function, double *derivatives, size_t n)
{
    if (!check_vector(instance, function, derivatives, n, instance->n_states, "derivatives"))
        return STATUS_ERROR;
    return model_get_derivatives(instance->model, derivatives);
}

Status exchange_get_indicators(Instance *instance, const char *function, double *indicators, size_t n)
{
    if (!check_vector(instance, function, indicators, n, instance->n_indicators, "event indicators"))
        return STATUS_ERROR;
    return model_get_indicators(instance->model, indicators);
}

Status exchange_get_nominals(Instance *instance, const char *function, double *nominals, size_t n)
{
    if (!check_vector(instance, function, nominals, n, instance->n_states, "nominal values"))
        return STATUS_ERROR;
    for (size_t i = 0; i < n; i++)
        nominals[i] = 1.0;
    const PlantFileHeader *header = instance->file->header;
    for (uint64_t k = 0; k < header->n_variables; k++) {
        const Variable *variable = &instance->file->variables[k];
        if (!(variable->flags & FLAG_START) || (variable->region != REGION_Q && variable->region != REGION_V))
            continue;
        double *first = nominals + (variable->region == REGION_V ? header->n_q : 0) + variable->offset;
        for (uint32_t i = 0; i < variable->count; i++)
            first[i] = variable->nominal;
    }
    return STATUS_OK;
}
