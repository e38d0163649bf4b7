/* Opening, closing and logging; the calling sequence. */
#include "instance.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmu_state.h"
#include "layout.h"
#include "resources.h"

static const char *const category_names[CATEGORIES] = {CATEGORY_EVENTS, CATEGORY_WARNING, CATEGORY_DISCARD,
                                                       CATEGORY_ERROR, CATEGORY_FATAL};
static const char *const phase_names[] = {
    "Instantiated", "Initialization Mode", "Event Mode", "Continuous-Time Mode",    "Step Mode",
    "Step Failed",  "Terminated",          "Error",      "Intermediate Update Mode"};
enum { PHASE_COUNT = sizeof phase_names / sizeof *phase_names };

/* Both standards let # mark a value reference, and FMI 2 hands the message to printf: such characters are doubled. */
static void escape(int version, const char *message, char *escaped, size_t size)
{
    size_t length = 0;
    for (; *message && length + 2 < size; message++) {
        if (*message == '#' || (*message == '%' && version == 2))
            escaped[length++] = *message;
        escaped[length++] = *message;
    }
    escaped[length] = 0;
}

static int category_index(const char *name)
{
    for (int i = 0; name && i < CATEGORIES; i++)
        if (strcmp(name, category_names[i]) == 0)
            return i;
    return -1;
}

void instance_log(Instance *instance, Status status, const char *category, const char *format, ...)
{
    const int index = category ? category_index(category) : (int)status;
    const bool always = status >= STATUS_ERROR && (instance->version == 2 || instance->phase == PHASE_OPENING);
    if (!instance->logger || index < 0 || !(always || instance->enabled[index]))
        return;
    char message[MESSAGE_BYTES], escaped[2 * MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    message_write_list(&(Message){message, sizeof message}, format, arguments);
    va_end(arguments);
    escape(instance->version, message, escaped, sizeof escaped);
    instance->sink(instance, status, category_names[index], escaped);
}

static Status set_category(Instance *instance, const char *function, bool on, const char *name)
{
    int index = category_index(name);
    if (index < 0) {
        instance_log(instance, STATUS_ERROR, NULL,
                     "%s: there is no log category '%s'; choose %s, %s, %s, %s or %s, or give none for all.", function,
                     name ? name : "NULL", category_names[0], category_names[1], category_names[2], category_names[3],
                     category_names[4]);
        return STATUS_ERROR;
    }
    instance->enabled[index] = on;
    return STATUS_OK;
}

Status instance_set_logging(Instance *instance, const char *function, bool on, size_t count,
                            const char *const categories[])
{
    if (count > 0 && !instance_has(instance, function, categories, "categories"))
        return STATUS_ERROR;
    bool all = count == 0 || (instance->version == 2 && !on);
    for (int i = 0; i < CATEGORIES; i++)
        if (all)
            instance->enabled[i] = on;
        else if (instance->version == 2) /* FMI 2: those that are named and no others; FMI 3: they join the others */
            instance->enabled[i] = false;
    Status status = STATUS_OK;
    for (size_t i = 0; i < count && !all && status == STATUS_OK; i++)
        status = set_category(instance, function, on, categories[i]);
    return status;
}

static void list_phases(unsigned phases, char *text, size_t size)
{
    size_t length = 0;
    text[0] = 0;
    for (int i = 0; i < PHASE_COUNT; i++)
        if (phases & (1u << i) && length < size)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "", phase_names[i]);
}

static const char *phase_name(Phase phase)
{
    for (int i = 0; i < PHASE_COUNT; i++)
        if ((unsigned)phase == 1u << i)
            return phase_names[i];
    return "unknown";
}

unsigned instance_phases(const Instance *instance)
{
    if (instance->interface == MODEL_EXCHANGE)
        return PHASES_ANY & ~(unsigned)(PHASE_STEP | PHASE_STEP_FAILED);
    return PHASES_ANY & ~(unsigned)(PHASE_EVENT | PHASE_CONTINUOUS | (instance->version == 2 ? 0 : PHASE_STEP_FAILED));
}

static bool allows(Instance *instance, const char *function, unsigned phases)
{
    if (instance->phase & phases)
        return true;
    char allowed[256];
    if (instance->phase == PHASE_ERROR) {
        instance_log(
            instance, STATUS_ERROR, NULL,
            "%s: the run has ended with an error, reported above; reset or free the instance, or restore a state.",
            function);
        return false;
    }
    list_phases(phases & instance_phases(instance) & ~(unsigned)PHASE_ERROR, allowed, sizeof allowed);
    if (!*allowed)
        instance_log(instance, STATUS_ERROR, NULL, "%s: it is not for %s; instantiate the FMU for the other interface.",
                     function, instance->interface == MODEL_EXCHANGE ? "Model Exchange" : "Co-Simulation");
    else
        instance_log(instance, STATUS_ERROR, NULL,
                     "%s: not allowed in the state %s, only in %s; check the importer's order of calls.", function,
                     phase_name(instance->phase), allowed);
    return false;
}

Instance *instance_begin(void *component, const char *function, unsigned phases)
{
    Instance *instance = component;
    if (!instance || allows(instance, function, phases))
        return instance;
    instance_done(instance, STATUS_ERROR);
    return NULL;
}

Instance *instance_begin_exchange(void *component, const char *function, unsigned phases)
{
    Instance *instance = component;
    if (instance && instance->interface != MODEL_EXCHANGE)
        phases = 0;
    return instance_begin(instance, function, phases);
}

Status instance_unsupported(Instance *instance, const char *function, const char *why)
{
    instance_log(instance, STATUS_ERROR, NULL, "%s is not supported by this FMU: %s.", function, why);
    return STATUS_ERROR;
}

bool instance_has(Instance *instance, const char *function, const void *pointer, const char *what)
{
    if (pointer)
        return true;
    instance_log(instance, STATUS_ERROR, NULL, "%s: the argument %s is NULL; the importer must give memory for it.",
                 function, what);
    return false;
}

Status instance_done(Instance *instance, Status status)
{
    if (status == STATUS_ERROR)
        instance->phase = PHASE_ERROR;
    return status;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == 0;
}

static bool has_devices(const PlantFile *file)
{
    const int64_t *counts = file->ints;
    return file->header->coupling != COUPLING_PROCESS &&
           counts[C_INSTRUMENTS] + counts[C_MOTORS] + counts[C_VALVES] > 0;
}

static Instance *refused(Instance *instance, const char *what, const char *remedy)
{
    instance_log(instance, STATUS_ERROR, NULL, "Instantiation refused: %s; %s.", what, remedy);
    instance_close(instance);
    return NULL;
}

/* Counts that Model Exchange needs; the indicators are the variables of that region, in the table's order. */
static void count_states(Instance *instance)
{
    const PlantFileHeader *header = instance->file->header;
    instance->n_states = (size_t)(header->n_q + header->n_v);
    for (uint64_t i = 0; i < header->n_variables; i++)
        if (instance->file->variables[i].region == REGION_SWITCH)
            instance->n_indicators += instance->file->variables[i].count;
}

static Instance *open_model(Instance *instance, const InstanceOptions *options)
{
    char path[RESOURCE_BYTES];
    const char *wrong = options->version == 2 ? resources_from_uri(options->resources, path)
                                              : resources_from_path(options->resources, path);
    if (wrong) {
        instance_log(instance, STATUS_ERROR, NULL,
                     "Instantiation refused: the path of the resources directory, '%s', cannot be used: %s; give the "
                     "absolute %s of the unpacked FMU's directory resources.",
                     options->resources, wrong, options->version == 2 ? "file: URI" : "path");
        instance_close(instance);
        return NULL;
    }
    instance->model = model_open(instance, path);
    if (!instance->model) {
        instance_close(instance);
        return NULL;
    }
    instance->file = model_file(instance->model);
    if (strcmp(instance->file->header->token, options->token) != 0)
        return refused(instance, "modelDescription.xml and resources/" PLANT_FILE_NAME " have different tokens",
                       "the FMU was mixed from different exports: export it again");
    if (instance->file->header->coupling == COUPLING_PROCESS && options->interface == MODEL_EXCHANGE)
        return refused(instance, "an FMU coupled to an engine process has no Model Exchange",
                       "instantiate it for Co-Simulation, or export it with the embedded coupling");
    if (instance->file->header->n_loops > 0 && options->interface == MODEL_EXCHANGE)
        return refused(
            instance,
            "a model with closed loops has no Model Exchange: an importer's solver would let them drift apart",
            "instantiate it for Co-Simulation");
    if (has_devices(instance->file) && options->interface == MODEL_EXCHANGE)
        return refused(
            instance,
            "a model with instruments, motors or valves has no Model Exchange: only steps of the engine move them on",
            "instantiate it for Co-Simulation");
    count_states(instance);
    size_t variables = (size_t)instance->file->header->n_variables;
    instance->unknowns = calloc(2 * variables + 1, sizeof *instance->unknowns);
    if (!instance->unknowns)
        return refused(instance, "no memory", "close other programs");
    instance->knowns = instance->unknowns + variables;
    instance->phase = PHASE_INSTANTIATED;
    return instance;
}

static void fill(Instance *instance, const InstanceOptions *options)
{
    instance->version = options->version;
    instance->interface = options->interface;
    instance->phase = PHASE_OPENING;
    instance->sink = options->sink;
    instance->logger = options->logger;
    instance->environment = options->environment;
    instance->updates = options->updates;
    instance->updater = options->updater;
    instance->early_return_allowed = options->early_return_allowed;
    instance->name = "";
    for (int i = 0; i < CATEGORIES; i++)
        instance->enabled[i] = options->logging;
}

Instance *instance_open(const InstanceOptions *options)
{
    size_t name_bytes = options->name ? strlen(options->name) + 1 : 1;
    Instance *instance = calloc(1, sizeof *instance + name_bytes);
    if (!instance) {
        Instance nameless = {0};
        fill(&nameless, options);
        instance_log(&nameless, STATUS_ERROR, NULL, "Instantiation refused: no memory; close other programs.");
        return NULL;
    }
    fill(instance, options);
    if (!options->name || is_blank(options->name))
        return refused(instance, "the instance has no name", "give a name that is not empty");
    instance->name = memcpy(instance + 1, options->name, name_bytes);
    if (!options->token)
        return refused(instance, "the instantiation token (guid) is NULL", "give that of modelDescription.xml");
    if (!options->resources)
        return refused(instance, "the path of the resources directory is NULL",
                       "the model's data are there, so the importer must give it");
    return open_model(instance, options);
}

void instance_close(Instance *instance)
{
    if (!instance)
        return;
    fmu_states_close(instance);
    if (instance->model)
        model_close(instance->model);
    free(instance->unknowns);
    free(instance);
}
