/* Which compiled code runs on this processor, and calls into it.
 *
 * The object code follows numba's convention: first where a result and an exception would go (our kernels have
 * neither), then for every array seven values, of which only the data pointer is read.
 */
#include "kernels.h"

#include <stddef.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "layout.h"

#define ARRAY const void *, const void *, int64_t, int64_t, const void *, int64_t, int64_t
#define PASS(data) NULL, NULL, 0, 8, (data), 0, 8

typedef void *Unused;

/* The functions of one code path, and a Kernels table of them. */
#define CODE_PATH(path)                                                                                              \
    int32_t limberjack_sizes_##path(Unused *, Unused *, ARRAY, ARRAY);                                               \
    int32_t limberjack_advance_##path(Unused *, Unused *, ARRAY, ARRAY, ARRAY, ARRAY, double, int64_t, int64_t,      \
                                      int64_t, int64_t, ARRAY);                                                      \
    int32_t limberjack_observe_##path(Unused *, Unused *, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY);          \
    int32_t limberjack_survey_##path(Unused *, Unused *, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY);                         \
    int32_t limberjack_rates_##path(Unused *, Unused *, ARRAY, ARRAY, ARRAY, ARRAY);                                 \
    int32_t limberjack_normalise_##path(Unused *, Unused *, ARRAY, ARRAY, ARRAY);                                    \
    int32_t limberjack_switches_##path(Unused *, Unused *, ARRAY, ARRAY, ARRAY, ARRAY);                              \
    int32_t limberjack_refresh_##path(Unused *, Unused *, ARRAY, ARRAY);                                             \
    int32_t limberjack_check_##path(Unused *, Unused *, ARRAY, ARRAY, ARRAY, ARRAY);                                 \
    int32_t limberjack_forces_##path(Unused *, Unused *, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY);                         \
    int32_t limberjack_state_slopes_##path(Unused *, Unused *, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY);            \
    int32_t limberjack_trust_##path(Unused *, Unused *, ARRAY, ARRAY, int64_t, ARRAY);                               \
                                                                                                                     \
    static void sizes_##path(const int64_t *ints, int64_t *sizes)                                                    \
    {                                                                                                                \
        Unused result = NULL, exception = NULL;                                                                      \
        limberjack_sizes_##path(&result, &exception, PASS(ints), PASS(sizes));                                       \
    }                                                                                                                \
    static void advance_##path(int64_t *ints, double *floats, double *work, double *state, double dt,                \
                               int64_t integrator, int64_t substeps, int64_t steps, int64_t ahead, int64_t *report)  \
    {                                                                                                                \
        Unused result = NULL, exception = NULL;                                                                      \
        limberjack_advance_##path(&result, &exception, PASS(ints), PASS(floats), PASS(work), PASS(state), dt,        \
                                  integrator, substeps, steps, ahead, PASS(report));                                 \
    }                                                                                                                \
    static void observe_##path(int64_t *ints, double *floats, double *work, double *state, double *observed)         \
    {                                                                                                                \
        Unused result = NULL, exception = NULL;                                                                      \
        const int64_t nv = ints[C_V];                                                                                \
        limberjack_observe_##path(&result, &exception, PASS(ints), PASS(floats), PASS(work), PASS(state),            \
                                  PASS(observed), PASS(observed + nv), PASS(observed + 2 * nv));                     \
    }                                                                                                                \
    static void survey_##path(int64_t *ints, double *floats, double *work, double *state, double *surveyed)          \
    {                                                                                                                \
        Unused result = NULL, exception = NULL;                                                                      \
        limberjack_survey_##path(&result, &exception, PASS(ints), PASS(floats), PASS(work), PASS(state),             \
                                 PASS(surveyed));                                                                    \
    }                                                                                                                \
    static void rates_##path(int64_t *ints, double *floats, double *state, double *qdot)                             \
    {                                                                                                                \
        Unused result = NULL, exception = NULL;                                                                      \
        limberjack_rates_##path(&result, &exception, PASS(ints), PASS(floats), PASS(state), PASS(qdot));             \
    }                                                                                                                \
    static void normalise_##path(int64_t *ints, double *floats, double *state)                                       \
    {                                                                                                                \
        Unused result = NULL, exception = NULL;                                                                      \
        limberjack_normalise_##path(&result, &exception, PASS(ints), PASS(floats), PASS(state));                     \
    }                                                                                                                \
    static void switches_##path(int64_t *ints, double *floats, double *state, double *switches)                      \
    {                                                                                                                \
        Unused result = NULL, exception = NULL;                                                                      \
        limberjack_switches_##path(&result, &exception, PASS(ints), PASS(floats), PASS(state), PASS(switches));      \
    }                                                                                                                \
    static void refresh_##path(int64_t *ints, double *floats)                                                        \
    {                                                                                                                \
        Unused result = NULL, exception = NULL;                                                                      \
        limberjack_refresh_##path(&result, &exception, PASS(ints), PASS(floats));                                    \
    }                                                                                                                \
    static void check_##path(int64_t *ints, double *floats, double *state, int64_t *report)                          \
    {                                                                                                                \
        Unused result = NULL, exception = NULL;                                                                      \
        limberjack_check_##path(&result, &exception, PASS(ints), PASS(floats), PASS(state), PASS(report));           \
    }                                                                                                                \
    static void forces_##path(int64_t *ints, double *floats, double *work, double *state, double *tau)               \
    {                                                                                                                \
        Unused result = NULL, exception = NULL;                                                                      \
        limberjack_forces_##path(&result, &exception, PASS(ints), PASS(floats), PASS(work), PASS(state), PASS(tau)); \
    }                                                                                                                \
    static void state_slopes_##path(int64_t *ints, double *floats, double *work, double *room, double *state,        \
                                    double *slopes)                                                                  \
    {                                                                                                                \
        Unused result = NULL, exception = NULL;                                                                      \
        limberjack_state_slopes_##path(&result, &exception, PASS(ints), PASS(floats), PASS(work), PASS(room),        \
                                       PASS(state), PASS(slopes));                                                   \
    }                                                                                                                \
    static int64_t trust_##path(const int64_t *ints, uint64_t n)                                                     \
    {                                                                                                                \
        Unused result = NULL, exception = NULL;                                                                      \
        int64_t wrong = 1;                                                                                           \
        limberjack_trust_##path(&result, &exception, PASS(ints), PASS(NULL), (int64_t)n, PASS(&wrong));              \
        return wrong;                                                                                                \
    }                                                                                                                \
    static const Kernels kernels_##path = {                                                                          \
        sizes_##path,    advance_##path, observe_##path, survey_##path, rates_##path,        normalise_##path,       \
        switches_##path, refresh_##path, check_##path,   forces_##path, state_slopes_##path, trust_##path,           \
    };

#if defined(__x86_64__)

CODE_PATH(v2)
CODE_PATH(v3)

/* x86-64-v2: SSE4.2, SSSE3, POPCNT, CMPXCHG16B */
static int processor_is_v2(void)
{
    unsigned a, b, c, d;
    const unsigned needed = bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & needed) == needed;
}

/* x86-64-v3: AVX2, FMA, F16C, BMI, BMI2, LZCNT, MOVBE, and an operating system that keeps the wide registers */
static int processor_is_v3(void)
{
    unsigned a, b, c, d;
    const unsigned basic = bit_FMA | bit_MOVBE | bit_F16C | bit_AVX | bit_OSXSAVE;
    const unsigned more = bit_AVX2 | bit_BMI | bit_BMI2;
    if (!processor_is_v2() || !__get_cpuid(1, &a, &b, &c, &d) || (c & basic) != basic)
        return 0;
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6u) != 6u)
        return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & more) != more)
        return 0;
    return __get_cpuid(0x80000001u, &a, &b, &c, &d) && (c & bit_LZCNT);
}

const Kernels *kernels_for_this_processor(const char **name)
{
    if (processor_is_v3()) {
        *name = "x86-64-v3";
        return &kernels_v3;
    }
    *name = processor_is_v2() ? "x86-64-v2" : NULL;
    return *name ? &kernels_v2 : NULL;
}

#else

CODE_PATH(base)

const Kernels *kernels_for_this_processor(const char **name)
{
    *name = "aarch64";
    return &kernels_base;
}

#endif

const char *kernels_refuse(const Kernels *kernels, const int64_t *ints, uint64_t n)
{
    static const char *const wrong[] = WRONG_TABLES;
    const int64_t found = kernels->trust(ints, n);
    return found ? wrong[found - 1] : NULL;
}
