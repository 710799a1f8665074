/* replay.c - see replay.h.  The file: `pto schedule 1`, then one line `task worker` for each start, in order.  Of a
 * rank the first line goes on: `, rank 1 of 3, run 7f00`, and the worker of a task that is free is -1. */
#include "replay.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ptoi_replay_free(struct replay *r)
{
    free(r->task);
    free(r->worker);
    free(r->place);
    *r = (struct replay){0};
}

static PTOStatus no_memory(struct replay *r, FILE *in, char *text, size_t size)
{
    fclose(in);
    ptoi_replay_free(r);
    snprintf(text, size, "no memory for a schedule");
    return PTO_ERR_NOMEM;
}

static PTOStatus bad(struct replay *r, FILE *in, char *text, size_t size, const char *path, int64_t line,
                     const char *what)
{
    fclose(in);
    ptoi_replay_free(r);
    snprintf(text, size, "%s:%lld: %s", path, (long long)line, what);
    return PTO_ERR_ARGUMENT;
}

/* NULL: it is the first line of what is expected. */
static const char *read_head(const char *line, struct replay_of *of)
{
    int rank, ranks, end = 0;
    unsigned long long run;
    const bool is_ranked = sscanf(line, "pto schedule 1, rank %d of %d, run %llx%n", &rank, &ranks, &run, &end) == 3 &&
                           strcmp(line + end, "\n") == 0;
    if (!is_ranked && strcmp(line, "pto schedule 1\n") != 0) return "not a schedule (`pto schedule 1` expected)";
    if (!is_ranked) return of->ranks > 0 ? "not the schedule of one of several ranks" : NULL;
    if (of->ranks == 0) return "the schedule of one of several ranks";
    if (rank != of->rank || ranks != of->ranks) return "the schedule of another rank, or of another number of ranks";
    of->run = run;
    return NULL;
}

/* The lines are read: every task is there once.  Those that are free leave the order. */
static bool order_tasks(struct replay *r)
{
    enum { UNSEEN = -2 };
    int64_t starts = 0;
    r->tasks = r->count;
    for (int64_t i = 0; i < r->tasks; i++) r->place[i] = UNSEEN;
    for (int64_t i = 0; i < r->tasks; i++) {
        const int64_t task = r->task[i];
        if (task >= r->tasks || r->place[task] != UNSEEN) {
            r->count = i;
            return false;
        }
        r->place[task] = r->worker[i] < 0 ? -1 : starts;
        r->task[starts] = task;
        r->worker[starts] = r->worker[i];
        starts += r->worker[i] >= 0;
    }
    r->count = starts;
    return true;
}

PTOStatus ptoi_replay_load(struct replay *r, const char *path, int32_t workers, struct replay_of *of, char *text,
                           size_t size)
{
    enum { MAX_TASKS = 1 << 24 };
    *r = (struct replay){0};
    FILE *in = fopen(path, "r");
    if (!in) {
        snprintf(text, size, "cannot read the schedule %s: %s", path, strerror(errno));
        return PTO_ERR_IO;
    }
    char line[128];
    int64_t lines = 0, capacity = 0;
    while (fgets(line, sizeof line, in)) {
        long long task;
        int worker, end = 0;
        if (lines++ == 0) {
            const char *wrong = read_head(line, of);
            if (wrong) return bad(r, in, text, size, path, 1, wrong);
            continue;
        }
        if (sscanf(line, "%lld %d %n", &task, &worker, &end) != 2 || line[end] != '\0')
            return bad(r, in, text, size, path, lines, "`task worker` expected");
        if (task < 0 || task >= MAX_TASKS) return bad(r, in, text, size, path, lines, "no such task");
        if (worker < (of->ranks > 0 ? -1 : 0) || worker >= workers)
            return bad(r, in, text, size, path, lines, "this run has no such worker");
        if (r->count == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            int64_t *t = realloc(r->task, (size_t)capacity * sizeof *t);
            if (t) r->task = t;
            int32_t *w = realloc(r->worker, (size_t)capacity * sizeof *w);
            if (w) r->worker = w;
            if (!t || !w) return no_memory(r, in, text, size);
        }
        r->task[r->count] = task;
        r->worker[r->count++] = worker;
    }
    if (lines == 0) return bad(r, in, text, size, path, 1, "not a schedule (`pto schedule 1` expected)");
    r->place = malloc((size_t)(r->count + 1) * sizeof *r->place);
    if (!r->place) return no_memory(r, in, text, size);
    if (!order_tasks(r)) return bad(r, in, text, size, path, r->count + 2, "every task from 0 must be listed once");
    fclose(in);
    return PTO_OK;
}

/* 0 would be the plain queue, which knows no order among these. */
int32_t ptoi_replay_priority(const struct replay *r, uint64_t id)
{
    uint64_t task = id - r->first_id;
    if (task >= (uint64_t)r->tasks) return INT32_MIN;
    return r->place[task] < 0 ? INT32_MAX : (int32_t)(INT32_MAX - 1 - r->place[task]);
}
