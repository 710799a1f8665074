/* replay.h - a recorded schedule, repeated: which task may start next, and on which worker.
 *
 * Idea       tasks get their place in the schedule as priority, so the ready task that comes first is always at the
 *            head of its queue; the machine sends it only when everything before it in the schedule was sent, and its
 *            worker begins it only when all that has begun: engine/threads_replay.c.  Of several ranks each has a
 *            schedule of its own.  Messages are free: they come when they come, so they go before all else.
 * Owner      loaded at creation; `next` belongs to the holder of the scheduler role, `begun` and `begun_at` to the
 *            workers.
 * Tests      test/runtime/test_replay.c */
#ifndef PTOI_REPLAY_H
#define PTOI_REPLAY_H
#include "shared/system.h"
#include <pto/pto_status.h>
#include <stdbool.h>

struct replay {
    int64_t tasks, count; /* count: those that are not free */
    int64_t *task;        /* by place: task, counted from the start of the run */
    int32_t *worker;      /* by place */
    int64_t *place;       /* by task; -1: it is free */
    int64_t next;         /* place of the next start */
    uint64_t first_id;    /* of the run */
    ptoi_lock lock;       /* of the workers, for the rest */
    int64_t begun;        /* tasks that are not free */
    int64_t begun_at;     /* the last of them, by the clock of the record */
};

/* Which run a schedule is of.  `run`: a number that all ranks of it have. */
struct replay_of {
    int32_t rank, ranks; /* 0 of 0: there is one process */
    uint64_t run;
};

/* PTO_ERR_IO, PTO_ERR_ARGUMENT or PTO_ERR_NOMEM with a message in text.  of: what is expected; its `run` is read. */
PTOStatus ptoi_replay_load(struct replay *r, const char *path, int32_t workers, struct replay_of *of, char *text,
                           size_t size);
/* A run begins with this task; none is in flight. */
static inline void ptoi_replay_begin(struct replay *r, uint64_t first_id)
{
    r->next = r->begun = r->begun_at = 0;
    r->first_id = first_id;
}
void ptoi_replay_free(struct replay *r);
int32_t ptoi_replay_priority(const struct replay *r, uint64_t id);
static inline bool ptoi_replay_is_next(const struct replay *r, uint64_t id)
{
    return r->next < r->count && (uint64_t)r->task[r->next] == id - r->first_id;
}

#endif
