/* explore.c - see explore.h. */
#include "explore.h"
#include "memory_model.h"
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_NODES = 1 << 17, MAX_STEPS = 50000, FAIR_AFTER = 5000, DEPTH = 3 };

/* A choice: of the fiber that takes the next step, or of the store that a load reads. */
struct node {
    bool is_read;
    uint8_t count, chosen;               /* chosen: the fiber, or the number of the store, of count */
    uint8_t enabled, open, done, asleep; /* sets of fibers */
    uint8_t before;                      /* the fiber that ran, or NONE */
    int forced;                          /* switches away from a fiber that could go on, up to here */
    struct op op;
    uint32_t clock
        [MAX_FIBERS]; /* of each fiber, the last step that comes before this one by dependence: number of node + 1 */
};
enum { NONE = 255 };

/* The last steps at a location: number of node + 1. */
struct last {
    uint32_t write, lock, read[MAX_FIBERS];
};

static struct node node[MAX_NODES];
static int count, kept; /* nodes of this execution; of them, how many were chosen before it began */
static struct last last[MAX_LOCATIONS];
static uint32_t clock_of[MAX_FIBERS][MAX_FIBERS];
static int stale, steps;
static bool is_draining; /* nothing new is to be seen here: the execution ends in any way */
static const struct explore_options *options;
static struct explore_result result;

static struct {
    uint64_t seed, state; /* seed: of this run */
    bool walks;
    unsigned switch_bits, stale_of_8;
    int change[DEPTH - 1];
    int64_t priority[MAX_FIBERS], lowest;
} chance;

/* ---- at random --------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
static uint64_t draw(void) { return mix(chance.state += 0x9e3779b97f4a7c15u); }
static unsigned below(unsigned n) { return (unsigned)(draw() % n); }

static void begin_random(uint64_t seed)
{
    static const unsigned stale_of_8[] = {0, 1, 4};
    chance.seed = chance.state = seed;
    chance.walks = below(2);
    chance.switch_bits = 1 + below(4);
    chance.stale_of_8 = stale_of_8[below(3)];
    for (int i = 0; i < DEPTH - 1; i++) chance.change[i] = (int)below(16u << below(8));
    for (int i = 0; i < MAX_FIBERS; i++) chance.priority[i] = DEPTH + (int64_t)below(1 << 20);
    chance.lowest = 0;
}

static int pick_any(unsigned set)
{
    int n = (int)below((unsigned)__builtin_popcount(set));
    for (int f = 0;; f++)
        if (set >> f & 1 && n-- == 0) return f;
}

static int pick_random(unsigned enabled, int current)
{
    const bool can_stay = current != NONE && enabled >> current & 1 && check_fibers[current].next.kind != OP_YIELD;
    if (chance.walks || steps > FAIR_AFTER)
        return can_stay && draw() >> (64 - chance.switch_bits) != 0 ? current : pick_any(enabled);
    for (int i = 0; i < DEPTH - 1; i++)
        if (chance.change[i] == steps && current != NONE) chance.priority[current] = DEPTH - 1 - i;
    int best = -1;
    for (int f = 0; f < check_fiber_count; f++)
        if (enabled >> f & 1 && (best < 0 || chance.priority[f] > chance.priority[best])) best = f;
    if (check_fibers[best].next.kind == OP_YIELD) chance.priority[best] = --chance.lowest;
    return best;
}

/* ---- depth first ------------------------------------------------------------------------------------------------- */

static bool is_write(enum op_kind kind) { return kind != OP_LOAD; }

static bool are_independent(const struct op *a, const struct op *b)
{
    if (a->kind == OP_BARRIER || b->kind == OP_BARRIER) return a->location < 0 && b->location < 0;
    return a->location < 0 || a->location != b->location || (!is_write(a->kind) && !is_write(b->kind));
}

static void open_choice(struct node *n, unsigned fibers, int wanted)
{
    fibers &= n->enabled;
    if (fibers >> wanted & 1)
        n->open |= 1u << wanted;
    else if (fibers)
        n->open |= fibers & -fibers;
    else
        n->open |= n->enabled;
}

/* With a bound: also at the beginning of the time slice of the fiber that took the step. */
static void open_bounded(struct node *n, int fiber)
{
    struct node *first = n;
    for (struct node *p = n; p > node; p--) {
        if (p[-1].is_read) continue;
        if (p[-1].chosen != n->chosen) break;
        first = p - 1;
    }
    open_choice(n, 1u << fiber, fiber);
    open_choice(first, 1u << fiber, fiber);
}

/* Who could begin the steps that came after the one at `n` without depending on it, and then the step of the fiber: one
 * of them has to be tried there.  clock: of that step. */
static unsigned find_beginners(const struct node *n, const uint32_t *clock, int fiber)
{
    const uint32_t at = (uint32_t)(n - node) + 1;
    uint32_t first[MAX_FIBERS] = {0};
    unsigned beginners = 0;
    for (const struct node *s = n + 1; s <= &node[count - 1]; s++) {
        const bool is_last = s == &node[count - 1];
        const int f = is_last ? fiber : s->chosen;
        const uint32_t *c = is_last ? clock : s->clock;
        if (s->is_read || (!is_last && c[n->chosen] >= at) || first[f]) continue;
        bool begins = true;
        for (int other = 0; other < MAX_FIBERS; other++)
            begins &= other == f || first[other] == 0 || c[other] < first[other];
        first[f] = (uint32_t)(s - node) + 1;
        if (begins) beginners |= 1u << f;
    }
    return beginners;
}

/* The step of node `at`, number + 1, could have come after this one of the fiber.  clock: of this one. */
static void note_race(uint32_t at, const uint32_t *clock, int fiber)
{
    if (at == 0) return;
    struct node *n = &node[at - 1];
    if (n->chosen == fiber || clock_of[fiber][n->chosen] >= at) return;
    if (options->of->preemptions >= 0) {
        open_bounded(n, fiber);
        return;
    }
    const unsigned beginners = find_beginners(n, clock, fiber);
    if (!(beginners & n->open)) open_choice(n, beginners, fiber);
}

static void join_clock(uint32_t *to, uint32_t at)
{
    for (int i = 0; at && i < MAX_FIBERS; i++)
        if (to[i] < node[at - 1].clock[i]) to[i] = node[at - 1].clock[i];
}

static void note_access(enum op_kind kind, struct last *l, uint32_t *clock, int fiber, uint32_t now)
{
    join_clock(clock, l->write);
    for (int f = 0; is_write(kind) && f < MAX_FIBERS; f++) join_clock(clock, l->read[f]);
    if (kind == OP_LOCK) {
        note_race(l->lock, clock, fiber);
    } else if (kind != OP_UNLOCK && kind != OP_RESUME) {
        note_race(l->write, clock, fiber);
        for (int f = 0; is_write(kind) && f < MAX_FIBERS; f++) note_race(l->read[f], clock, fiber);
    }
    if (kind == OP_LOCK) l->lock = now;
    if (kind == OP_LOAD)
        l->read[fiber] = now;
    else
        l->write = now;
}

/* The fiber takes the step of the newest node: which earlier steps could have come later?  A barrier is as a store to
 * every location. */
static void note_step(struct node *n, int fiber)
{
    const struct op *op = &n->op;
    uint32_t *clock = n->clock;
    const uint32_t now = (uint32_t)(n - node) + 1;
    memcpy(clock, clock_of[fiber], sizeof n->clock);
    if (op->location >= 0) note_access(op->kind, &last[op->location], clock, fiber, now);
    for (int i = 0; op->kind == OP_BARRIER && i < MAX_LOCATIONS; i++)
        note_access(op->kind, &last[i], clock, fiber, now);
    if (op->kind == OP_JOIN) {
        const int other = ((struct check_fiber *)op->object)->number;
        for (int i = 0; i < MAX_FIBERS; i++)
            if (clock[i] < clock_of[other][i]) clock[i] = clock_of[other][i];
    }
    clock[fiber] = now;
    memcpy(clock_of[fiber], clock, sizeof n->clock);
}

static struct node *add_node(void)
{
    if (count == MAX_NODES) check_fail("more than %d choices in one execution", MAX_NODES);
    node[count] = (struct node){0};
    return &node[count++];
}

/* Is that fiber chosen where the one that ran could go on? */
static bool is_forced(const struct node *n, int fiber)
{
    return n->before != NONE && n->before != fiber && n->enabled >> n->before & 1;
}

static struct node *step_before(int at)
{
    while (--at >= 0)
        if (!node[at].is_read) return &node[at];
    return NULL;
}

static int pick_default(unsigned set, int current)
{
    if (current != NONE && set >> current & 1) return current;
    for (int f = 1; f <= MAX_FIBERS; f++) {
        const int next = (current == NONE ? f - 1 : current + f) % MAX_FIBERS;
        if (set >> next & 1) return next;
    }
    abort();
}

static int pick_search(unsigned enabled, int current)
{
    if (count < kept) {
        struct node *n = &node[count++];
        n->op = check_fibers[n->chosen].next;
        if (!(enabled >> n->chosen & 1))
            check_fail("the case does not repeat itself: thread %d cannot go on here", n->chosen);
        n->enabled = (uint8_t)enabled;
        note_step(n, n->chosen);
        return n->chosen;
    }
    const struct node *p = step_before(count);
    unsigned asleep = 0;
    const bool sleeps = options->of->preemptions < 0 && !options->choices;
    for (int f = 0; sleeps && p && f < check_fiber_count; f++)
        if ((p->asleep | p->done) >> f & 1 && f != p->chosen && are_independent(&check_fibers[f].next, &p->op))
            asleep |= 1u << f;
    if ((enabled & ~asleep) == 0) { /* what comes was seen elsewhere */
        is_draining = true;
        result.pruned++;
        return pick_default(enabled, current);
    }
    struct node *n = add_node();
    n->enabled = (uint8_t)enabled;
    n->asleep = (uint8_t)asleep;
    n->before = (uint8_t)current;
    n->chosen = (uint8_t)pick_default(enabled & ~asleep, current);
    n->open = (uint8_t)(1u << n->chosen);
    n->op = check_fibers[n->chosen].next;
    n->forced = p ? p->forced + is_forced(p, p->chosen) : 0;
    note_step(n, n->chosen);
    return n->chosen;
}

/* The next leaf: false, there is none. */
static bool advance(void)
{
    for (; count > 0; count--) {
        struct node *n = &node[count - 1];
        if (n->is_read) {
            if (n->chosen + 1 == n->count) continue;
            n->chosen++;
            break;
        }
        n->done |= 1u << n->chosen;
        const int bound = options->of->preemptions;
        int next = -1;
        for (int f = 0; f < MAX_FIBERS && next < 0; f++) {
            if ((n->open & ~n->done & ~n->asleep) >> f & 1 && (bound < 0 || n->forced + is_forced(n, f) <= bound))
                next = f;
        }
        if (next < 0) continue;
        n->chosen = (uint8_t)next;
        break;
    }
    kept = count;
    return kept > 0;
}

/* ---- what an execution asks -------------------------------------------------------------------------------------- */

void explore_started(const struct check_fiber *f, const struct check_fiber *by)
{
    if (by) memcpy(clock_of[f->number], clock_of[by->number], sizeof clock_of[f->number]);
}

struct check_fiber *explore_next(void)
{
    unsigned enabled = 0;
    bool any = false;
    for (int f = 0; f < check_fiber_count; f++) {
        any |= !check_fibers[f].has_ended;
        enabled |= (unsigned)fiber_is_enabled(&check_fibers[f]) << f;
    }
    if (!any) return NULL;
    const int current = check_me->has_ended ? NONE : check_me->number;
    if (!enabled) check_fail("every thread waits: a wake was lost, or a thread waits for what nobody does");
    if (++steps > MAX_STEPS) check_fail("no end after %d steps", MAX_STEPS);
    const int f = options->is_random ? pick_random(enabled, current)
                  : is_draining      ? pick_default(enabled, steps % 64 == 0 ? NONE : current)
                                     : pick_search(enabled, current);
    trace_step(&check_fibers[f]);
    result.steps++;
    return &check_fibers[f];
}

void explore_step(struct op op)
{
    check_me->next = op;
    fiber_switch(explore_next());
}

int explore_read(int n)
{
    if (n <= 1) return 0;
    if (options->is_random)
        return steps > FAIR_AFTER || below(8) >= chance.stale_of_8 ? 0 : 1 + (int)below((unsigned)n - 1);
    if (is_draining || (options->of->stale >= 0 && stale >= options->of->stale)) return 0;
    struct node *r;
    if (count < kept) {
        r = &node[count++];
    } else {
        r = add_node();
        r->is_read = true;
    }
    r->count = (uint8_t)n;
    stale += r->chosen > 0;
    return r->chosen;
}

/* ---- running a case ---------------------------------------------------------------------------------------------- */

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* so that a loaded machine sees as much */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void execute(void)
{
    count = stale = steps = 0;
    is_draining = false;
    memset(last, 0, sizeof last);
    memset(clock_of, 0, sizeof clock_of);
    model_reset();
    trace_reset();
    fiber_run_all(options->of->body);
    check_me = NULL;
    result.executions++;
}

/* 'A' and so on: a fiber; '0' and so on: a store, from the newest. */
static int read_choices(const char *text)
{
    int n = 0;
    for (; text[n]; n++) {
        node[n] = (struct node){.is_read = text[n] < 'A', .before = NONE};
        node[n].chosen = (uint8_t)(text[n] - (node[n].is_read ? '0' : 'A'));
    }
    return n;
}

static void report_signal(int number)
{
    signal(number, SIG_DFL);
    check_fail("the program was stopped by signal %d", number);
}

static void watch_signals(void)
{
    static char stack[1 << 16];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction a = {.sa_handler = report_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaltstack(&alternate, NULL);
    sigaction(SIGABRT, &a, NULL);
    sigaction(SIGSEGV, &a, NULL);
    sigaction(SIGBUS, &a, NULL);
}

struct explore_result explore(const struct explore_options *o)
{
    options = o;
    result = (struct explore_result){0};
    watch_signals();
    const double begin = now_seconds();
    if (o->of->before) o->of->before();
    kept = o->choices ? read_choices(o->choices) : 0;
    for (uint64_t run = 0;; run++) {
        if (o->is_random) begin_random(o->has_one_seed ? o->seed : mix(o->seed + run * 0x9e3779b97f4a7c15u));
        execute();
        if (o->choices || o->has_one_seed) break;
        if (!o->is_random && !advance()) {
            result.is_whole = true;
            break;
        }
        if (o->runs && run + 1 >= o->runs) break;
        if (o->seconds > 0 && run % 16 == 15 && now_seconds() - begin >= o->seconds) break;
    }
    if (o->of->after) o->of->after(result.is_whole);
    return result;
}

/* Places in the program that a message names by their address. */
static void explain_places(const char *message)
{
    char command[300], line[300];
    for (const char *at = strchr(message, '@'); at; at = strchr(at + 1, '@')) {
        unsigned long pc;
        if (sscanf(at, "@0x%lx", &pc) != 1) continue;
        snprintf(command, sizeof command, "addr2line -f -e /proc/%d/exe 0x%lx 2>/dev/null", (int)getpid(), pc - 1);
        FILE *f = popen(command, "r");
        fprintf(stderr, "  %#lx:", pc);
        while (f && fgets(line, sizeof line, f)) fprintf(stderr, " %.*s", (int)strcspn(line, "\n"), line);
        fprintf(stderr, "\n");
        if (f) pclose(f);
    }
}

void check_fail(const char *format, ...)
{
    static bool is_failing;
    char text[1000];
    va_list args;
    if (is_failing || !options) _exit(1);
    is_failing = true;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (options->is_quiet) {
        printf("execution %llu: %.*s\n", (unsigned long long)result.executions + 1, (int)strcspn(text, "\n"), text);
        fflush(stdout);
        _exit(1);
    }
    trace_print();
    fprintf(stderr, "%s: %s\n", options->of->name, text);
    explain_places(text);
    fprintf(stderr, "execution %llu; to repeat it: check %s ", (unsigned long long)result.executions + 1,
            options->of->name);
    if (check_relaxation.label)
        fprintf(stderr, "--relax=%s.%u ", model_label(check_relaxation.label), check_relaxation.bits);
    if (options->is_random) {
        fprintf(stderr, "--replay-seed=%#llx\n", (unsigned long long)chance.seed);
    } else {
        fprintf(stderr, "--replay=");
        for (int i = 0; i < count; i++) fputc(node[i].chosen + (node[i].is_read ? '0' : 'A'), stderr);
        fputc('\n', stderr);
    }
    _exit(1);
}
