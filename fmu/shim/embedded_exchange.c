/* The engine inside the FMU: Model Exchange. The continuous states are [q | v]. */
#include <math.h>
#include <string.h>

#include "embedded.h"

Status model_set_time(Model *model, double time)
{
    model->core.state[STATE_TIME] = time; /* nothing in the model depends on it */
    return STATUS_OK;
}

Status model_set_states(Model *model, const double *states)
{
    const int64_t n_q = (int64_t)model->core.file.header->n_q, n = n_q + (int64_t)model->core.file.header->n_v;
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(states[i])) {
            instance_log(model->instance, STATUS_ERROR, NULL,
                         "continuous state %lld, %s, is set to %g, which is not a finite number; reduce the solver's "
                         "step.",
                         (long long)i + 1, core_label(&model->core, i < n_q ? -1 - i : i - n_q), states[i]);
            return STATUS_ERROR;
        }
    memcpy(model->core.state + STATE_Q, states, (size_t)n * sizeof(double));
    core_changed(&model->core, false);
    return STATUS_OK;
}

Status model_get_states(Model *model, double *states)
{
    memcpy(states, model->core.state + STATE_Q,
           (size_t)(model->core.file.header->n_q + model->core.file.header->n_v) * sizeof(double));
    return STATUS_OK;
}

Status model_get_derivatives(Model *model, double *derivatives)
{
    const int64_t n_q = (int64_t)model->core.file.header->n_q, n_v = (int64_t)model->core.file.header->n_v;
    const double *rates = embedded_rates(model);
    const double *vdot = core_observed(embedded_core(model)) + n_v;
    memcpy(derivatives, rates, (size_t)n_q * sizeof(double));
    memcpy(derivatives + n_q, vdot, (size_t)n_v * sizeof(double));
    for (int64_t i = 0; i < n_q + n_v; i++)
        if (!isfinite(derivatives[i])) {
            instance_log(model->instance, STATUS_DISCARD, NULL,
                         "At %.9g s the derivative of %s is not a finite number: the states are too large; reduce the "
                         "solver's step.",
                         model->instance->time, core_label(&model->core, i < n_q ? -1 - i : i - n_q));
            return STATUS_DISCARD;
        }
    return STATUS_OK;
}

Status model_get_indicators(Model *model, double *indicators)
{
    const double *switches = embedded_switches(model);
    for (size_t i = 0; i < model->instance->n_indicators; i++) {
        indicators[i] = switches[model->indicators[i]];
        if (isfinite(indicators[i]))
            continue;
        instance_log(
            model->instance, STATUS_DISCARD, NULL,
            "At %.9g s event indicator %zu is not a finite number: the states are too large; reduce the solver's "
            "step.",
            model->instance->time, i + 1);
        return STATUS_DISCARD;
    }
    return STATUS_OK;
}
