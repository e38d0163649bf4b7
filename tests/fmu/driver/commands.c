/* Commands that simulate: run, exchange, state, refuse. */
#include "options.h"
#include "runs.h"

#include <stdlib.h>

static void read_bytes(const char *path, void *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fread(bytes, 1, size, file) != size || fgetc(file) != EOF)
        give_up("%s does not hold %zu bytes", path, size);
    fclose(file);
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        give_up("cannot write %s", path);
}

static size_t size_of_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        give_up("cannot open %s", path);
    long size = ftell(file);
    fclose(file);
    return (size_t)size;
}

/* A trace with the inputs of --inputs (all steps in one file, from number --first on), else by formula. */
static void trace_by_options(Trace *trace, const Description *description, int n_options, char **options)
{
    size_t steps = (size_t)option_number(n_options, options, "--steps", 100.0);
    const char *inputs = option(n_options, options, "--inputs");
    trace_new(trace, description, steps, 0);
    trace->h = option_number(n_options, options, "--h", description->step);
    if (inputs != NULL)
        read_bytes(inputs, trace->inputs, steps * description->inputs.numbers * sizeof(double));
}

static void write_rows(const Trace *trace, const Description *description, int n_options, char **options)
{
    const char *out = option(n_options, options, "--out");
    if (out != NULL)
        write_bytes(out, trace->rows, (trace->steps + 1) * trace_row(description) * sizeof(double));
}

static int fail(const Instance *instance, const char *what, Status status)
{
    fprintf(stderr, "%s: status %d; last log line: %s\n", what, (int)status, instance->log.last);
    return 1;
}

int command_run(const Fmu *fmu, Kind kind, int n_options, char **options)
{
    Opening opening = opening_usual(fmu);
    Instance instance;
    Trace trace;
    instance_open(&instance, fmu, kind, &opening);
    if (instance.component == NULL)
        return fail(&instance, "instantiate", FMI_ERROR);
    trace_by_options(&trace, fmu->description, n_options, options);
    Status status = instance_initialise(&instance);
    if (status <= FMI_WARNING)
        status = kind == CO_SIMULATION ? run_steps(&instance, &trace, 0) : run_exchange(&instance, &trace);
    if (status <= FMI_WARNING)
        status = instance_terminate(&instance);
    int code = status <= FMI_WARNING ? 0 : fail(&instance, "run", status);
    if (code == 0)
        write_rows(&trace, fmu->description, n_options, options);
    instance_free(&instance);
    trace_free(&trace);
    return code;
}

static Status save_to_file(Instance *instance, const char *path)
{
    FmuState state = NULL;
    size_t size = 0;
    Status status = instance_save(instance, &state);
    if (status <= FMI_WARNING)
        status = instance_state_size(instance, state, &size);
    uint8_t *bytes = allocate(size, 1);
    if (status <= FMI_WARNING)
        status = instance_pack(instance, state, bytes, size);
    if (status <= FMI_WARNING)
        write_bytes(path, bytes, size);
    free(bytes);
    Status dropped = instance_drop(instance, &state);
    return status > FMI_WARNING ? status : dropped;
}

static Status restore_from_file(Instance *instance, const char *path)
{
    FmuState state = NULL;
    size_t size = size_of_file(path);
    uint8_t *bytes = allocate(size, 1);
    read_bytes(path, bytes, size);
    Status status = instance_unpack(instance, bytes, size, &state);
    free(bytes);
    if (status <= FMI_WARNING)
        status = instance_restore(instance, state);
    Status dropped = instance_drop(instance, &state);
    return status > FMI_WARNING ? status : dropped;
}

/* --save FILE: --steps, save there, --steps more to --out. --restore FILE: restore, the second --steps to --out. */
int command_state(const Fmu *fmu, int n_options, char **options)
{
    const char *save = option(n_options, options, "--save"), *restore = option(n_options, options, "--restore");
    Opening opening = opening_usual(fmu);
    Instance instance;
    Trace before, after;
    if ((save == NULL) == (restore == NULL))
        give_up("state: give one of --save and --restore");
    instance_open(&instance, fmu, CO_SIMULATION, &opening);
    if (instance.component == NULL)
        return fail(&instance, "instantiate", FMI_ERROR);
    trace_by_options(&before, fmu->description, n_options, options);
    trace_new(&after, fmu->description, before.steps, 5);
    after.h = before.h;
    Status status = instance_initialise(&instance);
    if (status <= FMI_WARNING && save != NULL)
        status = run_steps(&instance, &before, 0);
    if (status <= FMI_WARNING)
        status = save != NULL ? save_to_file(&instance, save) : restore_from_file(&instance, restore);
    if (status <= FMI_WARNING)
        status = run_steps(&instance, &after, before.steps);
    int code = status <= FMI_WARNING ? 0 : fail(&instance, "state", status);
    if (code == 0)
        write_rows(&after, fmu->description, n_options, options);
    instance_free(&instance);
    trace_free(&before);
    trace_free(&after);
    return code;
}

/* Every resources path given must be refused with NULL and a log line. */
int command_refuse(const Fmu *fmu, int n_options, char **options)
{
    int failures = 0;
    for (int i = 0; i < n_options; i++) {
        Opening opening = opening_usual(fmu);
        Instance instance;
        opening.resources = options[i];
        instance_open(&instance, fmu, CO_SIMULATION, &opening);
        printf("%s\t%s\n", options[i], instance.log.last);
        if (instance.component != NULL || instance.log.errors == 0) {
            fprintf(stderr, "FAIL %s: %s\n", options[i], instance.component ? "was taken" : "no log line");
            failures++;
        }
        instance_free(&instance);
    }
    return failures > 0;
}
