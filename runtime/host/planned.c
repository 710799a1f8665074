/* planned.c - see planned.h. */
#include "planned.h"
#include "api/runtime.h"
#include "dist/predict.h"
#include "dist/traces.h"
#include "ranked.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PLANNED = 4096 };

int ptoi_planned_check(struct session *s)
{
    const struct host_options *o = &s->options;
    const bool is_planned = session_plans_ranks(s);
    if (!is_planned && (o->traces || o->net_latency >= 0))
        return host_fail(&s->error, HOST_USAGE, "%s needs --ranks N and the engine timing or graph, in one process",
                         o->traces ? "--traces" : "--net");
    if (is_planned && o->ranks > MOST_PLANNED)
        return host_fail(&s->error, HOST_USAGE, "--ranks %d: at most %d are planned", o->ranks, MOST_PLANNED);
    return HOST_OK;
}

static struct predict_config network(const struct session *s)
{
    const PTOConfig *c = &s->rt->core.config;
    struct predict_config config = {.latency = s->options.net_latency >= 0 ? s->options.net_latency : 0,
                                    .bytes_a_cycle = s->options.net_bytes_a_cycle,
                                    .submit_cycles = c->submit_cycles,
                                    .dispatch_cycles = c->dispatch_cycles,
                                    .window = c->task_window};
    for (int t = 0; t < PTO_WORKER_TYPES; t++) config.workers[t] = c->workers[t];
    return config;
}

static void print_spread(const char *text, const uint64_t *of_rank, int32_t ranks)
{
    struct counted sum = {0};
    for (int32_t k = 0; k < ranks; k++) ptoi_ranked_count(&sum, k, of_rank[k]);
    ptoi_ranked_print_counted(text, &sum);
}

static int print_stats(struct session *s)
{
    const struct plan *p = s->rt->dist->plan;
    const struct predict_config config = network(s);
    uint64_t *messages = calloc(4 * (size_t)p->ranks, sizeof *messages), *bytes = messages + p->ranks,
             *tasks = bytes + p->ranks, *kernels = tasks + p->ranks;
    int64_t cycles = 0;
    const bool ok = messages && ptoi_predict(p, &config, &cycles);
    for (uint32_t n = 0; n < p->nodes && ok; n++)
        if (p->node[n].kind == PLANNED_SEND) {
            messages[p->node[n].rank]++;
            bytes[p->node[n].rank] += (uint64_t)p->node[n].amount;
        } else if (p->node[n].kind == PLANNED_TASK) {
            kernels[p->node[n].rank] += (uint64_t)p->node[n].amount;
        }
    for (int32_t k = 0; k < p->ranks && ok; k++) tasks[k] = (uint64_t)s->rt->dist->tasks_of[k];
    if (ok) {
        const double least = ptoi_predict_least(p, &config);
        printf("Ranks: %d, planned\n", p->ranks);
        print_spread("Messages", messages, p->ranks);
        print_spread("Bytes sent", bytes, p->ranks);
        print_spread("Tasks of ranks", tasks, p->ranks);
        print_spread("Cycles in kernels", kernels, p->ranks);
        printf("Predicted: %" PRId64 " cycles, efficiency %.3f\n", cycles, cycles > 0 ? least / (double)cycles : 1.0);
    }
    free(messages);
    return ok ? HOST_OK : host_fail_memory(&s->error);
}

int ptoi_planned_report(struct session *s)
{
    const struct host_options *o = &s->options;
    if (!session_plans_ranks(s)) return HOST_OK;
    if (o->traces && !ptoi_traces_write(s->rt->dist->plan, o->traces, s->rt->core.config.task_window))
        return host_fail(&s->error, HOST_FILE, "cannot write the traces in %s: %s", o->traces, strerror(errno));
    return o->stats ? print_stats(s) : HOST_OK;
}
