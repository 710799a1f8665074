/* skipped.c - a task that another rank executes, and for which this rank neither sends nor keeps anything.
 *
 * Idea       on many ranks nearly all tasks are such.  Each of its tensors is like that of the kernel's last task
 *            (known_box.h) and lies in one cell of another rank, or is a buffer that a task has made there; so one pass
 *            over the parameters finds the rank that executes it and writes the words on which the ranks agree, as far
 *            as they are not those of each task of the kernel (known_step.h).  Tasks that were held back for it are
 *            skipped with it.  Any other task is left to submit.c before anything has changed.
 * Owner      the orchestrator.
 * Invariant  the words, the numbers and the states of the tensors are those that submit.c would leave.
 * Blocks     never.
 * Tests      test/wire/test_skipped.c, stress_ranks.c */
#include "skipped.h"
#include "held.h"

/* A pass over the parameters. */
struct skip {
    struct own_words own;
    int32_t runs;   /* the rank of the first accumulator, else of the first write */
    int32_t usual;  /* the rank that executed the last task of the kernel */
    int32_t others; /* 0: that is the home of all tensors */
    bool accumulates;
    uint32_t reads; /* a bit for each task that was held back and whose buffer it reads */
};

__attribute__((noinline)) bool ptoi_dist_has_copies(const struct dist *d, const struct known_box *known, uint64_t begin)
{
    const struct tensor *const t = known->tensor;
    struct box box;
    ptoi_known_box_write(known, begin, &box);
    return ptoi_copies_are_there(&d->copies, &t->copies, &t->home, &box);
}

/* The task writes bytes of that home, of which no rank has copies.  false: the state of the tensor changes. */
static inline bool write_tensor(struct skip *s, uint8_t kind, const struct tensor *t, int32_t home)
{
    if (t->is_everywhere || !t->is_written) return false;
    if (PTO_RARE_(kind == PTO_PARAM_ACC && !s->accumulates)) {
        s->accumulates = true;
        s->runs = home; /* it is executed where the first accumulator lies */
    }
    if (s->runs == NO_HOME) s->runs = home;
    return true;
}

/* It has the form of the box.  false: the tensor concerns this rank, or has to be looked at. */
static inline bool pass_tensor(const struct dist *d, struct skip *s, const PTOTaskParam *p, struct known_box *known)
{
    const uint8_t kind = (uint8_t)ptoi_known_form(p);
    const uint64_t begin = (uint64_t)(known->first + p->at * known->step);
    const int32_t home = ptoi_known_box_near_home(known, begin, d->ranks);
    if (PTO_RARE_(home < 0 || home == d->me)) return false;
    ptoi_dist_add_own(&s->own, begin, known->key_of_begin);
    s->others |= home ^ s->usual;
    if (kind == PTO_PARAM_INPUT) return true;
    const struct tensor *const t = known->tensor;
    return write_tensor(s, kind, t, home) && !(t->copies.all.first && ptoi_dist_has_copies(d, known, begin));
}

/* ---- buffers that tasks have made -------------------------------------------------------------------------------- */

/* The buffer at the address; *held: the task that makes it, + 1, if it was held back. */
static __attribute__((noinline)) const struct tensor *find_made(const struct dist *d, const void *base, int32_t *held)
{
    for (*held = d->held_count; *held > 0; --*held) {
        const struct held *const h = &d->held[*held - 1];
        for (int32_t i = 0; i < h->outputs; i++)
            if (h->output[i]->base == base) return h->output[i];
    }
    const struct tensor *const t = ptoi_dist_tensor(d, base);
    return t && t->buffer && t->base == base ? t : NULL;
}

/* t: of find_made(). */
static inline struct skipped_made look_at(const struct dist *d, const struct tensor *t, int32_t held, uint8_t kind,
                                          const struct known_made *known)
{
    struct skipped_made m = {.word = 0, .home = NO_HOME, .reads = 0};
    if (PTO_RARE_(!t || !ptoi_known_made_is(known, t))) return m;
    if (held > 0 && kind == PTO_PARAM_INPUT) {
        m.reads = UINT32_C(1) << (held - 1);
    } else {
        m.home = t->home.first;
        const bool is_quiet = t->is_written && !t->is_everywhere && t->copies.all.first == 0;
        if (m.home < 0 || m.home == d->me || (kind != PTO_PARAM_INPUT && !is_quiet)) return m;
    }
    m.word = known->head | (uint64_t)t->number << 32;
    return m;
}

struct skipped_made ptoi_dist_look_at_made(const struct dist *d, const PTOTaskParam *p, const struct known_made *known)
{
    int32_t held;
    const struct tensor *const t = find_made(d, p->buffer, &held);
    return look_at(d, t, held, p->kind, known);
}

static inline bool pass_made(const struct dist *d, struct skip *s, const PTOTaskParam *p, int32_t index,
                             const struct known_kernel *known)
{
    int32_t held = d->held_count;
    const struct tensor *t = held > 0 ? d->held[held - 1].output[0] : NULL; /* mostly it is that one */
    if (!t || t->base != p->buffer) t = find_made(d, p->buffer, &held);
    const struct skipped_made m = look_at(d, t, held, p->kind, &known->made[index]);
    if (m.word == 0) return false;
    ptoi_dist_add_own(&s->own, m.word, known->step.key[index]);
    s->reads |= m.reads;
    if (m.home == NO_HOME) return true;
    s->others |= m.home ^ s->usual;
    if (p->kind != PTO_PARAM_INPUT && s->runs == NO_HOME) s->runs = m.home;
    return true;
}

/* Does this rank do nothing about a piece that the task of rank `runs` reads there? */
static inline bool is_quiet(const struct dist *d, int32_t home, int32_t runs)
{
    return home == runs || !ptoi_copies_keep(&d->copies, home, runs);
}

/* The same of all pieces of a task that is held back, and that runs there. */
static __attribute__((noinline)) bool is_held_quiet(const struct dist *d, const struct held *h, int32_t runs)
{
    if (h->like) {
        for (int32_t i = 0; i < h->reads; i++)
            if (!is_quiet(d, h->home[i], runs)) return false;
        return true;
    }
    for (const struct use *u = h->task.use; u < h->task.use + h->task.uses && u->reads; u++)
        if (u->home < 0 || u->home == d->me || !is_quiet(d, u->home, runs)) return false;
    return true;
}

/* The tasks that were held back are executed by the rank, too.  false: this rank has to do something for that. */
static inline bool are_quiet(const struct dist *d, uint32_t reads, int32_t runs)
{
    if (reads + 1 != UINT32_C(1) << d->held_count) return false; /* some have another rank */
    for (int32_t n = 0; n < d->held_count; n++)
        if (d->held[n].common_home != runs && !is_held_quiet(d, &d->held[n], runs)) return false;
    return true;
}

static inline void skip_held(struct dist *d, int32_t runs)
{
    for (int32_t n = 0; n < d->held_count; n++) {
        const struct held *const h = &d->held[n];
        if (h->like) h->like->usual = runs;
        for (int32_t i = 0; i < h->outputs; i++) {
            h->output[i]->home.first = runs;
            h->output[i]->is_written = true;
        }
    }
    d->tasks_of[runs] += d->held_count;
    d->held_count = 0;
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

/* A parameter that is not like the last box; the words of the form say what it was. */
static inline enum passed pass_other(const struct dist *d, struct skip *s, const PTOTaskParam *p, int32_t index,
                                     const struct known_kernel *known)
{
    const uint8_t kind = known->step.kind[index];
    if (kind == MADE_KIND) {
        const struct known_made *const m = &known->made[index];
        if (ptoi_known_form(p) != m->form || !ptoi_known_made_is_like(m, p)) return HAS_OTHER_FORM;
        return pass_made(d, s, p, index, known) ? PASSED : CONCERNS_US;
    }
    if (p->kind != kind) return HAS_OTHER_FORM;
    if (kind == PTO_PARAM_SCALAR) ptoi_dist_add_own(&s->own, (uint64_t)p->value.i64, known->step.key[index]);
    return PASSED;
}

/* CONCERNS_US: it may be no task to skip, as far as its parameters say. */
static inline enum passed pass(const struct dist *d, struct skip *s, const PTOTaskParam *params, int32_t count,
                               struct known_kernel *known)
{
    struct known_box *box = known->box;
    for (const PTOTaskParam *p = params; p < params + count; p++, box++) {
        const uint32_t form = ptoi_known_form(p);
        const bool is_like = form == box->matrix && ptoi_known_box_is_matrix(box, p);
        if (is_like || form == box->form) {
            if (!is_like && !ptoi_known_box_is_like(box, p)) return HAS_OTHER_FORM;
            if (!pass_tensor(d, s, p, box)) return CONCERNS_US;
        } else {
            const enum passed passed = pass_other(d, s, p, (int32_t)(p - params), known);
            if (PTO_RARE_(passed != PASSED)) return passed;
        }
    }
    return PASSED;
}

/* Does a piece go from a home to the rank of the task, or back, and this rank has to know it? */
static __attribute__((noinline)) bool is_message(const struct dist *d, const PTOTaskParam *params, int32_t count,
                                                 struct known_kernel *known, int32_t runs)
{
    for (int32_t i = 0; i < count; i++) {
        int32_t home = runs, held;
        if (known->step.kind[i] == TENSOR_KIND) {
            struct known_box *const box = &known->box[i];
            home = ptoi_known_box_near_home(box, (uint64_t)(box->first + params[i].at * box->step), d->ranks);
        } else if (known->step.kind[i] == MADE_KIND) {
            const struct tensor *const t = find_made(d, params[i].buffer, &held);
            if (held == 0) home = t->home.first;
        }
        if (home != runs && ptoi_copies_keep(&d->copies, home, runs)) return true;
    }
    return false;
}

/* false: it has to be looked at. */
static inline bool skip(struct dist *d, struct known_kernel *known, const PTOTaskParam *params, int32_t count)
{
    struct skip s;
    uint64_t *const own = ptoi_ask_next(&d->asked);
    s.own = (struct own_words){.next = own, .sum = known->step.sum};
    s.runs = NO_HOME;
    s.usual = known->usual;
    s.others = 0;
    s.accumulates = false;
    s.reads = 0;
    const enum passed passed = pass(d, &s, params, count, known);
    if (PTO_RARE_(passed != PASSED)) {
        if (passed == HAS_OTHER_FORM) ptoi_known_step_forget(&known->step);
        return false;
    }
    if (s.runs == NO_HOME || (s.others && is_message(d, params, count, known, s.runs))) return false;
    if (PTO_RARE_(d->held_count > 0)) {
        if (!are_quiet(d, s.reads, s.runs)) return false;
        for (int32_t n = 0; n < d->held_count; n++)
            ptoi_dist_add_own(&s.own, (uint64_t)s.runs, ptoi_known_step_rank_key());
        skip_held(d, s.runs);
    }
    known->usual = s.runs;
    ptoi_dist_add_own(&s.own, (uint64_t)s.runs, ptoi_known_step_rank_key());
    ptoi_dist_skip_step(d, known, *d->core->orch.site, s.own.sum, (uint64_t)(s.own.next - own));
    d->number = ptoi_dist_skip_tasks(d, s.runs, 1);
    return true;
}

_Static_assert(KNOWN_BOXES + 1 + HELD_TASKS <= ASKED_MOST, "the words of a step lie side by side");

/* The kernel is known.  A function of its own, so that there is one pointer to what is known. */
static __attribute__((noinline)) int64_t skip_known(struct dist *d, struct known_kernel *known,
                                                    const PTOTaskParam *params, int32_t count, submit_fn *other)
{
    const int32_t ranks = 1 + d->held_count;
    if ((PTO_RARE_(!ptoi_known_step_is_there(&known->step, &d->asked, count, ranks)) &&
         !ptoi_known_step_learn(d, known, params, count, ranks)) ||
        !skip(d, known, params, count))
        return other(&d->core->orch, known->kernel, params, count);
    return d->number;
}

int64_t ptoi_dist_skip(struct dist *d, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                       submit_fn *other)
{
    if (kernel && params && ptoi_dist_may_skip(d)) {
        struct known_kernel *const known = ptoi_known_boxes_of(&d->known, kernel);
        if (known) return (known->makes_buffers ? ptoi_dist_hold : skip_known)(d, known, params, count, other);
    }
    return other(&d->core->orch, kernel, params, count);
}
