/* The functions of the engine's library that Python calls (library.py). */
#include "levels.h"

#if defined(_WIN32)
#define SHOWN __declspec(dllexport)
#else
#define SHOWN __attribute__((visibility("default")))
#endif

/* An argument. Python passes the address of a row of cells, of which the first selects the code. */
typedef union {
    const Entries *entries;
    int64_t *ints, whole;
    double *floats, real;
} Cell;

typedef void (*Call)(const Cell *);

#define CALL(name, arguments, cells)       \
    static void call_##name(const Cell *c) \
    {                                      \
        c->entries->name cells;            \
    }
LIMBERJACK_ENTRIES(CALL)

/* Digest of the library's sources, then name and types of every entry. */
SHOWN const char limberjack_manifest[] = LIMBERJACK_MANIFEST;

/* A call of each, in the order of the manifest. */
#define NAME(name, arguments, cells) call_##name,
SHOWN const Call limberjack_calls[] = {LIMBERJACK_ENTRIES(NAME)};

/* The entries of a level; without a name, of the best level that this processor runs; NULL if it runs none. */
SHOWN const Entries *limberjack_entries(const char *level)
{
    const char *best;
    return level ? limberjack_level(level) : limberjack_best(&best);
}

/* Where tests set which registers such routines use that have code for both. */
SHOWN unsigned char *limberjack_width(void)
{
    return &limberjack_wide;
}

/* Repeats a call, except where `skipped` is not 0; `moved` has cells of arguments and the bytes by which each advances.
 */
SHOWN void limberjack_each(Call call, Cell *cells, int64_t many, const int64_t *skipped, const int64_t *moved,
                           int64_t rows)
{
    for (int64_t i = 0; i < many; i++) {
        if (!skipped[i])
            call(cells);
        for (int64_t row = 0; row < rows; row++)
            cells[moved[2 * row]].whole += moved[2 * row + 1];
    }
    for (int64_t row = 0; row < rows; row++)
        cells[moved[2 * row]].whole -= many * moved[2 * row + 1];
}
