/* cpu.h - which level of the processor the kernels in index notation use.
 * Idea       decided once, when it is first asked or by --cpu; see pto_cpu() in pto_equations.h.
 * Tests      test/lit/run/index-checks.pto, index-notation.test
 */
#ifndef PTOI_CPU_H
#define PTOI_CPU_H
#include <pto/pto_equations.h>

bool ptoi_cpu_force(PTOCpu level); /* false: the machine does not have it */

#endif
