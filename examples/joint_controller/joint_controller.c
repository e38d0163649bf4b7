/* A joint controller as an FMU (FMI 3.0, Co-Simulation), in plain C.
 *
 *   torque = feed_forward + kp (angle_reference - angle) + kd (rate_reference - rate), clipped to +-limit
 *
 * for seven joints at a time. The variables and their value references are those of modelDescription.xml. The law has
 * no states: a step takes the inputs it finds and computes the torques that hold from its end on.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#define TOKEN "{5a0d6f0e-7c3b-4f0e-9d57-1c8e4b6a2f11}"
#define JOINTS 7

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } Status;
typedef void (*LogMessage)(void *environment, Status status, const char *category, const char *message);
typedef uint32_t Reference;

/* value references */
enum { TIME, ANGLE, RATE, ANGLE_REFERENCE, RATE_REFERENCE, FEED_FORWARD, KP, KD, LIMIT, TORQUE, SATURATED, COUNT };

typedef struct {
    double time;
    double values[TORQUE + 1][JOINTS]; /* by value reference; the row of TIME is not used */
    int32_t saturated;
    bool initialising;
} State;

typedef struct {
    State state;
    void *environment;
    LogMessage log;
    bool logging;
} Controller;

static Status fail(const Controller *c, const char *message)
{
    if (c->log && c->logging)
        c->log(c->environment, ERROR, "logStatusError", message);
    return ERROR;
}

static void set_defaults(State *state)
{
    memset(state, 0, sizeof *state);
    for (int i = 0; i < JOINTS; i++) {
        state->values[KP][i] = 100.0;
        state->values[KD][i] = 20.0;
        state->values[LIMIT][i] = 100.0;
    }
}

/* The control law. */
static Status evaluate(Controller *c)
{
    State *s = &c->state;
    s->saturated = 0;
    for (int i = 0; i < JOINTS; i++) {
        double torque = s->values[FEED_FORWARD][i] +
                        s->values[KP][i] * (s->values[ANGLE_REFERENCE][i] - s->values[ANGLE][i]) +
                        s->values[KD][i] * (s->values[RATE_REFERENCE][i] - s->values[RATE][i]);
        double limit = s->values[LIMIT][i];
        if (!isfinite(torque)) {
            char text[80];
            snprintf(text, sizeof text, "the torque of joint %d is not finite; look at its inputs.", i + 1);
            return fail(c, text);
        }
        if (fabs(torque) > limit) {
            torque = copysign(limit, torque);
            s->saturated++;
        }
        s->values[TORQUE][i] = torque;
    }
    return OK;
}

/* ---- life */

EXPORT const char *fmi3GetVersion(void)
{
    return "3.0";
}

EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                         bool logging, bool event_mode, bool early_return,
                                         const Reference *intermediate, size_t intermediates, void *environment,
                                         LogMessage log, void *intermediate_update)
{
    (void)name, (void)resources, (void)visible, (void)event_mode, (void)early_return;
    (void)intermediate, (void)intermediates, (void)intermediate_update;
    if (!token || strcmp(token, TOKEN) != 0) {
        if (log && logging)
            log(environment, ERROR, "logStatusError", "the instantiation token is not that of this binary.");
        return NULL;
    }
    Controller *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->environment = environment;
    c->log = log;
    c->logging = logging;
    set_defaults(&c->state);
    return c;
}

EXPORT void fmi3FreeInstance(Controller *c)
{
    free(c);
}

EXPORT Status fmi3SetDebugLogging(Controller *c, bool logging, size_t categories, const char *const *names)
{
    (void)categories, (void)names;
    c->logging = logging;
    return OK;
}

EXPORT Status fmi3EnterInitializationMode(Controller *c, bool has_tolerance, double tolerance, double start,
                                          bool has_stop, double stop)
{
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    c->state.time = start;
    c->state.initialising = true;
    return OK;
}

EXPORT Status fmi3ExitInitializationMode(Controller *c)
{
    c->state.initialising = false;
    return evaluate(c);
}

EXPORT Status fmi3Terminate(Controller *c)
{
    (void)c;
    return OK;
}

EXPORT Status fmi3Reset(Controller *c)
{
    set_defaults(&c->state);
    return OK;
}

EXPORT Status fmi3DoStep(Controller *c, double time, double step, bool final, bool *event, bool *terminate, bool *early,
                         double *last)
{
    (void) final;
    *event = *terminate = *early = false;
    *last = c->state.time;
    if (!(step > 0.0) || fabs(time - c->state.time) > 1e-9 * fmax(1.0, fabs(time)))
        return fail(c, "a step must start where the last one ended and go forward.");
    if (evaluate(c) != OK)
        return ERROR;
    *last = c->state.time = time + step;
    return OK;
}

/* ---- values */

EXPORT Status fmi3GetFloat64(Controller *c, const Reference *references, size_t count, double *values, size_t size)
{
    if (c->state.initialising && evaluate(c) != OK)
        return ERROR;
    for (size_t i = 0, at = 0; i < count; i++) {
        size_t n = references[i] == TIME ? 1 : JOINTS;
        if (references[i] > TORQUE || at + n > size)
            return fail(c, "a Float64 variable was read that is not there, or with too few values.");
        memcpy(values + at, n == 1 ? &c->state.time : c->state.values[references[i]], n * sizeof *values);
        at += n;
    }
    return OK;
}

EXPORT Status fmi3SetFloat64(Controller *c, const Reference *references, size_t count, const double *values,
                             size_t size)
{
    for (size_t i = 0; i < count; i++) {
        if (references[i] == TIME || references[i] >= TORQUE || (i + 1) * JOINTS > size)
            return fail(c, "a Float64 variable was written that is no input or parameter, or with too few values.");
        memcpy(c->state.values[references[i]], values + i * JOINTS, JOINTS * sizeof *values);
    }
    return OK;
}

EXPORT Status fmi3GetInt32(Controller *c, const Reference *references, size_t count, int32_t *values, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        if (references[i] != SATURATED || i >= size)
            return fail(c, "an Int32 variable was read that is not there.");
        values[i] = c->state.saturated;
    }
    return OK;
}

/* ---- state */

EXPORT Status fmi3GetFMUState(Controller *c, void **state)
{
    if (!*state && !(*state = malloc(sizeof(State))))
        return fail(c, "no memory for a state.");
    memcpy(*state, &c->state, sizeof(State));
    return OK;
}

EXPORT Status fmi3SetFMUState(Controller *c, const void *state)
{
    memcpy(&c->state, state, sizeof(State));
    return OK;
}

EXPORT Status fmi3FreeFMUState(Controller *c, void **state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return OK;
}

EXPORT Status fmi3SerializedFMUStateSize(Controller *c, const void *state, size_t *size)
{
    (void)c, (void)state;
    *size = sizeof(State);
    return OK;
}

EXPORT Status fmi3SerializeFMUState(Controller *c, const void *state, uint8_t *bytes, size_t size)
{
    if (size < sizeof(State))
        return fail(c, "too few bytes for a serialised state.");
    memcpy(bytes, state, sizeof(State));
    return OK;
}

EXPORT Status fmi3DeserializeFMUState(Controller *c, const uint8_t *bytes, size_t size, void **state)
{
    if (size != sizeof(State))
        return fail(c, "these bytes are no serialised state.");
    if (!*state && !(*state = malloc(sizeof(State))))
        return fail(c, "no memory for a state.");
    memcpy(*state, bytes, sizeof(State));
    return OK;
}

/* ---- functions that every FMU must export, and that one without these types, events and states refuses */

#define ABSENT(name)                                          \
    EXPORT Status name(Controller *c)                         \
    {                                                         \
        return fail(c, #name " is not offered by this FMU."); \
    }
#define ABSENT_TYPE(type) ABSENT(fmi3Get##type) ABSENT(fmi3Set##type)

EXPORT void *fmi3InstantiateModelExchange(void)
{
    return NULL;
}
EXPORT void *fmi3InstantiateScheduledExecution(void)
{
    return NULL;
}
ABSENT(fmi3SetInt32)
ABSENT_TYPE(Float32)
ABSENT_TYPE(Int8)
ABSENT_TYPE(UInt8)
ABSENT_TYPE(Int16)
ABSENT_TYPE(UInt16)
ABSENT_TYPE(UInt32)
ABSENT_TYPE(Int64)
ABSENT_TYPE(UInt64)
ABSENT_TYPE(Boolean)
ABSENT_TYPE(String)
ABSENT_TYPE(Binary)
ABSENT_TYPE(Clock)
ABSENT_TYPE(IntervalDecimal)
ABSENT_TYPE(IntervalFraction)
ABSENT_TYPE(ShiftDecimal)
ABSENT_TYPE(ShiftFraction)
ABSENT_TYPE(ContinuousStates)
ABSENT(fmi3GetNumberOfVariableDependencies)
ABSENT(fmi3GetVariableDependencies)
ABSENT(fmi3GetDirectionalDerivative)
ABSENT(fmi3GetAdjointDerivative)
ABSENT(fmi3GetOutputDerivatives)
ABSENT(fmi3EnterConfigurationMode)
ABSENT(fmi3ExitConfigurationMode)
ABSENT(fmi3EnterEventMode)
ABSENT(fmi3EnterStepMode)
ABSENT(fmi3EnterContinuousTimeMode)
ABSENT(fmi3EvaluateDiscreteStates)
ABSENT(fmi3UpdateDiscreteStates)
ABSENT(fmi3CompletedIntegratorStep)
ABSENT(fmi3SetTime)
ABSENT(fmi3GetContinuousStateDerivatives)
ABSENT(fmi3GetEventIndicators)
ABSENT(fmi3GetNominalsOfContinuousStates)
ABSENT(fmi3GetNumberOfEventIndicators)
ABSENT(fmi3GetNumberOfContinuousStates)
ABSENT(fmi3ActivateModelPartition)
