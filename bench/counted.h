/* counted.h - programs that callgrind counts: what stands between the two calls is one row of the record
 * (bench/instructions.py). */
#ifndef BENCH_COUNTED_H
#define BENCH_COUNTED_H
#include <pto/pto_types.h>

void counted_prepare(PTORuntime *rt); /* made for a count */

void counted_begin(void);
void counted_end(const char *name);

#endif
