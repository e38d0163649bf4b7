/* The least that an FMU can do: 20 inputs, 20 outputs, and a first-order lag between each pair. FMI 2 Co-Simulation.
 * Value references: inputs 0 to 19, outputs 20 to 39. What it costs is what any FMU's calls cost. */
#include <stddef.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

enum { N = 20, OK = 0, ERROR = 3 };
typedef struct {
    double numbers[2 * N]; /* inputs, outputs */
} Lag;

EXPORT void *fmi2Instantiate(const char *name, int type, const char *guid, const char *resources, const void *callbacks,
                             int visible, int logging)
{
    (void)name, (void)type, (void)guid, (void)resources, (void)callbacks, (void)visible, (void)logging;
    return calloc(1, sizeof(Lag));
}

EXPORT void fmi2FreeInstance(void *lag)
{
    free(lag);
}

EXPORT int fmi2SetupExperiment(void *lag, int has_tolerance, double tolerance, double start, int has_stop, double stop)
{
    (void)has_tolerance, (void)tolerance, (void)start, (void)has_stop, (void)stop;
    return lag != NULL ? OK : ERROR;
}

EXPORT int fmi2EnterInitializationMode(void *lag)
{
    return lag != NULL ? OK : ERROR;
}

EXPORT int fmi2ExitInitializationMode(void *lag)
{
    return lag != NULL ? OK : ERROR;
}

EXPORT int fmi2Terminate(void *lag)
{
    return lag != NULL ? OK : ERROR;
}

EXPORT int fmi2Reset(void *lag)
{
    *(Lag *)lag = (Lag){{0.0}};
    return OK;
}

EXPORT int fmi2SetReal(void *lag, const unsigned *references, size_t n, const double *values)
{
    for (size_t i = 0; i < n; i++) {
        if (references[i] >= N)
            return ERROR;
        ((Lag *)lag)->numbers[references[i]] = values[i];
    }
    return OK;
}

EXPORT int fmi2GetReal(void *lag, const unsigned *references, size_t n, double *values)
{
    for (size_t i = 0; i < n; i++) {
        if (references[i] >= 2 * N)
            return ERROR;
        values[i] = ((Lag *)lag)->numbers[references[i]];
    }
    return OK;
}

EXPORT int fmi2DoStep(void *lag, double time, double h, int no_return)
{
    double *u = ((Lag *)lag)->numbers, *y = u + N;
    (void)time, (void)no_return;
    for (size_t i = 0; i < N; i++)
        y[i] += h * (u[i] - y[i]);
    return OK;
}
