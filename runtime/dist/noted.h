/* noted.h - what a record has of a task on several ranks, beside struct recorded_task.
 *
 * Owner      the orchestrator: before it submits the task, and behind that the message that it is.  Of one that
 *            something outside carries out: `begin` the thread that starts it, `end` the one that ends it.  Read when
 *            no run is active.
 * Tests      test/wire/check_reports.py */
#ifndef PTOI_NOTED_H
#define PTOI_NOTED_H
#include "record/record.h"

struct noted {
    uint64_t number;    /* of the task of the program that it is, or serves */
    uint64_t message;   /* its number among those from the one rank to the other */
    int64_t bytes;      /* of it */
    int64_t begin, end; /* of it, as recorded_task has them; 0: a worker has executed it */
    uint32_t node;      /* of the plan, + 1 */
    int32_t peer;
    bool serves; /* it is none of the program: a message, or pages are given back */
    bool is_send, is_receive;
};

struct task_notes {
    struct noted *task; /* `room` of them, by number in the record; NULL: nothing is recorded */
    uint64_t room, used;
};

/* NULL: it is not recorded. */
static inline struct noted *ptoi_noted_at(const struct task_notes *n, const struct recorder *r, uint64_t id)
{
    return n->task && r && id - r->first_id < n->room ? &n->task[id - r->first_id] : NULL;
}

#endif
