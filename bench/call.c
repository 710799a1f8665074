/* call.c - what pto_program_call costs beside the C function of the same export.
 *
 * Method     an export with three arrays and one task that is executed inline: its own C function, which is linked with
 *            this program, and the same export of a loaded object, on tensors by position and by name.  Without
 *            arguments: the best of many short rounds.  Counted (bench/instructions.py): CALLS 1 NAME ... */
#include "call_linked.h"
#include <pto/pto_call.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef BENCH_COUNTED
#include "counted.h"
#endif

enum { ELEMENTS = 4 };
static PTORuntime *rt;
static PTOLoaded *loaded;
static int64_t a[ELEMENTS] = {1, 2, 3, 4}, b[ELEMENTS] = {5, 6, 7, 8}, c[ELEMENTS];
static PTOTensor *ta, *tb, *tc;

static PTOStatus by_function(void) { return linked_run_sum(rt, a, b, c, ELEMENTS); }
static PTOStatus by_position(void)
{
    return pto_program_call(rt, loaded, NULL, (PTOArgument[]){PTO_T(NULL, ta), PTO_T(NULL, tb), PTO_T(NULL, tc)}, 3);
}
static PTOStatus by_name(void)
{
    return pto_program_call(rt, loaded, "sum",
                            (PTOArgument[]){PTO_I("by", 1), PTO_T("c", tc), PTO_T("b", tb), PTO_T("a", ta)}, 4);
}

static const struct way {
    const char *name;
    PTOStatus (*call)(void);
} ways[] = {{"function", by_function}, {"position", by_position}, {"name", by_name}};
enum { WAYS = sizeof ways / sizeof *ways };

static void repeat(PTOStatus (*call)(void), int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (call() != PTO_OK) {
            fprintf(stderr, "%s\n", pto_last_error(rt));
            exit(1);
        }
}

static PTOTensor *tensor_of(int64_t *data)
{
    const int64_t shape = ELEMENTS;
    return pto_tensor_attach(&(PTOForeign){
        .address = data, .bytes = ELEMENTS * (int64_t)sizeof *data, .type = PTO_I64, .rank = 1, .shape = &shape});
}

#ifndef BENCH_COUNTED
static void print_times(void)
{
    enum { ROUNDS = 300, CALLS = 1000 };
    double best[WAYS];
    for (int w = 0; w < WAYS; w++) best[w] = 1e18;
    for (int round = 0; round < ROUNDS; round++)
        for (int w = 0; w < WAYS; w++) {
            struct timespec from, to;
            clock_gettime(CLOCK_MONOTONIC, &from);
            repeat(ways[w].call, CALLS);
            clock_gettime(CLOCK_MONOTONIC, &to);
            const double ns = ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / CALLS;
            if (ns < best[w]) best[w] = ns;
        }
    for (int w = 0; w < WAYS; w++) printf("%-10s %8.0f ns  %+8.0f ns\n", ways[w].name, best[w], best[w] - best[0]);
}
#endif

int main(int argc, char **argv)
{
    rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    loaded = pto_program_open(BENCH_OBJECT);
    if (!rt || !loaded) return fprintf(stderr, "%s\n", pto_last_error(NULL)), 1;
    ta = tensor_of(a), tb = tensor_of(b), tc = tensor_of(c);
#ifdef BENCH_COUNTED
    const int64_t calls = argc > 1 ? atoll(argv[1]) : 0;
    for (int i = 3; i < argc; i++)
        for (int w = 0; w < WAYS; w++) {
            char text[64];
            if (strcmp(argv[i], ways[w].name) != 0) continue;
            repeat(ways[w].call, calls);
            counted_begin();
            repeat(ways[w].call, calls);
            snprintf(text, sizeof text, "%s %lld", ways[w].name, (long long)calls);
            counted_end(text);
        }
#else
    (void)argc, (void)argv;
    print_times();
#endif
    pto_tensor_release(ta);
    pto_tensor_release(tb);
    pto_tensor_release(tc);
    pto_program_close(loaded);
    pto_runtime_destroy(rt);
    return 0;
}
