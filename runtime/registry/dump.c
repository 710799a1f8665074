/* dump.c - the tensors that live, a line each.
 *
 * Idea       the slab knows every tensor.  A tensor whose count is above 0 under the slab's lock keeps its buffer until
 *            the lock is left, as its destroyer needs that lock first; so the lines are collected there, without the
 *            registry's lock, and printed afterwards.
 * Tests      test/runtime/test_tensor.c */
#include "dump.h"
#include "tensor.h"
#include <execinfo.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct line {
    const PTOTensor *tensor;
    struct geometry g;
    int64_t references, on_buffer, pins;
    uint64_t buffer;
    const void *made;
};

struct lines {
    struct line *at; /* NULL: only counted */
    int64_t count, room;
};

static int64_t pins_of(const struct buffer *b) { return load_relaxed(&b->pins) + load_relaxed(&b->maps); }

static void collect(void *object, void *arg)
{
    PTOTensor *t = object;
    struct lines *all = arg;
    if (load_acquire(&t->count.word, COUNT_WORD) <= 0) return; /* [COUNT_WORD] */
    if (all->at && all->count < all->room)
        all->at[all->count] = (struct line){.tensor = t,
                                            .g = ptoi_geometry_of(t),
                                            .references = ptoi_count_now(&t->count),
                                            .on_buffer = t->buffer ? ptoi_count_now(&t->buffer->count) : 0,
                                            .pins = t->buffer ? pins_of(t->buffer) : 0,
                                            .buffer = ptoi_tensor_buffer_id(t),
                                            .made = t->made};
    all->count++;
}

static void print(const struct line *l, FILE *out)
{
    int64_t count;
    void *made = (void *)(uintptr_t)l->made;
    char **const place = backtrace_symbols(&made, 1); /* "host(+0x11f3) [0x55b6cb98f3b3]": what addr2line -e takes */
    (void)ptoi_geometry_count(&l->g, &count);
    fprintf(out, "  %s[", pto_type_name((PTOType)l->g.type));
    for (int i = 0; i < l->g.rank; i++) fprintf(out, "%s%lld", i ? ", " : "", (long long)l->g.shape[i]);
    fprintf(out, "] %lld bytes, %lld reference%s; buffer %llu with %lld reference%s, %lld pin%s; made at %s\n",
            (long long)(count * pto_type_bytes((PTOType)l->g.type)), (long long)l->references,
            l->references == 1 ? "" : "s", (unsigned long long)l->buffer, (long long)l->on_buffer,
            l->on_buffer == 1 ? "" : "s", (long long)l->pins, l->pins == 1 ? "" : "s", place ? place[0] : "?");
    free(place);
}

static int64_t count_living(void)
{
    struct lines all = {0};
    ptoi_tensor_visit(collect, &all);
    return all.count;
}

void pto_registry_dump(FILE *out)
{
    if (!out) return;
    const int64_t living = count_living();
    struct lines all;
    all = (struct lines){.at = living > 0 ? malloc((size_t)living * sizeof *all.at) : NULL, .room = living};
    if (all.at) ptoi_tensor_visit(collect, &all);
    fprintf(out, "Registry: %lld tensor%s\n", (long long)living, living == 1 ? "" : "s");
    for (int64_t i = 0; all.at && i < all.count && i < all.room; i++) print(&all.at[i], out);
    free(all.at);
}

static void dump_at_exit(void)
{
    if (count_living() > 0) pto_registry_dump(stderr);
}

static void watch_exit(void) { atexit(dump_at_exit); }

void ptoi_registry_watch_exit(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_exit);
}
