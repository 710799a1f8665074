/* known_step.c - see known_step.h. */
#include "known_step.h"
#include <pto/pto_arithmetic.h>

enum { MOST_WORDS = 64 /* a bit of `own` for each */ };

/* The form that is being made. */
struct form {
    struct dist *dist;
    struct known_kernel *kernel;
    struct known_step *step;
};

static void add(struct form *f, uint64_t word)
{
    f->step->words++;
    ptoi_ask(&f->dist->asked, word);
}

static void add_head(struct form *f, uint64_t head)
{
    f->step->words++;
    ptoi_ask_item(&f->dist->asked, head);
}

/* A word that each step has for itself: its key. */
static uint64_t add_own(struct form *f)
{
    struct asked *const a = &f->dist->asked;
    const uint64_t key = asked_key(a->row, a->position);
    f->step->own |= UINT64_C(1) << f->step->words;
    add(f, 0);
    return key;
}

static void add_ranks(struct form *f, int32_t ranks)
{
    for (int32_t i = 0; i < ranks; i++) {
        add_head(f, asked_head(ASKED_RANK, 0, 1, 0, 0));
        add_own(f);
    }
}

/* ---- buffers that tasks make ------------------------------------------------------------------------------------- */

static bool learn_made(struct known_made *m, const PTOTaskParam *p, int32_t index)
{
    int64_t elements = 1;
    m->form = ptoi_known_form(p);
    m->rank = p->rank;
    m->head = asked_head(ASKED_BOX, index, p->rank + 1, p->kind, 0);
    if (p->rank < 1 || p->rank > FORM_RANK || !p->shape || p->type >= PTO_TYPE_COUNT || p->at != 0) return false;
    ptoi_form_extents(p, m->view);
    for (int n = 0; n < p->rank; n++) {
        if (p->shape[n] < 1 || __builtin_mul_overflow(elements, p->shape[n], &elements)) return false;
        m->view[p->rank + n] = n + 1 < p->rank ? p->shape[n + 1] : 1;
        if (p->stride && p->stride[n] != m->view[p->rank + n]) return false;
    }
    m->unit = (int32_t)pto_type_bytes((PTOType)p->type);
    return !__builtin_mul_overflow(elements, m->unit, &m->bytes);
}

bool ptoi_known_made_is_any(const struct known_made *m, const struct tensor *t)
{
    if (t->bytes != m->bytes || t->home.rank != m->rank || t->home.unit != m->unit) return false;
    for (int32_t n = 0; n < m->rank; n++)
        if (t->home.shape[n] != m->view[n] || t->home.cell[n] != m->view[n]) return false;
    return true;
}

bool ptoi_known_made_is_same(const struct known_made *a, const struct known_made *b)
{
    return a->rank == b->rank && a->unit == b->unit && a->bytes == b->bytes &&
           memcmp(a->view, b->view, (size_t)a->rank * sizeof *a->view) == 0;
}

static bool add_made(struct form *f, const PTOTaskParam *p, int32_t index)
{
    struct known_step *const k = f->step;
    struct known_made *const m = &f->kernel->box[index].made;
    const bool is_new = p->kind == PTO_PARAM_OUTPUT;
    if (!learn_made(m, p, index)) return false;
    if (is_new) {
        void *base;
        if (!p->ref) return false;
        memcpy(&base, p->ref, sizeof base);
        if (base) return false;
        k->kind[index] = NEW_KIND;
        add_head(f, asked_head(ASKED_OUTPUT, index, p->rank, 0, 0));
    } else {
        const struct tensor *const t = ptoi_dist_tensor(f->dist, p->buffer);
        if (!t || t->buffer == 0 || t->base != p->buffer || !ptoi_known_made_is(m, t)) return false;
        const uint64_t row = asked_row(m->head);
        k->kind[index] = MADE_KIND;
        k->own |= UINT64_C(1) << k->words;
        m->key = asked_key(row, 0);
        add_head(f, row);
        f->dist->asked.sum -= row * m->key; /* the head has the number of the tensor: it is the step's own */
    }
    for (int32_t n = 0; n < p->rank; n++) add(f, (uint64_t)m->view[n]);
    if (!is_new) add(f, 0);
    ptoi_known_box_forget(&f->kernel->box[index]); /* where there is a box, it is the form */
    return true;
}

/* ---- the form ---------------------------------------------------------------------------------------------------- */

static bool add_box(struct form *f, const struct known_box *box)
{
    if (f->step->words + box->words > MOST_WORDS) return false;
    uint64_t next = 0; /* item */
    for (uint64_t i = 0; i + 1 < box->words; i++) {
        if (i == next) {
            add_head(f, box->item[i]);
            next += 1 + (uint64_t)asked_count_of(box->item[i]);
        } else {
            add(f, box->item[i]);
        }
    }
    add_own(f);
    return true;
}

static bool add_param(struct form *f, const PTOTaskParam *p, int32_t index)
{
    struct known_step *const k = f->step;
    const struct known_box *const box = &f->kernel->box[index];
    if (k->words + 2 + PTO_MAX_RANK > MOST_WORDS) return false;
    k->kind[index] = p->kind;
    f->kernel->box[index].made.form = NO_FORM;
    switch (p->kind) {
    case PTO_PARAM_SCALAR:
        add_head(f, asked_head(ASKED_SCALAR, index, 1, 0, 0));
        k->key[index] = add_own(f);
        return true;
    case PTO_PARAM_PRIORITY:
    case PTO_PARAM_NAME: add_head(f, asked_head(ASKED_PARAM, index, 0, p->kind, 0)); return true;
    case PTO_PARAM_INPUT:
    case PTO_PARAM_OUTPUT:
    case PTO_PARAM_INOUT:
    case PTO_PARAM_ACC:
        if (ptoi_known_form(p) == box->form && ptoi_known_box_is_like(box, p)) {
            k->kind[index] = TENSOR_KIND;
            return add_box(f, box);
        }
        return p->kind != PTO_PARAM_ACC && add_made(f, p, index);
    default: return false;
    }
}

bool ptoi_known_step_learn(struct dist *d, struct known_kernel *kernel, const PTOTaskParam *params, int32_t count,
                           int32_t ranks)
{
    struct known_step *const k = &kernel->step;
    struct asked *const a = &d->asked;
    struct form f = {.dist = d, .kernel = kernel, .step = k};
    k->count = NOT_KNOWN;
    if (count > KNOWN_BOXES || d->plan) return false; /* planned ranks skip nothing */
    a->end = a->begin;
    a->sum = 0;
    k->last_use = a->begin + FORM_WORDS;
    k->words = k->own = 0;
    add_head(&f, asked_head(ASKED_TASK, 0, 1, 0, 0));
    add(&f, kernel->name);
    for (int32_t i = 0; i < count; i++)
        if (!add_param(&f, &params[i], i)) return false;
    if (k->words + 2 * (uint64_t)ranks > MOST_WORDS) return false;
    add_ranks(&f, ranks);
    k->sum = a->sum + k->words;
    k->count = count;
    k->ranks = ranks;
    k->form = ptoi_dist_write_form(a, k->own, kernel->text); /* the words stay, and belong to no step */
    return true;
}
