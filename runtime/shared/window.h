/* window.h - the memory that orchestrator and scheduler share: one contiguous block of fixed-width words and offsets.
 *
 * Idea       orchestrator -> scheduler: task descriptors with their arguments and fan-in entries, and lifetime events,
 *            each stream published by one counter.  scheduler -> orchestrator: how far both were taken, which tasks
 *            completed, how many buffers of each heap chunk are consumed.  No lock, no read-modify-write, no pointer.
 * Owner      every word has one writer; words of different writers are on different cache lines.
 * Invariant  counters only grow; slot = id & mask; a descriptor is constant from its publication until its task has
 *            retired.
 * Tests      test/runtime/test_second_mapping.c, stress_limits.c
 *
 * [TASK]     everything below task_head is complete when task_head says so.
 * [EVENT]    likewise events below event_head.  Tasks that an event's stamp counts are published before the event.
 * [RETIRE]   when task_tail says so, nobody reads the slots, arguments and fan-in entries below it any more.
 * [TAKEN]    likewise the event entries below event_tail.
 * [DONE]     completed[slot] == id + 1 says that the kernel of task id has returned and its writes are visible.
 * [CONSUMED] consumed[chunk] counts buffers of a heap chunk that nobody will touch again.
 * [QUIET]    having taken exactly quiet_tasks and quiet_events, the scheduler had nothing ready or running: until more
 * is published
 *            nothing will change, and everything that it published before is visible to the reader of the word. */
#ifndef PTOI_WINDOW_H
#define PTOI_WINDOW_H
#include "atomics.h"
#include <pto/pto_types.h>

#define PTO_WINDOW_MAGIC   0x57494e444f57504fu
#define PTO_WINDOW_VERSION 4u

/* One parameter, in the order of submission; `rank` extents and `rank` strides (elements, int64_t) follow all heads. */
struct arg_head {
    int64_t value;   /* scalar bits; or bytes from the start of the heap (buffer != 0), or a device address */
    uint32_t buffer; /* number of the heap buffer it lies in, from 1; 0: outside memory or a scalar */
    uint8_t kind;    /* PTOParamKind */
    uint8_t type;    /* PTOType */
    uint8_t rank;
    uint8_t fresh; /* this task's submission allocated the buffer */
};
_Static_assert(sizeof(struct arg_head) == 16, "no padding");

enum task_flag {
    TASK_TIMED = 1, /* behind the arguments' shapes stands how long the kernel may run, in milliseconds, an int64_t */
    TASK_HOLDS = 2, /* some argument lies in a heap buffer; else the scheduler need not look at the arguments */
    TASK_PARTS = 4, /* of a checked run: behind that stand the parts that its kernel may write, see task.h */
    TASK_STRIP = 8  /* several iterations of a loop, which follow the arguments' shapes: strip.h */
};

struct task_slot {
    uint64_t id;
    int64_t kernel;     /* const PTOKernel *, relative to ptoi_image_anchor */
    int64_t site;       /* const PTOSite *, likewise; 0: none */
    uint64_t arg_begin; /* byte count in the argument ring */
    uint64_t dep_begin; /* entry count in the dependency ring */
    uint32_t dep_count;
    int32_t priority;
    uint16_t param_count;
    uint8_t worker;     /* PTOWorkerType */
    uint8_t flags;      /* enum task_flag */
    uint32_t exclusive; /* set of accumulators that it updates, hashed: tasks whose sets meet do not run together */
    int64_t name;       /* const char * of @name, relative like kernel; 0: none */
};
_Static_assert(sizeof(struct task_slot) == PTO_CACHELINE, "one line a task");

enum event_kind { EVENT_OPEN = 1, EVENT_RELEASE };

/* A buffer begins its lifetime without a task (OPEN), or its owner lets go of it (RELEASE). */
struct lifetime_event {
    uint64_t stamp; /* tasks published before it */
    uint32_t buffer;
    uint32_t kind;
};

struct window {
    uint64_t magic;
    uint32_t version, checked;                          /* checked: PTOConfig.checked */
    uint64_t bytes;                                     /* of the whole block, heap excluded */
    uint64_t task_mask, arg_mask, dep_mask, event_mask; /* sizes of the rings, less one */
    uint64_t dep_limit;                                 /* entries in use at most: what was asked for */
    uint64_t heap_bytes, segment_bytes, segment_count;
    /* a checked run: 1 + the task that was found out first, */
    _Atomic uint64_t fault_task;
    int64_t fault_at; /* and where; W its worker, before it completes */
    /* 1 + the task whose kernel said first why it failed, and its words; W its worker, before it completes */
    _Atomic uint64_t reason_task;
    char reason[160];
    /* 1 + the task whose failure is that of the run; 0: none.  W whoever claimed it, R the end of a run on several
     * ranks, relaxed: which failure is the oldest. */
    _Atomic uint64_t failed_task;
    uint64_t tasks_at, args_at, deps_at, events_at, completed_at, chunk_at, consumed_at; /* byte offsets in the block */
    uint64_t numbers_at;                                                                 /* likewise */

    /* W orchestrator, R scheduler. */
    _Alignas(PTO_CACHELINE) _Atomic uint64_t task_head; /* next id: store release [TASK], load acquire */
    _Atomic uint64_t event_head;                        /* store release [EVENT], load acquire */

    /* W scheduler, R orchestrator. */
    _Alignas(PTO_CACHELINE) _Atomic uint64_t task_tail; /* store release [RETIRE], load acquire */
    _Atomic uint64_t event_tail;                        /* store release [TAKEN], load acquire */
    _Atomic uint64_t quiet_tasks, quiet_events;         /* store release [QUIET], load acquire */
};

/* The base of every "offset, never pointer" that names code or constants of the program: the same distance in every
 * process that runs the same image. */
extern const char ptoi_image_anchor[];
static inline int64_t ptoi_image_offset(const void *p)
{
    return p ? (int64_t)((uintptr_t)p - (uintptr_t)ptoi_image_anchor) : 0;
}
static inline int64_t ptoi_image_offset_of(const void *p) /* the same of one that is not NULL */
{
    return (int64_t)((uintptr_t)p - (uintptr_t)ptoi_image_anchor);
}
static inline const void *ptoi_image_pointer_of(int64_t offset) /* likewise */
{
    return (const void *)((uintptr_t)ptoi_image_anchor + (uintptr_t)offset); /* NOLINT: by design */
}
static inline const void *ptoi_image_pointer(int64_t offset)
{
    return offset ? (const void *)((uintptr_t)ptoi_image_anchor + (uintptr_t)offset) : NULL; /* NOLINT: by design */
}

static inline void *window_part(const struct window *w, uint64_t at) { return (char *)(uintptr_t)w + at; }

static inline struct task_slot *window_task(const struct window *w, uint64_t id)
{
    return (struct task_slot *)window_part(w, w->tasks_at) + (id & w->task_mask);
}
static inline void *window_args(const struct window *w, uint64_t begin)
{
    return window_part(w, w->args_at + (begin & w->arg_mask));
}
/* The producer id of fan-in entry number n: written by the orchestrator [TASK]. */
static inline uint64_t *window_dep(const struct window *w, uint64_t n)
{
    return (uint64_t *)window_part(w, w->deps_at) + (n & w->dep_mask);
}
static inline struct lifetime_event *window_event(const struct window *w, uint64_t n)
{
    return (struct lifetime_event *)window_part(w, w->events_at) + (n & w->event_mask);
}
/* W scheduler, R orchestrator [DONE]. */
static inline _Atomic uint64_t *window_completed(const struct window *w, uint64_t id)
{
    return (_Atomic uint64_t *)window_part(w, w->completed_at) + (id & w->task_mask);
}
/* The number of the task, which does not follow from its id: on several ranks all tasks of the program are counted, a
 * strip has the number of its first call, and a fold that of the task which follows it.  There are twice as many
 * numbers as tasks, because a rank writes one before its slot is free.  W orchestrator [TASK]. */
static inline uint64_t *window_number(const struct window *w, uint64_t id)
{
    return (uint64_t *)window_part(w, w->numbers_at) + (id & (2 * w->task_mask + 1));
}
/* The heap chunk in which a buffer lies.  W orchestrator, R scheduler [TASK] [EVENT]. */
static inline uint32_t *window_chunk(const struct window *w, uint32_t buffer)
{
    return (uint32_t *)window_part(w, w->chunk_at) + (buffer - 1);
}
/* W scheduler, R orchestrator [CONSUMED]. */
static inline _Atomic uint32_t *window_consumed(const struct window *w, uint64_t chunk)
{
    return (_Atomic uint32_t *)window_part(w, w->consumed_at) + chunk;
}

struct window_sizes {
    uint64_t tasks; /* power of two */
    uint64_t deps;
    uint64_t heap_bytes; /* all rings together */
    uint64_t first_id, first_byte;
};

/* Bytes that a window of these sizes needs; 0 on overflow. */
uint64_t ptoi_window_bytes(const struct window_sizes *sizes);
/* Lays out zeroed memory of that many bytes. */
void ptoi_window_init(struct window *w, const struct window_sizes *sizes);
bool ptoi_window_is_valid(const struct window *w);
/* All that was published counts as over.  Caller: the orchestrator, when no scheduler is there; another one begins
 * behind it. */
void ptoi_window_abandon(struct window *w);
/* Is the scheduler quiet, having taken everything published?  Caller: the orchestrator.  Proof: both words only grow
 * and neither passes its head, so when both are at the heads, the later of the two moments they stem from was quiet
 * with exactly these. */
bool ptoi_window_is_quiet(const struct window *w);

#endif
