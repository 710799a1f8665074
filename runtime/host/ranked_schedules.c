/* ranked_schedules.c - --record and --replay of several ranks, a file a rank: see ranked.h.
 *
 * Idea       rank 2 writes and reads FILE.2.  All files of a run have one number, because ranks that repeat parts of
 *            different runs may wait for each other.
 * Owner      the session.
 * Blocks     ptoi_ranked_begin_schedules: until all ranks have come.
 * Tests      test/wire/check_reports.py */
#include "ranked.h"
#include "report/report.h"
#include "shared/system.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* false: no memory. */
static bool name_file(const struct session *s, const char *path, char **own)
{
    if (!path) return true;
    const size_t size = strlen(path) + 16;
    *own = malloc(size);
    if (*own) snprintf(*own, size, "%s.%" PRId32, path, s->wire->rank);
    return *own != NULL;
}

int ptoi_ranked_name_schedules(struct session *s)
{
    struct host_options *o = &s->options;
    if (!s->wire) return HOST_OK;
    if (!name_file(s, o->record, &s->record) || !name_file(s, o->config.replay, &s->replay))
        return host_fail_memory(&s->error);
    if (s->replay) o->config.replay = s->replay;
    return HOST_OK;
}

int ptoi_ranked_begin_schedules(struct session *s)
{
    uint64_t least[WIRE_REDUCED], most[WIRE_REDUCED];
    if (!s->wire || (!s->record && !s->replay)) return HOST_OK;
    const uint64_t run = session_is_first(s) ? (uint64_t)ptoi_clock_ns() ^ (uint64_t)getpid() << 40 : 0,
                   mine[WIRE_REDUCED] = {run, s->rt->core.replayed_run};
    if (!ptoi_ranked_reduce(s, mine, least, most))
        return host_fail(&s->error, HOST_RUN, "the ranks cannot agree to run");
    s->rt->dist->recorded_run = most[0];
    if (least[1] == most[1]) return HOST_OK;
    s->has_stopped = true;
    return session_is_first(s)
               ? host_fail(&s->error, HOST_FILE, "--replay: the schedules of the ranks are of different runs")
               : HOST_FILE;
}

int ptoi_ranked_write_schedule(struct session *s)
{
    struct whole_file file = {0};
    if (!s->record) return HOST_OK;
    const PTOStatus status = ptoi_publish(ptoi_write_schedule(s->rt, s->record, &file), &file);
    return status == PTO_OK
               ? HOST_OK
               : host_fail(&s->error, status == PTO_ERR_IO ? HOST_FILE : HOST_RUN, "cannot write the schedule %s: %s",
                           s->record, status == PTO_ERR_IO ? strerror(errno) : pto_status_text(status));
}
