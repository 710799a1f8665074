/* skipped_strips.c - iterations of a loop that other ranks execute, and of which this rank needs nothing.
 *
 * Idea       a loop of calls whose parameters move by constant steps is offered in strips (pto_strip.h).  The offer is
 *            compared once with what is known of the last task of each kernel (known_box.h, known_step.h): from then on
 *            the tasks of an iteration are a few numbers, where their tensors begin and their scalars.  An iteration is
 *            passed as skipped.c and hold.c pass its tasks; those after it are like it up to the first whose tensors
 *            lie in other cells, and they only leave their words.  The first iteration that concerns this rank, or has
 *            to be looked at, is the loop's, which submits it as if nothing had been offered.
 * Owner      the orchestrator.
 * Invariant  the steps, the numbers and the states of the tensors are those that single tasks leave, so ranks agree
 *            whatever they skip in strips.  An iteration is skipped as a whole.
 * Blocks     while the heap is full.
 * Tests      test/wire/test_skipped_strips.c, stress_skipped.c */
#include "skipped.h"
#include "shared/strip.h"

/* Shorter strips cost more than single tasks.  A loop in which this rank has something to do makes an offer after so
 * many iterations at last. */
enum { WORTH_IT = 4, MOST_GAP = 64 };
/* Of a tensor from one iteration to the next, and bits of the elements of one that moves straight: no product
 * overflows. */
enum { MOST_STEP = 1 << FORM_AT_BITS, MOST_BITS = 48 };
_Static_assert(COMPARED_STEPS < 1 << (63 - MOST_BITS), "the iterations of a strip");

enum what {
    TILE,   /* of a tensor that has homes */
    BEFORE, /* a buffer that a task before the loop has made */
    OWN,    /* one that this iteration makes */
    NUMBER  /* a scalar */
};

/* A parameter that an iteration has a word of. */
struct moving {
    enum what what;
    uint8_t kind;
    int32_t home;          /* in the iteration that is looked at; not of a NUMBER */
    int32_t maker;         /* of OWN: the call */
    struct known_box *box; /* of a TILE */
    bool is_straight;      /* where it moves so many rows down and columns to the right: */
    uint64_t down, right;
    uint64_t key;          /* of the word, */
    struct strip_arg word; /* which grows, */
    uint64_t now;          /* and is this in the iteration that is looked at */
};

/* A call of the body. */
struct skipped_call {
    struct known_kernel *known;
    const PTOSite *site;
    struct moving *first, *end;
    bool makes_buffers;
    uint64_t growth; /* of `sum`, from one iteration to the next */
    /* in the iteration that is looked at */
    uint32_t reads; /* a bit for each call whose buffer it reads, if that is held back */
    int32_t runs;   /* NO_HOME: the task is held back */
    int32_t ranks;  /* that the step names: its own, and those of tasks that were held back; all are `runs` */
    uint64_t sum;   /* of its words, each times its key */
};

/* A buffer that each iteration makes. */
struct own_buffer {
    const PTOTaskParam *made;
    const struct known_made *known;
    int32_t maker;
};

struct skipped_loop {
    struct dist *d;
    const PTOStripCall *calls;
    int32_t count, movings, buffers;
    uint32_t held; /* a bit for each call of the iteration that is held back */
    bool is_ours;  /* the iteration that is left concerns this rank: a tile lies here */
    struct skipped_call call[PTO_STRIP_CALLS];
    struct moving moving[PTO_STRIP_PARAMS];
    struct own_buffer buffer[PTO_STRIP_PARAMS];
};

/* ---- the offer --------------------------------------------------------------------------------------------------- */

static struct moving *add(struct skipped_loop *l, enum what what, const PTOTaskParam *p, uint64_t key, uint64_t word,
                          int64_t step)
{
    struct moving *const m = &l->moving[l->movings++];
    m->what = what;
    m->kind = p->kind;
    m->home = NO_HOME;
    m->box = NULL;
    m->key = key;
    m->word.value = (int64_t)word;
    m->word.step = step;
    m->word.test = 0;
    return m;
}

/* By rows and columns that are as near as can be. */
static void find_direction(struct moving *m)
{
    const struct known_box *const b = m->box;
    const uint64_t size = b->cell.size, apart = (uint64_t)(m->word.step < 0 ? -m->word.step : m->word.step);
    m->is_straight = size > 0 && apart < b->elements && b->elements < UINT64_C(1) << MOST_BITS;
    if (!m->is_straight) return;
    m->down = ptoi_divide(apart, b->cell.inverse_of_size);
    if (apart - m->down * size > size / 2) m->down++;
    m->right = apart - m->down * size;
    if (m->word.step < 0) m->down = 0 - m->down, m->right = 0 - m->right;
}

static bool add_tile(struct skipped_loop *l, const PTOTaskParam *p, int64_t step, struct known_box *box)
{
    if (ptoi_known_form(p) != box->form || !ptoi_known_box_is_like(box, p) || p->kind == PTO_PARAM_ACC ||
        step <= -MOST_STEP || step >= MOST_STEP)
        return false;
    const uint64_t begin = (uint64_t)(box->first + p->at * box->step);
    l->is_ours = ptoi_known_box_near_home(box, begin, l->d->ranks) == l->d->me;
    if (l->is_ours) return false; /* where most offers in vain end */
    struct moving *const m = add(l, TILE, p, box->key_of_begin, begin, step * box->step);
    m->box = box;
    find_direction(m);
    return true;
}

static bool add_number(struct skipped_loop *l, const PTOTaskParam *p, int64_t step, uint64_t key)
{
    if (p->kind != PTO_PARAM_SCALAR || (step != 0 && p->type != PTO_I64 && !(p->flags & PTO_IS_TEST_))) return false;
    struct moving *const m = add(l, NUMBER, p, key, (uint64_t)p->value.i64, step);
    m->word.limit = p->at;
    m->word.test = p->flags;
    return true;
}

/* The buffer of an iteration that the parameter names; NULL: none. */
static const struct own_buffer *find_own(const struct skipped_loop *l, const PTOTaskParam *p)
{
    for (int32_t i = 0; i < l->buffers; i++)
        if (l->buffer[i].made->ref == p->ref) return &l->buffer[i];
    return NULL;
}

static bool add_made(struct skipped_loop *l, const PTOTaskParam *p, int64_t step, int32_t index,
                     const struct known_kernel *known)
{
    const struct known_made *const form = &known->box[index].made;
    const struct own_buffer *const own = p->ref ? find_own(l, p) : NULL;
    if (step != 0 || ptoi_known_form(p) != form->form || !ptoi_known_made_is_like(form, p)) return false;
    if (own) {
        if (!ptoi_known_made_is_same(form, own->known)) return false;
        const uint64_t number = l->d->tensors + (uint64_t)(own - l->buffer);
        add(l, OWN, p, form->key, asked_head(ASKED_BOX, index, p->rank + 1, p->kind, (uint32_t)number), 0)->maker =
            own->maker; /* its step is the number of buffers, when these are known */
        return true;
    }
    const struct skipped_made m = ptoi_dist_look_at_made(l->d, p, form);
    if (m.word == 0) return false;
    add(l, BEFORE, p, form->key, m.word, 0)->home = m.home;
    return true;
}

/* Each iteration makes it anew, and it ends there. */
static bool add_own(struct skipped_loop *l, const PTOTaskParam *p, int64_t step, int32_t call,
                    const struct known_made *known)
{
    if (!(p->flags & PTO_IS_PRIVATE_) || l->d->core->orch.buffers.scope_policy == PTO_SCOPE_OUTERMOST || step != 0 ||
        ptoi_known_form(p) != known->form || !ptoi_known_made_is_like(known, p) || find_own(l, p))
        return false;
    l->buffer[l->buffers++] = (struct own_buffer){.made = p, .known = known, .maker = call};
    return true;
}

/* The parameter of the first iteration; false: it is not like the last one. */
static bool add_param(struct skipped_loop *l, int32_t call, int32_t index)
{
    const PTOStripCall *const c = &l->calls[call];
    struct known_kernel *const known = l->call[call].known;
    const PTOTaskParam *p = &c->params[index];
    const int64_t step = c->step[index];
    const uint8_t kind = known->step.kind[index];
    PTOTaskParam named;
    if (p->ref && (p->kind == PTO_PARAM_INPUT || p->kind == PTO_PARAM_INOUT)) {
        named = *p;
        memcpy(&named.buffer, p->ref, sizeof named.buffer);
        p = &named;
    }
    switch (kind) {
    case TENSOR_KIND: return add_tile(l, p, step, &known->box[index]);
    case MADE_KIND: return add_made(l, p, step, index, known);
    case NEW_KIND: return add_own(l, &c->params[index], step, call, &known->box[index].made);
    case PTO_PARAM_SCALAR: return add_number(l, p, step, known->step.key[index]);
    default: return kind == PTO_PARAM_PRIORITY && p->kind == kind;
    }
}

/* A task that is held back reads tiles of other ranks, and numbers; hold.c. */
static bool may_hold(const struct skipped_call *call)
{
    for (const struct moving *m = call->first; m < call->end; m++)
        if (m->what != NUMBER && (m->what != TILE || m->kind != PTO_PARAM_INPUT)) return false;
    return true;
}

static bool add_call(struct skipped_loop *l, int32_t index, int32_t *held)
{
    const PTOStripCall *const c = &l->calls[index];
    struct skipped_call *const call = &l->call[index];
    if (!c->kernel || !c->params || !c->step || !c->site) return false;
    struct known_kernel *const known = ptoi_known_boxes_of(&l->d->known, c->kernel);
    if (!known || l->movings + l->buffers + c->count > PTO_STRIP_PARAMS) return false;
    const int32_t ranks = known->makes_buffers ? 0 : 1 + *held;
    if (!ptoi_known_step_is_there(&known->step, &l->d->asked, c->count, ranks)) return false;
    const int32_t buffers = l->buffers;
    *call = (struct skipped_call){.known = known, .site = &c->site->site, .first = &l->moving[l->movings]};
    for (int32_t i = 0; i < c->count; i++)
        if (!add_param(l, index, i)) return false;
    call->end = &l->moving[l->movings];
    call->makes_buffers = l->buffers > buffers;
    if (call->makes_buffers != known->makes_buffers || (call->makes_buffers && !may_hold(call))) return false;
    *held = call->makes_buffers ? *held + 1 : 0;
    return true;
}

/* false: it is not like the last tasks of its kernels. */
static bool add_calls(struct skipped_loop *l)
{
    int32_t held = 0;
    l->movings = l->buffers = 0;
    for (int32_t c = 0; c < l->count; c++)
        if (!add_call(l, c, &held)) return false;
    for (struct skipped_call *call = l->call; call < l->call + l->count; call++)
        for (struct moving *m = call->first; m < call->end; m++) {
            if (m->what == OWN) m->word.step = (int64_t)((uint64_t)l->buffers << 32);
            call->growth += (uint64_t)m->word.step * m->key;
        }
    return held == 0;
}

/* ---- which iterations are skipped -------------------------------------------------------------------------------- */

/* How many iterations, at most `most`, the tile begins in the cell where it begins now.  It moves straight: rows and
 * columns grow by constant steps, so all of them begin there if the last one does. */
static int64_t stays(const struct moving *m, int64_t most)
{
    const struct known_cell *const c = &m->box->cell;
    const uint64_t begin = m->now - c->begin, row = ptoi_divide(begin, c->inverse_of_size),
                   column = begin - row * c->size;
    if (row >= c->rows || column >= c->columns) return 1;
    while (most > 1 &&
           (row + m->down * (uint64_t)(most - 1) >= c->rows || column + m->right * (uint64_t)(most - 1) >= c->columns))
        most /= 2;
    return most;
}

/* false: it concerns this rank, or has to be looked at.  Else *alike may become less. */
static inline bool pass_tile(struct skipped_loop *l, struct moving *m, int64_t *alike)
{
    const struct dist *const d = l->d;
    if (m->word.step == 0 && m->home != NO_HOME) return true; /* an iteration that is skipped changes nothing here */
    m->home = ptoi_known_box_near_home(m->box, m->now, d->ranks);
    if (PTO_RARE_(m->home < 0 || m->home == d->me)) {
        l->is_ours = m->home == d->me;
        return false;
    }
    if (*alike > 1 && m->word.step != 0) *alike = m->is_straight ? stays(m, *alike) : 1;
    if (m->kind == PTO_PARAM_INPUT) return true;
    const struct tensor *const t = m->box->tensor;
    if (t->is_everywhere || !t->is_written) return false;
    if (!t->copies.all.first) return true;
    if (m->word.step != 0) *alike = 1;
    return !ptoi_dist_has_copies(d, m->box, m->now);
}

static inline bool pass_own(const struct skipped_loop *l, struct skipped_call *call, struct moving *m)
{
    m->home = l->call[m->maker].runs;
    if (m->home != NO_HOME) return true;
    call->reads |= 1u << m->maker;
    return m->kind == PTO_PARAM_INPUT;
}

/* Does a piece go from a home to the rank, or back, and this rank has to know it? */
static bool is_message(const struct skipped_loop *l, const struct skipped_call *call, int32_t runs)
{
    for (const struct moving *m = call->first; m < call->end; m++)
        if (m->what != NUMBER && m->home != NO_HOME && m->home != runs &&
            ptoi_copies_keep(&l->d->copies, m->home, runs))
            return true;
    return false;
}

/* The tasks that are held back are executed by the rank, too. */
static __attribute__((noinline)) bool place_held(struct skipped_loop *l, struct skipped_call *next)
{
    if (next->reads != l->held) return false; /* some have another rank */
    for (struct skipped_call *call = l->call; call < next; call++) {
        if (!(l->held & 1u << (call - l->call))) continue;
        if (is_message(l, call, next->runs)) return false;
        call->runs = next->runs;
        next->ranks++;
    }
    l->held = 0;
    return true;
}

/* A call of iteration k. */
static inline bool pass_call(struct skipped_loop *l, struct skipped_call *call, int64_t k, int64_t *alike)
{
    const int32_t usual = call->known->usual;
    uint64_t sum = call->known->step.sum;
    int32_t runs = NO_HOME, others = 0;
    call->reads = 0;
    for (struct moving *m = call->first; m < call->end; m++) {
        m->now = (uint64_t)ptoi_strip_scalar(&m->word, k);
        if (m->what == NUMBER) {
            if (m->word.test) *alike = 1;
        } else {
            if (m->what == TILE ? !pass_tile(l, m, alike) : m->what == OWN && !pass_own(l, call, m)) return false;
            if (m->kind != PTO_PARAM_INPUT && runs == NO_HOME) runs = m->home;
            if (m->home != NO_HOME) others |= m->home ^ usual;
        }
        sum += m->now * m->key;
    }
    call->runs = runs;
    call->ranks = 0;
    if (call->makes_buffers) {
        l->held |= 1u << (call - l->call);
    } else {
        if (runs == NO_HOME || ((others || runs != usual) && is_message(l, call, runs))) return false;
        call->known->usual = runs;
        call->ranks = 1;
        if (l->held && !place_held(l, call)) return false;
        sum += (uint64_t)call->ranks * (uint64_t)runs * ptoi_known_step_rank_key();
    }
    call->sum = sum;
    return true;
}

/* How many iterations from iteration k on, at most `most`, are skipped, as they have the same homes; 0: it concerns
 * this rank, or has to be looked at. */
static inline int64_t pass_iteration(struct skipped_loop *l, int64_t k, int64_t most)
{
    int64_t alike = most;
    l->held = 0;
    for (struct skipped_call *call = l->call; call < l->call + l->count; call++)
        if (PTO_RARE_(!pass_call(l, call, k, &alike))) return 0;
    return alike;
}

/* ---- what they leave --------------------------------------------------------------------------------------------- */

static inline void write_step(struct dist *d, struct skipped_call *call)
{
    uint64_t *const begin = ptoi_ask_next(&d->asked), *own = begin;
    for (struct moving *m = call->first; m < call->end; m++) {
        *own++ = m->now;
        m->now += (uint64_t)m->word.step;
    }
    for (int32_t i = 0; i < call->ranks; i++) *own++ = (uint64_t)call->runs;
    ptoi_dist_skip_step(d, call->known, call->site, call->sum, (uint64_t)(own - begin));
    call->sum += call->growth;
}

/* So many iterations are skipped that begin with the one that was passed. */
static void write_steps(struct skipped_loop *l, int64_t times)
{
    struct skipped_call *const end = l->call + l->count;
    for (int64_t k = 0; k < times; k++)
        for (struct skipped_call *call = l->call; call < end; call++) write_step(l->d, call);
    for (struct skipped_call *call = l->call; call < end; call++) l->d->tasks_of[call->runs] += times;
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

/* The buffers of an iteration, as the first one has them: where there is no room for them, this rank finds it as it
 * finds it with single tasks. */
static bool has_room(const struct skipped_loop *l)
{
    struct dist *const d = l->d;
    PTOStatus status = PTO_OK;
    if (ptoi_orch_scope_begin(&d->core->orch) == PTO_SCOPE_CURRENT) return false;
    for (int32_t i = 0; i < l->buffers && status == PTO_OK; i++) {
        const PTOTaskParam *const p = l->buffer[i].made;
        void *base;
        status = d->local.alloc(d->rt, p->scope, l->buffer[i].known->bytes, p->name, &base);
    }
    return ptoi_orch_scope_end(&d->core->orch) == PTO_OK && status == PTO_OK;
}

/* So many iterations make theirs. */
static void count_buffers(const struct skipped_loop *l, int64_t times)
{
    struct orchestrator_stats *const stats = &l->d->core->orch.run.stats;
    stats->scopes += times;
    stats->allocations += times * l->buffers;
    for (int32_t i = 0; i < l->buffers; i++) stats->allocated_bytes += times * l->buffer[i].known->bytes;
}

/* So many iterations may be skipped at most: then the hashes are compared, or the forms are written again. */
static int64_t most_iterations(const struct skipped_loop *l)
{
    const struct dist *const d = l->d;
    int64_t most = (int64_t)(COMPARED_STEPS - (d->steps - d->compared)) / l->count;
    for (int32_t c = 0; c < l->count; c++) {
        const uint64_t words = l->call[c].known->step.last_use - d->asked.begin;
        const int64_t fit = (int64_t)(words / (uint64_t)(l->movings + l->count)); /* a word of each call is its rank */
        if (fit < most) most = fit;
    }
    return most;
}

static int64_t skip(struct skipped_loop *l, int64_t iterations)
{
    struct dist *const d = l->d;
    const int64_t most = most_iterations(l), end = iterations < most ? iterations : most;
    int64_t k = 0;
    for (int64_t alike; k < end && (alike = pass_iteration(l, k, end - k)) > 0; k += alike) write_steps(l, alike);
    if (k == 0) return 0;
    const int64_t tasks = load_relaxed(&d->tasks) + k * l->count; /* relaxed: see dist.h */
    store_relaxed(&d->tasks, tasks);                              /* likewise */
    d->number = tasks - 1;
    d->tensors += (uint32_t)(k * l->buffers);
    if (l->buffers > 0) {
        if (!has_room(l)) return k; /* the run has failed */
        count_buffers(l, k - 1);
    }
    return k;
}

/* When the loop makes its next offer, by what became of one: soon, or after twice as many iterations as last time.  A
 * task that has to be looked at, such as the first one that writes a tile, often stands alone, so the loop offers the
 * next iteration, unless it just has. */
static void set_gap(struct skipped_loop *l, int64_t iterations, int64_t skipped)
{
    struct dist *const d = l->d;
    int32_t *const gap = &d->core->orch.fast.open->offer_gap;
    const bool looks = skipped == 0 && !l->is_ours;
    if (skipped >= WORTH_IT || skipped == iterations || (looks && !d->looks))
        *gap = 1;
    else
        *gap = *gap < MOST_GAP ? 2 * *gap : MOST_GAP;
    d->looks = looks;
}

int64_t ptoi_dist_skip_strips(struct dist *d, int64_t iterations, const PTOStripCall *calls, int32_t count)
{
    struct skipped_loop l;
    l.d = d;
    l.calls = calls;
    l.count = count;
    l.is_ours = false;
    const bool may_skip = !d->core->config.always_defer && count <= PTO_STRIP_CALLS && d->held_count == 0 &&
                          ptoi_dist_may_skip(d) && add_calls(&l);
    const int64_t skipped = may_skip ? skip(&l, iterations) : 0;
    set_gap(&l, iterations, skipped);
    return skipped;
}
