/* Reading and setting variables: references, lengths, and what may be set when. */
#include "values.h"

static const char *name_of(const Instance *instance, const Variable *variable)
{
    return instance->file->texts + variable->name;
}

const Variable *values_variable(Instance *instance, const char *function, ValueReference reference)
{
    const uint64_t count = instance->file->header->n_variables;
    if (reference < count)
        return &instance->file->variables[reference];
    instance_log(instance, STATUS_ERROR, NULL,
                 "%s: there is no variable with value reference %u; they go from 0 to %llu, see modelDescription.xml.",
                 function, (unsigned)reference, (unsigned long long)count - 1);
    return NULL;
}

static const char *type_name(const Variable *variable)
{
    return variable->type == TYPE_TEXT ? "String" : variable->type == TYPE_BOOLEAN ? "Boolean" : "Float64 (Real)";
}

static const Variable *typed(Instance *instance, const char *function, ValueReference reference, uint32_t type)
{
    const Variable *variable = values_variable(instance, function, reference);
    if (!variable || variable->type == type)
        return variable;
    instance_log(instance, STATUS_ERROR, NULL, "%s: variable '%s' is a %s; use the function of that type.", function,
                 name_of(instance, variable), type_name(variable));
    return NULL;
}

/* Pointers that a call with `n` references needs. */
static bool has_arrays(Instance *instance, const char *function, const void *references, const void *values, size_t n)
{
    return n == 0 || (instance_has(instance, function, references, "valueReferences") &&
                      instance_has(instance, function, values, "values"));
}

static bool check_room(Instance *instance, const char *function, const Variable *variable, size_t at, size_t n_values)
{
    if (variable->count <= n_values - at)
        return true;
    instance_log(instance, STATUS_ERROR, NULL,
                 "%s: %zu values are too few: variable '%s' needs %u after the first %zu; give the sum of all sizes.",
                 function, n_values, name_of(instance, variable), (unsigned)variable->count, at);
    return false;
}

static Status check_end(Instance *instance, const char *function, size_t at, size_t n_values)
{
    if (at == n_values)
        return STATUS_OK;
    instance_log(instance, STATUS_ERROR, NULL, "%s: %zu values were given for variables with %zu; give as many.",
                 function, n_values, at);
    return STATUS_ERROR;
}

Status values_get(Instance *instance, const char *function, const ValueReference references[], size_t n,
                  double values[], size_t n_values)
{
    if (!has_arrays(instance, function, references, values, n))
        return STATUS_ERROR;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const Variable *variable = typed(instance, function, references[i], TYPE_FLOAT64);
        if (!variable || !check_room(instance, function, variable, at, n_values))
            return STATUS_ERROR;
        Status status = model_get(instance->model, variable, values + at);
        if (status > STATUS_WARNING)
            return status;
        at += variable->count;
    }
    return check_end(instance, function, at, n_values);
}

/* The states in which a variable may be set: FMI 2.0.4, section 2.2.7; FMI 3.0.2, section 2.3. One liberty: Model
 * Exchange takes single states and tunable parameters in Continuous-Time Mode too, where the standards let importers
 * set inputs and all states at once only. Tools that differentiate (CasADi) do so, and it harms nothing. */
static unsigned settable_phases(const Variable *variable)
{
    const unsigned start = PHASE_INSTANTIATED | PHASE_INITIALIZATION, exchange = PHASE_EVENT | PHASE_CONTINUOUS;
    switch (variable->causality) {
    case CAUSALITY_INPUT: return start | exchange | PHASE_STEP;
    case CAUSALITY_PARAMETER: return variable->flags & FLAG_TUNABLE ? start | exchange | PHASE_STEP : start;
    case CAUSALITY_INDEPENDENT: return 0;
    default: return variable->flags & FLAG_START ? start | exchange : 0; /* states */
    }
}

static bool check_settable(Instance *instance, const char *function, const Variable *variable)
{
    const unsigned phases = settable_phases(variable);
    if (instance->phase & phases)
        return true;
    if (variable->causality == CAUSALITY_INDEPENDENT)
        instance_log(instance, STATUS_ERROR, NULL,
                     "%s: variable '%s' is the time, which only the run itself moves; do not set it.", function,
                     name_of(instance, variable));
    else if (!phases)
        instance_log(instance, STATUS_ERROR, NULL,
                     "%s: variable '%s' is computed by the model and cannot be set; set inputs, parameters or start "
                     "values of states.",
                     function, name_of(instance, variable));
    else
        instance_log(instance, STATUS_ERROR, NULL,
                     "%s: variable '%s' can only be set before the initialisation ends; reset the instance to set it.",
                     function, name_of(instance, variable));
    return false;
}

Status values_set(Instance *instance, const char *function, const ValueReference references[], size_t n,
                  const double values[], size_t n_values)
{
    if (!has_arrays(instance, function, references, values, n))
        return STATUS_ERROR;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const Variable *variable = typed(instance, function, references[i], TYPE_FLOAT64);
        if (!variable || !check_room(instance, function, variable, at, n_values) ||
            !check_settable(instance, function, variable))
            return STATUS_ERROR;
        Status status = model_set(instance->model, variable, values + at);
        if (status > STATUS_WARNING)
            return status;
        at += variable->count;
    }
    return check_end(instance, function, at, n_values);
}

static bool boolean_at(const void *values, size_t width, size_t i)
{
    return width == sizeof(bool) ? ((const bool *)values)[i] : ((const int *)values)[i] != 0;
}

static void put_boolean(void *values, size_t width, size_t i, bool value)
{
    if (width == sizeof(bool))
        ((bool *)values)[i] = value;
    else
        ((int *)values)[i] = value;
}

Status values_get_booleans(Instance *instance, const char *function, const ValueReference references[], size_t n,
                           void *values, size_t width, size_t n_values)
{
    if (!has_arrays(instance, function, references, values, n) ||
        check_end(instance, function, n, n_values) != STATUS_OK)
        return STATUS_ERROR;
    Status status = STATUS_OK;
    for (size_t i = 0; i < n && status <= STATUS_WARNING; i++) {
        const Variable *variable = typed(instance, function, references[i], TYPE_BOOLEAN);
        double value = 0.0;
        if (!variable)
            return STATUS_ERROR;
        status = model_get(instance->model, variable, &value);
        put_boolean(values, width, i, value > 0.5);
    }
    return status;
}

Status values_set_booleans(Instance *instance, const char *function, const ValueReference references[], size_t n,
                           const void *values, size_t width, size_t n_values)
{
    if (!has_arrays(instance, function, references, values, n) ||
        check_end(instance, function, n, n_values) != STATUS_OK)
        return STATUS_ERROR;
    Status status = STATUS_OK;
    for (size_t i = 0; i < n && status <= STATUS_WARNING; i++) {
        const Variable *variable = typed(instance, function, references[i], TYPE_BOOLEAN);
        if (!variable || !check_settable(instance, function, variable))
            return STATUS_ERROR;
        const double value = boolean_at(values, width, i);
        status = model_set(instance->model, variable, &value);
    }
    return status;
}

Status values_get_texts(Instance *instance, const char *function, const ValueReference references[], size_t n,
                        const char *texts[], size_t n_texts)
{
    if (!has_arrays(instance, function, references, texts, n) || check_end(instance, function, n, n_texts) != STATUS_OK)
        return STATUS_ERROR;
    Status status = STATUS_OK;
    for (size_t i = 0; i < n && status <= STATUS_WARNING; i++) {
        const Variable *variable = typed(instance, function, references[i], TYPE_TEXT);
        if (!variable)
            return STATUS_ERROR;
        status = model_get_text(instance->model, variable, &texts[i]);
    }
    return status;
}

Status values_set_texts(Instance *instance, const char *function, const ValueReference references[], size_t n,
                        const char *const texts[], size_t n_texts)
{
    if (!has_arrays(instance, function, references, texts, n) || check_end(instance, function, n, n_texts) != STATUS_OK)
        return STATUS_ERROR;
    Status status = STATUS_OK;
    for (size_t i = 0; i < n && status <= STATUS_WARNING; i++) {
        const Variable *variable = typed(instance, function, references[i], TYPE_TEXT);
        if (!variable || !check_settable(instance, function, variable) ||
            !instance_has(instance, function, texts[i], name_of(instance, variable)))
            return STATUS_ERROR;
        status = model_set_text(instance->model, variable, texts[i]);
    }
    return status;
}

Status values_none(Instance *instance, const char *function, const ValueReference references[], size_t n,
                   const char *type)
{
    if (n == 0)
        return STATUS_OK;
    if (!instance_has(instance, function, references, "valueReferences"))
        return STATUS_ERROR;
    const Variable *variable = values_variable(instance, function, references[0]);
    if (variable)
        instance_log(instance, STATUS_ERROR, NULL, "%s: variable '%s' is a %s, no %s; use the function of its type.",
                     function, name_of(instance, variable), type_name(variable), type);
    return STATUS_ERROR;
}
