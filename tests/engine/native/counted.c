/* Runs a model with all functions that a loop may call, and prints how often memory was asked for meanwhile. The
 * functions here take the place of the C library's, in this program and in the library that it is linked with. */
#include <limberjack.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static atomic_long asked;

void *malloc(size_t size)
{
    asked++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    asked++;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    asked++;
    return __libc_realloc(old, size);
}

enum { MOST = 4096, MOST_BYTES = 1 << 20 };
static uint32_t all[MOST];
static double values[MOST];
static char snapshot[MOST_BYTES];

/* One round of everything; how many calls failed that should not. */
static int round_of(lj_model *model, size_t count, uint32_t command, double given)
{
    const size_t size = lj_snapshot_size(model);
    int failed = lj_set(model, &command, 1, &given) != LJ_OK;
    failed += lj_step(model, 3) != LJ_OK;
    failed += lj_get(model, all, count, values) != LJ_OK;
    failed += lj_snapshot(model, snapshot, size) != LJ_OK;
    failed += lj_step(model, 1) != LJ_OK;
    failed += lj_restore(model, snapshot, size) != LJ_OK;
    failed += lj_release(model, "hold_down", NULL) != LJ_OK;
    failed += lj_attach(model, "hold_down", NULL) != LJ_OK;
    failed += lj_find(model, "time", &command) != LJ_OK;
    failed += lj_find(model, "none", &command) != LJ_BAD_ARGUMENT;
    failed += lj_step(model, -1) != LJ_BAD_ARGUMENT;
    return failed + (lj_reset(model, 1) != LJ_OK);
}

int main(int number, char **arguments)
{
    lj_model *model = NULL;
    uint32_t command = 0;
    if (number != 2 || lj_open(arguments[1], &model) || lj_find(model, "command.latch.closed", &command)) {
        printf("%s\n", lj_error(model));
        return 1;
    }
    const size_t count = lj_count(model);
    for (uint32_t i = 0; i < count; i++)
        all[i] = i;
    const long before = asked;
    int failed = 0;
    for (int k = 0; k < 100; k++)
        failed += round_of(model, count, command, 0.0);
    const long during = asked - before;
    lj_close(model);
    printf("%d failed, %ld before, %ld during\n", failed, before, during);
    return 0;
}
