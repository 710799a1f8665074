/* cpu.h - which level of the processor the kernels in index notation use, and whether they ask it for memory.
 * Idea       decided once, when it is first asked or by --cpu; see pto_cpu() in pto_equations.h.
 * Tests      test/lit/run/index-checks.pto, index-notation.test, test/runtime/test_cpu.c
 */
#ifndef PTOI_CPU_H
#define PTOI_CPU_H
#include <pto/pto_equations.h>

/* The level of that name: base, v3 or v4.  false: there is none. */
bool ptoi_cpu_named(const char *name, PTOCpu *level);

/* false: the machine does not have the level of that name. */
bool ptoi_cpu_has(const char *name);

bool ptoi_cpu_force(PTOCpu level); /* false: the machine does not have it */

#endif
