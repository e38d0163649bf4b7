/* Reading and setting variables, for both versions of the standard. */
#ifndef LIMBERJACK_VALUES_H
#define LIMBERJACK_VALUES_H

#include "instance.h"

typedef uint32_t ValueReference;

/* The variable of a reference, or NULL after a log line. */
const Variable *values_variable(Instance *instance, const char *function, ValueReference reference);
/* Numbers of `n` variables one after the other; `n_values` is the length of `values`. */
Status values_get(Instance *instance, const char *function, const ValueReference references[], size_t n,
                  double values[], size_t n_values);
Status values_set(Instance *instance, const char *function, const ValueReference references[], size_t n,
                  const double values[], size_t n_values);
/* Booleans, `width` bytes each: bool, or int as FMI 2 has it. */
Status values_get_booleans(Instance *instance, const char *function, const ValueReference references[], size_t n,
                           void *values, size_t width, size_t n_values);
Status values_set_booleans(Instance *instance, const char *function, const ValueReference references[], size_t n,
                           const void *values, size_t width, size_t n_values);
Status values_get_texts(Instance *instance, const char *function, const ValueReference references[], size_t n,
                        const char *texts[], size_t n_texts);
Status values_set_texts(Instance *instance, const char *function, const ValueReference references[], size_t n,
                        const char *const texts[], size_t n_texts);
/* Variables of a type that no variable has: OK when nothing is asked for, else an error. */
Status values_none(Instance *instance, const char *function, const ValueReference references[], size_t n,
                   const char *type);
/* Directional derivative, or the adjoint one. */
Status values_derivative(Instance *instance, const char *function, bool adjoint, const ValueReference unknowns[],
                         size_t n_unknowns, const ValueReference knowns[], size_t n_knowns, const double seed[],
                         size_t n_seed, double sensitivity[], size_t n_sensitivity);

#endif
