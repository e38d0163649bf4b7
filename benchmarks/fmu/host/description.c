/* Reads the host's description file: one fact a line, a key and its values. */
#include "fmu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("driver: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (memory == NULL)
        give_up("no memory for %zu x %zu bytes", count, size);
    return memory;
}

static void *grow(void *items, size_t count, size_t size)
{
    void *memory = realloc(items, (count + 1) * size);
    if (memory == NULL)
        give_up("no memory");
    return memory;
}

static void group_add(Group *group, Reference reference, size_t numbers)
{
    group->references = grow(group->references, group->count, sizeof *group->references);
    group->references[group->count++] = reference;
    group->numbers += numbers;
}

/* variable REFERENCE COUNT CAUSALITY VARIABILITY started|real|other MINIMUM MAXIMUM NAME; started: a real with a
 * start value */
static bool read_variable(Description *description, const char *values)
{
    Variable variable = {0};
    char variability[24], type[16];
    int end = 0;
    if (sscanf(values, "%u %zu %23s %23s %15s %lf %lf %n", &variable.reference, &variable.count, variable.causality,
               variability, type, &variable.minimum, &variable.maximum, &end) != 7)
        return false;
    snprintf(variable.name, sizeof variable.name, "%s", values + end);
    variable.started = strcmp(type, "started") == 0;
    variable.real = variable.started || strcmp(type, "real") == 0;
    variable.tunable = strcmp(variability, "tunable") == 0;
    variable.fixed = strcmp(variability, "fixed") == 0;
    description->variables = grow(description->variables, description->n_variables, sizeof variable);
    description->variables[description->n_variables++] = variable;
    if (!variable.real)
        return true;
    if (strcmp(variable.causality, "input") == 0)
        group_add(&description->inputs, variable.reference, variable.count);
    if (strcmp(variable.causality, "output") == 0)
        group_add(&description->outputs, variable.reference, variable.count);
    if (strcmp(variable.causality, "parameter") == 0 && variable.tunable)
        group_add(&description->parameters, variable.reference, variable.count);
    return true;
}

static bool read_group(Group *group, const char *values)
{
    Reference reference;
    size_t count;
    if (sscanf(values, "%u %zu", &reference, &count) != 2)
        return false;
    group_add(group, reference, count);
    return true;
}

/* start REFERENCE real VALUE, start REFERENCE text TEXT */
static bool read_start(Description *description, const char *values)
{
    Start start = {0};
    char type[16];
    int end = 0;
    if (sscanf(values, "%u %15s %n", &start.reference, type, &end) != 2)
        return false;
    start.real = strcmp(type, "real") == 0;
    if (start.real && sscanf(values + end, "%lf", &start.value) != 1)
        return false;
    snprintf(start.text, sizeof start.text, "%s", values + end);
    description->starts = grow(description->starts, description->n_starts, sizeof start);
    description->starts[description->n_starts++] = start;
    return true;
}

static bool read_flags(Description *description, const char *values)
{
    description->kinds[CO_SIMULATION] = strstr(values, "co_simulation") != NULL;
    description->kinds[MODEL_EXCHANGE] = strstr(values, "model_exchange") != NULL;
    description->states = strstr(values, "states") != NULL;
    description->serializes = strstr(values, "serializes") != NULL;
    description->directional = strstr(values, "directional") != NULL;
    description->adjoint = strstr(values, "adjoint") != NULL;
    description->any_step = strstr(values, "any_step") != NULL;
    return true;
}

static bool read_category(Description *description, const char *values)
{
    if (description->n_categories == MOST_CATEGORIES)
        return false;
    snprintf(description->categories[description->n_categories++], 64, "%s", values);
    return true;
}

static bool read_fact(Description *description, const char *key, const char *values)
{
    if (strcmp(key, "variable") == 0)
        return read_variable(description, values);
    if (strcmp(key, "version") == 0)
        return sscanf(values, "%d", &description->version) == 1;
    if (strcmp(key, "library") == 0)
        return snprintf(description->library, PATH_SIZE, "%s", values) > 0;
    if (strcmp(key, "resources") == 0)
        return snprintf(description->resources, PATH_SIZE, "%s", values) > 0;
    if (strcmp(key, "token") == 0)
        return snprintf(description->token, NAME_SIZE, "%s", values) > 0;
    if (strcmp(key, "flags") == 0)
        return read_flags(description, values);
    if (strcmp(key, "category") == 0)
        return read_category(description, values);
    if (strcmp(key, "step") == 0)
        return sscanf(values, "%lf", &description->step) == 1;
    if (strcmp(key, "sizes") == 0)
        return sscanf(values, "%zu %zu", &description->n_continuous, &description->n_indicators) == 2;
    if (strcmp(key, "start") == 0)
        return read_start(description, values);
    if (strcmp(key, "cycle_set") == 0)
        return read_group(&description->cycle_set, values);
    if (strcmp(key, "cycle_get") == 0)
        return read_group(&description->cycle_get, values);
    return false;
}

void description_read(const char *path, Description *description)
{
    static char line[PATH_SIZE + 64];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        give_up("cannot open %s", path);
    memset(description, 0, sizeof *description);
    for (int number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        line[strcspn(line, "\r\n")] = '\0';
        char *values = strchr(line, ' ');
        if (values == NULL)
            give_up("%s, line %d: no value", path, number);
        *values++ = '\0';
        if (!read_fact(description, line, values))
            give_up("%s, line %d: '%s %s' is not understood", path, number, line, values);
    }
    fclose(file);
    if (description->version != 2 && description->version != 3)
        give_up("%s: version %d", path, description->version);
}

void description_free(Description *description)
{
    free(description->variables);
    free(description->starts);
    Group *groups[] = {&description->inputs, &description->outputs, &description->parameters, &description->cycle_set,
                       &description->cycle_get};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        free(groups[i]->references);
}

const Variable *description_first(const Description *description, const char *causality)
{
    for (size_t i = 0; i < description->n_variables; i++) {
        const Variable *variable = &description->variables[i];
        if (variable->real && strcmp(variable->causality, causality) == 0)
            return variable;
    }
    return NULL;
}

Reference description_last_reference(const Description *description)
{
    Reference last = 0;
    for (size_t i = 0; i < description->n_variables; i++)
        if (description->variables[i].reference > last)
            last = description->variables[i].reference;
    return last;
}
