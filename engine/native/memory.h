/* One block of memory cut into vectors, each on a cache line of its own: counted first, then cut. */
#ifndef LIMBERJACK_MEMORY_H
#define LIMBERJACK_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define CACHE_LINE 64

/* Cuts `count` items of 8 bytes from the block at *used; without a block only counts. */
static inline void *memory_cut(char *block, size_t *used, uint64_t count)
{
    void *start = block ? block + *used : NULL;
    *used += ((size_t)count * 8 + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return start;
}

/* The first cache line in a block of memory, which is CACHE_LINE longer than its vectors. */
static inline char *memory_aligned(void *memory)
{
    const uintptr_t past = (uintptr_t)memory % CACHE_LINE;
    return (char *)memory + (past ? CACHE_LINE - past : 0);
}

#endif
