/* FMI 2.0: life cycle, logging, values, FMU states, derivatives. */
#include "fmi2_api.h"

#include "fmu_state.h"
#include "values.h"

/* FMI 2.0.4, sections 3.2.3 and 4.2.4: where values may be read */
#define READABLE (PHASES_ANY & ~(unsigned)PHASE_INSTANTIATED)
#define SETTABLE ((unsigned)(PHASE_INSTANTIATED | PHASE_INITIALIZATION | PHASE_EVENT | PHASE_CONTINUOUS | PHASE_STEP))

_Static_assert((int)fmi2OK == STATUS_OK && (int)fmi2Discard == STATUS_DISCARD && (int)fmi2Fatal == STATUS_FATAL,
               "statuses are handed on as they are");

static fmi2Status done(Instance *instance, Status status)
{
    return (fmi2Status)instance_done(instance, status);
}

static void log_line(Instance *instance, Status status, const char *category, const char *message)
{
    fmi2CallbackLogger logger = (fmi2CallbackLogger)instance->logger;
    logger(instance->environment, instance->name, (fmi2Status)status, category, message);
}

const char *fmi2GetTypesPlatform(void)
{
    return "default";
}

const char *fmi2GetVersion(void)
{
    return "2.0";
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    if (!instance)
        return fmi2Error;
    return done(instance, instance_set_logging(instance, __func__, on != 0, n, categories));
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)visible;
    if (!functions) /* nobody to report to */
        return NULL;
    if (type != fmi2ModelExchange && type != fmi2CoSimulation) {
        if (functions->logger)
            functions->logger(functions->componentEnvironment, name ? name : "", fmi2Error, CATEGORY_ERROR,
                              "Instantiation refused: the type is neither fmi2ModelExchange (0) nor fmi2CoSimulation "
                              "(1).");
        return NULL;
    }
    const InstanceOptions options = {
        .version = 2,
        .interface = type == fmi2ModelExchange ? MODEL_EXCHANGE : CO_SIMULATION,
        .name = name,
        .token = guid,
        .resources = resources,
        .logging = logging != 0,
        .sink = log_line,
        .logger = (void (*)(void))functions->logger,
        .environment = functions->componentEnvironment,
    };
    return instance_open(&options);
}

void fmi2FreeInstance(fmi2Component c)
{
    instance_free(c, __func__);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean stop_defined, fmi2Real stop)
{
    (void)tolerance_defined; /* the step is fixed */
    (void)tolerance;
    Instance *instance = instance_begin(c, __func__, PHASE_INSTANTIATED);
    if (!instance)
        return fmi2Error;
    return done(instance, instance_set_experiment(instance, __func__, start, stop_defined != 0, stop));
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    Instance *instance = instance_begin(c, __func__, PHASE_INSTANTIATED);
    return instance ? done(instance, instance_enter_initialization(instance)) : fmi2Error;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    Instance *instance = instance_begin(c, __func__, PHASE_INITIALIZATION);
    return instance ? done(instance, instance_exit_initialization(instance)) : fmi2Error;
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    const unsigned running = PHASE_EVENT | PHASE_CONTINUOUS | PHASE_STEP | PHASE_STEP_FAILED;
    return (fmi2Status)instance_terminate(c, __func__, running);
}

fmi2Status fmi2Reset(fmi2Component c)
{
    return (fmi2Status)instance_reset(c, __func__);
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    Instance *instance = instance_begin(c, __func__, READABLE);
    return instance ? done(instance, values_get(instance, __func__, vr, n, value, n)) : fmi2Error;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[])
{
    (void)value;
    Instance *instance = instance_begin(c, __func__, READABLE);
    return instance ? done(instance, values_none(instance, __func__, vr, n, "Integer")) : fmi2Error;
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean value[])
{
    Instance *instance = instance_begin(c, __func__, READABLE);
    return instance ? done(instance, values_get_booleans(instance, __func__, vr, n, value, sizeof *value, n))
                    : fmi2Error;
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String value[])
{
    Instance *instance = instance_begin(c, __func__, READABLE);
    return instance ? done(instance, values_get_texts(instance, __func__, vr, n, value, n)) : fmi2Error;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    Instance *instance = instance_begin(c, __func__, SETTABLE);
    return instance ? done(instance, values_set(instance, __func__, vr, n, value, n)) : fmi2Error;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer value[])
{
    (void)value;
    Instance *instance = instance_begin(c, __func__, SETTABLE);
    return instance ? done(instance, values_none(instance, __func__, vr, n, "Integer")) : fmi2Error;
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean value[])
{
    Instance *instance = instance_begin(c, __func__, SETTABLE);
    return instance ? done(instance, values_set_booleans(instance, __func__, vr, n, value, sizeof *value, n))
                    : fmi2Error;
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String value[])
{
    Instance *instance = instance_begin(c, __func__, SETTABLE);
    return instance ? done(instance, values_set_texts(instance, __func__, vr, n, value, n)) : fmi2Error;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    return instance ? done(instance, fmu_state_save(instance, __func__, state)) : fmi2Error;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    return instance ? done(instance, fmu_state_restore(instance, __func__, state)) : fmi2Error;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    return instance ? done(instance, fmu_state_free(instance, __func__, state)) : fmi2Error;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    return instance ? done(instance, fmu_state_size(instance, __func__, state, size)) : fmi2Error;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    return instance ? done(instance, fmu_state_write(instance, __func__, state, bytes, size)) : fmi2Error;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    Instance *instance = instance_begin(c, __func__, PHASES_ANY);
    return instance ? done(instance, fmu_state_read(instance, __func__, bytes, size, state)) : fmi2Error;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t n_unknowns,
                                        const fmi2ValueReference knowns[], size_t n_knowns, const fmi2Real seed[],
                                        fmi2Real sensitivity[])
{
    Instance *instance = instance_begin(c, __func__, READABLE);
    if (!instance)
        return fmi2Error;
    return done(instance, values_derivative(instance, __func__, false, unknowns, n_unknowns, knowns, n_knowns, seed,
                                            n_knowns, sensitivity, n_unknowns));
}
