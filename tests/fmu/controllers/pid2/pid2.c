/* FMI 2.0 Co-Simulation: a PID law with a state, every numeric type, an angle in degrees, and failures on demand. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING } Status;
typedef void (*Logger)(void *environment, const char *name, Status status, const char *category, const char *text, ...);
typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void *step_finished;
    void *environment;
} Callbacks;

enum { ANGLE, RATE, KP, KD, KI, TORQUE, INTEGRAL, REALS };
enum { FAULT, GEAR, STEPS, INTEGERS };
enum { ENABLE, ACTIVE, BOOLEANS };
enum { NOT_A_NUMBER = 1, DISCARDS, FAILS, DIES, TERMINATES, WAITS };

typedef struct {
    double time, real[REALS];
    int integer[INTEGERS], boolean[BOOLEANS];
} State;
typedef struct {
    State state;
    char name[64], label[64];
    const Callbacks *callbacks;
} Pid;

static Status say(Pid *p, Status status, const char *category, int number)
{
    p->callbacks->logger(p->callbacks->environment, p->name, status, category, "fault %d of %s", number, p->label);
    return status;
}

static void evaluate(State *s)
{
    double torque = -s->real[KP] * s->real[ANGLE] - s->real[KD] * s->real[RATE] - s->real[KI] * s->real[INTEGRAL];
    s->boolean[ACTIVE] = s->boolean[ENABLE];
    s->real[TORQUE] = s->boolean[ENABLE] ? s->integer[GEAR] * torque : 0.0;
    if (s->integer[FAULT] == NOT_A_NUMBER && s->time > 0.045)
        s->real[TORQUE] = nan("");
}

EXPORT const char *fmi2GetTypesPlatform(void)
{
    return "default";
}
EXPORT const char *fmi2GetVersion(void)
{
    return "2.0";
}
EXPORT Status fmi2SetDebugLogging(Pid *p, int on, size_t n, const char *const *names)
{
    (void)p, (void)on, (void)n, (void)names;
    return OK;
}
EXPORT void *fmi2Instantiate(const char *name, int type, const char *guid, const char *resources,
                             const Callbacks *callbacks, int visible, int logging)
{
    (void)type, (void)resources, (void)visible, (void)logging;
    if (strcmp(guid, "pid2-of-the-tests"))
        return NULL;
    Pid *p = calloc(1, sizeof *p);
    strncpy(p->name, name, sizeof p->name - 1);
    strcpy(p->label, "nothing");
    p->callbacks = callbacks;
    p->state.real[KP] = p->state.real[KD] = 1.0;
    p->state.integer[GEAR] = p->state.boolean[ENABLE] = 1;
    return p;
}
EXPORT void fmi2FreeInstance(Pid *p)
{
    free(p);
}
EXPORT Status fmi2SetupExperiment(Pid *p, int td, double t, double start, int sd, double stop)
{
    (void)td, (void)t, (void)sd, (void)stop;
    p->state.time = start;
    return OK;
}
EXPORT Status fmi2EnterInitializationMode(Pid *p)
{
    (void)p;
    return OK;
}
EXPORT Status fmi2ExitInitializationMode(Pid *p)
{
    evaluate(&p->state);
    return OK;
}
EXPORT Status fmi2Terminate(Pid *p)
{
    (void)p;
    return OK;
}
EXPORT Status fmi2Reset(Pid *p)
{
    (void)p;
    return OK;
}

EXPORT Status fmi2DoStep(Pid *p, double time, double step, int final)
{
    State *s = &p->state;
    (void) final;
    if (fabs(time - s->time) > 1e-9)
        return say(p, ERROR, "logStatusError", 99);
    if (time > 0.025)
        switch (s->integer[FAULT]) {
        case DISCARDS:
        case TERMINATES: return say(p, DISCARD, "logStatusDiscard", s->integer[FAULT]);
        case FAILS: return say(p, ERROR, "logStatusError", FAILS);
        case DIES: return say(p, FATAL, "logStatusFatal", DIES);
        case WAITS: return PENDING;
        }
    s->real[INTEGRAL] += step * s->real[ANGLE];
    s->time = time + step;
    s->integer[STEPS]++;
    evaluate(s);
    return OK;
}

#define ACCESS(Type, type, field, count)                                             \
    EXPORT Status fmi2Get##Type(Pid *p, const unsigned *vr, size_t n, type *v)       \
    {                                                                                \
        for (size_t i = 0; i < n; i++) {                                             \
            if (vr[i] >= count)                                                      \
                return say(p, ERROR, "logStatusError", 98);                          \
            v[i] = p->state.field[vr[i]];                                            \
        }                                                                            \
        return OK;                                                                   \
    }                                                                                \
    EXPORT Status fmi2Set##Type(Pid *p, const unsigned *vr, size_t n, const type *v) \
    {                                                                                \
        for (size_t i = 0; i < n; i++) {                                             \
            if (vr[i] >= count)                                                      \
                return say(p, ERROR, "logStatusError", 98);                          \
            p->state.field[vr[i]] = v[i];                                            \
        }                                                                            \
        return OK;                                                                   \
    }
ACCESS(Real, double, real, REALS)
ACCESS(Integer, int, integer, INTEGERS)
ACCESS(Boolean, int, boolean, BOOLEANS)
EXPORT Status fmi2GetString(Pid *p, const unsigned *vr, size_t n, const char **v)
{
    (void)vr, (void)n;
    v[0] = p->label;
    return OK;
}
EXPORT Status fmi2SetString(Pid *p, const unsigned *vr, size_t n, const char *const *v)
{
    (void)vr, (void)n;
    strncpy(p->label, v[0], sizeof p->label - 1);
    return OK;
}

EXPORT Status fmi2GetFMUstate(Pid *p, void **state)
{
    if (!*state)
        *state = malloc(sizeof(State));
    memcpy(*state, &p->state, sizeof(State));
    return OK;
}
EXPORT Status fmi2SetFMUstate(Pid *p, const void *state)
{
    memcpy(&p->state, state, sizeof(State));
    return OK;
}
EXPORT Status fmi2FreeFMUstate(Pid *p, void **state)
{
    (void)p;
    free(*state);
    *state = NULL;
    return OK;
}
EXPORT Status fmi2GetRealStatus(Pid *p, int kind, double *value)
{
    (void)kind;
    *value = p->state.time;
    return OK;
}
EXPORT Status fmi2GetBooleanStatus(Pid *p, int kind, int *value)
{
    *value = kind == 3 && p->state.integer[FAULT] == TERMINATES;
    return OK;
}

#define ABSENT(name)                                \
    EXPORT Status name(Pid *p)                      \
    {                                               \
        return say(p, ERROR, "logStatusError", 97); \
    }
ABSENT(fmi2SerializedFMUstateSize)
ABSENT(fmi2SerializeFMUstate)
ABSENT(fmi2DeSerializeFMUstate)
ABSENT(fmi2GetDirectionalDerivative)
ABSENT(fmi2SetRealInputDerivatives)
ABSENT(fmi2GetRealOutputDerivatives)
ABSENT(fmi2CancelStep)
ABSENT(fmi2GetStatus)
ABSENT(fmi2GetIntegerStatus)
ABSENT(fmi2GetStringStatus)
