/* Counts what the shim allocates: its files are compiled with malloc, calloc and free renamed to these. */
#undef malloc
#undef calloc
#undef free
#include <stddef.h>

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void free(void *memory);

__attribute__((visibility("default"))) long toy_allocations, toy_blocks; /* ever made; not yet freed */
__attribute__((visibility("default"))) long toy_budget = -1; /* allocations until memory "ends"; -1: never */

static void *counted(void *memory)
{
    toy_allocations++;
    toy_blocks += memory != NULL;
    return memory;
}

static int spent(void)
{
    return toy_budget >= 0 && toy_budget-- == 0;
}

void *counted_malloc(size_t size)
{
    return counted(spent() ? NULL : malloc(size));
}

void *counted_calloc(size_t count, size_t size)
{
    return counted(spent() ? NULL : calloc(count, size));
}

void counted_free(void *memory)
{
    toy_blocks -= memory != NULL;
    free(memory);
}
