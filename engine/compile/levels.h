/* The compiled entries for C, and the choice of their code for a processor.
 *
 * entries.h is generated (engine/compile/link.py): LIMBERJACK_ENTRIES(entry) is entry(name, (types of arguments),
 * (c[1].ints, …)) for every entry of the library. Arrays are contiguous; a vector whose length an entry reads comes as
 * pointer and length, a matrix as pointer, rows and columns. No entry allocates, raises or keeps anything: all memory
 * is the caller's.
 */
#ifndef LIMBERJACK_LEVELS_H
#define LIMBERJACK_LEVELS_H

#include <stdint.h>

#include "entries.h"

typedef struct {
#define LIMBERJACK_FIELD(name, arguments, cells) void(*name) arguments;
    LIMBERJACK_ENTRIES(LIMBERJACK_FIELD)
#undef LIMBERJACK_FIELD
} Entries;

extern unsigned char limberjack_wide;

/* The best code that this processor runs and the name of its level; NULL if there is none. */
const Entries *limberjack_best(const char **level);
/* The code of a level such as "v3"; NULL if there is none or this processor does not run it. */
const Entries *limberjack_level(const char *level);

#endif
