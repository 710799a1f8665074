/* agree.c - is a tensor or struct of the type that is expected?
 * Idea       kinds, elements and ranks are compared as they are, extents by what is known where the question stands.
 * Tests      test/lit/sema/e02*.pto e03*.pto e04*.pto
 */
#include "checker.h"
#include <string.h>

/* The assertion that would make them equal; as a fix, where it can stand as it is. */
static void say_assert(struct checker *c, const char *a, const char *b)
{
    static const char *const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ +-*/%()";
    const char *text = arena_printf(c->mem, "assert %s == %s;", a, b);
    bool is_plain = c->function && c->statement.end > 0 && strlen(a) < 60 && strlen(b) < 60 &&
                    a[strspn(a, plain)] == '\0' && b[strspn(b, plain)] == '\0';
    struct span at = {c->statement.file, c->statement.begin, c->statement.begin};
    if (is_plain)
        diag_fix(c->diag, at, arena_printf(c->mem, "%s ", text), "if they are equal, state it: %s", text);
    else
        diag_help(c->diag, "if they are equal, state it: %s", text);
}

/* A value in this size that has no name in the program: a call, an await. */
static const struct symbol *nameless(const struct size *a)
{
    if (a->kind == SIZE_SYMBOL && a->symbol->hidden && a->symbol->decl && taken_of(a->symbol->decl) == a->symbol)
        return a->symbol;
    for (int i = 0; i < a->count; i++)
        if (nameless(a->arg[i])) return nameless(a->arg[i]);
    return NULL;
}

/* Does it name an extent that the run decides in this statement, and no text can name before it? */
static bool is_decided_here(const struct checker *c, const struct size *a)
{
    bool found = a->kind == SIZE_SYMBOL && a->symbol->decided_name && a->symbol->decl &&
                 a->symbol->decl->at.begin >= c->statement.begin;
    for (int i = 0; i < a->count && !found; i++) found = is_decided_here(c, a->arg[i]);
    return found;
}

static bool same_extents(struct checker *c, struct span at, const char *what, const struct type *got,
                         const struct type *want)
{
    for (int d = 0; d < want->rank; d++) {
        if (facts_prove_equal(c->facts, got->extent[d], want->extent[d])) continue;
        diag_error(c->diag, DIAG_E04, at, "%s is %s here, expected %s: extent %d is %s, not %s", what, type_str(c, got),
                   type_str(c, want), d, size_str(c, got->extent[d]), size_str(c, want->extent[d]));
        const struct size *a = size_expand(c->sizes, got->extent[d]), *b = size_expand(c->sizes, want->extent[d]);
        const struct symbol *value = nameless(a) ? nameless(a) : nameless(b);
        if (want->rank == 2 && facts_prove_equal(c->facts, got->extent[1 - d], want->extent[d]) &&
            (d == 1 || got->extent[0] != got->extent[1]))
            diag_help(c->diag, "its dimensions are perhaps in the other order: a transposed tensor is needed");
        else if (a && b && strcmp(size_str(c, a), size_str(c, b)) == 0)
            diag_help(c->diag, "%s is evaluated twice here, and may differ: give it a name first with 'let'",
                      size_str(c, a));
        else if (a && b && (is_decided_here(c, a) || is_decided_here(c, b)))
            diag_help(c->diag,
                      "the run decides this extent: give the result a name, then state what it has to be: "
                      "let y = ...; assert dim(y, %d) == ...;",
                      d);
        else if (value)
            diag_help(c->diag, "give the value a name, and state what it equals: let k = %s; assert k == ...;",
                      value->name);
        else if (!a || !b || !facts_prove_apart(c->facts, a, b)) /* the assertion is not known to be false */
            say_assert(c, size_str(c, a), size_str(c, b));
        return false;
    }
    return true;
}

bool agree_type(struct checker *c, struct span at, const char *what, const struct type *got, const struct type *want)
{
    if (got->kind == TYPE_ERROR || want->kind == TYPE_ERROR) return true;
    if (!derive_same_structure(got, want) || (got->kind != TYPE_TENSOR && !type_is_struct(got))) {
        if (got->kind == want->kind && type_is_scalar(got)) return true;
        diag_error(c->diag, got->kind == TYPE_GRID || got->kind == want->kind ? DIAG_E03 : DIAG_E02, at,
                   "%s is %s here, expected %s", what, type_str(c, got), type_str(c, want));
        if (got->kind == TYPE_GRID && want->kind == TYPE_TENSOR)
            diag_help(c->diag, "index the tiled view to get one tile");
        return false;
    }
    if (got->kind == TYPE_ARRAY) {
        if (!facts_prove_equal(c->facts, got->extent[0], want->extent[0])) {
            diag_error(c->diag, DIAG_E04, at, "%s is %s here, expected %s", what, type_str(c, got), type_str(c, want));
            return false;
        }
        return agree_type(c, at, what, got->element, want->element);
    }
    if (got->elem != want->elem || type_is_scalar_array(got) != type_is_scalar_array(want)) {
        diag_error(c->diag, DIAG_E02, at, "%s is %s here, expected %s", what, type_str(c, got), type_str(c, want));
        return false;
    }
    if (got->rank != want->rank) {
        diag_error(c->diag, DIAG_E03, at, "%s is %s here, expected %s: rank %d, not %d", what, type_str(c, got),
                   type_str(c, want), got->rank, want->rank);
        return false;
    }
    return same_extents(c, at, what, got, want);
}
