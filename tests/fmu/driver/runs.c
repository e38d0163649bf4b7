/* Co-simulation and Model Exchange runs. */
#include "runs.h"

#include <stdlib.h>
#include <string.h>

size_t trace_row(const Description *description)
{
    return 1 + description->outputs.numbers;
}

static const Variable *input_of(const Description *description, Reference reference)
{
    for (size_t i = 0; i < description->n_variables; i++)
        if (description->variables[i].reference == reference)
            return &description->variables[i];
    give_up("no variable %u", reference);
    return NULL;
}

void inputs_by_formula(const Description *description, size_t step, int phase, double *values)
{
    const Group *inputs = &description->inputs;
    size_t number = 0;
    for (size_t i = 0; i < inputs->count; i++) {
        const Variable *variable = input_of(description, inputs->references[i]);
        for (size_t j = 0; j < variable->count; j++, number++) {
            /* a step function of whole numbers over a power of two: exact in every arithmetic */
            double value = (double)((int)((step / 8 + 3 * number + (size_t)phase) % 11) - 5) / 64.0;
            value = value < variable->minimum ? variable->minimum : value;
            values[number] = value > variable->maximum ? variable->maximum : value;
        }
    }
}

void trace_new(Trace *trace, const Description *description, size_t steps, int phase)
{
    size_t width = description->inputs.numbers;
    trace->inputs = allocate(steps * width, sizeof(double));
    trace->rows = allocate((steps + 1) * trace_row(description), sizeof(double));
    trace->steps = steps;
    trace->h = description->step;
    for (size_t i = 0; i < steps; i++)
        inputs_by_formula(description, i, phase, trace->inputs + i * width);
}

void trace_free(Trace *trace)
{
    free(trace->inputs);
    free(trace->rows);
    trace->inputs = trace->rows = NULL;
}

bool traces_equal(const Trace *one, const Trace *other, const Description *description)
{
    size_t numbers = (one->steps + 1) * trace_row(description);
    return one->steps == other->steps && memcmp(one->rows, other->rows, numbers * sizeof(double)) == 0;
}

Status record_row(Instance *instance, Trace *trace, size_t row, double time)
{
    const Description *description = instance->fmu->description;
    double *place = trace->rows + row * trace_row(description);
    place[0] = time;
    return instance_get_group(instance, &description->outputs, place + 1);
}

static Status set_inputs(Instance *instance, const Trace *trace, size_t step)
{
    const Group *inputs = &instance->fmu->description->inputs;
    return instance_set_group(instance, inputs, trace->inputs + step * inputs->numbers);
}

Status run_steps(Instance *instance, Trace *trace, size_t first)
{
    double reached = (double)first * trace->h;
    Status status = record_row(instance, trace, 0, reached);
    for (size_t i = 0; status <= FMI_WARNING && i < trace->steps; i++) {
        double time = (double)(first + i) * trace->h;
        status = set_inputs(instance, trace, i);
        if (status <= FMI_WARNING)
            status = instance_step(instance, time, trace->h, &reached);
        if (status <= FMI_WARNING)
            status = record_row(instance, trace, i + 1, (double)(first + i + 1) * trace->h);
    }
    return status;
}

static Status slope(Instance *instance, double time, const double *states, size_t n, double *derivatives)
{
    Status status = instance_set_time(instance, time);
    if (status <= FMI_WARNING)
        status = instance_set_states(instance, states, n);
    return status > FMI_WARNING ? status : instance_get_derivatives(instance, derivatives, n);
}

/* One step of RK4 from x; `work` has room for 3 n numbers. */
static Status runge_kutta(Instance *instance, double time, double h, double *x, size_t n, double *work)
{
    static const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    double *point = work, *k = work + n, *sum = work + 2 * n;
    memset(sum, 0, n * sizeof(double));
    memset(k, 0, n * sizeof(double));
    for (int stage = 0; stage < 4; stage++) {
        for (size_t i = 0; i < n; i++)
            point[i] = x[i] + at[stage] * h * k[i];
        Status status = slope(instance, time + at[stage] * h, point, n, k);
        if (status > FMI_WARNING)
            return status;
        for (size_t i = 0; i < n; i++)
            sum[i] += weight[stage] * k[i];
    }
    for (size_t i = 0; i < n; i++)
        x[i] += h / 6.0 * sum[i];
    return FMI_OK;
}

/* Did an event indicator change its sign? `signs` keeps them from step to step. */
static Status watch_indicators(Instance *instance, double *indicators, double *signs, bool *changed)
{
    size_t n = instance->fmu->description->n_indicators;
    Status status = n > 0 ? instance_get_indicators(instance, indicators, n) : FMI_OK;
    for (size_t i = 0; status <= FMI_WARNING && i < n; i++) {
        double sign = indicators[i] > 0.0 ? 1.0 : -1.0;
        *changed |= signs[i] != 0.0 && signs[i] != sign;
        signs[i] = sign;
    }
    return status;
}

/* Closes a step: states and time to the FMU, event mode where the FMU or an indicator asks for it.
 * `work` has room for two numbers an indicator and begins zero. */
static Status finish_step(Instance *instance, double time, const double *x, size_t n, double *work)
{
    bool event = false, terminate = false, again = true;
    size_t n_indicators = instance->fmu->description->n_indicators;
    Status status = instance_set_time(instance, time);
    if (status <= FMI_WARNING)
        status = instance_set_states(instance, x, n);
    if (status <= FMI_WARNING)
        status = instance_completed(instance, &event, &terminate);
    if (status <= FMI_WARNING)
        status = watch_indicators(instance, work, work + n_indicators, &event);
    if (status > FMI_WARNING || !event)
        return status;
    status = instance_enter_event(instance);
    for (int i = 0; status <= FMI_WARNING && again && i < 100; i++)
        status = instance_iterate_events(instance, &again);
    return status > FMI_WARNING ? status : instance_enter_continuous(instance);
}

Status run_exchange(Instance *instance, Trace *trace)
{
    const Description *description = instance->fmu->description;
    size_t n = description->n_continuous;
    double *x = allocate(4 * n + 2 * description->n_indicators, sizeof(double));
    Status status = record_row(instance, trace, 0, 0.0);
    if (status <= FMI_WARNING)
        status = instance_get_states(instance, x, n);
    for (size_t i = 0; status <= FMI_WARNING && i < trace->steps; i++) {
        double time = (double)i * trace->h;
        status = set_inputs(instance, trace, i);
        if (status <= FMI_WARNING)
            status = runge_kutta(instance, time, trace->h, x, n, x + n);
        if (status <= FMI_WARNING)
            status = finish_step(instance, (double)(i + 1) * trace->h, x, n, x + 4 * n);
        if (status <= FMI_WARNING)
            status = record_row(instance, trace, i + 1, (double)(i + 1) * trace->h);
    }
    free(x);
    return status;
}
