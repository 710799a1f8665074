/* submission.h - a task that is being submitted to the window: its parameters, made ready.
 *
 * Idea       the record of the arguments is made here as the window will hold it, and is copied as a whole.
 * Owner      the orchestrator, for the time of one call.
 * Invariant  each array is set up to its end, edges.access[0 .. accesses) too; nothing is cleared beforehand.
 *
 * Note [parts]: an argument of which only a part is written (PTO_INOUT_PART) is two accesses, a read of the region and
 * an update of the part, in the map and in the history.  Everything else sees one argument: the region is what the
 * kernel is given, what holds its buffer, and what a mirror keeps in step. */
#ifndef PTOI_SUBMISSION_H
#define PTOI_SUBMISSION_H
#include "decode.h"

/* A tensor among the arguments: the bytes that it accesses. */
struct place {
    struct arg_head *head; /* of the record; that of a new output, which is fresh, has no buffer before it is made */
    const PTOTaskParam *param;
    uint64_t birth;
    struct region region; /* of a new output from 0 */
};

static inline enum access place_access(const struct place *pl)
{
    return (enum access)(pl->head->kind - PTO_PARAM_INPUT);
}

/* A task on its way into the window, or an await: what edges are found for. */
struct submission {
    struct terms terms;
    uint64_t arg_bytes, part_bytes; /* in the ring of arguments; placing.c: of them for parts */
    uint8_t extras;                 /* TASK_TIMED, TASK_PARTS, TASK_STRIP: what stands behind the arguments */
    const struct strip_text *strip; /* where it is one */
    int accesses;                   /* in o->edges.access: in the order of the places, then Note [parts] */
    int steps;                      /* of a strip whose iterations the map sees: in o->edges.steps; else 0 */
    int64_t entries;                /* of the map, at most */
    bool holds;                     /* some tensor lies in the heap */
    bool accumulates;
    uint32_t exclusive; /* its accumulators, as a set; edges.c */
    struct place *place_end;
    struct arg_head *head_end;
    int64_t *extent_end;
    struct map_access *access_end; /* placing.c */
    struct place place[ARGUMENT_ROOM];
    /* with a name of the buffer's address, as the program knows it, until the task is written */
    struct arg_head head[ARGUMENT_ROOM];
    int64_t extent[ARGUMENT_ROOM * 2 * PTO_MAX_RANK];
};

/* A strip whose iterations have more accesses than this part of the map's entries has one access for each argument. */
enum { STRIP_SHARE = 4 };

/* strip_accesses.c.  Sets s->steps and s->entries of a task that is a strip. */
void ptoi_find_strip_accesses(struct orchestrator *o, struct submission *s);

/* edges.c.  Everything in the window that the task must follow, and has not completed, goes to o->edges.found, its
 * accesses to the map, its accumulators to s->exclusive.  false: no memory.  A task that is not published after all is
 * forgotten by the map: its run has failed.  alone: nothing is in flight, and the map has no room for it. */
bool ptoi_find_edges(struct orchestrator *o, struct submission *s, const PTOKernel *kernel, bool alone);

#endif
