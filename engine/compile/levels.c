#include "levels.h"

#include <stddef.h>
#include <string.h>

typedef struct {
    const char *name, *processor;
    int (*runs)(void);
    const Entries *entries;
} Level;

/* Whether routines with code for 256-bit and for 512-bit registers use the latter (objects.py). */
unsigned char limberjack_wide;

/* Declares the functions of a level and makes their table. */
#define DECLARE(level, name, arguments) void limberjack_##name##_##level arguments;
#define TABLE(level) static const Entries entries_##level = {LIMBERJACK_ENTRIES(NAME_##level)};

#if defined(__x86_64__)

#include <cpuid.h>

#define DECLARE_v2(name, arguments, cells) DECLARE(v2, name, arguments)
#define DECLARE_v3(name, arguments, cells) DECLARE(v3, name, arguments)
#define DECLARE_v4(name, arguments, cells) DECLARE(v4, name, arguments)
#define NAME_v2(name, arguments, cells) limberjack_##name##_v2,
#define NAME_v3(name, arguments, cells) limberjack_##name##_v3,
#define NAME_v4(name, arguments, cells) limberjack_##name##_v4,
LIMBERJACK_ENTRIES(DECLARE_v2)
LIMBERJACK_ENTRIES(DECLARE_v3)
LIMBERJACK_ENTRIES(DECLARE_v4)
TABLE(v2)
TABLE(v3)
TABLE(v4)

/* x86-64-v2: SSE4.2, SSSE3, POPCNT, CMPXCHG16B */
static int runs_v2(void)
{
    unsigned a, b, c, d;
    const unsigned needed = bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & needed) == needed;
}

/* Whether the operating system saves these registers of a program; valid only where OSXSAVE is set. */
static int keeps(unsigned registers)
{
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & registers) == registers;
}

/* x86-64-v3: AVX2, FMA, F16C, BMI, BMI2, LZCNT, MOVBE */
static int runs_v3(void)
{
    unsigned a, b, c, d;
    const unsigned basic = bit_FMA | bit_MOVBE | bit_F16C | bit_AVX | bit_OSXSAVE;
    const unsigned more = bit_AVX2 | bit_BMI | bit_BMI2;
    if (!runs_v2() || !__get_cpuid(1, &a, &b, &c, &d) || (c & basic) != basic || !keeps(0x06))
        return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & more) != more)
        return 0;
    return __get_cpuid(0x80000001u, &a, &b, &c, &d) && (c & bit_LZCNT);
}

/* x86-64-v4: AVX-512 F, BW, CD, DQ, VL */
static int runs_v4(void)
{
    unsigned a, b, c, d;
    const unsigned needed = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
    return runs_v3() && keeps(0xe6) && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & needed) == needed;
}

/* AMD processors do not slow down other instructions for the sake of 512-bit ones. */
static int likes_wide(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0, &a, &b, &c, &d) && b == signature_AMD_ebx && c == signature_AMD_ecx && d == signature_AMD_edx;
}

/* the best level last */
static const Level levels[] = {
    {"v2", "x86-64-v2", runs_v2, &entries_v2},
    {"v3", "x86-64-v3", runs_v3, &entries_v3},
    {"v4", "x86-64-v4", runs_v4, &entries_v4},
};

#else

#define DECLARE_base(name, arguments, cells) DECLARE(base, name, arguments)
#define NAME_base(name, arguments, cells) limberjack_##name##_base,
LIMBERJACK_ENTRIES(DECLARE_base)
TABLE(base)

static int runs_base(void)
{
    return 1;
}

static int likes_wide(void)
{
    return 0;
}

static const Level levels[] = {
    {"base", "aarch64", runs_base, &entries_base}
};

#endif

enum { LEVELS = sizeof levels / sizeof levels[0] };

static void choose_registers(void)
{
    __atomic_store_n(&limberjack_wide, (unsigned char)likes_wide(), __ATOMIC_RELAXED);
}

const Entries *limberjack_best(const char **level)
{
    choose_registers();
    for (int i = LEVELS - 1; i >= 0; i--)
        if (levels[i].runs()) {
            *level = levels[i].processor;
            return levels[i].entries;
        }
    *level = NULL;
    return NULL;
}

const Entries *limberjack_level(const char *level)
{
    choose_registers();
    for (int i = 0; i < LEVELS; i++)
        if (!strcmp(levels[i].name, level))
            return levels[i].runs() ? levels[i].entries : NULL;
    return NULL;
}
