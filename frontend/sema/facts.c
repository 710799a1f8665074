/* facts.c - the known facts about integers at one place of a function, and proofs from them.
 * Idea       a fact is a size that is not negative.  To prove a >= 0, add -a - 1 >= 0 and look for a contradiction
 *            (rows.h) over the products and quotients taken as unknowns, each with what its operator promises.  A
 *            minimum is one of its two arguments: what fails as a whole is tried for each.
 * Owner      one function's check at a time; facts are a stack, popped with the block that learnt them.
 * Invariant  "proved" is never wrong; everything that is too large, too deep or overflows is "not proved".
 * Tests      test/lit/sema/e05*.pto
 */
#include "facts.h"
#include "fact_list.h"
#include "rows.h"
#include "support/arena.h"
#include "support/integers.h"
#include "support/vec.h"
#include "symbol.h"
#include <string.h>
#include <stdlib.h>

#define MAX_KNOWN  96
#define MAX_SPLITS 3
#define MAX_DEPTH  3
#define MAX_SUM    32      /* terms of a fact worth looking at */
#define MAX_WORK   30000   /* rows made for one question */
#define MAX_ALL    4000000 /* for all of a program that is not large ... */
#define LEAST_WORK                                                                                                     \
    400 /* ... and for each of its questions: a large program has many, and the time stays in proportion */
#define MAX_ANSWERS 1024

/* What a question was found to be, while the facts were those of `state`. */
struct answer {
    const struct size *question;
    uint64_t state;
    int depth; /* not proved: with at least so many levels above it */
    bool is_proved;
};

struct apart {
    const struct size *difference;
    size_t at; /* learnt when the list was so long */
};

struct facts {
    struct size_table *sizes;
    struct fact_list list;             /* an empty place for each of `apart` */
    VEC(struct apart) apart;           /* what is not 0 */
    long work;                         /* left for the question at hand; none: everything is not proved */
    long left;                         /* for all questions; none: only easy ones are answered */
    bool gave_up;                      /* a question was not answered because too many were asked before it */
    struct answer answer[MAX_ANSWERS]; /* by the question's number; a later one takes the place of an earlier one */
};

struct system {
    struct facts *facts;
    int depth;
    const struct size *atom[MAX_ATOMS];
    int atoms;
    uint64_t atom_bits;                  /* of all of them */
    const struct size *known[MAX_KNOWN]; /* >= 0 each */
    int knowns;
};

struct facts *facts_create(struct arena *mem, struct size_table *sizes)
{
    struct facts *f = arena_new(mem, struct facts);
    f->sizes = sizes;
    fact_list_init(&f->list, sizes);
    f->left = MAX_ALL;
    return f;
}

struct size_table *facts_sizes(const struct facts *f) { return f->sizes; }

size_t facts_mark(const struct facts *f) { return f->list.all.count; }

void facts_reset(struct facts *f, size_t mark)
{
    fact_list_pop(&f->list, mark);
    while (f->apart.count && f->apart.data[f->apart.count - 1].at >= mark) f->apart.count--;
    if (mark == 0) {
        fact_list_free(&f->list);
        vec_free(&f->apart);
    }
}

static struct answer *answer_of(struct facts *f, const struct size *question)
{
    return &f->answer[size_id(question) % MAX_ANSWERS];
}

static bool has_inside(const struct size *atom)
{
    return atom->kind == SIZE_MOD || atom->kind == SIZE_DIV || atom->kind == SIZE_CEIL_DIV || atom->kind == SIZE_SHR ||
           atom->kind == SIZE_AND;
}

void facts_add(struct facts *f, const struct size *a)
{
    if (!a || size_is_const(a, NULL)) return;
    fact_list_push(&f->list, size_expand(f->sizes, a));
}

static const struct size *difference(struct facts *f, const struct size *a, const struct size *b, int64_t gap)
{
    const struct size *d = size_sub(f->sizes, size_expand(f->sizes, b), size_expand(f->sizes, a));
    return d && gap ? size_sub(f->sizes, d, size_const(f->sizes, gap)) : d;
}

void facts_add_order(struct facts *f, const struct size *a, const struct size *b, int64_t gap)
{
    facts_add(f, difference(f, a, b, gap));
}

void facts_add_equal(struct facts *f, const struct size *a, const struct size *b)
{
    facts_add_order(f, a, b, 0);
    facts_add_order(f, b, a, 0);
}

void facts_forget(struct facts *f, const struct symbol *var, const struct symbol *old)
{
    const struct size *to = size_symbol(f->sizes, old);
    fact_list_rename(&f->list, var, old);
    for (size_t i = 0; i < f->apart.count; i++) {
        struct apart *x = &f->apart.data[i];
        if (x->difference && size_names(x->difference, var))
            x->difference = size_substitute(f->sizes, x->difference, &var, &to, 1);
    }
}

const struct size *facts_not_zero(const struct facts *f, int n)
{
    for (size_t i = f->apart.count; i-- > 0;)
        if (f->apart.data[i].difference && n-- == 0) return f->apart.data[i].difference;
    return NULL;
}

const struct size *facts_zero(const struct facts *f, int n)
{
    enum { LOOKED_AT = 64 };
    for (int i = f->list.newest, looked = 0; i != NO_FACT && looked < LOOKED_AT; looked++) {
        const struct fact *fact = &f->list.all.data[i];
        i = fact->older;
        if (!fact_list_says(&f->list, size_scale(f->sizes, fact->size, -1))) continue;
        if (n-- == 0) return fact->size;
    }
    return NULL;
}

/* ---- the unknowns and what their operators promise --------------------------------------------------------------- */

static bool prove_with(struct facts *f, const struct size *a, int depth, int splits);

static void know(struct system *s, const struct size *a)
{
    s->facts->work -= 1 + s->knowns / 16;
    if (!a || size_is_const(a, NULL) || s->knowns == MAX_KNOWN) return;
    for (int i = 0; i < s->knowns; i++)
        if (s->known[i] == a) return;
    s->known[s->knowns++] = a;
}

static void know_order(struct system *s, const struct size *a, const struct size *b, int64_t gap)
{
    s->facts->work -= 8;
    if (a && b && s->facts->work >= 0) know(s, difference(s->facts, a, b, gap));
}

/* The same few questions, such as whether a divisor is at least 1, stand behind most others: their answers are kept. */
static bool nested(struct system *s, const struct size *a)
{
    if (!a) return false;
    struct facts *f = s->facts;
    struct answer *known = answer_of(f, a);
    uint64_t state = fact_list_state(&f->list);
    if (known->question == a && known->state == state && (known->is_proved || known->depth <= s->depth))
        return known->is_proved;
    bool proved =
        fact_list_says(&f->list, a) || (s->depth < MAX_DEPTH && f->work >= 0 && prove_with(f, a, s->depth + 1, 0));
    if (proved || f->work >= 0)
        *answer_of(f, a) = (struct answer){.question = a, .state = state, .depth = s->depth, .is_proved = proved};
    return proved;
}

static void know_quotient(struct system *s, const struct size *q, bool up)
{
    struct size_table *t = s->facts->sizes;
    const struct size *a = q->arg[0], *b = q->arg[1], *zero = size_const(t, 0), *bq = size_binary(t, SIZE_MUL, b, q);
    if (!bq || !nested(s, size_binary(t, SIZE_ADD, b, size_const(t, -1)))) return; /* the divisor is at least 1 */
    const struct size *slack = size_sub(t, b, size_const(t, 1));
    if (up) {
        know_order(s, a, bq, 0);
        know_order(s, bq, size_binary(t, SIZE_ADD, a, slack), 0);
        if (nested(s, a)) know_order(s, zero, q, 0);
    } else if (nested(s, a)) {
        know_order(s, zero, q, 0);
        know_order(s, bq, a, 0);
        know_order(s, a, size_binary(t, SIZE_ADD, bq, slack), 0);
    } else { /* rounds toward zero */
        know_order(s, bq, size_binary(t, SIZE_ADD, a, slack), 0);
        know_order(s, a, size_binary(t, SIZE_ADD, bq, slack), 0);
    }
}

/* q = a >> by rounds down, whatever the sign of a. */
static void know_shift_right(struct system *s, const struct size *q)
{
    struct size_table *t = s->facts->sizes;
    const struct size *a = q->arg[0];
    int64_t by;
    if (nested(s, a)) know_order(s, size_const(t, 0), q, 0), know_order(s, q, a, 0);
    if (!size_is_const(q->arg[1], &by) || by > 62) return;
    const struct size *whole = size_scale(t, q, INT64_C(1) << by);
    if (!whole) return;
    know_order(s, whole, a, 0);
    know_order(s, a, whole, 1 - (INT64_C(1) << by));
}

/* Of numbers that are not negative: the result has no bit that neither has, `&` none that one has not. */
static void know_bits(struct system *s, const struct size *r)
{
    struct size_table *t = s->facts->sizes;
    const struct size *zero = size_const(t, 0);
    const bool has[2] = {nested(s, r->arg[0]), nested(s, r->arg[1])};
    if (r->kind == SIZE_AND) {
        for (int i = 0; i < 2; i++)
            if (has[i]) know_order(s, zero, r, 0), know_order(s, r, r->arg[i], 0);
    } else if (has[0] && has[1]) {
        know_order(s, zero, r, 0);
        know_order(s, r, size_binary(t, SIZE_ADD, r->arg[0], r->arg[1]), 0);
        for (int i = 0; i < 2 && r->kind == SIZE_OR; i++) know_order(s, r->arg[i], r, 0);
    }
}

static void know_operator(struct system *s, const struct size *atom)
{
    struct size_table *t = s->facts->sizes;
    const struct size *zero = size_const(t, 0), *a = atom->count ? atom->arg[0] : NULL,
                      *b = atom->count > 1 ? atom->arg[1] : NULL;
    switch (atom->kind) {
    case SIZE_SYMBOL:
        if (atom->symbol->decided_name) know_order(s, zero, atom, 0); /* an extent of a tensor that exists */
        break;
    case SIZE_MINIMUM:
        know_order(s, atom, a, 0);
        know_order(s, atom, b, 0);
        break;
    case SIZE_MAXIMUM:
        know_order(s, a, atom, 0);
        know_order(s, b, atom, 0);
        break;
    case SIZE_ABS:
        know_order(s, a, atom, 0);
        know_order(s, size_scale(t, a, -1), atom, 0);
        know_order(s, zero, atom, 0);
        break;
    case SIZE_LOG2:
        know_order(s, zero, atom, 0);
        know_order(s, atom, size_const(t, 62), 0);
        break;
    case SIZE_DIV: know_quotient(s, atom, false); break;
    case SIZE_CEIL_DIV: know_quotient(s, atom, true); break;
    case SIZE_SHR: know_shift_right(s, atom); break;
    case SIZE_SHL:
        if (nested(s, a)) know_order(s, a, atom, 0);
        break;
    case SIZE_OR:
    case SIZE_XOR:
    case SIZE_AND: know_bits(s, atom); break;
    case SIZE_MOD: {
        const struct size *q = size_binary(t, SIZE_DIV, a, b), *bq = q ? size_binary(t, SIZE_MUL, b, q) : NULL;
        const struct size *whole = bq ? size_binary(t, SIZE_ADD, bq, atom) : NULL;
        if (whole) know_order(s, whole, a, 0), know_order(s, a, whole, 0);
        if (nested(s, size_sub(t, b, size_const(t, 1)))) {
            know_order(s, atom, b, 1);
            if (nested(s, a)) know_order(s, zero, atom, 0);
        }
        break;
    }
    default: break;
    }
}

static int degree(const struct size *mono) { return !mono ? 0 : mono->kind == SIZE_MUL ? mono->count : 1; }

/* For a product x * r with x >= 0: every known fact about r holds times x, as long as it makes no longer products. */
static void know_products(struct system *s, const struct size *product)
{
    struct size_table *t = s->facts->sizes;
    for (int i = 0; i < product->count; i++) {
        const struct size *x = product->arg[i], *rest = size_const(t, 1);
        if (i && product->arg[i - 1] == x) continue;
        for (int k = 0; k < product->count && rest; k++)
            if (k != i) rest = size_binary(t, SIZE_MUL, rest, product->arg[k]);
        if (!rest || !nested(s, x)) continue;
        if (nested(s, rest)) know(s, product);
        for (int k = 0, end = s->knowns; k < end; k++) {
            struct size_term terms[MAX_SUM];
            int count = size_terms(t, s->known[k], terms, MAX_SUM), longest = 0;
            s->facts->work--;
            bool is_about = false;
            for (int m = 0; m < count; m++) {
                is_about |= terms[m].mono == rest;
                if (degree(terms[m].mono) > longest) longest = degree(terms[m].mono);
            }
            if (is_about && longest < product->count) know(s, size_binary(t, SIZE_MUL, s->known[k], x));
        }
    }
}

static int atom_index(struct system *s, const struct size *mono)
{
    for (int i = 0; i < s->atoms; i++)
        if (s->atom[i] == mono) return i;
    if (s->atoms == MAX_ATOMS) return -1;
    s->atom[s->atoms] = mono;
    s->atom_bits |= fact_bit(mono);
    return s->atoms++;
}

/* Does a share an unknown with the system, also inside of a quotient or a remainder? */
static bool mentions(struct system *s, const struct size *a, int depth)
{
    struct size_term terms[MAX_SUM];
    int count = size_terms(s->facts->sizes, a, terms, MAX_SUM);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < s->atoms; k++)
            if (s->atom[k] == terms[i].mono) return true;
    for (int i = 0; i < count && depth > 0; i++) {
        const struct size *m = terms[i].mono;
        if (m && has_inside(m) && mentions(s, m->arg[0], depth - 1)) return true;
    }
    return false;
}

static void take_atoms(struct system *s, const struct size *a)
{
    struct size_term terms[MAX_SUM];
    int count = size_terms(s->facts->sizes, a, terms, MAX_SUM);
    for (int i = 0; i < count; i++)
        if (terms[i].mono) atom_index(s, terms[i].mono);
}

/* Everything that is linked with the goal by a chain of shared unknowns. */
static void collect(struct system *s, const struct size *goal)
{
    know(s, goal);
    take_atoms(s, goal);
    int seen = 0;
    for (int round = 0; round < 4 && s->facts->work >= 0; round++) {
        int atoms_before = s->atoms, knowns_before = s->knowns;
        for (; seen < s->atoms && s->facts->work >= 0; seen++) {
            const struct size *atom = s->atom[seen];
            know_operator(s, atom);
            /* b * (N / b) */
            for (int i = 0; atom->kind == SIZE_MUL && i < atom->count; i++) know_operator(s, atom->arg[i]);
        }
        const struct fact_list *list = &s->facts->list;
        int looked = 0;
        for (int i = list->newest; i != NO_FACT && s->knowns < MAX_KNOWN && s->facts->work >= 0;
             i = list->all.data[i].older) {
            if (++looked % 64 == 0) s->facts->work--;
            if (!(list->all.data[i].atoms & s->atom_bits)) continue;
            if (mentions(s, list->all.data[i].size, MENTION_DEPTH)) know(s, list->all.data[i].size);
        }
        for (int i = 0, end = s->atoms; i < end; i++)
            if (s->atom[i]->kind == SIZE_MUL) know_products(s, s->atom[i]);
        for (int i = 0; i < s->knowns; i++) take_atoms(s, s->known[i]);
        if (s->atoms == atoms_before && s->knowns == knowns_before) break;
    }
}

/* ---- contradictions ---------------------------------------------------------------------------------------------- */

static bool contradicts(struct system *s)
{
    bool found = false;
    for (int i = 0; i < s->knowns; i++) take_atoms(s, s->known[i]);
    struct rows rows = {.row = malloc(sizeof *rows.row * MAX_ROWS), .atoms = s->atoms, .work = &s->facts->work};
    if (!rows.row) return false;
    for (int i = 0; i < s->knowns && !found; i++) {
        struct size_term terms[MAX_SUM];
        struct row r = {.k = 0};
        bool fits = s->known[i]->kind != SIZE_ADD || s->known[i]->count <= MAX_SUM;
        int count = fits ? size_terms(s->facts->sizes, s->known[i], terms, MAX_SUM) : 0;
        for (int m = 0; m < count; m++) {
            int at = terms[m].mono ? atom_index(s, terms[m].mono) : MAX_ATOMS;
            if (at < 0)
                fits = false;
            else if (at == MAX_ATOMS)
                r.k = terms[m].factor;
            else
                r.c[at] = terms[m].factor;
        }
        if (fits) found = rows_add(&rows, &r);
    }
    found = found || rows_contradict(&rows);
    free(rows.row);
    return found;
}

static bool prove_with(struct facts *f, const struct size *a, int depth, int splits)
{
    int64_t value;
    if (!a) return false;
    a = size_expand(f->sizes, a);
    if (size_is_const(a, &value)) return value >= 0;
    const struct size *goal = size_sub(f->sizes, size_const(f->sizes, -1), a);
    if (!goal) return false;
    if (f->work < 0) return false;
    struct system s = {.facts = f, .depth = depth};
    f->work -= 30;
    collect(&s, goal);
    if (contradicts(&s)) return true;
    if (splits == 0) return false;
    for (int i = 0; i < s.atoms; i++) {
        const struct size *m = s.atom[i];
        if (m->kind != SIZE_MINIMUM && m->kind != SIZE_MAXIMUM) continue;
        size_t mark = facts_mark(f);
        bool proved = true;
        for (int side = 0; side < 2 && proved; side++) {
            const struct size *is = m->arg[side], *other = m->arg[1 - side];
            /* Already decided in an outer split: would try the same for ever. */
            if (prove_with(f, difference(f, m, is, 0), MAX_DEPTH, 0) &&
                prove_with(f, difference(f, is, m, 0), MAX_DEPTH, 0)) {
                proved = false;
                break;
            }
            facts_add_equal(f, m, is);
            if (m->kind == SIZE_MINIMUM)
                facts_add_order(f, is, other, 0);
            else
                facts_add_order(f, other, is, 0);
            proved = prove_with(f, a, depth, splits - 1);
            fact_list_pop(&f->list, mark);
        }
        if (proved) return true;
    }
    return false;
}

bool facts_prove(struct facts *f, const struct size *a)
{
    if (!a) return false;
    struct answer *known = answer_of(f, a);
    if (known->question == a && known->state == fact_list_state(&f->list) && (known->is_proved || known->depth < 0))
        return known->is_proved;
    /* an assertion is believed, whatever the rest would cost */
    if (fact_list_says(&f->list, size_expand(f->sizes, a))) return true;
    const long work = f->left > MAX_WORK ? MAX_WORK : f->left > LEAST_WORK ? f->left : LEAST_WORK;
    const bool is_easy_only = f->left <= 0;
    f->work = work;
    bool proved = prove_with(f, a, 0, is_easy_only ? 0 : MAX_SPLITS);
    f->left += LEAST_WORK - (work - f->work);
    if (f->left > MAX_ALL) f->left = MAX_ALL;
    if (!proved && work < MAX_WORK && (is_easy_only || f->work < 0))
        f->gave_up = true;
    else
        *answer_of(f, a) =
            (struct answer){.question = a, .state = fact_list_state(&f->list), .depth = -1, .is_proved = proved};
    return proved;
}

bool facts_gave_up(struct facts *f)
{
    bool gave_up = f->gave_up;
    f->gave_up = false;
    return gave_up;
}

bool facts_prove_order(struct facts *f, const struct size *a, const struct size *b, int64_t gap)
{
    int64_t x, y;
    const struct size *const d = difference(f, a, b, gap);
    const bool is_far =
        !d && size_is_const(size_expand(f->sizes, a), &x) && size_is_const(size_expand(f->sizes, b), &y);
    return is_far ? (__int128)y - x >= gap : facts_prove(f, d);
}

/* A size that is not its least or its largest value lies at least 1 beyond it. */
void facts_add_apart(struct facts *f, const struct size *a, const struct size *b)
{
    const struct size *d = difference(f, a, b, 0);
    if (!d || size_is_const(d, NULL)) return;
    vec_push(&f->apart, ((struct apart){d, f->list.all.count}));
    fact_list_push(&f->list, NULL); /* so that a later mark is another one */
    if (facts_prove(f, d))
        facts_add_order(f, a, b, 1);
    else if (facts_prove_order(f, b, a, 0))
        facts_add_order(f, b, a, 1);
}

bool facts_prove_equal(struct facts *f, const struct size *a, const struct size *b)
{
    if (size_expand(f->sizes, a) == size_expand(f->sizes, b)) return true;
    return facts_prove_order(f, a, b, 0) && facts_prove_order(f, b, a, 0);
}

/* A sum whose unknowns all come as multiples of a number that does not divide its constant: 2 * M + 1. */
static bool has_a_remainder(struct facts *f, const struct size *a)
{
    struct size_term term[MAX_SUM];
    const int count = a ? size_terms(f->sizes, a, term, MAX_SUM) : MAX_SUM;
    int64_t divisor = 0, constant = 0;
    if (count == MAX_SUM) return false; /* there may be more terms */
    for (int i = 0; i < count; i++) {
        if (term[i].factor == INT64_MIN) return false;
        if (term[i].mono)
            divisor = gcd(divisor, term[i].factor);
        else
            constant = term[i].factor;
    }
    return divisor > 1 && constant % divisor != 0;
}

bool facts_prove_apart(struct facts *f, const struct size *a, const struct size *b)
{
    return facts_prove_order(f, a, b, 1) || facts_prove_order(f, b, a, 1) || has_a_remainder(f, difference(f, a, b, 0));
}

bool facts_contradict(struct facts *f)
{
    enum { LOOKED_AT = 12 };
    int looked = 0;
    for (int i = f->list.newest, older; i != NO_FACT && looked < LOOKED_AT; i = older, looked++) {
        const struct size *a = f->list.all.data[i].size;
        older = f->list.all.data[i].older;
        if (facts_prove(f, size_sub(f->sizes, size_const(f->sizes, -1), a))) return true;
    }
    return false;
}
