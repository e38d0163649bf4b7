/* Life of an instance: log, opening, initialisation, values, steps. */
#include "instance.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TWO(instance) ((instance)->fmu->description->version == 2)
#define C(instance) ((instance)->component)

static bool is_declared(const Description *description, const char *category)
{
    for (size_t i = 0; category != NULL && i < description->n_categories; i++)
        if (strcmp(description->categories[i], category) == 0)
            return true;
    return category == NULL && description->n_categories == 0;
}

/* An FMU logs from the thread that steps it and from one that cancels the step. */
static void note(Log *log, Status status, const char *category, const char *message)
{
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    while (atomic_flag_test_and_set(&busy))
        ;
    log->lines++;
    log->errors += status == FMI_ERROR || status == FMI_FATAL;
    log->nameless += !is_declared(log->description, category);
    log->empty += message == NULL || message[0] == '\0';
    snprintf(log->last, sizeof log->last, "%s", message != NULL ? message : "");
    if (getenv("DRIVER_LOG") != NULL)
        fprintf(stderr, "  log [%d %s] %s\n", (int)status, category != NULL ? category : "-", log->last);
    atomic_flag_clear(&busy);
}

static void log2_line(void *environment, Text instance, Status status, Text category, Text message, ...)
{
    char line[512];
    va_list arguments;
    (void)instance;
    va_start(arguments, message);
    vsnprintf(line, sizeof line, message != NULL ? message : "", arguments);
    va_end(arguments);
    note(environment, status, category, line);
}

static void log3_line(void *environment, Status status, Text category, Text message)
{
    note(environment, status, category, message);
}

Opening opening_usual(const Fmu *fmu)
{
    const Description *description = fmu->description;
    return (Opening){"instance", description->token, description->resources, true, false, NULL, false};
}

static Component open2(Instance *instance, const Opening *opening)
{
    int type = instance->kind == CO_SIMULATION ? FMI2_CO_SIMULATION : FMI2_MODEL_EXCHANGE;
    instance->callbacks = (Callbacks2){log2_line, calloc, free, NULL, &instance->log};
    return instance->fmu->two.Instantiate(opening->name, type, opening->token, opening->resources, &instance->callbacks,
                                          0, opening->logging);
}

static Component open3(Instance *instance, const Opening *opening)
{
    Log3 log = opening->silent ? NULL : log3_line;
    const Fmi3 *three = &instance->fmu->three;
    if (instance->kind == MODEL_EXCHANGE)
        return three->InstantiateModelExchange(opening->name, opening->token, opening->resources, false,
                                               opening->logging, &instance->log, log);
    return three->InstantiateCoSimulation(opening->name, opening->token, opening->resources, false, opening->logging,
                                          false, opening->early_return, NULL, 0, &instance->log, log, opening->update);
}

void instance_open(Instance *instance, const Fmu *fmu, Kind kind, const Opening *opening)
{
    memset(instance, 0, sizeof *instance);
    instance->fmu = fmu;
    instance->kind = kind;
    instance->log.description = fmu->description;
    instance->component = TWO(instance) ? open2(instance, opening) : open3(instance, opening);
}

void instance_free(Instance *instance)
{
    if (TWO(instance))
        instance->fmu->two.FreeInstance(C(instance));
    else
        instance->fmu->three.FreeInstance(C(instance));
    instance->component = NULL;
}

static Status iterate_to_continuous(Instance *instance)
{
    bool again = true;
    for (int i = 0; again && i < 100; i++) {
        Status status = instance_iterate_events(instance, &again);
        if (status > FMI_WARNING)
            return status;
    }
    return again ? FMI_ERROR : instance_enter_continuous(instance);
}

Status instance_set_starts(Instance *instance)
{
    const Description *description = instance->fmu->description;
    Status status = FMI_OK;
    for (size_t i = 0; status <= FMI_WARNING && i < description->n_starts; i++) {
        const Start *start = &description->starts[i];
        status = start->real ? instance_set(instance, &start->reference, 1, &start->value, 1)
                             : instance_set_text(instance, start->reference, start->text);
    }
    return status;
}

Status instance_initialise(Instance *instance)
{
    Status status = instance_set_starts(instance);
    if (status <= FMI_WARNING)
        status = instance_enter_initialisation(instance, 0.0);
    if (status <= FMI_WARNING)
        status = instance_exit_initialisation(instance);
    if (status <= FMI_WARNING && instance->kind == MODEL_EXCHANGE)
        status = iterate_to_continuous(instance);
    return status;
}

Status instance_enter_initialisation(Instance *instance, double start)
{
    if (!TWO(instance))
        return instance->fmu->three.EnterInitializationMode(C(instance), false, 0.0, start, false, 0.0);
    Status status = instance->fmu->two.SetupExperiment(C(instance), 0, 0.0, start, 0, 0.0);
    return status > FMI_WARNING ? status : instance->fmu->two.EnterInitializationMode(C(instance));
}

Status instance_exit_initialisation(Instance *instance)
{
    return TWO(instance) ? instance->fmu->two.ExitInitializationMode(C(instance))
                         : instance->fmu->three.ExitInitializationMode(C(instance));
}

Status instance_terminate(Instance *instance)
{
    return TWO(instance) ? instance->fmu->two.Terminate(C(instance)) : instance->fmu->three.Terminate(C(instance));
}

Status instance_reset(Instance *instance)
{
    return TWO(instance) ? instance->fmu->two.Reset(C(instance)) : instance->fmu->three.Reset(C(instance));
}

Status instance_get(Instance *instance, const Reference *references, size_t n, double *values, size_t n_values)
{
    return TWO(instance) ? instance->fmu->two.GetReal(C(instance), references, n, values)
                         : instance->fmu->three.GetFloat64(C(instance), references, n, values, n_values);
}

Status instance_set(Instance *instance, const Reference *references, size_t n, const double *values, size_t n_values)
{
    return TWO(instance) ? instance->fmu->two.SetReal(C(instance), references, n, values)
                         : instance->fmu->three.SetFloat64(C(instance), references, n, values, n_values);
}

Status instance_get_group(Instance *instance, const Group *group, double *values)
{
    return group->count == 0 ? FMI_OK : instance_get(instance, group->references, group->count, values, group->numbers);
}

Status instance_set_group(Instance *instance, const Group *group, const double *values)
{
    return group->count == 0 ? FMI_OK : instance_set(instance, group->references, group->count, values, group->numbers);
}

Status instance_get_text(Instance *instance, Reference reference, const char **text)
{
    return TWO(instance) ? instance->fmu->two.GetString(C(instance), &reference, 1, text)
                         : instance->fmu->three.GetString(C(instance), &reference, 1, text, 1);
}

Status instance_set_text(Instance *instance, Reference reference, const char *text)
{
    return TWO(instance) ? instance->fmu->two.SetString(C(instance), &reference, 1, &text)
                         : instance->fmu->three.SetString(C(instance), &reference, 1, &text, 1);
}

Status instance_get_whole(Instance *instance, Reference reference, int32_t *value)
{
    return TWO(instance) ? instance->fmu->two.GetInteger(C(instance), &reference, 1, value)
                         : instance->fmu->three.GetInt32(C(instance), &reference, 1, value, 1);
}

Status instance_set_logging(Instance *instance, bool on, size_t count, const char *const *categories)
{
    return TWO(instance) ? instance->fmu->two.SetDebugLogging(C(instance), on, count, categories)
                         : instance->fmu->three.SetDebugLogging(C(instance), on, count, categories);
}

Status instance_step(Instance *instance, double time, double h, double *reached)
{
    bool event = false, terminate = false, early = false;
    Status status;
    *reached = time + h;
    if (!TWO(instance))
        return instance->fmu->three.DoStep(C(instance), time, h, true, &event, &terminate, &early, reached);
    const Fmi2 *two = &instance->fmu->two;
    status = two->DoStep(C(instance), time, h, 1);
    if (status == FMI_DISCARD && two->GetRealStatus(C(instance), FMI2_LAST_SUCCESSFUL_TIME, reached) != FMI_OK)
        *reached = time;
    return status;
}
