/* Saved states: exact return, other instances, damaged bytes. */
#include "misuse.h"

#include <stdlib.h>
#include <string.h>

/* Half a run, then the second half's trace. */
static void run_half(Test *test, Instance *instance, Trace *second)
{
    Trace first;
    trace_new(&first, test->fmu->description, SHORT_RUN, 1);
    GOOD(test, instance, run_steps(instance, &first, 0));
    trace_free(&first);
    trace_new(second, test->fmu->description, SHORT_RUN, 2);
}

/* The second half again, from wherever the instance was put back to. */
static void expect_second_half(Test *test, Instance *instance, const Trace *wanted, const char *what)
{
    Trace again;
    trace_new(&again, test->fmu->description, SHORT_RUN, 2);
    GOOD(test, instance, run_steps(instance, &again, SHORT_RUN));
    expect(test, traces_equal(&again, wanted, test->fmu->description), what);
    trace_free(&again);
}

static void come_back(Test *test)
{
    const Reference nowhere = 0xFFFFFFFFu;
    double value;
    Instance instance;
    FmuState state = NULL;
    Trace wanted;
    ready(test, &instance);
    run_half(test, &instance, &wanted);
    GOOD(test, &instance, instance_save(&instance, &state));
    GOOD(test, &instance, run_steps(&instance, &wanted, SHORT_RUN));
    for (int i = 0; i < 3; i++) {
        GOOD(test, &instance, instance_restore(&instance, state));
        expect_second_half(test, &instance, &wanted, "after restoring");
    }
    GOOD(test, &instance, instance_restore(&instance, state));
    GOOD(test, &instance, instance_save(&instance, &state));
    expect_second_half(test, &instance, &wanted, "after saving into the same state again");
    REFUSED(test, &instance, instance_get(&instance, &nowhere, 1, &value, 1));
    GOOD(test, &instance, instance_restore(&instance, state));
    expect_second_half(test, &instance, &wanted, "after restoring from an error");
    GOOD(test, &instance, instance_terminate(&instance));
    GOOD(test, &instance, instance_restore(&instance, state));
    expect_second_half(test, &instance, &wanted, "after restoring from the end");
    GOOD(test, &instance, instance_reset(&instance));
    GOOD(test, &instance, instance_set_starts(&instance));
    GOOD(test, &instance, instance_restore(&instance, state));
    expect_second_half(test, &instance, &wanted, "after restoring from a reset");
    GOOD(test, &instance, instance_drop(&instance, &state));
    expect(test, state == NULL, "a dropped state's pointer is NULL");
    GOOD(test, &instance, instance_drop(&instance, &state));
    done(test, &instance);
    trace_free(&wanted);
}

/* Bytes of the state; the caller frees them. */
static uint8_t *packed(Test *test, Instance *instance, size_t *size)
{
    FmuState state = NULL;
    *size = 0;
    GOOD(test, instance, instance_save(instance, &state));
    GOOD(test, instance, instance_state_size(instance, state, size));
    uint8_t *bytes = allocate(*size, 1);
    GOOD(test, instance, instance_pack(instance, state, bytes, *size));
    GOOD(test, instance, instance_drop(instance, &state));
    return bytes;
}

static void move_over(Test *test)
{
    Instance one, other;
    FmuState state = NULL;
    Trace wanted;
    size_t size;
    ready(test, &one);
    run_half(test, &one, &wanted);
    uint8_t *bytes = packed(test, &one, &size);
    GOOD(test, &one, run_steps(&one, &wanted, SHORT_RUN));
    done(test, &one);
    fresh(test, &other);
    GOOD(test, &other, instance_set_starts(&other));
    GOOD(test, &other, instance_unpack(&other, bytes, size, &state));
    GOOD(test, &other, instance_restore(&other, state));
    expect_second_half(test, &other, &wanted, "in another instance");
    GOOD(test, &other, instance_drop(&other, &state));
    done(test, &other);
    free(bytes);
    trace_free(&wanted);
}

/* Bytes that are not a state of this model are refused by unpacking or, at the latest, by restoring. */
static void expect_bad_bytes(Test *test, Instance *instance, const uint8_t *bytes, size_t size, const char *what)
{
    FmuState state = NULL;
    size_t errors = instance->log.errors;
    Status status = instance_unpack(instance, bytes, size, &state);
    if (status == FMI_OK)
        status = instance_restore(instance, state);
    expect_refused(test, instance, errors, status, what);
    if (state != NULL)
        instance_drop(instance, &state);
    restart(test, instance);
}

static void damaged(Test *test)
{
    Instance instance;
    Trace wanted;
    size_t size;
    reference_trace(test, &wanted, 0);
    ready(test, &instance);
    uint8_t *bytes = packed(test, &instance, &size);
    size_t stride = size > 64 ? size / 64 : 1;
    for (size_t i = 0; i < size; i += i < 64 ? 1 : stride) {
        bytes[i] ^= 0x10;
        expect_bad_bytes(test, &instance, bytes, size, "a flipped bit");
        bytes[i] ^= 0x10;
    }
    expect_bad_bytes(test, &instance, bytes, size - 1, "a missing byte");
    expect_bad_bytes(test, &instance, bytes, size / 2, "half of the bytes");
    expect_bad_bytes(test, &instance, bytes, 1, "one byte");
    expect_bad_bytes(test, &instance, bytes, 0, "no bytes");
    expect_bad_bytes(test, &instance, NULL, size, "no pointer");
    memset(bytes, 0, size);
    expect_bad_bytes(test, &instance, bytes, size, "zeros");
    memset(bytes, 0xFF, size);
    expect_bad_bytes(test, &instance, bytes, size, "ones");
    expect_trace(test, &instance, &wanted, 0, "a run after damaged states");
    done(test, &instance);
    free(bytes);
    trace_free(&wanted);
}

static void state_pointers(Test *test)
{
    Instance instance;
    FmuState state = NULL;
    size_t size = 0;
    uint8_t byte = 0;
    ready(test, &instance);
    REFUSED_RESTART(test, &instance, instance_save(&instance, NULL));
    REFUSED_RESTART(test, &instance, instance_restore(&instance, NULL));
    REFUSED_RESTART(test, &instance, instance_state_size(&instance, NULL, &size));
    REFUSED_RESTART(test, &instance, instance_pack(&instance, NULL, &byte, 1));
    GOOD(test, &instance, instance_save(&instance, &state));
    REFUSED_RESTART(test, &instance, instance_state_size(&instance, state, NULL));
    REFUSED_RESTART(test, &instance, instance_pack(&instance, state, &byte, 1));
    REFUSED_RESTART(test, &instance, instance_pack(&instance, state, NULL, 1000000));
    REFUSED_RESTART(test, &instance, instance_unpack(&instance, &byte, 1, NULL));
    GOOD(test, &instance, instance_drop(&instance, &state));
    done(test, &instance);
}

const Check state_checks[] = {
    {"come_back",      come_back,      true,  false, true },
    {"move_over",      move_over,      true,  false, true },
    {"damaged",        damaged,        true,  true,  true },
    {"state_pointers", state_pointers, true,  true,  true },
    {NULL,             NULL,           false, false, false},
};
