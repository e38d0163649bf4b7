/* Simulations whose numbers are compared bit by bit. */
#ifndef DRIVER_RUNS_H
#define DRIVER_RUNS_H

#include "instance.h"

#include <stdio.h>

/* Inputs of all steps and where outputs go: rows of [time | outputs], the first before any step. */
typedef struct {
    double *inputs; /* steps x inputs.numbers, or NULL */
    double *rows;   /* (steps + 1) x (1 + outputs.numbers) */
    size_t steps;
    double h;
} Trace;

/* Inputs of one step that are the same numbers on every platform, inside each input's limits. */
void inputs_by_formula(const Description *description, size_t step, int phase, double *values);
/* Memory for a trace of `steps` steps with inputs by formula. */
void trace_new(Trace *trace, const Description *description, size_t steps, int phase);
void trace_free(Trace *trace);
size_t trace_row(const Description *description); /* numbers in a row */
bool traces_equal(const Trace *one, const Trace *other, const Description *description);

/* Communication steps number first … first + steps - 1; the instance stands at first * h. */
Status run_steps(Instance *instance, Trace *trace, size_t first);
/* Model Exchange by the classical Runge-Kutta method of fourth order; inputs are held over a step. */
Status run_exchange(Instance *instance, Trace *trace);
Status record_row(Instance *instance, Trace *trace, size_t row, double time);

int command_run(const Fmu *fmu, Kind kind, int n_options, char **options);
int command_state(const Fmu *fmu, int n_options, char **options);
int command_refuse(const Fmu *fmu, int n_options, char **options);
int command_misuse(const Fmu *fmu, int n_options, char **options);

#endif
