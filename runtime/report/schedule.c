/* schedule.c - the schedule of a run as text that can be replayed; see record/replay.c for the format. */
#include "api/misuse.h"
#include "report.h"
#include <stdlib.h>

struct start {
    int64_t begin;
    uint64_t task;
};

static int by_begin(const void *a, const void *b)
{
    const struct start *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

bool ptoi_has_schedule(PTOEngine engine) { return engine == PTO_ENGINE_THREADS || engine == PTO_ENGINE_PROCESS; }

PTOStatus ptoi_write_schedule(PTORuntime *rt, const char *path, struct whole_file *file)
{
    const PTOStatus refused = ptoi_refuse_unless_idle(rt, "pto_runtime_write_schedule");
    if (refused != PTO_OK) return refused;
    const PTOStatus settled = ptoi_settle_record(rt);
    if (settled != PTO_OK) return settled;
    if (!ptoi_has_schedule(rt->core.config.engine))
        return ptoi_thread_fail(PTO_ERR_UNSUPPORTED,
                                "nothing starts in an order that could be repeated on the engine %s: record on threads",
                                rt->core.engine->name);
    if (rt->core.recorder->lost > 0)
        return ptoi_thread_fail(PTO_ERR_STATE, "the run had %llu tasks more than PTOConfig.record_tasks",
                                (unsigned long long)rt->core.recorder->lost);
    const struct recorder *r = rt->core.recorder;
    struct start *order = malloc((size_t)(r->tasks + 1) * sizeof *order);
    if (!order) return ptoi_thread_fail(PTO_ERR_NOMEM, "no memory for the schedule");
    for (uint64_t n = 0; n < r->tasks; n++) order[n] = (struct start){r->task[n].begin, n};
    qsort(order, (size_t)r->tasks, sizeof *order, by_begin);
    if (!ptoi_whole_open(file, path)) {
        const int why = errno;
        free(order);
        errno = why;
        return PTO_ERR_IO;
    }
    FILE *out = file->out;
    const struct dist *d = rt->dist && !rt->dist->plan ? rt->dist : NULL;
    fprintf(out, "pto schedule 1");
    if (d) fprintf(out, ", rank %d of %d, run %llx", d->me, d->ranks, (unsigned long long)d->recorded_run);
    fprintf(out, "\n");
    for (uint64_t n = 0; n < r->tasks; n++) {
        const uint64_t task = order[n].task;
        const bool is_free = d && d->notes.task && d->notes.task[task].serves;
        fprintf(out, "%llu %d\n", (unsigned long long)task, is_free ? -1 : r->task[task].row);
    }
    free(order);
    return ptoi_whole_finish(file) ? PTO_OK : PTO_ERR_IO;
}

PTOStatus pto_runtime_write_schedule(PTORuntime *rt, const char *path)
{
    struct whole_file file = {0};
    if (rt && !path) return ptoi_refuse_path("pto_runtime_write_schedule");
    return ptoi_publish_for(ptoi_write_schedule(rt, path, &file), &file, path);
}
