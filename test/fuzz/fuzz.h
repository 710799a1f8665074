/* fuzz.h - any bytes through one stage of the compiler.  The same entry serves libFuzzer, AFL++ and the replay of the
 * tests. */
#ifndef PTO_FUZZ_H
#define PTO_FUZZ_H
#include "syntax/parser.h"
#include <stddef.h>
#include <stdint.h>

enum { FUZZ_MAX_BYTES = 64 * 1024 };

/* target_*.c: what one stage does with the text that was read as `file`, called FUZZ_PATH. */
#define FUZZ_PATH "fuzz.pto"
void fuzz_stage(struct front *front, uint32_t file);

/* input.c: one input from the beginning to the last byte freed.  Ends the process where a limit is broken: CPU seconds
 * here, memory by whoever set a limit for the process. */
void fuzz_input(const uint8_t *data, size_t size);

/* Where messages and dumps go: they are written, and nobody reads them. */
FILE *fuzz_sink(void);

/* mutate.c: changes text in place as programs are wrong: words, lines and brackets that are dropped, doubled, swapped
 * or repeated. other: a second text to take pieces from, may be NULL.  Returns the new size, at most capacity. */
size_t fuzz_mutate(uint8_t *data, size_t size, size_t capacity, const uint8_t *other, size_t other_size, uint64_t seed);

#endif
