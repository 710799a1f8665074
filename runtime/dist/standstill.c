/* standstill.c - see standstill.h. */
#include "standstill.h"
#include "disagree.h"
#include "engine/running.h"
#include "engine/watchdog.h"
#include "shared/task.h"
#include "transfer.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_NS = 1000000, LEAST_PATIENCE_NS = 1000000000, PATIENCE_NS = 400000000, AGAIN_NS = 500000000 };

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
                            (uint64_t)load_relaxed(s->program.passed); /* relaxed: any later value is as good */
    /* a process that was stopped for so long has seen nothing */
    const bool was_away = s->looked > 0 && s->limit_ns > 0 && now - s->looked > s->limit_ns / 2;
    if (events != s->events || was_away) s->since = now;
    if (kernels != s->kernels || !runs || was_away) s->kernel_since = now;
    if (was_away) s->round = 0;
    s->events = events;
    s->kernels = kernels;
    s->looked = now;
}

/* One that has got another message than it waits for, else the oldest; NULL: there is none. */
static const struct transfer *oldest_of(const struct transfer *list)
{
    const struct transfer *oldest = list;
    for (const struct transfer *x = list; x; x = x->next)
        if (x->is_odd != oldest->is_odd ? x->is_odd : x->task < oldest->task) oldest = x;
    return oldest;
}

/* Such as "waits for a message from rank 1, for task 7 at f.pto:5:3".  *number: of the task. */
static void describe_transfer(const struct transfers *t, const struct transfer *x, char *text, size_t size,
                              uint64_t *number)
{
    const struct window *w = t->core->window;
    const PTOSite *site = ptoi_task_site(w, x->task);
    const char *what = x->is_odd    ? "has a message of another size from rank %d"
                       : x->is_send ? "waits until rank %d takes a message"
                                    : "waits for a message from rank %d";
    size_t n = (size_t)snprintf(text, size, what, x->peer);
    *number = ptoi_task_number(w, x->task);
    n += (size_t)snprintf(text + n, size - n, ", for task %llu", (unsigned long long)*number);
    if (site) snprintf(text + n, size - n, " at %s:%d:%d", site->file, site->line, pto_site_column(site));
}

/* What the program waits for. */
static void describe_program(const struct transfers *t, char *text, size_t size)
{
    const PTOSite *site = t->meets_at;
    const long long passed = (long long)load_relaxed(t->standstill.program.passed); /* relaxed: a glimpse */
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
        .rank = t->wire->rank, .kind = WIRE_ANSWER, .waits = true, .run = s->run, .idle_ns = now - s->since};
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

/* mine: NULL: this rank has answered like the others.  Where there is no room for all: those that wait for another rank
 * are the last. */
static void describe_ranks(const struct transfers *t, const struct wire_status *mine, struct message *m)
{
    const struct standstill *s = &t->standstill;
    const int32_t ranks = t->wire->ranks;
    const bool all = ranks <= 8;
    for (int waits = 0; waits < (all ? 1 : 2); waits++)
        for (int32_t k = 0; k < ranks; k++) {
            const struct other_rank *o = &s->other[k];
            const struct wire_status *status = mine && k == mine->rank ? mine : has_answered(s, k) ? &o->newest : NULL;
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

/* A rank may be ahead, and ask about the next run. */
static void take_question(struct standstill *s, const struct wire_status *heard, int64_t now)
{
    struct owed *owed = &s->owed[heard->rank];
    *owed = (struct owed){.run = heard->run, .since = now};
    memcpy(&owed->question, heard->word, sizeof owed->question);
}

static void take_answer(struct standstill *s, const struct wire_status *heard, int64_t now)
{
    struct other_rank *o = &s->other[heard->rank];
    o->answered = now;
    o->was_heard = true;
    o->newest = *heard;
}

static void hear(struct transfers *t, int64_t now)
{
    struct standstill *s = &t->standstill;
    struct wire_status heard;
    while (ptoi_wire_hear(t->wire, &heard)) {
        if (heard.kind == WIRE_QUESTION)
            take_question(s, &heard, now);
        else if (s->other && heard.run == s->run)
            take_answer(s, &heard, now);
    }
}

/* Host programs disagree: a rank has left, and begins this run no more. */
static void miss_rank(struct transfers *t)
{
    const struct wire *w = t->wire;
    const struct wire_left *left = ptoi_wire_left_before(w);
    if (!left || ptoi_is_failing(t->core->run_status)) return;
    ptoi_fail(t->core->run_status, PTO_ERR_STATE, NULL,
              "ranks %d and %d disagree: rank %d has begun %" PRIu64 " runs and has left, and this is run %" PRIu64
              "; what a host program does may not depend on the rank",
              w->rank, left->rank, left->rank, left->runs, w->runs);
}

static bool give(struct transfers *t, int32_t to, const struct wire_status *status, int64_t now)
{
    if (to != t->wire->rank) return t->wire->ops->give_status(t->wire, to, status);
    take_answer(&t->standstill, status, now);
    return true;
}

/* All receives are with the wire, and the oldest send. */
static bool has_all_left(const struct transfers *t)
{
    for (const struct transfer *x = t->receives; x; x = x->next)
        if (!x->is_posted) return false;
    for (const struct transfer *x = t->sends; x; x = x->next)
        if (!x->is_posted && x->order == t->oldest) return false;
    return true;
}

/* The caller is the orchestrator. */
static void say_steps(struct transfers *t, const struct search_question *question, bool is_still,
                      struct wire_status *status)
{
    struct standstill *s = &t->standstill;
    struct search_answer said = {.is_there = 1,
                                 .is_still = is_still && has_all_left(t) && !t->core->replay,
                                 .meets = t->meets,
                                 .events = s->events + t->given,
                                 .sent = t->given,
                                 .received = t->taken,
                                 .reductions = t->reductions};
    s->site = s->program.say_steps(s->program.context, question, &said, status);
    memcpy(status->word, &said, sizeof said);
}

/* by_program: the caller is the orchestrator, which has looked whether this rank is still.  Without it a question about
 * steps waits for a while; and for this run. */
static void answer(struct transfers *t, int64_t now, bool by_program, bool is_still)
{
    struct standstill *s = &t->standstill;
    bool is_asked = false;
    for (int32_t k = 0; k < t->wire->ranks; k++) {
        struct owed *owed = &s->owed[k];
        const bool about_steps = owed->question.is_asked && owed->run >= s->run;
        const bool is_early = about_steps && (owed->run > s->run || (!by_program && now - owed->since < PATIENCE_NS));
        if (owed->run == 0) continue;
        if (!is_early) {
            struct wire_status status = status_now(t, now);
            status.run = owed->run;
            if (by_program && about_steps) say_steps(t, &owed->question, is_still, &status);
            if (give(t, k, &status, now)) *owed = (struct owed){0};
        }
        is_asked |= owed->run == s->run && owed->question.is_asked;
    }
    store_relaxed(&s->is_asked, is_asked); /* relaxed: a hint */
    if (is_asked && !by_program) t->core->engine->poke(t->core);
}

void ptoi_standstill_say(struct transfers *t)
{
    if (!load_relaxed(&t->standstill.is_asked)) return; /* relaxed: a hint */
    const bool is_still = t->core->engine->is_still && t->core->engine->is_still(t->core);
    const int64_t now = ptoi_clock_ns();
    ptoi_lock_take(&t->lock);
    count_events(t, now);
    answer(t, now, true, is_still);
    ptoi_lock_leave(&t->lock);
}

/* Of a question that has not been answered there is no second one. */
static void ask(struct transfers *t, int64_t now)
{
    struct standstill *s = &t->standstill;
    struct wire_status question = {.rank = t->wire->rank, .run = s->run};
    const struct search_question steps = ptoi_search_question(&s->search);
    if (s->asks_steps) memcpy(question.word, &steps, sizeof steps);
    for (int32_t k = 0; k < t->wire->ranks; k++) {
        struct other_rank *o = &s->other[k];
        const bool is_me = k == t->wire->rank;
        if ((is_me && !s->asks_steps) || (o->is_asked && (o->answered < o->asked || o->asked >= s->round))) continue;
        o->asked = now;
        o->is_asked = is_me || t->wire->ops->give_status(t->wire, k, &question);
        if (is_me) take_question(s, &question, now);
    }
}

/* ---- steps, see Note [comparing] --------------------------------------------------------------------------------- */

static struct search_answer said_by(const struct standstill *s, int32_t rank)
{
    struct search_answer said;
    memcpy(&said, s->other[rank].newest.word, sizeof said);
    return said;
}

/* Is a message on its way, or a reduction to which all ranks have come? */
static bool is_any_under_way(const struct search_answer *said, int32_t ranks)
{
    uint64_t sent = 0, received = 0, reductions = UINT64_MAX;
    for (int32_t k = 0; k < ranks; k++) {
        sent += said[k].sent;
        received += said[k].received;
        if (said[k].reductions < reductions) reductions = said[k].reductions;
    }
    bool any = sent != received;
    for (int32_t k = 0; k < ranks; k++) any |= said[k].meets && said[k].reductions <= reductions;
    return any;
}

/* All ranks agree: is it proved that none can go on?  What is needed for the next time is noted. */
static bool is_proved(struct standstill *s, const struct search_answer *said, int32_t ranks)
{
    bool is_still = !is_any_under_way(said, ranks), is_again = true;
    for (int32_t k = 0; k < ranks; k++) is_still &= said[k].is_still;
    for (int32_t k = 0; k < ranks; k++) {
        struct other_rank *o = &s->other[k];
        is_again &= o->was_still && o->still_events == said[k].events;
        o->was_still = is_still;
        o->still_events = said[k].events;
    }
    return is_still && is_again;
}

static void fail_still(struct transfers *t)
{
    struct message m = {.n = 0};
    describe_ranks(t, NULL, &m);
    ptoi_fail(t->core->run_status, PTO_ERR_DEADLOCK, NULL,
              "nothing has happened on any rank for %g s, and none of them can go on:%s", STILL_NS / 1e9, m.text);
}

/* All have answered.  When they may be asked again. */
static int64_t compare(struct transfers *t, int64_t now)
{
    struct standstill *s = &t->standstill;
    const int32_t ranks = t->wire->ranks;
    for (int32_t k = 0; k < ranks; k++) s->said[k] = said_by(s, k);
    const enum search_verdict verdict = ptoi_search_go_on(&s->search, s->said, ranks);
    const struct wire_status *first = &s->other[0].newest;
    switch (verdict) {
    case SEARCH_ASKS: return now;
    case SEARCH_LATER: return now + AGAIN_NS;
    case SEARCH_FOUND:
        ptoi_disagree_fail(t->core->run_status, &s->search, first, &s->other[s->search.rank].newest, s->site);
        return now;
    case SEARCH_LOST: ptoi_disagree_fail(t->core->run_status, &s->search, first, NULL, s->site); return now;
    case SEARCH_SAME: break;
    }
    if (s->differs)
        ptoi_disagree_fail(t->core->run_status, &s->search, first, NULL, s->site);
    else if (is_proved(s, s->said, ranks))
        fail_still(t);
    ptoi_search_begin(&s->search);
    return now + AGAIN_NS;
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
static bool is_complete(const struct transfers *t, int64_t now, bool watches, int32_t *silent, int64_t *idle_ns)
{
    const struct standstill *s = &t->standstill;
    const int64_t half = s->limit_ns / 2, patience = half > LEAST_PATIENCE_NS ? half : LEAST_PATIENCE_NS;
    *silent = -1;
    *idle_ns = INT64_MAX;
    for (int32_t k = 0; k < t->wire->ranks; k++) {
        const struct other_rank *o = &s->other[k];
        const bool is_me = k == t->wire->rank;
        if (is_me && !s->asks_steps) continue;
        if (has_answered(s, k)) {
            if (!is_me && o->newest.idle_ns < *idle_ns) *idle_ns = o->newest.idle_ns;
            continue;
        }
        if (!watches || is_me || now - s->round < patience) return false;
        if (!o->was_heard && !s->begins_together)
            *idle_ns = 0; /* it may not have begun the run */
        else if (*silent < 0)
            *silent = k;
    }
    return true;
}

/* All have answered, or the patience is over.  idle: the time in which nothing has happened here, while something waits
 * for another rank; the same of kernels, while one runs; and on all others.  Returns when they may be asked again. */
static int64_t watch(struct transfers *t, int64_t now, int64_t idle, int64_t kernel_idle, int32_t silent,
                     int64_t others)
{
    struct standstill *s = &t->standstill;
    const int64_t least = idle < others ? idle : others, longest = least > kernel_idle ? least : kernel_idle;
    if (kernel_idle >= s->limit_ns && !s->is_for_replay) {
        fail(t, now, true);
    } else if (silent >= 0 && idle >= s->limit_ns && !s->is_for_replay) {
        s->silent = silent;
        fail(t, now, false);
    } else if (silent < 0 && idle >= s->limit_ns && others >= s->limit_ns && !will_be_found(t, idle) &&
               (!s->is_for_replay || do_all_wait(t, now))) {
        fail(t, now, false);
    }
    return now + (longest < s->limit_ns * 7 / 8 ? s->limit_ns - longest : s->limit_ns / 8);
}

static void decide(struct transfers *t, int64_t now, int64_t idle, int64_t kernel_idle, bool watches, bool compares)
{
    struct standstill *s = &t->standstill;
    int32_t silent;
    int64_t others, next = INT64_MAX;
    if (s->round == 0) {
        if (now < s->next) return;
        s->round = now;
        s->asks_steps = compares;
    }
    ask(t, now);
    if (!is_complete(t, now, watches, &silent, &others)) return;
    if (watches) next = watch(t, now, idle, kernel_idle, silent, others);
    if (silent >= 0) return;
    if (compares && s->asks_steps) {
        const int64_t again = compare(t, now);
        if (again < next) next = again;
    }
    s->round = 0;
    s->next = next;
}

static void forget_search(struct standstill *s, int32_t ranks)
{
    if (s->other)
        for (int32_t k = 0; k < ranks; k++) s->other[k].was_still = false;
    ptoi_search_begin(&s->search);
}

void ptoi_standstill_look(struct transfers *t)
{
    struct standstill *s = &t->standstill;
    const int64_t now = ptoi_clock_ns();
    if (now - s->looked < LOOK_NS) return;
    count_events(t, now);
    hear(t, now);
    miss_rank(t);
    answer(t, now, false, false);
    if (t->is_cancelled || ptoi_is_failing(t->core->run_status)) return;
    const int64_t idle = t->receives || t->sends || t->meets ? now - s->since : 0, kernel_idle = now - s->kernel_since;
    const bool watches = s->limit_ns > 0 && (idle >= s->limit_ns / 2 || kernel_idle >= s->limit_ns / 2);
    const bool compares = s->compares && (s->differs || idle >= STILL_NS);
    if (!compares) forget_search(s, t->wire->ranks);
    if (watches || compares)
        decide(t, now, idle, kernel_idle, watches, compares);
    else
        s->round = s->next = 0;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

void ptoi_standstill_begin(struct standstill *s, const struct wire *w)
{
    const int32_t ranks = w->ranks, rank = w->rank;
    const int64_t now = ptoi_clock_ns();
    s->run++;
    s->since = s->kernel_since = now;
    s->looked = s->round = s->next = 0;
    s->silent = -1;
    s->differs = s->asks_steps = false;
    s->owed[rank].run = 0; /* its own question is of the run before */
    if (s->other) memset(s->other, 0, (size_t)ranks * sizeof *s->other);
}

bool ptoi_standstill_open(struct standstill *s, const struct wire *w, double seconds, bool has_replay,
                          bool begins_together, const struct ranked_program *program)
{
    enum { REPLAY_SECONDS = 10 };
    const bool is_for_replay = has_replay && seconds == 0;
    *s = (struct standstill){.limit_ns = (int64_t)((is_for_replay ? REPLAY_SECONDS : seconds) * 1e9),
                             .is_for_replay = is_for_replay,
                             .begins_together = begins_together,
                             .program = *program,
                             .owed = calloc((size_t)w->ranks, sizeof *s->owed),
                             .compares = w->rank == 0 && w->ranks > 1,
                             .silent = -1};
    const bool asks = s->limit_ns > 0 || s->compares;
    if (asks) s->other = calloc((size_t)w->ranks, sizeof *s->other);
    if (s->compares) s->said = calloc((size_t)w->ranks, sizeof *s->said);
    return s->owed && (s->other || !asks) && (s->said || !s->compares);
}

void ptoi_standstill_close(struct standstill *s)
{
    free(s->owed);
    free(s->other);
    free(s->said);
    *s = (struct standstill){0};
}
