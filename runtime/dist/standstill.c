/* standstill.c - see standstill.h. */
#include "standstill.h"
#include "engine/running.h"
#include "engine/watchdog.h"
#include "shared/task.h"
#include "transfer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_NS = 1000000, LEAST_PATIENCE_NS = 1000000000 };

/* ---- what this rank does ----------------------------------------------------------------------------------------- */

/* Where the engine has no lines, the watchdog has one. */
static const struct running_line *lines_of(const struct transfers *t, int *count)
{
    struct core *core = t->core;
    *count = 1;
    if (core->engine->lines) return core->engine->lines(core, count);
    if (core->watchdog) return ptoi_watchdog_line(core->watchdog);
    *count = 0;
    return NULL;
}

/* A task of the transfers waits for another rank; it is no kernel that does not return. */
static void count_events(struct transfers *t, int64_t now)
{
    struct standstill *s = &t->standstill;
    int count;
    bool runs;
    const struct window *w = t->core->window;
    const struct running_line *lines = lines_of(t, &count);
    const uint64_t kernels = ptoi_running_count(lines, count, t->core->outside.is_mine, &runs);
    const uint64_t events = kernels + s->ended + load_relaxed(&w->task_head) + load_relaxed(&w->task_tail) +
                            (uint64_t)load_relaxed(s->passed); /* relaxed: any later value is as good */
    /* a process that was stopped for so long has seen nothing */
    const bool was_away = s->looked > 0 && s->limit_ns > 0 && now - s->looked > s->limit_ns / 2;
    if (events != s->events || was_away) s->since = now;
    if (kernels != s->kernels || !runs || was_away) s->kernel_since = now;
    if (was_away) s->round = 0;
    s->events = events;
    s->kernels = kernels;
    s->looked = now;
}

/* NULL: there is none. */
static const struct transfer *oldest_of(const struct transfer *list)
{
    const struct transfer *oldest = list;
    for (const struct transfer *x = list; x; x = x->next)
        if (x->task < oldest->task) oldest = x;
    return oldest;
}

/* Such as "waits for a message from rank 1, for task 7 at f.pto:5:3".  *number: of the task. */
static void describe_transfer(const struct transfers *t, const struct transfer *x, char *text, size_t size,
                              uint64_t *number)
{
    const struct window *w = t->core->window;
    const PTOSite *site = ptoi_task_site(w, x->task);
    const char *what = x->is_send ? "waits until rank %d takes a message" : "waits for a message from rank %d";
    size_t n = (size_t)snprintf(text, size, what, x->peer);
    *number = ptoi_task_number(w, x->task);
    n += (size_t)snprintf(text + n, size - n, ", for task %llu", (unsigned long long)*number);
    if (site) snprintf(text + n, size - n, " at %s:%d:%d", site->file, site->line, pto_site_column(site));
}

/* What the program waits for. */
static void describe_program(const struct transfers *t, char *text, size_t size)
{
    const PTOSite *site = t->meets_at;
    const long long passed = (long long)load_relaxed(t->standstill.passed); /* relaxed: a glimpse */
    if (!t->meets && passed == 0)
        snprintf(text, size, "the program has not come to its first task");
    else if (!t->meets)
        snprintf(text, size, "the program has come to task %lld", passed - 1);
    else if (site)
        snprintf(text, size, "the program waits for all ranks at %.200s:%d:%d", site->file, site->line,
                 pto_site_column(site));
    else
        snprintf(text, size, "the program has come to its end, and waits for all ranks");
}

static struct wire_status status_now(const struct transfers *t, int64_t now)
{
    enum { PART = WIRE_STATUS / 2 - 8 };
    const struct standstill *s = &t->standstill;
    struct wire_status status = {
        .rank = t->wire->rank, .is_answer = true, .waits = true, .run = s->run, .idle_ns = now - s->since};
    char kernel[PART], transfer[PART];
    int count;
    uint64_t kernel_number = 0, transfer_number = 0;
    const struct running_line *lines = lines_of(t, &count);
    const struct transfer *x = oldest_of(t->receives ? t->receives : t->sends);
    const bool runs = ptoi_running_oldest(t->core->window, lines, count, t->core->outside.is_mine, kernel,
                                          sizeof kernel, &kernel_number);
    if (x) describe_transfer(t, x, transfer, sizeof transfer, &transfer_number);
    status.waits = !runs && (x || t->meets);
    status.limit_ns = runs && !s->is_for_replay ? s->limit_ns : 0;
    if (runs && x && kernel_number < transfer_number)
        snprintf(status.text, sizeof status.text, "%s runs; it %s", kernel, transfer);
    else if (runs && x)
        snprintf(status.text, sizeof status.text, "%s; %s runs", transfer, kernel);
    else if (runs || x)
        snprintf(status.text, sizeof status.text, "%s%s", runs ? kernel : transfer, runs ? " runs" : "");
    else
        describe_program(t, status.text, sizeof status.text);
    return status;
}

/* ---- the message ------------------------------------------------------------------------------------------------- */

struct message {
    char text[WIRE_TEXT - 256]; /* with what stands before it, and the rank behind it, it travels whole */
    size_t n;
    int32_t left_out;
};

static void add_rank(struct message *m, int32_t rank, const char *text)
{
    char line[WIRE_STATUS + 32];
    const int length = snprintf(line, sizeof line, "\n  rank %d: %s", rank, text);
    if (m->n + (size_t)length + 48 > sizeof m->text) {
        m->left_out++;
        return;
    }
    memcpy(m->text + m->n, line, (size_t)length + 1);
    m->n += (size_t)length;
}

/* The newest question to all. */
static bool has_answered(const struct standstill *s, int32_t rank)
{
    const struct other_rank *o = &s->other[rank];
    return o->is_asked && o->asked >= s->round && o->answered >= o->asked;
}

/* Where there is no room for all: those that wait for another rank are the last. */
static void describe_ranks(const struct transfers *t, const struct wire_status *mine, struct message *m)
{
    const struct standstill *s = &t->standstill;
    const int32_t ranks = t->wire->ranks;
    const bool all = ranks <= 8;
    for (int waits = 0; waits < (all ? 1 : 2); waits++)
        for (int32_t k = 0; k < ranks; k++) {
            const struct other_rank *o = &s->other[k];
            const struct wire_status *status = k == mine->rank ? mine : has_answered(s, k) ? &o->newest : NULL;
            if (!all && waits != (status && status->waits)) continue;
            add_rank(m, k,
                     status                               ? status->text
                     : o->was_heard || s->begins_together ? "it does not answer"
                                                          : "it does not answer, or has not begun this run");
        }
    if (m->left_out > 0) snprintf(m->text + m->n, sizeof m->text - m->n, "\n  and %d more ranks", m->left_out);
}

static void fail(struct transfers *t, int64_t now, bool is_kernel)
{
    struct standstill *s = &t->standstill;
    const struct wire_status mine = status_now(t, now);
    const double seconds = (double)s->limit_ns / 1e9;
    struct message m = {.n = 0};
    const PTOSite *site = NULL;
    int count;
    if (is_kernel) {
        const struct running_line *lines = lines_of(t, &count);
        ptoi_running_describe(t->core->window, lines, count, getpid(), m.text, sizeof m.text * 2 / 3, &site);
        m.n = strlen(m.text);
    }
    describe_ranks(t, &mine, &m);
    if (is_kernel)
        ptoi_fail_earlier(t->core->run_status, PTO_ERR_WATCHDOG, site, "no task finished for %g s while these ran:%s",
                          seconds, m.text);
    else if (s->silent >= 0)
        ptoi_fail(t->core->run_status, PTO_ERR_WATCHDOG, NULL,
                  "nothing has happened for %g s, and rank %d does not answer:%s", seconds, s->silent, m.text);
    else
        ptoi_fail(t->core->run_status, s->is_for_replay ? PTO_ERR_ARGUMENT : PTO_ERR_WATCHDOG, NULL,
                  "nothing has happened on any rank for %g s%s:%s", seconds,
                  s->is_for_replay ? ", so the schedules do not fit this run" : "", m.text);
}

/* ---- questions and answers --------------------------------------------------------------------------------------- */

static void hear(struct transfers *t, int64_t now)
{
    struct standstill *s = &t->standstill;
    struct wire_status heard;
    while (t->wire->ops->hear_status(t->wire, &heard)) {
        if (!heard.is_answer) {
            s->owed[heard.rank] = heard.run; /* of the next run too: that rank is ahead */
        } else if (s->other && heard.run == s->run) {
            struct other_rank *o = &s->other[heard.rank];
            o->answered = now;
            o->was_heard = true;
            o->newest = heard;
        }
    }
}

static void answer(struct transfers *t, int64_t now)
{
    struct standstill *s = &t->standstill;
    for (int32_t k = 0; k < t->wire->ranks; k++) {
        if (s->owed[k] == 0) continue;
        struct wire_status status = status_now(t, now);
        status.run = s->owed[k];
        if (t->wire->ops->give_status(t->wire, k, &status)) s->owed[k] = 0;
    }
}

/* Of a question that has not been answered there is no second one. */
static void ask(struct transfers *t, int64_t now)
{
    struct standstill *s = &t->standstill;
    const struct wire_status question = {.rank = t->wire->rank, .run = s->run};
    for (int32_t k = 0; k < t->wire->ranks; k++) {
        struct other_rank *o = &s->other[k];
        if (k == t->wire->rank || (o->is_asked && (o->answered < o->asked || o->asked >= s->round))) continue;
        o->asked = now;
        o->is_asked = t->wire->ops->give_status(t->wire, k, &question);
    }
}

/* Another rank finds its kernel itself, and knows more about it.  It has some time for that. */
static bool will_be_found(const struct transfers *t, int64_t idle)
{
    enum { LATE_NS = 2000000000 };
    const struct standstill *s = &t->standstill;
    for (int32_t k = 0; k < t->wire->ranks; k++) {
        const int64_t limit = k == t->wire->rank ? 0 : s->other[k].newest.limit_ns;
        if (limit > 0 && limit <= s->limit_ns && idle < 2 * s->limit_ns + LATE_NS) return true;
    }
    return false;
}

/* All ranks wait for others, as far as they have answered. */
static bool do_all_wait(const struct transfers *t, int64_t now)
{
    for (int32_t k = 0; k < t->wire->ranks; k++)
        if (k != t->wire->rank && !t->standstill.other[k].newest.waits) return false;
    return status_now(t, now).waits;
}

/* Everybody has answered; or, behind the patience, somebody has not: *silent.  *idle_ns: the least of all others. */
static bool is_complete(const struct transfers *t, int64_t now, int32_t *silent, int64_t *idle_ns)
{
    const struct standstill *s = &t->standstill;
    const int64_t half = s->limit_ns / 2, patience = half > LEAST_PATIENCE_NS ? half : LEAST_PATIENCE_NS;
    *silent = -1;
    *idle_ns = INT64_MAX;
    for (int32_t k = 0; k < t->wire->ranks; k++) {
        const struct other_rank *o = &s->other[k];
        if (k == t->wire->rank) continue;
        if (has_answered(s, k)) {
            if (o->newest.idle_ns < *idle_ns) *idle_ns = o->newest.idle_ns;
            continue;
        }
        if (now - s->round < patience) return false;
        if (!o->was_heard && !s->begins_together)
            *idle_ns = 0; /* it may not have begun the run */
        else if (*silent < 0)
            *silent = k;
    }
    return true;
}

/* The time in which nothing has happened here, while something waits for another rank; the same of kernels, while one
 * runs. */
static void decide(struct transfers *t, int64_t now, int64_t idle, int64_t kernel_idle)
{
    struct standstill *s = &t->standstill;
    int32_t silent;
    int64_t others;
    if (s->round == 0) {
        if (now < s->next) return;
        s->round = now;
    }
    ask(t, now);
    if (!is_complete(t, now, &silent, &others)) return;
    if (kernel_idle >= s->limit_ns && !s->is_for_replay) {
        fail(t, now, true);
    } else if (silent >= 0 && idle >= s->limit_ns && !s->is_for_replay) {
        s->silent = silent;
        fail(t, now, false);
    } else if (silent < 0 && idle >= s->limit_ns && others >= s->limit_ns && !will_be_found(t, idle) &&
               (!s->is_for_replay || do_all_wait(t, now))) {
        fail(t, now, false);
    } else if (silent < 0) { /* again when it may be time */
        const int64_t least = idle < others ? idle : others, longest = least > kernel_idle ? least : kernel_idle;
        s->round = 0;
        s->next = now + (longest < s->limit_ns * 7 / 8 ? s->limit_ns - longest : s->limit_ns / 8);
    }
}

void ptoi_standstill_look(struct transfers *t)
{
    struct standstill *s = &t->standstill;
    const int64_t now = ptoi_clock_ns();
    if (now - s->looked < LOOK_NS) return;
    count_events(t, now);
    hear(t, now);
    answer(t, now);
    if (s->limit_ns == 0 || t->is_cancelled || ptoi_is_failing(t->core->run_status)) return;
    const int64_t idle = t->receives || t->sends || t->meets ? now - s->since : 0, kernel_idle = now - s->kernel_since;
    if (idle < s->limit_ns / 2 && kernel_idle < s->limit_ns / 2)
        s->round = s->next = 0;
    else
        decide(t, now, idle, kernel_idle);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

void ptoi_standstill_begin(struct standstill *s, int32_t ranks)
{
    const int64_t now = ptoi_clock_ns();
    s->run++;
    s->since = s->kernel_since = now;
    s->looked = s->round = s->next = 0;
    s->silent = -1;
    if (s->other) memset(s->other, 0, (size_t)ranks * sizeof *s->other);
}

bool ptoi_standstill_open(struct standstill *s, int32_t ranks, double seconds, bool has_replay, bool begins_together,
                          const _Atomic int64_t *passed)
{
    enum { REPLAY_SECONDS = 10 };
    const bool is_for_replay = has_replay && seconds == 0;
    *s = (struct standstill){.limit_ns = (int64_t)((is_for_replay ? REPLAY_SECONDS : seconds) * 1e9),
                             .is_for_replay = is_for_replay,
                             .begins_together = begins_together,
                             .passed = passed,
                             .owed = calloc((size_t)ranks, sizeof *s->owed),
                             .silent = -1};
    if (s->limit_ns > 0) s->other = calloc((size_t)ranks, sizeof *s->other);
    return s->owed && (s->other || s->limit_ns == 0);
}

void ptoi_standstill_close(struct standstill *s)
{
    free(s->owed);
    free(s->other);
    *s = (struct standstill){0};
}
