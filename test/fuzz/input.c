/* input.c - one input of a fuzzer, from the bytes to the last byte freed.
 * Idea       a front end is opened on a text in memory, as `ptoc check` opens one on a file; modules of std/ are read
 *            from disk.
 * Owner      everything is freed before fuzz_input() returns, so that a leak is seen at the input that made it.
 * Invariant  64 KiB of any bytes take at most a second of processor time; sanitizers are given ten.
 * Tests      test/fuzz/CMakeLists.txt: fuzz_parse, fuzz_check, fuzz_emit
 */
#include "fuzz.h"
#include "support/arena.h"
#include "support/intern.h"
#include <stdlib.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifdef IS_SANITIZED
static const double max_seconds = 10;
#else
static const double max_seconds = 1;
#endif

FILE *fuzz_sink(void)
{
    static FILE *sink;
    if (sink == NULL) sink = fopen("/dev/null", "w");
    if (sink == NULL) abort();
    return sink;
}

/* Of the processor, not of the clock on the wall: a busy machine is no defect of the compiler. */
static double seconds_used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void fuzz_input(const uint8_t *data, size_t size)
{
    if (size > FUZZ_MAX_BYTES) return;
    double start = seconds_used();
    struct source_map *sources = source_map_create();
    struct front front = {.mem = arena_create(),
                          .names = interner_create(),
                          .sources = sources,
                          .diag = diag_create(sources, fuzz_sink())};
    int file = source_map_add(sources, FUZZ_PATH, (const char *)data, size);
    fuzz_stage(&front, (uint32_t)file);
    diag_destroy(front.diag);
    source_map_destroy(sources);
    interner_destroy(front.names);
    arena_destroy(front.mem);
    double used = seconds_used() - start;
    if (used <= max_seconds) return;
    fprintf(stderr, "fuzz: %zu bytes took %.2f s, the limit is %.0f s\n", size, used, max_seconds);
    abort();
}
