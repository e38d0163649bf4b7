/* FMI 3.0: life cycle, logging, values, FMU states, derivatives. */
#include "fmi3_api.h"

#include "fmu_state.h"
#include "values.h"

/* FMI 3.0.2, section 2.3: values may be read in every state, also after an error (for finding it) */
#define READABLE PHASES_ANY
#define SETTABLE ((unsigned)(PHASE_INSTANTIATED | PHASE_INITIALIZATION | PHASE_EVENT | PHASE_CONTINUOUS | PHASE_STEP))
#define DIFFERENTIABLE (PHASES_ANY & ~(unsigned)PHASE_INSTANTIATED)

_Static_assert((int)fmi3OK == STATUS_OK && (int)fmi3Discard == STATUS_DISCARD && (int)fmi3Fatal == STATUS_FATAL,
               "statuses are handed on as they are");

static fmi3Status done(Instance *instance, Status status)
{
    return (fmi3Status)instance_done(instance, status);
}

static void log_line(Instance *instance, Status status, const char *category, const char *message)
{
    ((fmi3LogMessageCallback)instance->logger)(instance->environment, (fmi3Status)status, category, message);
}

const char *fmi3GetVersion(void)
{
    return "3.0";
}

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String categories[])
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    return instance ? done(instance, instance_set_logging(instance, __func__, on, n, categories)) : fmi3Error;
}

/* Intermediate Update Mode: an occasion to ask for an early return; values are exchanged between steps only. */
static bool intermediate_update(Instance *instance, double time)
{
    fmi3Boolean requested = false;
    fmi3Float64 early = time;
    ((fmi3IntermediateUpdateCallback)instance->updater)(instance->environment, time, false, false, true,
                                                        instance->early_return_allowed, &requested, &early);
    return requested && instance->early_return_allowed;
}

static InstanceOptions usual_options(Interface interface, fmi3String name, fmi3String token, fmi3String resources,
                                     fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                     fmi3LogMessageCallback log_message)
{
    return (InstanceOptions){
        .version = 3,
        .interface = interface,
        .name = name,
        .token = token,
        .resources = resources,
        .logging = logging,
        .sink = log_line,
        .logger = (void (*)(void))log_message,
        .environment = environment,
    };
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                          fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log_message)
{
    (void)visible;
    const InstanceOptions options =
        usual_options(MODEL_EXCHANGE, name, token, resources, logging, environment, log_message);
    return instance_open(&options);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                         fmi3Boolean logging, fmi3Boolean event_mode_used,
                                         fmi3Boolean early_return_allowed, const fmi3ValueReference intermediate[],
                                         size_t n_intermediate, fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback log_message, fmi3IntermediateUpdateCallback update)
{
    (void)visible, (void)intermediate, (void)n_intermediate; /* no variable can be read or set within a step */
    InstanceOptions options = usual_options(CO_SIMULATION, name, token, resources, logging, environment, log_message);
    options.updates = update ? intermediate_update : NULL;
    options.updater = (void (*)(void))update;
    options.early_return_allowed = early_return_allowed;
    if (!event_mode_used)
        return instance_open(&options);
    if (log_message)
        log_message(environment, fmi3Error, CATEGORY_ERROR,
                    "Instantiation refused: eventModeUsed is true, but this FMU has no Event Mode in Co-Simulation "
                    "(hasEventMode is false); instantiate with eventModeUsed false.");
    return NULL;
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                               fmi3Boolean visible, fmi3Boolean logging,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log_message,
                                               fmi3ClockUpdateCallback clock_update, fmi3LockPreemptionCallback lock,
                                               fmi3UnlockPreemptionCallback unlock)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging;
    (void)clock_update, (void)lock, (void)unlock;
    if (log_message)
        log_message(environment, fmi3Error, CATEGORY_ERROR,
                    "Instantiation refused: this FMU has no Scheduled Execution; instantiate it for Co-Simulation or "
                    "Model Exchange.");
    return NULL;
}

void fmi3FreeInstance(fmi3Instance c)
{
    instance_free(c, __func__);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean tolerance_defined, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop)
{
    (void)tolerance_defined, (void)tolerance; /* the step is fixed */
    Instance *instance = instance_begin(c, __func__, PHASE_INSTANTIATED);
    if (!instance)
        return fmi3Error;
    Status status = instance_set_experiment(instance, __func__, start, stop_defined, stop);
    if (status == STATUS_OK)
        status = instance_enter_initialization(instance);
    return done(instance, status);
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
    Instance *instance = instance_begin(c, __func__, PHASE_INITIALIZATION);
    return instance ? done(instance, instance_exit_initialization(instance)) : fmi3Error;
}

fmi3Status fmi3Terminate(fmi3Instance c)
{
    return (fmi3Status)instance_terminate(c, __func__, PHASE_EVENT | PHASE_CONTINUOUS | PHASE_STEP);
}

fmi3Status fmi3Reset(fmi3Instance c)
{
    return (fmi3Status)instance_reset(c, __func__);
}

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 values[],
                          size_t n_values)
{
    Instance *instance = instance_begin(c, __func__, READABLE);
    return instance ? done(instance, values_get(instance, __func__, vr, n, values, n_values)) : fmi3Error;
}

fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 values[],
                          size_t n_values)
{
    Instance *instance = instance_begin(c, __func__, SETTABLE);
    return instance ? done(instance, values_set(instance, __func__, vr, n, values, n_values)) : fmi3Error;
}

fmi3Status fmi3GetBoolean(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Boolean values[],
                          size_t n_values)
{
    Instance *instance = instance_begin(c, __func__, READABLE);
    if (!instance)
        return fmi3Error;
    return done(instance, values_get_booleans(instance, __func__, vr, n, values, sizeof *values, n_values));
}

fmi3Status fmi3SetBoolean(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Boolean values[],
                          size_t n_values)
{
    Instance *instance = instance_begin(c, __func__, SETTABLE);
    if (!instance)
        return fmi3Error;
    return done(instance, values_set_booleans(instance, __func__, vr, n, values, sizeof *values, n_values));
}

fmi3Status fmi3GetString(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3String values[], size_t n_values)
{
    Instance *instance = instance_begin(c, __func__, READABLE);
    return instance ? done(instance, values_get_texts(instance, __func__, vr, n, values, n_values)) : fmi3Error;
}

fmi3Status fmi3SetString(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3String values[],
                         size_t n_values)
{
    Instance *instance = instance_begin(c, __func__, SETTABLE);
    return instance ? done(instance, values_set_texts(instance, __func__, vr, n, values, n_values)) : fmi3Error;
}

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state)
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    return instance ? done(instance, fmu_state_save(instance, __func__, state)) : fmi3Error;
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state)
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    return instance ? done(instance, fmu_state_restore(instance, __func__, state)) : fmi3Error;
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state)
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    return instance ? done(instance, fmu_state_free(instance, __func__, state)) : fmi3Error;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size)
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    return instance ? done(instance, fmu_state_size(instance, __func__, state, size)) : fmi3Error;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    return instance ? done(instance, fmu_state_write(instance, __func__, state, bytes, size)) : fmi3Error;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    return instance ? done(instance, fmu_state_read(instance, __func__, bytes, size, state)) : fmi3Error;
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns,
                                        const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[],
                                        size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity)
{
    Instance *instance = instance_begin(c, __func__, DIFFERENTIABLE);
    if (!instance)
        return fmi3Error;
    return done(instance, values_derivative(instance, __func__, false, unknowns, n_unknowns, knowns, n_knowns, seed,
                                            n_seed, sensitivity, n_sensitivity));
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns,
                                    const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[],
                                    size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity)
{
    Instance *instance = instance_begin(c, __func__, DIFFERENTIABLE);
    if (!instance)
        return fmi3Error;
    return done(instance, values_derivative(instance, __func__, true, unknowns, n_unknowns, knowns, n_knowns, seed,
                                            n_seed, sensitivity, n_sensitivity));
}
