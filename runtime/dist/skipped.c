/* skipped.c - a task that another rank executes, and for which this rank neither sends nor keeps anything.
 *
 * Idea       on many ranks nearly all tasks are such.  Each of its tensors is like that of the kernel's last task
 *            (known_box.h) and lies in one cell of another rank; so one pass over the parameters finds the rank that
 *            executes it and writes the words on which the ranks agree.  Any other task is left to submit.c before
 *            anything has changed.
 * Owner      the orchestrator.
 * Invariant  the words, the numbers and the states of the tensors are those that submit.c would leave.
 * Blocks     never.
 * Tests      test/wire/test_skipped.c, stress_ranks.c */
#include "place.h"
#include "submit/failing.h"

enum {
    COPIED = 4,                                           /* words of an item at once: a head and three extents */
    WORDS = 4 + KNOWN_BOXES * (2 + PTO_MAX_RANK + COPIED) /* of a step, at most, and those that are copied too much */
};

/* A pass over the parameters. */
struct skip {
    uint64_t *word; /* the next one */
    uint64_t sum;   /* of those before it, each times its key */
    int32_t runs;   /* the rank of the first accumulator, else of the first write */
    int32_t tensors;
    int32_t others; /* 0: all have the same home */
    int32_t home[KNOWN_BOXES];
};

/* An item with one number. */
static inline void ask_item(struct skip *s, uint64_t head, uint64_t number)
{
    s->word[0] = head;
    s->word[1] = number;
    s->word += 2;
    s->sum += head * asked_key(asked_row(head), 0) + number * asked_key(asked_row(head), 1);
}

static inline void ask_box(struct skip *s, const struct known_box *known, uint64_t begin)
{
    memcpy(s->word, known->item, COPIED * sizeof *s->word);
    if (PTO_RARE_(known->words > COPIED + 1))
        memcpy(s->word + COPIED, known->item + COPIED, sizeof known->item - COPIED * sizeof *s->word);
    s->word[known->words - 1] = begin;
    s->word += known->words;
    s->sum += known->sum + begin * known->key_of_begin;
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
static inline bool pass_tensor(const struct dist *d, struct skip *s, const PTOTaskParam *p,
                               const struct known_box *known)
{
    const uint64_t begin = ptoi_known_box_begin(known, p);
    if (PTO_RARE_(begin == NO_ELEMENT)) return false;
    const int32_t home = ptoi_known_box_home(known, begin, d->ranks);
    if (PTO_RARE_(home < 0 || home == d->me)) return false;
    ask_box(s, known, begin);
    s->home[s->tensors] = home;
    s->others |= home ^ s->home[0];
    s->tensors++;
    if (p->kind == PTO_PARAM_INPUT) return true;
    const struct tensor *const t = known->tensor;
    if (t->is_everywhere || !t->is_written || (t->copies.all.first && has_copies(d, known, begin))) return false;
    if (s->runs == NO_HOME) s->runs = home;
    return true;
}

/* false: it is not a task to skip, as far as its parameters say. */
static inline bool pass(const struct dist *d, struct skip *s, const PTOTaskParam *params, int32_t count,
                        const struct known_box *known)
{
    bool accumulates = false;
    for (int32_t i = 0; i < count; i++) {
        const PTOTaskParam *const p = &params[i];
        if (ptoi_known_form(p) == known[i].form) {
            if (PTO_RARE_(p->kind == PTO_PARAM_ACC && !accumulates)) {
                accumulates = true;
                s->runs = NO_HOME; /* it is executed where the first accumulator lies */
            }
            if (!pass_tensor(d, s, p, &known[i])) return false;
        } else if (p->kind == PTO_PARAM_SCALAR) {
            ask_item(s, asked_head(ASKED_SCALAR, i, 1, 0, 0), (uint64_t)p->value.i64);
        } else if (p->kind == PTO_PARAM_PRIORITY || p->kind == PTO_PARAM_NAME) {
            const uint64_t head = asked_head(ASKED_PARAM, i, 0, p->kind, 0);
            *s->word++ = head;
            s->sum += head * asked_key(asked_row(head), 0);
        } else {
            return false;
        }
    }
    return true;
}

/* Does a piece go from a home to the rank of the task, or back, and this rank has to know it? */
static bool is_message(const struct dist *d, const struct skip *s)
{
    for (int32_t i = 0; i < s->tensors; i++)
        if (s->home[i] != s->runs && ptoi_copies_keep(&d->copies, s->home[i], s->runs)) return true;
    return false;
}

bool ptoi_dist_skip(struct dist *d, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    uint64_t *const word = ptoi_ask_several(&d->asked, WORDS);
    if (!word || !kernel || !params || (uint32_t)count > KNOWN_BOXES || d->plan || d->packs || d->held_count > 0 ||
        ptoi_orch_has_failed(&d->core->orch) || ptoi_dist_is_time_to_compare(d))
        return false;
    const struct known_kernel *const known = ptoi_known_boxes_of(&d->known, kernel);
    if (!known || known->makes_buffers) return false;
    struct skip s;
    s.word = word;
    s.sum = 0;
    s.runs = NO_HOME;
    s.tensors = s.others = 0;
    ask_item(&s, asked_head(ASKED_TASK, 0, 1, 0, 0), known->name);
    if (!pass(d, &s, params, count, known->box)) return false;
    if (s.runs == NO_HOME || (s.others && is_message(d, &s))) return false;
    ask_item(&s, asked_head(ASKED_RANK, 0, 1, 0, 0), (uint64_t)s.runs);
    d->number = load_relaxed(&d->tasks);     /* relaxed: see dist.h */
    store_relaxed(&d->tasks, d->number + 1); /* likewise */
    d->tasks_of[s.runs]++;
    ptoi_dist_begin_step(d);
    d->asked.end += (uint64_t)(s.word - word);
    d->asked.sum = s.sum;
    ptoi_dist_end_step(d, ptoi_dist_kernel_name(kernel));
    return true;
}
