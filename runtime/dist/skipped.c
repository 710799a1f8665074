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
    int32_t runs;    /* the rank of the first accumulator, else of the first write */
    int32_t usual;   /* the rank that executed the last task of the kernel */
    bool has_others; /* a tensor has another home */
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
static inline __attribute__((always_inline)) bool pass_tensor(const struct dist *d, struct skip *s,
                                                              const PTOTaskParam *p, struct known_box *known)
{
    const uint8_t kind = (uint8_t)ptoi_known_form(p);
    const uint64_t begin = (uint64_t)(known->first + p->at * known->step);
    const int32_t home = ptoi_known_box_near_home(known, begin, d->ranks);
    if (PTO_RARE_(!ptoi_dist_is_foreign(d, home, s->usual, &s->has_others))) return false;
    ptoi_dist_add_own(&s->own, begin, known->key_of_begin);
    if (kind == PTO_PARAM_INPUT) return true;
    const struct tensor *const t = known->tensor;
    return write_tensor(s, kind, t, home) && !(t->copies.all.first && ptoi_dist_has_copies(d, known, begin));
}

/* ---- buffers that tasks have made -------------------------------------------------------------------------------- */

/* The buffer at the address; *held: the task that makes it, + 1, if it was held back. */
static const struct tensor *find_made(const struct dist *d, const void *base, int32_t *held)
{
    for (*held = d->held_count; *held > 0; --*held) {
        const struct held *const h = &d->held[*held - 1];
        for (int32_t i = 0; i < h->outputs; i++)
            if (h->output[i]->base == base) return h->output[i];
    }
    const struct tensor *const t = ptoi_dist_tensor(d, base);
    return t && t->buffer && t->base == base ? t : NULL;
}

__attribute__((noinline)) struct skipped_made ptoi_dist_look_at_made(const struct dist *d, const PTOTaskParam *p,
                                                                     const struct known_made *known)
{
    int32_t held;
    struct skipped_made m = {.word = 0, .home = NO_HOME, .reads = 0};
    const struct tensor *const t = find_made(d, p->buffer, &held);
    if (!t || !ptoi_known_made_is(known, t)) return m;
    if (held > 0 && p->kind == PTO_PARAM_INPUT) {
        m.reads = UINT32_C(1) << (held - 1);
    } else {
        m.home = t->home.first;
        const bool is_quiet = t->is_written && !t->is_everywhere && t->copies.all.first == 0;
        if (m.home < 0 || m.home == d->me || (p->kind != PTO_PARAM_INPUT && !is_quiet)) return m;
    }
    m.word = known->head | (uint64_t)t->number << 32;
    return m;
}

static inline __attribute__((always_inline)) bool pass_made(const struct dist *d, struct skip *s, const PTOTaskParam *p,
                                                            const struct known_made *made, bool has_held)
{
    const struct held *const newest = has_held ? &d->held[d->held_count - 1] : NULL;
    const uint8_t kind = (uint8_t)ptoi_known_form(p);
    if (newest && newest->output[0]->base == p->buffer && kind == PTO_PARAM_INPUT) { /* as it is mostly */
        const struct tensor *const t = newest->output[0];
        if (PTO_RARE_(!ptoi_known_made_is(made, t))) return false;
        ptoi_dist_add_own(&s->own, made->head | (uint64_t)t->number << 32, made->key);
        s->reads |= UINT32_C(1) << (d->held_count - 1);
        return true;
    }
    if (kind == PTO_PARAM_OUTPUT) return false; /* it makes one */
    const struct skipped_made m = ptoi_dist_look_at_made(d, p, made);
    if (m.word == 0) return false;
    ptoi_dist_add_own(&s->own, m.word, made->key);
    s->reads |= m.reads;
    if (m.home == NO_HOME) return true;
    s->has_others |= m.home != s->usual;
    if (kind != PTO_PARAM_INPUT && s->runs == NO_HOME) s->runs = m.home;
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
    for (const struct held *h = d->held; h < d->held + d->held_count; h++)
        if (h->common_home != runs && !is_held_quiet(d, h, runs)) return false;
    return true;
}

/* They are the rank's, and the step names it for each of them. */
static inline void skip_held(struct dist *d, struct skip *s)
{
    for (struct held *h = d->held; h < d->held + d->held_count; h++) {
        ptoi_dist_add_own(&s->own, (uint64_t)s->runs, ptoi_known_step_rank_key());
        if (h->like) h->like->usual = s->runs;
        for (int32_t i = 0; i < h->outputs; i++) {
            h->output[i]->home.first = s->runs;
            h->output[i]->is_written = true;
        }
    }
    d->tasks_of[s->runs] += d->held_count;
    d->held_count = 0;
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

/* A parameter that is no tensor; the words of the form say what it was. */
static inline bool pass_number(struct skip *s, const PTOTaskParam *p, int32_t index, const struct known_kernel *known)
{
    if (p->kind != known->step.kind[index]) return false;
    if (p->kind == PTO_PARAM_SCALAR) ptoi_dist_add_own(&s->own, (uint64_t)p->value.i64, known->step.key[index]);
    return true;
}

/* CONCERNS_US: it may be no task to skip, as far as its parameters say. */
static inline __attribute__((always_inline)) enum passed pass(const struct dist *d, struct skip *s,
                                                              const PTOTaskParam *params, int32_t count,
                                                              struct known_kernel *known, bool has_held)
{
    struct known_box *box = known->box;
    for (const PTOTaskParam *p = params; p < params + count; p++, box++) {
        const uint32_t form = ptoi_known_form(p);
        const bool is_like = form == box->matrix && ptoi_known_box_is_matrix(box, p);
        if (is_like || form == box->form) {
            if (!is_like && !ptoi_known_box_is_like(box, p)) return HAS_OTHER_FORM;
            if (!pass_tensor(d, s, p, box)) return CONCERNS_US;
        } else if (form == box->made.form) {
            if (PTO_RARE_(!ptoi_known_made_is_like(&box->made, p))) return HAS_OTHER_FORM;
            if (!pass_made(d, s, p, &box->made, has_held)) return CONCERNS_US;
        } else if (!pass_number(s, p, (int32_t)(p - params), known)) {
            return HAS_OTHER_FORM;
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

/* has_held: tasks are held back.  false: it has to be looked at. */
static inline __attribute__((always_inline)) bool skip(struct dist *d, struct known_kernel *known,
                                                       const PTOTaskParam *params, int32_t count, bool has_held)
{
    struct skip s;
    uint64_t *const own = ptoi_ask_next(&d->asked);
    s.own = (struct own_words){.next = own, .sum = known->step.sum};
    s.runs = NO_HOME;
    s.usual = known->usual;
    s.has_others = false;
    s.accumulates = false;
    s.reads = 0;
    const enum passed passed = pass(d, &s, params, count, known, has_held);
    if (PTO_RARE_(passed != PASSED)) {
        if (passed == HAS_OTHER_FORM) ptoi_known_step_forget(&known->step);
        return false;
    }
    if (s.runs == NO_HOME || (s.has_others && is_message(d, params, count, known, s.runs))) return false;
    if (has_held) {
        if (!are_quiet(d, s.reads, s.runs)) return false;
        skip_held(d, &s);
    }
    known->usual = s.runs;
    ptoi_dist_add_own(&s.own, (uint64_t)s.runs, ptoi_known_step_rank_key());
    ptoi_dist_skip_step(d, known, *d->core->orch.site, s.own.sum, (uint64_t)(s.own.next - own));
    d->number = ptoi_dist_skip_tasks(d, s.runs, 1);
    return true;
}

_Static_assert(KNOWN_BOXES + 1 + HELD_TASKS <= ASKED_MOST, "the words of a step lie side by side");

/* The kernel is known.  Functions of their own, so that there is one pointer to what is known, and so that a task
 * before which none is held back pays nothing for these. */
static inline __attribute__((always_inline)) int64_t skip_or(struct dist *d, struct known_kernel *known,
                                                             const PTOTaskParam *params, int32_t count,
                                                             submit_fn *other, bool has_held)
{
    const int32_t ranks = has_held ? 1 + d->held_count : 1;
    if ((PTO_RARE_(!ptoi_known_step_is_there(&known->step, &d->asked, count, ranks)) &&
         !ptoi_known_step_learn(d, known, params, count, ranks)) ||
        !skip(d, known, params, count, has_held))
        return other(&d->core->orch, known->kernel, params, count);
    return d->number;
}

static __attribute__((noinline)) int64_t skip_known(struct dist *d, struct known_kernel *known,
                                                    const PTOTaskParam *params, int32_t count, submit_fn *other)
{
    return skip_or(d, known, params, count, other, false);
}

static __attribute__((noinline)) int64_t skip_with_held(struct dist *d, struct known_kernel *known,
                                                        const PTOTaskParam *params, int32_t count, submit_fn *other)
{
    return skip_or(d, known, params, count, other, true);
}

int64_t ptoi_dist_skip(struct dist *d, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                       submit_fn *other)
{
    struct known_kernel *const known = &d->known.line[pto_kernel_line_(kernel)];
    if (params && known->kernel == kernel && ptoi_dist_may_skip(d)) {
        if (d->held_count == 0 && !known->makes_buffers) return skip_known(d, known, params, count, other);
        if (d->ends_count == 0)
            return (known->makes_buffers ? ptoi_dist_hold : skip_with_held)(d, known, params, count, other);
    }
    return other(&d->core->orch, kernel, params, count);
}
