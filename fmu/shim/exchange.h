/* Model Exchange for both versions of the standard: lengths and pointers are checked, the model answers. */
#ifndef LIMBERJACK_EXCHANGE_H
#define LIMBERJACK_EXCHANGE_H

#include "instance.h"

Status exchange_set_time(Instance *instance, const char *function, double time);
Status exchange_set_states(Instance *instance, const char *function, const double *states, size_t n);
Status exchange_get_states(Instance *instance, const char *function, double *states, size_t n);
Status exchange_get_derivatives(Instance *instance, const char *function, double *derivatives, size_t n);
Status exchange_get_indicators(Instance *instance, const char *function, double *indicators, size_t n);
Status exchange_get_nominals(Instance *instance, const char *function, double *nominals, size_t n);

#endif
