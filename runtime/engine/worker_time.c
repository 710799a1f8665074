/* worker_time.c - see worker_time.h. */
#include "worker_time.h"
#include "core.h"
#include "running.h"
#include <stdlib.h>
#include <string.h>

void ptoi_worker_change(struct worker_clock *c, enum worker_cause to)
{
    _Atomic int64_t *const word = c->time->word;
    const int64_t now = ptoi_worker_now(c->in_ticks);
    store_relaxed(&word[c->now], load_relaxed(&word[c->now]) + now); /* relaxed: ours */
    store_relaxed(&word[to], load_relaxed(&word[to]) - now);
    c->now = to;
}

void ptoi_worker_clock_begin(struct worker_clock *c, struct worker_time *time)
{
    *c = (struct worker_clock){.time = time, .in_ticks = ptoi_ticks_are_steady(), .now = WORKER_IDLE};
    const int64_t now = ptoi_worker_now(c->in_ticks);
    store_relaxed(&time->word[WORKER_IDLE], -now); /* relaxed: a statistic */
}

static void read_words(const struct worker_times *t, const struct running_line *line, int64_t *to)
{
    for (int c = 0; c < WORKER_CAUSES; c++) {
        const int64_t word = load_relaxed(&line->time.word[c]); /* relaxed: a statistic */
        to[c] = word < 0 ? word + ptoi_worker_now(t->in_ticks) : word;
    }
}

bool ptoi_worker_times_open(struct worker_times *t, struct core *core)
{
    *t = (struct worker_times){.in_ticks = ptoi_ticks_are_steady()};
    if (!core->engine->lines) return true;
    core->engine->lines(core, &t->workers);
    t->base = calloc((size_t)t->workers + 1, sizeof *t->base);
    t->spent = calloc((size_t)t->workers + 1, sizeof *t->spent);
    return t->base && t->spent;
}

void ptoi_worker_times_close(struct worker_times *t)
{
    free(t->base);
    free(t->spent);
    *t = (struct worker_times){0};
}

void ptoi_worker_times_begin(struct worker_times *t, struct core *core)
{
    int count;
    t->begin = ptoi_worker_now(t->in_ticks);
    if (!t->base) return;
    const struct running_line *line = core->engine->lines(core, &count);
    for (int i = 0; i < t->workers; i++) read_words(t, &line[i], t->base[i]);
}

/* A word may be read while its worker goes to another cause: what is missing or too much then is the last of them. */
void ptoi_worker_times_end(struct worker_times *t, struct core *core)
{
    int count;
    t->end = ptoi_worker_now(t->in_ticks);
    if (!t->base) return;
    const struct running_line *line = core->engine->lines(core, &count);
    for (int i = 0; i < t->workers; i++) {
        int64_t left = t->end - t->begin;
        read_words(t, &line[i], t->spent[i]);
        for (int c = 0; c < WORKER_CAUSES; c++) {
            int64_t spent = t->spent[i][c] - t->base[i][c];
            if (spent < 0) spent = 0;
            if (spent > left || c + 1 == WORKER_CAUSES) spent = left;
            left -= t->spent[i][c] = spent;
        }
    }
}
