/* replay.c - see replay.h.  The file: `pto schedule 1`, then one line `task worker` for each start, in order. */
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

static PTOStatus bad(struct replay *r, FILE *in, char *text, size_t size, const char *path, int64_t line,
                     const char *what)
{
    fclose(in);
    ptoi_replay_free(r);
    snprintf(text, size, "%s:%lld: %s", path, (long long)line, what);
    return PTO_ERR_ARGUMENT;
}

PTOStatus ptoi_replay_load(struct replay *r, const char *path, int32_t workers, char *text, size_t size)
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
            if (strcmp(line, "pto schedule 1\n") != 0)
                return bad(r, in, text, size, path, 1, "not a schedule (`pto schedule 1` expected)");
            continue;
        }
        if (sscanf(line, "%lld %d %n", &task, &worker, &end) != 2 || line[end] != '\0')
            return bad(r, in, text, size, path, lines, "`task worker` expected");
        if (task < 0 || task >= MAX_TASKS) return bad(r, in, text, size, path, lines, "no such task");
        if (worker < 0 || worker >= workers) return bad(r, in, text, size, path, lines, "this run has no such worker");
        if (r->count == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            int64_t *t = realloc(r->task, (size_t)capacity * sizeof *t);
            if (t) r->task = t;
            int32_t *w = realloc(r->worker, (size_t)capacity * sizeof *w);
            if (w) r->worker = w;
            if (!t || !w) return bad(r, in, text, size, path, lines, "out of memory");
        }
        r->task[r->count] = task;
        r->worker[r->count++] = worker;
    }
    if (lines == 0) return bad(r, in, text, size, path, 1, "not a schedule (`pto schedule 1` expected)");
    r->place = malloc((size_t)(r->count + 1) * sizeof *r->place);
    if (!r->place) return bad(r, in, text, size, path, lines, "out of memory");
    for (int64_t i = 0; i < r->count; i++) r->place[i] = -1;
    for (int64_t i = 0; i < r->count; i++) {
        if (r->task[i] >= r->count || r->place[r->task[i]] >= 0)
            return bad(r, in, text, size, path, i + 2, "every task from 0 must be listed once");
        r->place[r->task[i]] = i;
    }
    fclose(in);
    return PTO_OK;
}

/* 0 would be the plain queue, which knows no order among these. */
int32_t ptoi_replay_priority(const struct replay *r, uint64_t id)
{
    uint64_t task = id - r->first_id;
    return task < (uint64_t)r->count ? (int32_t)(INT32_MAX - r->place[task]) : INT32_MIN;
}
