/* attrs.c - attributes before a statement: which there are, and their arguments.
 * Tests      test/lit/sema/e17*.pto, homes*.pto
 */
#include "statements.h"
#include "support/nearest.h"
#include <string.h>

/* What the arguments of an attribute are, and before which statements it stands. */
enum takes { TAKES_INTEGER, TAKES_STRING, TAKES_RANK, TAKES_GRID };

static const struct attribute {
    const char *name;
    enum takes takes;
    bool may_name_ranks; /* it changes no result */
} attributes[] = {
    {"priority", TAKES_INTEGER, true}, {"name", TAKES_STRING, false}, {"timeout", TAKES_INTEGER, false},
    {"at", TAKES_RANK, true},          {"dist", TAKES_GRID, true},
};
enum { ATTRIBUTES = sizeof attributes / sizeof *attributes };

const char *attrs_name(int i) { return i < ATTRIBUTES ? attributes[i].name : NULL; }

struct ast *attrs_find(const struct ast *s, const char *name)
{
    struct ast *a = s->attrs;
    while (a && strcmp(a->name, name) != 0) a = a->next;
    return a;
}

static void refuse_name(struct checker *c, const struct ast *a)
{
    const char *names[ATTRIBUTES], *near;
    for (int i = 0; i < ATTRIBUTES; i++) names[i] = attributes[i].name;
    near = nearest_word(a->name, names, ATTRIBUTES);
    diag_error(c->diag, DIAG_E17, a->name_at, "unknown attribute '@%s'", a->name);
    if (near)
        diag_fix(c->diag, a->name_at, near, "did you mean '@%s'?", near);
    else
        diag_help(c->diag, "attributes are @priority(n), @name(\"text\"), @timeout(ms), @at(t[i, j]) and @dist(P, Q)");
}

static bool is_tensor(const struct ast *x) { return x->type->kind == TYPE_TENSOR && region_of(x); }

/* Its value would be a rank, so `await` is no likely fix: a place is meant. */
static void refuse_element(struct checker *c, const struct ast *a, struct ast *x)
{
    diag_error(c->diag, DIAG_E02, x->at, "'@%s' takes a rank or a piece of a tensor, not the element '%s'", a->name,
               place_str(c, x));
    if (x->kind == AST_INDEX)
        diag_fix(c->diag, (struct span){x->at.file, x->at.end - 1, x->at.end - 1}, " +: 1",
                 "take the piece that begins there");
    notes_bad(x);
}

static void check_argument(struct checker *c, const struct ast *a, enum takes takes, struct ast *x)
{
    exprs_check(c, x, takes == TAKES_RANK ? AS_PLACE : AS_VALUE);
    if (x->bad || (takes == TAKES_RANK && is_tensor(x))) return;
    if (takes == TAKES_RANK && region_of(x) && !region_is_host(region_of(x))) {
        refuse_element(c, a, x);
    } else if (x->type->kind != (takes == TAKES_STRING ? TYPE_STRING : TYPE_INT)) {
        diag_error(c->diag, DIAG_E02, x->at, "'@%s' takes %s, not %s", a->name,
                   takes == TAKES_STRING ? "a string"
                   : takes == TAKES_RANK ? "a rank or a piece of a tensor"
                                         : "an integer",
                   type_str(c, x->type));
        notes_bad(x);
    }
}

static void check_known(struct checker *c, const struct ast *s, struct ast *a, const struct attribute *known,
                        const struct ast *value)
{
    for (const struct ast *b = s->attrs; b != a; b = b->next) {
        if (b->name != a->name) continue;
        diag_error(c->diag, DIAG_E17, a->name_at, "attribute '@%s' is given twice", a->name);
        break;
    }
    const bool is_grid = known->takes == TAKES_GRID;
    if (!is_grid && (!a->attr.args || a->attr.args->next))
        diag_error(c->diag, DIAG_E17, a->at, "'@%s' takes one argument", a->name);
    c->may_name_ranks = known->may_name_ranks;
    for (struct ast *x = a->attr.args; x; x = x->next) check_argument(c, a, known->takes, x);
    c->may_name_ranks = false;
    if (!is_grid && (!value || value->kind != AST_CALL))
        diag_error(c->diag, DIAG_E17, a->at, "'@%s' stands before a statement that is no call", a->name);
}

void attrs_check(struct checker *c, struct ast *s, const struct ast *value)
{
    for (struct ast *a = s->attrs; a; a = a->next) {
        int i = 0;
        while (i < ATTRIBUTES && strcmp(attributes[i].name, a->name) != 0) i++;
        if (i < ATTRIBUTES) {
            check_known(c, s, a, &attributes[i], value);
            continue;
        }
        refuse_name(c, a);
        for (struct ast *x = a->attr.args; x; x = x->next) exprs_check(c, x, AS_VALUE);
    }
}

static void check_timeout(struct checker *c, const struct ast *a)
{
    int64_t ms;
    if (a->attr.args && !a->attr.args->bad && size_is_const(a->attr.args->value, &ms) && ms < 1)
        diag_error(c->diag, DIAG_E15, a->attr.args->at,
                   "the limit %lld of '@timeout' must be at least 1 (milliseconds)", (long long)ms);
}

void attrs_check_statement(struct checker *c, struct ast *s, const struct ast *value)
{
    const struct call *call = value && value->kind == AST_CALL ? call_of(value) : NULL;
    for (const struct ast *a = s->attrs; a; a = a->next) {
        const bool is_timeout = strcmp(a->name, "timeout") == 0;
        if (is_timeout) check_timeout(c, a);
        if (strcmp(a->name, "dist") == 0) homes_check(c, s, a);
        if (!(is_timeout || strcmp(a->name, "at") == 0) || !call || call->callee->kind != SYM_ORCH) continue;
        if (a->attr.args && a->attr.args->bad) continue;
        diag_error(c->diag, DIAG_E17, a->at, "'@%s' is for a kernel, '%s' is a function", a->name, call->callee->name);
        diag_help(c->diag, "put it before the calls of kernels in '%s'", call->callee->name);
    }
}
