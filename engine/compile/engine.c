/* What the engine's library shows to Python (library.py). */
#include "levels.h"

#if defined(_WIN32)
#define SHOWN __declspec(dllexport)
#else
#define SHOWN __attribute__((visibility("default")))
#endif

/* An argument. Python hands over a row of them, of which the first says whose code runs: that takes one address. */
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

/* What the library was made from, then name and types of every entry. */
SHOWN const char limberjack_manifest[] = LIMBERJACK_MANIFEST;

/* A call of each, in the order of the manifest. */
#define NAME(name, arguments, cells) call_##name,
SHOWN const Call limberjack_calls[] = {LIMBERJACK_ENTRIES(NAME)};

/* The entries of a level, of the best one that this processor runs without a name; NULL if it runs none. */
SHOWN const Entries *limberjack_entries(const char *level)
{
    const char *best;
    return level ? limberjack_level(level) : limberjack_best(&best);
}

/* A call, made many times but where `skipped` is not 0; arguments, by cell, move on by so many bytes each time. */
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
