/* memory_model.c - see memory_model.h. */
#include "memory_model.h"
#include "explore.h"
#include <string.h>

enum {
    MAX_STORES = 1 << 16,
    MAX_VIEWS = 1 << 14,
    TABLE = 1024,
    MAX_STALE = 8 /* older stores that a load is offered */
};

/* What was stored with a value: the view of whoever stored it with release. */
struct snapshot {
    struct view view;
    int locations; /* known then */
};

struct store {
    uint64_t value;
    struct store *older;
    const struct snapshot *beside;
    uint16_t index;
};

struct location {
    const volatile void *word;
    struct store *newest;
    uint16_t seq; /* index of the newest sequentially consistent store */
};

struct relaxation check_relaxation;

static struct location location[MAX_LOCATIONS];
static int location_count;
static int16_t table[TABLE]; /* by address: location + 1 */
static struct store stores[MAX_STORES];
static uint32_t store_count;
static struct snapshot snapshots[MAX_VIEWS];
static uint32_t snapshot_count;
static uint32_t changes; /* stores while several fibers live */
static int alive;

void model_reset(void)
{
    memset(table, 0, sizeof table);
    location_count = alive = 0;
    store_count = snapshot_count = changes = 0;
    race_reset();
}

const char *model_label(enum check_label label)
{
    static const char *const text[] = {
        "",
#define LABEL(name) #name,
#include "labels.def"
#undef LABEL
    };
    return text[label];
}

/* ---- fibers ------------------------------------------------------------------------------------------------------ */

static void join_view(struct view *to, const struct view *from, int locations)
{
    for (int i = 0; i < MAX_FIBERS; i++)
        if (to->clock[i] < from->clock[i]) to->clock[i] = from->clock[i];
    for (int i = 0; i < locations; i++)
        if (to->seen[i] < from->seen[i]) to->seen[i] = from->seen[i];
}

void model_started(struct check_fiber *f, const struct check_fiber *by)
{
    memset(&f->view, 0, sizeof f->view);
    if (by) join_view(&f->view, &by->view, location_count);
    f->view.clock[f->number]++;
    if (by) check_fibers[by->number].view.clock[by->number]++;
    alive++;
    explore_started(f, by);
}

void model_ended(struct check_fiber *f)
{
    (void)f;
    alive--;
}

static struct check_fiber *me(void) { return check_me; }
bool model_is_alone(void) { return alive <= 1; }

uint32_t model_changes(const struct check_fiber *f) { return changes - f->changes; }

/* ---- locations --------------------------------------------------------------------------------------------------- */

static uint64_t read_memory(const volatile void *word, unsigned size)
{
    switch (size) {
    case 1: return *(const volatile uint8_t *)word;
    case 4: return *(const volatile uint32_t *)word;
    case 8: return *(const volatile uint64_t *)word;
    default: check_fail("a word of %u bytes", size);
    }
}

static void write_memory(volatile void *word, unsigned size, uint64_t value)
{
    switch (size) {
    case 1: *(volatile uint8_t *)word = (uint8_t)value; break;
    case 4: *(volatile uint32_t *)word = (uint32_t)value; break;
    case 8: *(volatile uint64_t *)word = value; break;
    default: check_fail("a word of %u bytes", size);
    }
}

static uint64_t cut(uint64_t value, unsigned size)
{
    return size == 8 ? value : value & (((uint64_t)1 << 8 * size) - 1);
}

static struct store *add_store(struct location *l, uint64_t value)
{
    if (store_count == MAX_STORES) check_fail("more than %d stores in one execution", MAX_STORES);
    struct store *s = &stores[store_count++];
    *s = (struct store){.value = value, .older = l->newest, .index = l->newest ? (uint16_t)(l->newest->index + 1) : 0};
    return l->newest = s;
}

/* The memory itself holds the newest value.  Where it holds another, the word was written while nobody else lived, or
 * is a new object. */
static int find_location(const volatile void *word, unsigned size)
{
    unsigned at = (unsigned)(((uintptr_t)word >> 2) * 0x9e3779b9u) % TABLE;
    while (table[at] && location[table[at] - 1].word != word) at = (at + 1) % TABLE;
    if (!table[at]) {
        if (location_count == MAX_LOCATIONS) check_fail("more than %d shared words", MAX_LOCATIONS);
        location[location_count] = (struct location){.word = word};
        add_store(&location[location_count], read_memory(word, size));
        table[at] = (int16_t)++location_count;
    }
    struct location *l = &location[table[at] - 1];
    const uint64_t value = read_memory(word, size);
    if (l->newest->value != value) add_store(l, value)->older = NULL;
    return table[at] - 1;
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

static unsigned order_of(const struct check_site *site, unsigned order)
{
    return site->label == check_relaxation.label && site->label != CHECK_NONE ? order & ~check_relaxation.bits : order;
}

static void see(int n, const struct store *s, bool acquires)
{
    struct view *v = &me()->view;
    if (v->seen[n] < s->index) v->seen[n] = s->index;
    if (acquires && s->beside) join_view(v, &s->beside->view, s->beside->locations);
}

/* The value is in the list and in memory; `before` was read by the same step, or is NULL. */
static void put(int n, volatile void *word, unsigned size, uint64_t value, unsigned order, const struct store *before)
{
    struct location *l = &location[n];
    struct view *v = &me()->view;
    const struct snapshot *goes_on = before ? before->beside : NULL;
    value = cut(value, size);
    struct store *s = add_store(l, value);
    v->seen[n] = s->index;
    if (order & CHECK_SEQ) l->seq = s->index;
    if (order & CHECK_RELEASE || goes_on) {
        if (snapshot_count == MAX_VIEWS) check_fail("more than %d stores with release in one execution", MAX_VIEWS);
        struct snapshot *beside = &snapshots[snapshot_count++];
        beside->locations = location_count;
        if (order & CHECK_RELEASE) {
            memcpy(beside->view.clock, v->clock, sizeof v->clock);
            memcpy(beside->view.seen, v->seen, (size_t)location_count * sizeof *v->seen);
            v->clock[me()->number]++;
            if (goes_on) join_view(&beside->view, &goes_on->view, goes_on->locations);
        } else {
            memcpy(beside, goes_on, sizeof *beside);
        }
        s->beside = beside;
    }
    write_memory(word, size, value);
    changes++;
    me()->changes++;
    trace_value(value, 0);
}

static struct store *choose(int n, unsigned order, const uint64_t *except)
{
    const struct location *l = &location[n];
    unsigned oldest = me()->view.seen[n];
    if (order & CHECK_SEQ && oldest < l->seq) oldest = l->seq;
    struct store *may[MAX_STALE];
    int count = 0;
    for (struct store *s = l->newest; s && s->index >= oldest && count < MAX_STALE; s = s->older)
        if (s == l->newest || !except || s->value != *except) may[count++] = s;
    const int k = explore_read(count);
    trace_value(may[k]->value, k);
    return may[k];
}

static int step(enum op_kind kind, const volatile void *word, unsigned size, const struct check_site *site)
{
    const int n = find_location(word, size);
    explore_step((struct op){.kind = kind, .location = n, .site = site});
    return n;
}

uint64_t check_load(const volatile void *word, unsigned size, const struct check_site *site)
{
    if (model_is_alone()) return read_memory(word, size);
    const int n = step(OP_LOAD, word, size, site);
    const unsigned order = order_of(site, site->order);
    const struct store *s = choose(n, order, NULL);
    see(n, s, order & CHECK_ACQUIRE);
    return s->value;
}

void check_store(volatile void *word, unsigned size, uint64_t value, const struct check_site *site)
{
    if (model_is_alone()) {
        write_memory(word, size, value);
        return;
    }
    const int n = step(OP_STORE, word, size, site);
    put(n, word, size, value, order_of(site, site->order), NULL);
}

static uint64_t modify(volatile void *word, unsigned size, uint64_t value, bool adds, const struct check_site *site)
{
    if (model_is_alone()) {
        const uint64_t old = read_memory(word, size);
        write_memory(word, size, adds ? old + value : value);
        return old;
    }
    const int n = step(OP_RMW, word, size, site);
    const unsigned order = order_of(site, site->order);
    const struct store *s = location[n].newest;
    const uint64_t old = s->value;
    see(n, s, order & CHECK_ACQUIRE);
    put(n, word, size, adds ? old + value : value, order, s);
    return old;
}

uint64_t check_swap(volatile void *word, unsigned size, uint64_t value, const struct check_site *site)
{
    return modify(word, size, value, false, site);
}

uint64_t check_add(volatile void *word, unsigned size, uint64_t value, const struct check_site *site)
{
    return modify(word, size, value, true, site);
}

bool check_swap_if(volatile void *word, unsigned size, void *old, uint64_t value, const struct check_site *site)
{
    const uint64_t expected = read_memory(old, size);
    if (model_is_alone()) {
        const uint64_t found = read_memory(word, size);
        if (found == expected)
            write_memory(word, size, value);
        else
            write_memory(old, size, found);
        return found == expected;
    }
    const int n = step(OP_RMW, word, size, site);
    const struct store *s =
        choose(n, CHECK_RELAXED, &expected); /* one that fails is a load; one that succeeds reads the newest */
    const bool succeeds = s->value == expected;
    const unsigned order = succeeds ? order_of(site, site->order) : CHECK_RELAXED;
    see(n, s, order & CHECK_ACQUIRE);
    if (succeeds)
        put(n, word, size, value, order, s);
    else
        write_memory(old, size, s->value);
    return succeeds;
}

bool ptoi_barrier_exists(void) { return true; }

/* Of all threads: none reads a store from then on that is older than what it could have read. */
bool check_barrier(const struct check_site *site)
{
    if (model_is_alone()) return true;
    explore_step((struct op){.kind = OP_BARRIER, .location = -1, .site = site});
    for (int f = 0; order_of(site, site->order) & CHECK_SEQ && f < check_fiber_count; f++)
        for (int i = 0; i < location_count; i++) check_fibers[f].view.seen[i] = location[i].newest->index;
    return true;
}

/* ---- system.h ---------------------------------------------------------------------------------------------------- */

bool ptoi_thread_start(ptoi_thread *t, void *(*body)(void *), void *arg)
{
    static const char *const names[MAX_FIBERS] = {"main", "first", "second", "third", "fourth", "fifth"};
    *t = fiber_start(names[check_fiber_count < MAX_FIBERS ? check_fiber_count : 0], body, arg);
    return true;
}

void ptoi_thread_join(ptoi_thread t)
{
    if (!t->has_ended) explore_step((struct op){.kind = OP_JOIN, .location = -1, .object = t});
    join_view(&me()->view, &t->view, location_count);
}

/* Returns when another fiber has stored something since the caller's last yield, before which it may have looked; and
 * it sees all that was stored: stores become visible in a finite time. */
void ptoi_yield(void)
{
    if (model_is_alone() && model_changes(me()) == me()->looked) check_fail("the last thread waits for ever");
    if (!model_is_alone()) explore_step((struct op){.kind = OP_YIELD, .location = -1});
    me()->looked = model_changes(me());
    for (int i = 0; i < location_count; i++) me()->view.seen[i] = location[i].newest->index;
}

static const struct check_site lock_site = {.file = "", .text = "the lock"},
                               futex_site = {.file = "", .text = "the sleep"};

void ptoi_lock_take(ptoi_lock *l)
{
    if (model_is_alone()) {
        if (l->owner) check_fail("the last thread waits for a lock for ever");
        l->owner = me();
        return;
    }
    const int n = find_location(l, sizeof *l);
    explore_step((struct op){.kind = OP_LOCK, .location = n, .site = &lock_site, .object = l});
    see(n, location[n].newest, true);
    put(n, l, sizeof *l, (uint64_t)(uintptr_t)me(), CHECK_RELAXED, location[n].newest);
}

bool ptoi_lock_try(ptoi_lock *l)
{
    if (l->owner) return false;
    ptoi_lock_take(l); /* which waits where another thread comes first */
    return true;
}

void ptoi_lock_leave(ptoi_lock *l)
{
    if (l->owner != me()) check_fail("a lock is left by a thread that does not have it");
    if (model_is_alone()) {
        l->owner = NULL;
        return;
    }
    const int n = step(OP_UNLOCK, l, sizeof *l, &lock_site);
    put(n, l, sizeof *l, 0, CHECK_RELEASE, NULL);
}

bool ptoi_sleep_on(_Atomic uint32_t *word, uint32_t value, int64_t ns, bool is_shared)
{
    (void)ns;
    (void)is_shared;
    step(OP_WAIT, word, sizeof *word, &futex_site);
    if (read_memory(word, sizeof *word) != value) return true;
    me()->sleeps_on = word;
    me()->is_woken = false;
    explore_step((struct op){.kind = OP_RESUME, .location = find_location(word, sizeof *word), .site = &futex_site});
    return true;
}

void ptoi_wake_on(_Atomic uint32_t *word, bool is_shared)
{
    (void)is_shared;
    if (model_is_alone()) return;
    step(OP_WAKE, word, sizeof *word, &futex_site);
    for (int i = 0; i < check_fiber_count; i++)
        if (check_fibers[i].sleeps_on == word) {
            check_fibers[i].sleeps_on = NULL;
            check_fibers[i].is_woken = true;
            return;
        }
}

void ptoi_wake_all_on(_Atomic uint32_t *word)
{
    if (model_is_alone()) return;
    step(OP_WAKE, word, sizeof *word, &futex_site);
    for (int i = 0; i < check_fiber_count; i++) {
        if (check_fibers[i].sleeps_on != word) continue;
        check_fibers[i].sleeps_on = NULL;
        check_fibers[i].is_woken = true;
    }
}

/* A microsecond passes from one look to the next. */
int64_t ptoi_clock_ns(void) { return (int64_t)changes * 1000; }
