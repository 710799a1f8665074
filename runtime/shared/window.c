/* window.c - the layout of the shared block.  See window.h for what the parts mean. */
#include "window.h"
#include "check.h"

const char ptoi_image_anchor[1] = {0};

/* Arguments of a task: at most 64 parameters of rank 8.  The ring always holds the largest task, and 192 bytes for each
 * of a full window, which is four matrices; fuller tasks make the window shorter, never wrong. */
enum { ARG_BYTES_PER_TASK = 192, ARG_BYTES_MAX = 2 * PTO_MAX_PARAMS * (16 + 2 * 8 * PTO_MAX_RANK) };

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

static uint64_t power_of_two(uint64_t at_least)
{
    uint64_t p = 1;
    while (p < at_least) p *= 2;
    return p;
}

/* Small enough that chunks of one segment waste little, few enough that a sweep over all of them is cheap. */
static uint64_t choose_segment_bytes(uint64_t heap_bytes)
{
    uint64_t s = PTO_GRANULE;
    while (s < PTO_HEAP_MAX_SEGMENT_BYTES && heap_bytes / s > PTO_HEAP_MAX_SEGMENTS) s *= 2;
    return s;
}

struct layout {
    uint64_t args, deps, events, segment_bytes, segments;
    uint64_t tasks_at, args_at, deps_at, events_at, completed_at, chunk_at, consumed_at, numbers_at, bytes;
};

static bool layout_make(const struct window_sizes *z, struct layout *l)
{
    const uint64_t limit = (uint64_t)1 << 46;
    if (z->tasks > limit / 1024 || z->deps > limit / 8 || z->heap_bytes > limit) return false;
    l->segment_bytes = choose_segment_bytes(z->heap_bytes);
    l->segments = (z->heap_bytes + l->segment_bytes - 1) / l->segment_bytes;
    l->args = power_of_two(z->tasks * ARG_BYTES_PER_TASK + 2 * ARG_BYTES_MAX);
    l->deps = power_of_two(z->deps);
    l->events = z->tasks < 64 ? 64 : z->tasks;
    uint64_t at = round_up(sizeof(struct window), PTO_CACHELINE);
#define PART(name, size) (l->name = at, at = round_up(at + (size), PTO_CACHELINE))
    PART(tasks_at, z->tasks * sizeof(struct task_slot));
    PART(args_at, l->args);
    PART(deps_at, l->deps * sizeof(uint64_t));
    PART(events_at, l->events * sizeof(struct lifetime_event));
    PART(completed_at, z->tasks * sizeof(uint64_t));
    /* touched as far as buffers are numbered */
    PART(chunk_at, l->segments * l->segment_bytes / PTO_GRANULE * sizeof(uint32_t));
    PART(consumed_at, l->segments * sizeof(uint32_t));
    PART(numbers_at, 2 * z->tasks * sizeof(uint64_t));
#undef PART
    l->bytes = at;
    return true;
}

uint64_t ptoi_window_bytes(const struct window_sizes *sizes)
{
    struct layout l;
    return layout_make(sizes, &l) ? l.bytes : 0;
}

void ptoi_window_init(struct window *w, const struct window_sizes *sizes)
{
    struct layout l;
    bool fits = layout_make(sizes, &l);
    CHECK(fits && (sizes->tasks & (sizes->tasks - 1)) == 0);
    w->magic = PTO_WINDOW_MAGIC;
    w->version = PTO_WINDOW_VERSION;
    w->bytes = l.bytes;
    w->task_mask = sizes->tasks - 1;
    w->arg_mask = l.args - 1;
    w->dep_mask = l.deps - 1;
    w->dep_limit = sizes->deps;
    w->event_mask = l.events - 1;
    w->heap_bytes = l.segments * l.segment_bytes;
    w->segment_bytes = l.segment_bytes;
    w->segment_count = l.segments;
    w->tasks_at = l.tasks_at;
    w->args_at = l.args_at;
    w->deps_at = l.deps_at;
    w->events_at = l.events_at;
    w->completed_at = l.completed_at;
    w->chunk_at = l.chunk_at;
    w->consumed_at = l.consumed_at;
    w->numbers_at = l.numbers_at;
    store_relaxed(&w->task_head, sizes->first_id); /* relaxed: no other thread sees the block yet */
    store_relaxed(&w->task_tail, sizes->first_id);
    store_relaxed(&w->event_head, sizes->first_byte);
    store_relaxed(&w->event_tail, sizes->first_byte);
    store_relaxed(&w->quiet_tasks, sizes->first_id);
    store_relaxed(&w->quiet_events, sizes->first_byte);
}

bool ptoi_window_is_quiet(const struct window *w)
{
    /* [QUIET]; relaxed: the heads are our own words. */
    return load_acquire(&w->quiet_tasks, QUIET) == load_relaxed(&w->task_head) &&
           load_acquire(&w->quiet_events, QUIET) == load_relaxed(&w->event_head);
}

void ptoi_window_abandon(struct window *w)
{
    const uint64_t tasks = load_relaxed(&w->task_head), events = load_relaxed(&w->event_head);
    store_relaxed(&w->task_tail, tasks); /* relaxed: the caller alone sees the block */
    store_relaxed(&w->event_tail, events);
    store_relaxed(&w->quiet_tasks, tasks);
    store_relaxed(&w->quiet_events, events);
}

bool ptoi_window_is_valid(const struct window *w)
{
    if (w->magic != PTO_WINDOW_MAGIC || w->version != PTO_WINDOW_VERSION) return false;
    uint64_t head = load_acquire(&w->task_head, TASK), tail = load_acquire(&w->task_tail, RETIRE);
    return head - tail <= w->task_mask + 1;
}
