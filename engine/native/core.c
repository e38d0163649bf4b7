/* The engine in C: opening and closing. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "memory.h"

void core_say(Core *core, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    message_write_list(&(Message){core->message, sizeof core->message}, format, arguments);
    va_end(arguments);
}

static bool is_embedded(Core *core, const char *name)
{
    if (core->file.header->coupling == COUPLING_EMBEDDED)
        return true;
    core_say(core, "%s is for an FMU that is coupled to an engine process, this binary holds the engine itself; %s.",
             name, core->words->file.remedy);
    return false;
}

static bool find_kernels(Core *core)
{
    core->kernels = limberjack_best(&core->processor);
    if (!core->kernels)
        core_say(core, "this processor cannot run the engine's code, which needs x86-64-v2 (any x86-64 processor since "
                       "about 2009) or aarch64; use another machine.");
    return core->kernels != NULL;
}

static bool check_tables(Core *core, const char *name)
{
    static const char *const tables[] = WRONG_TABLES;
    int64_t wrong = 1;
    core->kernels->trust((int64_t *)core->file.ints, NULL, (int64_t)core->file.header->n_ints, &wrong); /* reads */
    if (!wrong)
        return true;
    core_say(core, "%s: its %s cannot be those of a model for this binary; %s.", name, tables[wrong - 1],
             core->words->file.remedy);
    return false;
}

static bool check_sizes(Core *core, const char *name)
{
    const PlantFileHeader *h = core->file.header;
    int64_t sizes[10] = {0};
    if (h->n_ints >= HEADER)
        core->kernels->sizes((int64_t *)core->file.ints, sizes); /* reads */
    const uint64_t given[8] = {h->n_ints,     h->n_floats,   h->n_work,     h->n_state,
                               h->n_observed, h->n_surveyed, h->n_switches, h->n_commands};
    bool same = h->n_ints >= HEADER && core->file.ints[C_Q] == (int64_t)h->n_q &&
                core->file.ints[C_V] == (int64_t)h->n_v && core->file.ints[C_LOOPS] == (int64_t)h->n_loops;
    for (int i = 0; i < 8; i++)
        same = same && sizes[i] >= 0 && (uint64_t)sizes[i] == given[i];
    core->n_room = (uint64_t)sizes[8], core->n_slopes = (uint64_t)sizes[9];
    if (!same)
        core_say(core,
                 "%s and this binary disagree on the lengths of the model's vectors: they do not belong together; %s.",
                 name, core->words->file.remedy);
    return same;
}

static size_t lay_out(Core *core, char *block)
{
    const PlantFileHeader *h = core->file.header;
    size_t used = 0;
    core->work = memory_cut(block, &used, h->n_work);
    core->ints = memory_cut(block, &used, h->n_ints);
    core->floats = memory_cut(block, &used, h->n_floats);
    core->state = memory_cut(block, &used, h->n_state);
    core->unit = memory_cut(block, &used, h->n_state);
    core->observed = memory_cut(block, &used, h->n_observed);
    core->surveyed = memory_cut(block, &used, h->n_surveyed);
    return used;
}

static bool allocate(Core *core)
{
    const size_t bytes = lay_out(core, NULL);
    core->memory = calloc(1, bytes + CACHE_LINE);
    if (!core->memory) {
        core_say(core, "no memory for the model's %zu bytes; close other programs.", bytes);
        return false;
    }
    lay_out(core, memory_aligned(core->memory));
    memcpy(core->ints, core->file.ints, (size_t)core->file.header->n_ints * sizeof(int64_t));
    core->time = core->state + STATE_TIME;
    core->settable[REGION_PARAMETER] = core->floats;
    core->settable[REGION_Q] = core->state + STATE_Q;
    core->settable[REGION_V] = core->settable[REGION_Q] + core->file.header->n_q;
    core->settable[REGION_COMMAND] = core->settable[REGION_V] + core->file.header->n_v;
    core_reset(core, true);
    return true;
}

bool core_open(Core *core, const char *path, const Words *words)
{
    memset(core, 0, sizeof *core);
    core->words = words;
    const char *name = plant_file_name(path);
    return plant_file_open(path, &words->file, &core->file, &(Message){core->message, sizeof core->message}) &&
           is_embedded(core, name) && find_kernels(core) && check_tables(core, name) && check_sizes(core, name) &&
           allocate(core);
}

void core_close(Core *core)
{
    plant_file_close(&core->file);
    free(core->memory);
    core->memory = NULL;
}

void core_reset(Core *core, bool parameters)
{
    const PlantFileHeader *header = core->file.header;
    memcpy(core->state, core->file.state, (size_t)header->n_state * sizeof(double));
    core->fresh = 0;
    if (!parameters)
        return;
    memcpy(core->floats, core->file.floats, (size_t)header->n_floats * sizeof(double));
    core->refresh_needed = false;
}

const char *core_label(const Core *core, int64_t place)
{
    const int64_t n_q = (int64_t)core->file.header->n_q, n_v = (int64_t)core->file.header->n_v;
    int64_t label = place >= 0 ? n_q + place : -1 - place;
    return label >= 0 && label < n_q + n_v ? core->file.texts + core->file.labels[label] : "a coordinate";
}

const char *core_loop_label(const Core *core, int64_t loop)
{
    const PlantFileHeader *header = core->file.header;
    if (loop < 0 || loop >= (int64_t)header->n_loops)
        return "a loop";
    return core->file.texts + core->file.labels[header->n_q + header->n_v + (uint64_t)loop];
}
