/* skipped.c - a task that another rank executes, and for which this rank neither sends nor keeps anything.
 *
 * Idea       on many ranks nearly all tasks are such.  Each of its tensors is like that of the kernel's last task
 *            (known_box.h) and lies in one cell of another rank; so one pass over the parameters finds the rank that
 *            executes it and writes the words on which the ranks agree, as far as they are not those of each task of
 *            the kernel (known_step.h).  Any other task is left to submit.c before anything has changed.
 * Owner      the orchestrator.
 * Invariant  the words, the numbers and the states of the tensors are those that submit.c would leave.
 * Blocks     never.
 * Tests      test/wire/test_skipped.c, stress_ranks.c */
#include "skipped.h"
#include "place.h"

/* A pass over the parameters. */
struct skip {
    uint64_t *own;  /* where the next word is written that the step has for itself */
    uint64_t sum;   /* of the step */
    int32_t runs;   /* the rank of the first accumulator, else of the first write */
    int32_t usual;  /* the rank that executed the last task of the kernel */
    int32_t others; /* 0: that is the home of all tensors */
    bool accumulates;
};

static inline void add_own(struct skip *s, uint64_t word, uint64_t key)
{
    *s->own++ = word;
    s->sum += word * key;
}

/* Of what the task writes. */
static __attribute__((noinline)) bool has_copies(const struct dist *d, const struct known_box *known, uint64_t begin)
{
    const struct tensor *const t = known->tensor;
    struct box box;
    ptoi_known_box_write(known, begin, &box);
    return ptoi_copies_are_there(&d->copies, &t->copies, &t->home, &box);
}

/* false: the tensor concerns this rank, or has to be looked at. */
static inline bool pass_tensor(const struct dist *d, struct skip *s, const PTOTaskParam *p, struct known_box *known)
{
    if (PTO_RARE_(!ptoi_known_box_is_like(known, p))) return false;
    const uint64_t begin = (uint64_t)(known->first + p->at * known->step);
    const int32_t home = ptoi_known_box_near_home(known, begin, d->ranks);
    if (PTO_RARE_(home < 0 || home == d->me)) return false;
    add_own(s, begin, known->key_of_begin);
    s->others |= home ^ s->usual;
    if (p->kind == PTO_PARAM_INPUT) return true;
    const struct tensor *const t = known->tensor;
    if (t->is_everywhere || !t->is_written || (t->copies.all.first && has_copies(d, known, begin))) return false;
    if (PTO_RARE_(p->kind == PTO_PARAM_ACC && !s->accumulates)) {
        s->accumulates = true;
        s->runs = home; /* it is executed where the first accumulator lies */
    }
    if (s->runs == NO_HOME) s->runs = home;
    return true;
}

/* false: it is not a task to skip, as far as its parameters say. */
static inline bool pass(const struct dist *d, struct skip *s, const PTOTaskParam *params, int32_t count,
                        struct known_kernel *known)
{
    struct known_box *box = known->box;
    for (const PTOTaskParam *p = params; p < params + count; p++, box++) {
        if (ptoi_known_form(p) == box->form) {
            if (!pass_tensor(d, s, p, box)) return false;
        } else if (PTO_RARE_(p->kind != known->step.kind[p - params])) {
            ptoi_known_step_forget(&known->step);
            return false;
        } else if (p->kind == PTO_PARAM_SCALAR) {
            add_own(s, (uint64_t)p->value.i64, known->step.key[p - params]);
        }
    }
    return true;
}

/* Does a piece go from a home to the rank of the task, or back, and this rank has to know it? */
static __attribute__((noinline)) bool is_message(const struct dist *d, const PTOTaskParam *params, int32_t count,
                                                 struct known_kernel *known, int32_t runs)
{
    for (int32_t i = 0; i < count; i++) {
        struct known_box *const box = &known->box[i];
        if (known->step.kind[i] != TENSOR_KIND) continue;
        const uint64_t begin = (uint64_t)(box->first + params[i].at * box->step);
        const int32_t home = ptoi_known_box_near_home(box, begin, d->ranks);
        if (home != runs && ptoi_copies_keep(&d->copies, home, runs)) return true;
    }
    return false;
}

/* false: it has to be looked at. */
static inline bool skip(struct dist *d, struct known_kernel *known, const PTOTaskParam *params, int32_t count)
{
    struct skip s;
    uint64_t *const own = ptoi_ask_next(&d->asked);
    s.own = own;
    s.sum = known->step.sum;
    s.runs = NO_HOME;
    s.usual = known->usual;
    s.others = 0;
    s.accumulates = false;
    if (!pass(d, &s, params, count, known)) return false;
    if (s.runs == NO_HOME || (s.others && is_message(d, params, count, known, s.runs))) return false;
    known->usual = s.runs;
    add_own(&s, (uint64_t)s.runs, ptoi_known_step_rank_key());
    ptoi_dist_skip_step(d, known, *d->core->orch.site, s.sum, (uint64_t)(s.own - own));
    d->number = ptoi_dist_skip_tasks(d, s.runs, 1);
    return true;
}

/* The kernel is known.  A function of its own, so that there is one pointer to what is known. */
static __attribute__((noinline)) int64_t skip_known(struct dist *d, struct known_kernel *known,
                                                    const PTOTaskParam *params, int32_t count, submit_fn *other)
{
    if ((PTO_RARE_(!ptoi_known_step_is_there(&known->step, &d->asked, count)) &&
         !ptoi_known_step_learn(known, &d->asked, params, count)) ||
        PTO_RARE_(!ptoi_ask_has_room(&d->asked, KNOWN_BOXES + 1)) || !skip(d, known, params, count))
        return other(&d->core->orch, known->kernel, params, count);
    return d->number;
}

int64_t ptoi_dist_skip(struct dist *d, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                       submit_fn *other)
{
    if (kernel && params && ptoi_dist_may_skip(d)) {
        struct known_kernel *const known = ptoi_known_boxes_of(&d->known, kernel);
        if (known && !known->makes_buffers) return skip_known(d, known, params, count, other);
    }
    return other(&d->core->orch, kernel, params, count);
}
