/* Directional and adjoint derivatives as importers ask for them: references and lengths. */
#include "values.h"

/* Pointers to the variables of references and the sum of their sizes; false after a log line. */
static bool look_up(Instance *instance, const char *function, const ValueReference references[], size_t n,
                    const Variable **variables, size_t *elements)
{
    *elements = 0;
    if (n > instance->file->header->n_variables) {
        instance_log(instance, STATUS_ERROR, NULL, "%s: %zu variables are more than the model has; name each once.",
                     function, n);
        return false;
    }
    if (n > 0 && !instance_has(instance, function, references, "unknowns or knowns"))
        return false;
    for (size_t i = 0; i < n; i++) {
        variables[i] = values_variable(instance, function, references[i]);
        if (!variables[i])
            return false;
        if (variables[i]->type != TYPE_FLOAT64) {
            instance_log(instance, STATUS_ERROR, NULL,
                         "%s: variable '%s' is not a real number and has no derivatives; leave it out.", function,
                         instance->file->texts + variables[i]->name);
            return false;
        }
        *elements += variables[i]->count;
    }
    return true;
}

static bool check_length(Instance *instance, const char *function, const char *what, const void *numbers, size_t given,
                         size_t needed)
{
    if (given == needed)
        return needed == 0 || instance_has(instance, function, numbers, what);
    instance_log(instance, STATUS_ERROR, NULL,
                 "%s: %s has %zu numbers instead of %zu, the sum of the variables' "
                 "sizes.",
                 function, what, given, needed);
    return false;
}

Status values_derivative(Instance *instance, const char *function, bool adjoint, const ValueReference unknowns[],
                         size_t n_unknowns, const ValueReference knowns[], size_t n_knowns, const double seed[],
                         size_t n_seed, double sensitivity[], size_t n_sensitivity)
{
    size_t unknown_elements = 0, known_elements = 0;
    if (!look_up(instance, function, unknowns, n_unknowns, instance->unknowns, &unknown_elements) ||
        !look_up(instance, function, knowns, n_knowns, instance->knowns, &known_elements))
        return STATUS_ERROR;
    if (!check_length(instance, function, "seed", seed, n_seed, adjoint ? unknown_elements : known_elements) ||
        !check_length(instance, function, "sensitivity", sensitivity, n_sensitivity,
                      adjoint ? known_elements : unknown_elements))
        return STATUS_ERROR;
    return (adjoint ? model_adjoint : model_directional)(instance->model, instance->unknowns, n_unknowns,
                                                         instance->knowns, n_knowns, seed, sensitivity);
}
