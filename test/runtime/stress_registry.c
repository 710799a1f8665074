/* stress_registry.c - twice a million random operations on eight threads, each result against a model of plain arrays.
 *
 * Idea       a group is a buffer: its tensors, and a plain array that says which numbers they see.  A thread works
 *            on the groups that it holds, and exchanges groups with other threads; groups that were detached from
 *            each other share memory across threads until one is written.  One tensor of all threads is retained and
 *            released in between, in the spread form and in the word form.
 * At the end nothing lives, every foreign memory was released once, and the pool has all its memory back. */
#include "tensors.h"
#include "registry/dlpack.h"
#include "registry/pins.h"
#include <pthread.h>
#include <pto/pto_runtime.h>

enum { THREADS = 8, OPERATIONS = 125000, SIZE = 48, VIEWS = 4, GROUPS = 12, SHARED = 6 };

struct view {
    PTOTensor *t; /* NULL: none */
    int64_t first, count, step;
};

struct group {
    struct view view[VIEWS];
    int64_t model[SIZE];
    bool is_aliased; /* a DLPack import of the same memory was made: no detach, it has no copy on write */
};

static _Atomic long attached, released;
static struct group shared[SHARED];
static pthread_mutex_t lock[SHARED];
static PTOTensor *everybody;

struct worker {
    uint64_t state;
    struct group group[GROUPS];
    long mistakes;
};

static int64_t below(struct worker *w, int64_t n)
{
    w->state ^= w->state << 13, w->state ^= w->state >> 7, w->state ^= w->state << 17;
    return (int64_t)((w->state >> 3) % (uint64_t)n);
}

static bool is_empty(const struct group *g)
{
    for (int i = 0; i < VIEWS; i++)
        if (g->view[i].t) return false;
    return true;
}

static void clear(struct group *g)
{
    for (int i = 0; i < VIEWS; i++) pto_tensor_release(g->view[i].t);
    *g = (struct group){0};
}

static void release_counted(void *memory)
{
    released++;
    free(memory);
}

static void make(struct worker *w, struct group *g)
{
    clear(g);
    const int64_t size = SIZE;
    if (below(w, 2)) {
        g->view[0].t = pto_tensor_new(NULL, PTO_I64, 1, &size);
    } else {
        const PTOForeign f = {.bytes = SIZE * 8,
                              .type = PTO_I64,
                              .rank = 1,
                              .shape = &size,
                              .release = release_counted,
                              .context = malloc(SIZE * 8),
                              .flags = below(w, 2) ? PTO_MAY_MOVE : 0};
        PTOForeign with = f;
        with.address = f.context;
        attached++;
        g->view[0].t = pto_tensor_attach(&with);
    }
    g->view[0].count = SIZE, g->view[0].step = 1;
    int64_t *at = pto_tensor_map(g->view[0].t, PTO_WRITE);
    for (int64_t i = 0; i < SIZE; i++) at[i] = g->model[i] = below(w, 1000000);
    pto_tensor_unmap(g->view[0].t);
}

static struct view *any_view(struct worker *w, struct group *g)
{
    const int start = (int)below(w, VIEWS);
    for (int i = 0; i < VIEWS; i++)
        if (g->view[(start + i) % VIEWS].t) return &g->view[(start + i) % VIEWS];
    return NULL;
}

static struct view *free_view(struct group *g)
{
    for (int i = 0; i < VIEWS; i++)
        if (!g->view[i].t) return &g->view[i];
    return NULL;
}

static void slice(struct worker *w, struct group *g)
{
    struct view *from = any_view(w, g), *to = free_view(g);
    if (!to) return;
    const int64_t first = below(w, from->count), step = below(w, 2) ? 1 + below(w, 3) : -1 - below(w, 3);
    const int64_t room = step > 0 ? (from->count - 1 - first) / step : first / -step, count = 1 + below(w, room + 1);
    to->t = pto_tensor_slice(from->t, 0, first, count, step);
    to->first = from->first + first * from->step;
    to->step = from->step * step;
    to->count = count;
}

static void verify(struct worker *w, struct group *g)
{
    struct view *v = any_view(w, g);
    PTODescription d;
    pto_tensor_describe(v->t, &d);
    const int64_t *at = pto_tensor_map(v->t, PTO_READ);
    w->mistakes += !at || d.shape[0] != v->count;
    for (int64_t i = 0; i < v->count && at; i++)
        w->mistakes += at[i * d.strides[0]] != g->model[v->first + i * v->step];
    pto_tensor_unmap(v->t);
}

static void change(struct worker *w, struct group *g)
{
    struct view *v = any_view(w, g);
    const int64_t i = below(w, v->count), value = below(w, 1000000);
    PTODescription d;
    pto_tensor_describe(v->t, &d);
    g->model[v->first + i * v->step] = value;
    if (below(w, 2)) {
        int64_t *at = pto_tensor_map(v->t, PTO_READ_WRITE);
        at[i * d.strides[0]] = value;
        pto_tensor_unmap(v->t);
    } else { /* as a run does */
        struct pin pin = {.tensor = v->t, .access = PTO_READ_WRITE};
        if (ptoi_pins_take(&pin, 1, MAY_WAIT, NULL) != PTO_OK)
            w->mistakes++;
        else {
            ((int64_t *)pin.address)[i * d.strides[0]] = value;
            ptoi_pins_drop(&pin, 1, false);
        }
    }
}

static void detach(struct worker *w, struct group *g)
{
    struct group *other = &w->group[below(w, GROUPS)];
    if (other == g || g->is_aliased) return;
    clear(other);
    struct view *v = any_view(w, g);
    memcpy(other->model, g->model, sizeof other->model);
    other->view[0] = *v;
    other->view[0].t = pto_tensor_detach(v->t);
}

/* The elements of v in memory of their own: those that are not already row-major, or not the only ones, are copied. */
static PTOTensor *copy_of(struct worker *w, const struct view *v)
{
    PTOTensor *t = NULL;
    switch (below(w, 3)) {
    case 0: return pto_tensor_copy(v->t);
    case 1: t = pto_tensor_dense(v->t); break;
    default: t = pto_tensor_retain(v->t); w->mistakes += pto_tensor_writable(&t) != PTO_OK;
    }
    if (t != v->t) return t;
    pto_tensor_release(t);
    return pto_tensor_copy(v->t);
}

static void copy(struct worker *w, struct group *g)
{
    struct group *other = &w->group[below(w, GROUPS)];
    if (other == g) return;
    clear(other);
    struct view *v = any_view(w, g);
    for (int64_t i = 0; i < v->count; i++) other->model[i] = g->model[v->first + i * v->step];
    other->view[0] = (struct view){copy_of(w, v), 0, v->count, 1};
}

/* The same elements by way of two dimensions, or another tensor of them. */
static void view_again(struct worker *w, struct group *g)
{
    struct view *from = any_view(w, g), *to = free_view(g);
    if (!to) return;
    *to = *from;
    if (below(w, 2)) {
        to->t = pto_tensor_share(from->t);
        return;
    }
    PTOTensor *wide = pto_tensor_reshape(from->t, 2, SHAPE(1, from->count)), *high = pto_tensor_transpose(wide, NULL);
    to->t = pto_tensor_index(high, 1, 0);
    w->mistakes += !to->t;
    pto_tensor_release(wide);
    pto_tensor_release(high);
}

static void import(struct worker *w, struct group *g)
{
    struct view *v = any_view(w, g), *to = free_view(g);
    struct DLManagedTensorVersioned *m = to ? pto_tensor_to_dlpack(v->t, 1, 0) : NULL;
    if (!m) return;
    *to = *v;
    to->t = pto_tensor_from_dlpack(m);
    g->is_aliased = true;
}

static void exchange(struct worker *w, struct group *g)
{
    const int64_t i = below(w, SHARED);
    pthread_mutex_lock(&lock[i]);
    const struct group theirs = shared[i];
    shared[i] = *g;
    pthread_mutex_unlock(&lock[i]);
    *g = theirs;
}

static void take(struct worker *w, struct group *g)
{
    struct view *v = any_view(w, g);
    PTODetached out;
    if (pto_tensor_take(&v->t, &out) != PTO_OK)
        w->mistakes++;
    else if (out.release)
        out.release(out.context);
    v->t = NULL;
}

static void step(struct worker *w)
{
    struct group *g = &w->group[below(w, GROUPS)];
    if (is_empty(g)) {
        make(w, g);
        return;
    }
    switch (below(w, 13)) {
    case 0: slice(w, g); break;
    case 1: verify(w, g); break;
    case 2: change(w, g); break;
    case 3: detach(w, g); break;
    case 4: copy(w, g); break;
    case 5: import(w, g); break;
    case 6: exchange(w, g); break;
    case 7: take(w, g); break;
    case 8: {
        struct view *v = any_view(w, g);
        pto_tensor_release(v->t);
        v->t = NULL;
        break;
    }
    case 9: verify(w, g); break;
    case 10: pto_tensor_release(pto_tensor_retain(everybody)); break;
    case 11: {
        PTOTensor *t = pto_tensor_share(everybody);
        w->mistakes += !t;
        pto_tensor_release(t);
        break;
    }
    case 12: view_again(w, g); break;
    default: break;
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < OPERATIONS; i++) step(w);
    for (int i = 0; i < GROUPS; i++) clear(&w->group[i]);
    pto_tensor_release(everybody);
    return NULL;
}

static void round_of(bool spread, uint64_t seed)
{
    static struct worker worker[THREADS];
    pthread_t thread[THREADS];
    everybody = numbers(1, SHAPE(4));
    if (spread) pto_tensor_spread(everybody);
    for (int i = 0; i < SHARED; i++) pthread_mutex_init(&lock[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        pto_tensor_retain(everybody);
        worker[i] = (struct worker){.state = seed + (uint64_t)i * 7919};
        pthread_create(&thread[i], NULL, work, &worker[i]);
    }
    pto_tensor_unspread(everybody); /* beside them */
    long mistakes = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        mistakes += worker[i].mistakes;
    }
    for (int i = 0; i < SHARED; i++) clear(&shared[i]);
    EXPECT_EQ(mistakes, 0);
}

TEST(random_operations_of_many_threads_agree_with_the_model)
{
    PTOPoolStats before, after;
    pto_pool_stats(&before);
    round_of(true, 1000003);
    round_of(false, 77);
    EXPECT_EQ(living(), 0);
    EXPECT(attached > 1000);
    EXPECT_EQ(attached, released);
    pto_pool_stats(&after);
    EXPECT_EQ(after.used_bytes, before.used_bytes);
}
