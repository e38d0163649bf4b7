/* FMU states: a record that names model and place in the run, followed by the model's own bytes. */
#include "fmu_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checksum.h"

#define MAGIC "LJSTATE"
#define VERSION 1

/* Head of the bytes; no padding, so that equal states have equal bytes. */
typedef struct {
    char magic[8];
    uint32_t version;
    uint32_t crc32; /* of all that follows this field */
    uint64_t bytes; /* of the model, after this head */
    char model_hash[32];
    double dt;
    double time, stop, last_successful;
    uint32_t fmi, interface, phase, stop_defined, step_status, reserved;
} Head;
_Static_assert(sizeof(Head) == 112, "no padding");

struct FmuState {
    FmuState *next;
    Head head; /* the model's bytes follow */
};

static void *body(FmuState *state)
{
    return state + 1;
}

static uint32_t state_checksum(const Head *head, const void *bytes)
{
    const size_t after = offsetof(Head, crc32) + sizeof head->crc32;
    uint32_t crc = checksum(0, (const char *)head + after, sizeof *head - after);
    return checksum(crc, bytes, (size_t)head->bytes);
}

/* The entry of a pointer that the importer holds, or NULL after a log line. */
static FmuState *find(Instance *instance, const char *function, const void *state)
{
    for (FmuState *entry = instance->fmu_states; entry; entry = entry->next)
        if (entry == state)
            return entry;
    instance_log(
        instance, STATUS_ERROR, NULL,
        "%s: %s is not an FMU state of this instance, or one that was freed; give one that this instance made.",
        function, state ? "the pointer" : "NULL");
    return NULL;
}

static FmuState *append(Instance *instance, const char *function, size_t bytes)
{
    FmuState *state = malloc(sizeof *state + bytes);
    if (!state) {
        instance_log(instance, STATUS_ERROR, NULL, "%s: no memory for %zu bytes; free states that are not needed.",
                     function, sizeof *state + bytes);
        return NULL;
    }
    state->next = instance->fmu_states;
    instance->fmu_states = state;
    return state;
}

static void release(Instance *instance, FmuState *state)
{
    FmuState **link = &instance->fmu_states;
    while (*link != state)
        link = &(*link)->next;
    *link = state->next;
    free(state);
}

static void describe(const Instance *instance, size_t bytes, Head *head)
{
    memset(head, 0, sizeof *head);
    memcpy(head->magic, MAGIC, sizeof MAGIC);
    head->version = VERSION;
    head->bytes = bytes;
    memcpy(head->model_hash, instance->file->header->model_hash, sizeof head->model_hash);
    head->dt = instance->file->header->dt;
    head->time = instance->time;
    head->stop = instance->stop;
    head->last_successful = instance->last_successful;
    head->fmi = (uint32_t)instance->version;
    head->interface = (uint32_t)instance->interface;
    head->phase = (uint32_t)instance->phase;
    head->stop_defined = instance->stop_defined;
    head->step_status = (uint32_t)instance->step_status;
}

Status fmu_state_save(Instance *instance, const char *function, void **pointer)
{
    if (!instance_has(instance, function, pointer, "FMUState"))
        return STATUS_ERROR;
    const size_t bytes = model_snapshot_size(instance->model);
    FmuState *state = *pointer ? find(instance, function, *pointer) : append(instance, function, bytes);
    if (!state)
        return STATUS_ERROR;
    Status status = model_save(instance->model, body(state));
    if (status <= STATUS_WARNING) {
        describe(instance, bytes, &state->head);
        *pointer = state;
    } else if (!*pointer) {
        release(instance, state);
    }
    return status;
}

Status fmu_state_restore(Instance *instance, const char *function, void *pointer)
{
    FmuState *state = find(instance, function, pointer);
    if (!state)
        return STATUS_ERROR;
    Status status = model_restore(instance->model, body(state), (size_t)state->head.bytes);
    if (status > STATUS_WARNING)
        return status;
    instance->phase = (Phase)state->head.phase;
    instance->time = state->head.time;
    instance->stop = state->head.stop;
    instance->stop_defined = state->head.stop_defined != 0;
    instance->last_successful = state->head.last_successful;
    instance->step_status = (Status)state->head.step_status;
    return status;
}

Status fmu_state_free(Instance *instance, const char *function, void **pointer)
{
    if (!pointer || !*pointer)
        return STATUS_OK;
    FmuState *state = find(instance, function, *pointer);
    if (!state)
        return STATUS_ERROR;
    release(instance, state);
    *pointer = NULL;
    return STATUS_OK;
}

Status fmu_state_size(Instance *instance, const char *function, void *pointer, size_t *size)
{
    FmuState *state = find(instance, function, pointer);
    if (!state || !instance_has(instance, function, size, "size"))
        return STATUS_ERROR;
    *size = sizeof state->head + (size_t)state->head.bytes;
    return STATUS_OK;
}

Status fmu_state_write(Instance *instance, const char *function, void *pointer, void *bytes, size_t size)
{
    FmuState *state = find(instance, function, pointer);
    if (!state || !instance_has(instance, function, bytes, "serializedState"))
        return STATUS_ERROR;
    if (size < sizeof state->head + state->head.bytes) {
        instance_log(instance, STATUS_ERROR, NULL, "%s: %zu bytes are too few; ask for the size, it is %zu.", function,
                     size, sizeof state->head + (size_t)state->head.bytes);
        return STATUS_ERROR;
    }
    state->head.crc32 = state_checksum(&state->head, body(state));
    memcpy(bytes, &state->head, sizeof state->head);
    memcpy((char *)bytes + sizeof state->head, body(state), (size_t)state->head.bytes);
    return STATUS_OK;
}

/* What is wrong with serialized bytes, or NULL. */
static const char *fault(const Instance *instance, const Head *head, const void *bytes, size_t size)
{
    if (memcmp(head->magic, MAGIC, sizeof MAGIC) != 0 || head->version != VERSION)
        return "they do not have this FMU's format";
    if (head->bytes > size - sizeof *head)
        return "they were cut";
    if (head->crc32 != state_checksum(head, (const char *)bytes + sizeof *head))
        return "they are damaged";
    if (memcmp(head->model_hash, instance->file->header->model_hash, sizeof head->model_hash) != 0 ||
        head->bytes != model_snapshot_size(instance->model))
        return "they are of another model";
    if (head->dt != instance->file->header->dt)
        return "they are of an FMU with another internal step";
    if (head->fmi != (uint32_t)instance->version || head->interface != (uint32_t)instance->interface)
        return "they are of another interface or version of the FMI";
    const bool one = head->phase != 0 && (head->phase & (head->phase - 1)) == 0; /* state of the state machine */
    if (!one || !(head->phase & instance_phases(instance)) || head->step_status > STATUS_ERROR || !isfinite(head->time))
        return "they are of no run";
    return NULL;
}

Status fmu_state_read(Instance *instance, const char *function, const void *bytes, size_t size, void **pointer)
{
    if (!instance_has(instance, function, bytes, "serializedState") ||
        !instance_has(instance, function, pointer, "FMUState"))
        return STATUS_ERROR;
    Head head;
    const char *wrong = "they are too few";
    if (size >= sizeof head) {
        memcpy(&head, bytes, sizeof head);
        wrong = fault(instance, &head, bytes, size);
    }
    if (wrong) {
        instance_log(instance, STATUS_ERROR, NULL,
                     "%s: the %zu bytes cannot be restored: %s; give bytes that this FMU serialized.", function, size,
                     wrong);
        return STATUS_ERROR;
    }
    FmuState *state = *pointer ? find(instance, function, *pointer) : append(instance, function, (size_t)head.bytes);
    if (!state)
        return STATUS_ERROR;
    state->head = head;
    memcpy(body(state), (const char *)bytes + sizeof head, (size_t)head.bytes);
    *pointer = state;
    return STATUS_OK;
}

void fmu_states_close(Instance *instance)
{
    while (instance->fmu_states)
        release(instance, instance->fmu_states);
}
