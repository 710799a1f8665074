/* known_step.c - see known_step.h. */
#include "known_step.h"

enum { MOST_WORDS = 64 /* a bit of `own` for each */ };

/* The form that is being made. */
struct form {
    struct known_step *step;
    struct asked *asked;
};

static void add(struct form *f, uint64_t word) { f->step->words++, ptoi_ask(f->asked, word); }

/* A word that each step has for itself; the key is its own. */
static uint64_t add_own(struct form *f)
{
    struct asked *const a = f->asked;
    const uint64_t key = asked_key(a->row, a->position);
    f->step->own |= UINT64_C(1) << f->step->words;
    add(f, 0);
    return key;
}

static void add_head(struct form *f, uint64_t head)
{
    f->step->words++;
    ptoi_ask_item(f->asked, head);
}

static bool add_param(struct form *f, const PTOTaskParam *p, int32_t index, const struct known_box *box)
{
    struct known_step *const k = f->step;
    k->kind[index] = p->kind;
    if (ptoi_known_form(p) == box->form) {
        if (k->words + box->words > MOST_WORDS) return false;
        k->kind[index] = TENSOR_KIND;
        add_head(f, box->item[0]);
        for (uint64_t i = 1; i + 1 < box->words; i++) add(f, box->item[i]);
        add_own(f);
    } else if (p->kind == PTO_PARAM_SCALAR) {
        add_head(f, asked_head(ASKED_SCALAR, index, 1, 0, 0));
        k->key[index] = add_own(f);
    } else if (p->kind == PTO_PARAM_PRIORITY || p->kind == PTO_PARAM_NAME) {
        add_head(f, asked_head(ASKED_PARAM, index, 0, p->kind, 0));
    } else {
        return false;
    }
    return true;
}

bool ptoi_known_step_learn(struct known_kernel *kernel, struct asked *a, const PTOTaskParam *params, int32_t count)
{
    struct known_step *const k = &kernel->step;
    struct form f = {.step = k, .asked = a};
    k->count = NOT_KNOWN;
    if (count > KNOWN_BOXES) return false;
    a->end = a->begin;
    a->sum = 0;
    k->first_word = a->begin;
    k->words = k->own = 0;
    add_head(&f, asked_head(ASKED_TASK, 0, 1, 0, 0));
    add(&f, kernel->name);
    for (int32_t i = 0; i < count; i++)
        if (!add_param(&f, &params[i], i, &kernel->box[i])) return false;
    if (k->words + 2 > MOST_WORDS) return false;
    add_head(&f, asked_head(ASKED_RANK, 0, 1, 0, 0));
    add_own(&f);
    k->sum = a->sum;
    k->count = count;
    a->begin = a->end; /* they stay, and belong to no step */
    return true;
}
