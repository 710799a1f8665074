/* homes.c - `@dist(P, Q)`: the cells of a tensor, dealt to a grid of ranks.
 * Idea       a view says what the cells are: its tiles.  A `let` has bands.  What a distribution is about is the whole
 *            tensor, so one that a caller has given belongs to the function that has it whole: the entry, which the
 *            program exports.
 * Gives      errors; whether a tensor is distributed twice, or too late, is asked by the pass `homes`.
 * Tests      test/lit/sema/homes.pto w02-dist.pto
 */
#include "statements.h"

static int count_of(const struct ast *list)
{
    int count = 0;
    for (; list; list = list->next) count++;
    return count;
}

/* The tensor whose storage the statement names or makes; NULL: none. */
static const struct symbol *tensor_of(const struct ast *s)
{
    const struct symbol *named = s->symbol;
    if (s->kind == AST_VIEW) return named && named->region ? named->region->base : NULL;
    const bool is_new = s->kind == AST_LET && !s->decl.value && named;
    return is_new && named->type->kind == TYPE_TENSOR && !type_is_scalar_array(named->type) ? named : NULL;
}

static void check_number(struct checker *c, struct ast *x)
{
    int64_t number;
    if (x->bad || !x->value) return; /* without a value, the run asks */
    if (size_is_const(size_expand(c->sizes, x->value), &number) && number < 1) {
        diag_error(c->diag, DIAG_E15, x->at, "the number %lld of '@dist' must be at least 1", (long long)number);
        notes_bad(x);
    }
}

static bool is_of_entry(const struct checker *c, const struct symbol *tensor)
{
    return tensor->kind != SYM_FORMAL || c->function->decl->orch.exported;
}

void homes_check(struct checker *c, struct ast *s, const struct ast *a)
{
    const struct symbol *tensor = s->bad ? NULL : tensor_of(s);
    const int given = count_of(a->attr.args);
    for (struct ast *x = a->attr.args; x; x = x->next) check_number(c, x);
    if (s->bad) return;
    if (!tensor || tensor->is_var || tensor->dir == DIR_HOST) {
        diag_error(c->diag, DIAG_E17, a->at,
                   "'@dist' stands before a 'view' of a tensor, or the 'let' of a new one without a value");
        notes_bad(s);
    } else if (given != s->symbol->type->rank) {
        diag_error(c->diag, DIAG_E17, a->at, "'@dist' takes a number for each dimension of '%s', which has %d, not %d",
                   s->name, s->symbol->type->rank, given);
        notes_bad(s);
    } else if (!is_of_entry(c, tensor)) {
        diag_error(c->diag, DIAG_E17, a->at, "'%s' is an argument of '%s', which is no entry", tensor->name,
                   c->function->name);
        diag_help(c->diag,
                  "the function that has the whole tensor distributes it: an 'export orch', or the one with its "
                  "'let'");
        notes_bad(s);
    } else if (s->kind == AST_VIEW && tensor->region == NULL) {
        const struct region *r = s->symbol->region;
        bool is_box = r->base_rank > 0 && !r->steps;
        for (int d = 0; d < r->rank; d++) is_box &= r->base_dim[d] >= 0;
        s->symbol->is_named = true; /* the view has done its work, also where no task names its tiles */
        if (is_box) return;
        diag_error(c->diag, DIAG_E17, a->at, "the tiles of '%s' are no boxes of '%s'", s->name, tensor->name);
        notes_bad(s);
    }
}
