/* writes.c - the left sides: injective, and which reads of what is written they allow.
 * Idea       a left side is injective where its variables can be read off its indices one after another; or where one
 *            index holds several, as digits of a number do.  A tensor that is written is read at the index where it is
 *            written, or at one that an earlier iteration of a `for` around has written.
 * Invariant  two values of the variables of an `=` never write one element; no read sees a value that depends on the
 *            order in which the free variables run.
 * Tests      test/lit/equations/refused.pto
 */
#include "parts.h"

enum { MAX_VARS = 32 };

/* ---- injective --------------------------------------------------------------------------------------------------- */

static int position(const struct eq_var *const *vars, int count, const struct eq_var *v)
{
    for (int i = 0; i < count; i++)
        if (vars[i] == v) return i;
    return -1;
}

/* Are `open` of the variables read off rest as digits, the next one having at least the weight `reach`? */
static bool are_digits(struct eq_work *w, const struct size *a, const struct eq_var *const *open, int count,
                       const struct size *reach)
{
    if (count == 0) return true;
    for (int i = 0; i < count; i++) {
        const struct size *factor, *rest;
        if (!eq_split(w->c->sizes, a, open[i], &factor, &rest) || eq_names_vars(factor, open, count)) return false;
        if (!facts_prove_order(w->c->facts, reach, factor, 0)) continue;
        const struct size *span = size_sub(w->c->sizes, open[i]->high, open[i]->low),
                          *steps = span ? size_sub(w->c->sizes, span, size_const(w->c->sizes, 1)) : NULL,
                          *more = steps ? size_binary(w->c->sizes, SIZE_MUL, factor, steps) : NULL,
                          *next = more ? size_binary(w->c->sizes, SIZE_ADD, reach, more) : NULL;
        const struct eq_var *others[MAX_VARS];
        int left = 0;
        for (int k = 0; k < count; k++)
            if (k != i) others[left++] = open[k];
        if (next && are_digits(w, a, others, left, next)) return true;
    }
    return false;
}

/* The open variables that the index names, and only one of: it is read off an affine index whatever its factor. */
static bool reads_off(struct eq_work *w, const struct size *a, const struct eq_var *const *open, int count)
{
    const struct size *factor, *rest;
    if (count != 1) return are_digits(w, a, open, count, size_const(w->c->sizes, 1));
    if (!eq_split(w->c->sizes, a, open[0], &factor, &rest)) return false;
    return size_is_const(factor, NULL) || facts_prove_order(w->c->facts, size_const(w->c->sizes, 1), factor, 0);
}

static bool is_injective(struct eq_work *w, const struct eq_access *t, const struct eq_var *const *vars, int count)
{
    bool known[MAX_VARS] = {false}, changed = true;
    int left = count;
    if (count > MAX_VARS) return false;
    while (changed && left > 0) {
        changed = false;
        for (int d = 0; d < t->rank; d++) {
            const struct eq_var *open[MAX_VARS];
            int opens = 0;
            if (!t->index[d].size) continue;
            for (int i = 0; i < count; i++)
                if (!known[i] && size_names(t->index[d].size, vars[i]->symbol)) open[opens++] = vars[i];
            if (opens == 0 || !reads_off(w, t->index[d].size, open, opens)) continue;
            for (int i = 0; i < opens; i++) known[position(vars, count, open[i])] = true;
            left -= opens;
            changed = true;
        }
    }
    return left == 0;
}

static void check_injective(struct eq_work *w, struct eq_stmt *s)
{
    const struct eq_var *vars[MAX_VARS];
    int count = 0;
    for (int i = 0; i < s->loop_count && count < MAX_VARS; i++) vars[count++] = s->loops[i];
    for (int i = 0; i < s->free_count && count < MAX_VARS; i++) vars[count++] = s->frees[i];
    const size_t mark = facts_mark(w->c->facts);
    eq_know_vars(w, vars, count);
    const bool alone = is_injective(w, s->target, (const struct eq_var *const *)s->frees, s->free_count);
    s->is_injective = alone && is_injective(w, s->target, vars, count);
    facts_reset(w->c->facts, mark);
    s->carried |= !s->is_injective && s->loop_count > 0;
    if (alone || s->kind != EQ_ASSIGN) return;
    diag_error(w->c->diag, DIAG_E19, s->target->at,
               "'=' writes each element once, and this left side is not seen to be another one for each value of its "
               "variables");
    diag_help(w->c->diag, "'+=' adds in the order of the variables");
    w->failed = true;
}

/* ---- reads of what is written ------------------------------------------------------------------------------------ */

static bool same_place(const struct eq_access *a, const struct eq_access *b)
{
    for (int d = 0; d < a->rank; d++)
        if (!a->index[d].size || a->index[d].size != b->index[d].size) return false;
    return true;
}

/* In dimension d the read is where the write was `*back` iterations of loop v before; false: it is not. */
static bool is_behind(struct eq_work *w, const struct eq_access *write, const struct eq_access *read, int d,
                      const struct eq_var *v, int64_t *back)
{
    const struct size *factor, *rest, *x = write->index[d].size, *y = read->index[d].size;
    int64_t c, difference;
    if (!x || !y || !size_names(x, v->symbol)) return false;
    if (!eq_split(w->c->sizes, x, v, &factor, &rest) || !size_is_const(factor, &c) || c == 0) return false;
    for (int i = 0; i < write->stmt->free_count; i++)
        if (size_names(x, write->stmt->frees[i]->symbol)) return false;
    const struct size *gap = size_sub(w->c->sizes, x, y);
    if (!gap || !size_is_const(gap, &difference) || difference % c != 0) return false;
    *back = difference / c;
    return true;
}

static bool is_earlier(struct eq_work *w, const struct eq_access *write, const struct eq_access *read, int shared,
                       bool *carried)
{
    for (int i = 0; i < shared; i++)
        for (int d = 0; d < write->rank; d++) {
            int64_t back;
            if (!is_behind(w, write, read, d, write->stmt->loops[i], &back)) continue;
            if (back > 0) return *carried = true;
            if (back == 0 && write->stmt != read->stmt) return true;
        }
    return false;
}

static const void *object_of(const struct eq_access *a) { return a->formal ? (const void *)a->formal : a->temp; }

static const char *name_of(const struct eq_access *a) { return a->formal ? a->formal->name : a->temp->name; }

/* Loops that both statements stand in. */
static int shared_loops(const struct eq_stmt *a, const struct eq_stmt *b)
{
    int n = 0;
    while (n < a->loop_count && n < b->loop_count && a->loops[n] == b->loops[n]) n++;
    return n;
}

static bool check_read(struct eq_work *w, struct eq_stmt *writer, struct eq_stmt *reader, const struct eq_access *read)
{
    const int shared = shared_loops(writer, reader);
    const struct eq_access *write = writer->target;
    bool carried = false;
    if (object_of(write) != object_of(read) || (writer != reader && shared == 0)) return true;
    if (same_place(write, read)) return true;
    /* of the iteration at hand: it is whole */
    if (write->temp && write->temp->private_count > 0 && writer != reader) return true;
    if (is_earlier(w, write, read, shared, &carried)) {
        writer->carried |= carried;
        reader->carried |= carried;
        return true;
    }
    diag_error(w->c->diag, DIAG_E19, read->at, "'%s' is being written: it can be read only where it is written%s",
               name_of(read), shared > 0 ? ", or where an earlier iteration has written it" : "");
    diag_note(w->c->diag, write->at, "it is written here");
    diag_help(w->c->diag, "keep the values in a temporary first: let t[i] = ...;");
    w->failed = true;
    return false;
}

/* Has an earlier iteration of loop v written the element?  There is one wherever the read is made. */
static bool is_written_by(struct eq_work *w, const struct eq_access *write, const struct eq_access *read,
                          const struct eq_var *v)
{
    int64_t back = 1; /* where no index names v, each iteration writes the same */
    bool names = false, is_behind_all = true;
    for (int d = 0; d < write->rank; d++) {
        if (!write->index[d].size || !size_names(write->index[d].size, v->symbol)) continue;
        names = true;
        is_behind_all &= is_behind(w, write, read, d, v, &back) && back > 0;
    }
    if (names && !is_behind_all) return false;
    struct size_table *t = w->c->sizes;
    const struct size *first = size_binary(t, SIZE_ADD, v->low, size_const(t, back));
    const size_t mark = facts_mark(w->c->facts);
    eq_know_vars(w, read->vars, read->var_count);
    eq_know_guards(w, read);
    const bool is_later = facts_prove_order(w->c->facts, first, size_symbol(t, v->symbol), 0);
    facts_reset(w->c->facts, mark);
    return is_later;
}

static bool is_written_before(struct eq_work *w, const struct eq_stmt *s, const struct eq_access *read)
{
    if (s->id < read->stmt->id) return true;
    for (int i = 0, shared = shared_loops(s, read->stmt); i < shared; i++)
        if (is_written_by(w, s->target, read, s->loops[i])) return true;
    return false;
}

/* An `out` has no values before a statement gives it some. */
static void check_initialised(struct eq_work *w, const struct eq_access *read)
{
    if (!read->formal || read->formal->dir != DIR_OUT) return;
    for (size_t i = 0; i < w->stmts.count; i++) {
        const struct eq_stmt *s = w->stmts.data[i];
        if (s->target->formal != read->formal || s->kind != EQ_ASSIGN) continue;
        if (is_written_before(w, s, read)) return;
    }
    diag_error(w->c->diag, DIAG_E06, read->at, "'%s' is an 'out' that nothing has written before", read->formal->name);
    diag_help(w->c->diag, "an 'inout' has the values that the caller gave it");
    w->failed = true;
}

void eq_check_writes(struct eq_work *w)
{
    for (size_t i = 0; i < w->stmts.count; i++) check_injective(w, w->stmts.data[i]);
    for (size_t i = 0; i < w->accesses.count; i++) {
        struct eq_access *a = w->accesses.data[i];
        if (a->is_target) continue;
        bool is_good = true;
        for (size_t k = 0; k < w->stmts.count; k++)
            is_good &= check_read(w, w->stmts.data[k], (struct eq_stmt *)(uintptr_t)a->stmt, a);
        if (is_good) check_initialised(w, a);
    }
}
