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
    uint64_t *own; /* where the next word is written that the step has for itself */
    uint64_t sum;  /* of the step */
    int32_t runs;  /* the rank of the first accumulator, else of the first write */
    int32_t tensors;
    int32_t others; /* 0: all have the same home */
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

/* false: the tensor concerns this rank, or has to be looked at.  home: of each tensor before it. */
static inline bool pass_tensor(const struct dist *d, struct skip *s, const PTOTaskParam *p, struct known_box *known,
                               int32_t *home)
{
    const uint64_t begin = ptoi_known_box_begin(known, p);
    if (PTO_RARE_(begin == NO_ELEMENT)) return false;
    const int32_t rank = ptoi_known_box_near_home(known, begin, d->ranks);
    if (PTO_RARE_(rank < 0 || rank == d->me)) return false;
    add_own(s, begin, known->key_of_begin);
    home[s->tensors] = rank;
    s->others |= rank ^ home[0];
    s->tensors++;
    if (p->kind == PTO_PARAM_INPUT) return true;
    const struct tensor *const t = known->tensor;
    if (t->is_everywhere || !t->is_written || (t->copies.all.first && has_copies(d, known, begin))) return false;
    if (s->runs == NO_HOME) s->runs = rank;
    return true;
}

/* false: it is not a task to skip, as far as its parameters say. */
static inline bool pass(const struct dist *d, struct skip *s, const PTOTaskParam *params, int32_t count,
                        struct known_kernel *known, int32_t *home)
{
    bool accumulates = false;
    for (int32_t i = 0; i < count; i++) {
        const PTOTaskParam *const p = &params[i];
        if (ptoi_known_form(p) == known->box[i].form) {
            if (PTO_RARE_(p->kind == PTO_PARAM_ACC && !accumulates)) {
                accumulates = true;
                s->runs = NO_HOME; /* it is executed where the first accumulator lies */
            }
            if (!pass_tensor(d, s, p, &known->box[i], home)) return false;
        } else if (PTO_RARE_(p->kind != known->step.kind[i])) {
            ptoi_known_step_forget(&known->step);
            return false;
        } else if (p->kind == PTO_PARAM_SCALAR) {
            add_own(s, (uint64_t)p->value.i64, known->step.key[i]);
        }
    }
    return true;
}

/* Does a piece go from a home to the rank of the task, or back, and this rank has to know it? */
static bool is_message(const struct dist *d, const struct skip *s, const int32_t *home)
{
    for (int32_t i = 0; i < s->tensors; i++)
        if (home[i] != s->runs && ptoi_copies_keep(&d->copies, home[i], s->runs)) return true;
    return false;
}

bool ptoi_dist_skip(struct dist *d, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    if (!kernel || !params || !ptoi_dist_may_skip(d)) return false;
    struct known_kernel *const known = ptoi_known_boxes_of(&d->known, kernel);
    if (!known || known->makes_buffers) return false;
    if (PTO_RARE_(!ptoi_known_step_is_there(&known->step, &d->asked, count)) &&
        !ptoi_known_step_learn(known, &d->asked, params, count))
        return false;
    int32_t home[KNOWN_BOXES];
    struct skip s;
    uint64_t *const own = ptoi_ask_several(&d->asked, KNOWN_BOXES + 1);
    if (PTO_RARE_(!own)) return false;
    s.own = own;
    s.sum = known->step.sum;
    s.runs = NO_HOME;
    s.tensors = s.others = 0;
    if (!pass(d, &s, params, count, known, home)) return false;
    if (s.runs == NO_HOME || (s.others && is_message(d, &s, home))) return false;
    add_own(&s, (uint64_t)s.runs, ptoi_known_step_rank_key());
    d->number = ptoi_dist_skip_tasks(d, s.runs, 1);
    ptoi_dist_skip_step(d, known, *d->core->orch.site, s.sum, (uint64_t)(s.own - own));
    return true;
}
