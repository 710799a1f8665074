/* cpu.c - see cpu.h. */
#include "cpu.h"
#include "atomics.h"
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

static _Atomic int chosen; /* 1 + the level; 0: not asked yet.  Every thread would store the same. */

static int level_of_machine(void)
{
#if PTO_HAS_LEVELS
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
    const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return v3 && v4 ? PTO_CPU_V4 : v3 ? PTO_CPU_V3 : PTO_CPU_BASE;
#else
    return PTO_CPU_BASE;
#endif
}

PTOCpu pto_cpu(void)
{
    int level = load_relaxed(&chosen); /* relaxed: a number that never changes once it is there */
    if (level == 0) {
        level = 1 + level_of_machine();
        store_relaxed(&chosen, level);
    }
    return (PTOCpu)(level - 1);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static bool foresees_rows(void)
{
    bool does = false;
#ifdef __x86_64__
    enum { BASE_EXTENDED = 15, ZEN_3_AND_4 = 0x19 };
    unsigned a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx || c != signature_AMD_ecx || d != signature_AMD_edx)
        return false;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
    const unsigned base = a >> 8 & 15, extended = a >> 20 & 255;
    does = base == BASE_EXTENDED && base + extended == ZEN_3_AND_4;
#endif
    return does;
}

bool pto_asks_ahead(void)
{
    enum { NO = 1, YES };
    static _Atomic int asks; /* 0: not asked yet.  Every thread would store the same. */
    int now = load_relaxed(&asks);
    if (now == 0) {
        now = foresees_rows() ? NO : YES;
        store_relaxed(&asks, now);
    }
    return now == YES;
}

/* ---- levels by name ---------------------------------------------------------------------------------------------- */

bool ptoi_cpu_named(const char *name, PTOCpu *level)
{
    static const char *const names[] = {[PTO_CPU_BASE] = "base", [PTO_CPU_V3] = "v3", [PTO_CPU_V4] = "v4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *level = (PTOCpu)i;
        return true;
    }
    return false;
}

bool ptoi_cpu_has(const char *name)
{
    PTOCpu level;
    return ptoi_cpu_named(name, &level) && (int)level <= level_of_machine();
}

bool ptoi_cpu_force(PTOCpu level)
{
    if ((int)level > level_of_machine()) return false;
    store_relaxed(&chosen, 1 + (int)level); /* relaxed: before any kernel runs */
    return true;
}
