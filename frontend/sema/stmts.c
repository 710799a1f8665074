/* stmts.c - statements of a function.
 * Idea       one walk in program order; what a condition says is known where it holds, what a loop assigns is not known
 *            in it.
 * Gives      types, symbols, regions and run-time checks of a whole body.
 * Invariant  every statement has its own place for run-time checks, so none is made before the sizes it needs exist.
 * Tests      test/lit/sema/
 */
#include "decided.h"
#include "hoist.h"
#include "lookahead.h"
#include "statements.h"
#include "syntax/ast_walk.h"

static void check_block(struct checker *c, struct ast *block);

/* Its value may change while the condition is known. */
static bool visit_var(void *cx, struct ast *e)
{
    bool *found = cx;
    switch (e->kind) {
    case AST_NAME:
        *found |= e->symbol && (e->symbol->kind == SYM_VAR || (e->symbol->is_var && e->symbol->decided_count));
        return false;
    case AST_MEMBER: *found |= !e->symbol || e->symbol->kind == SYM_VAR; return false;
    case AST_INT:
    case AST_FLOAT:
    case AST_BOOL: return false;
    case AST_UNARY:
    case AST_BINARY:
    case AST_CALL:
    case AST_ARG: return true;
    default: *found = true; return false;
    }
}

static bool names_a_var(struct ast *e)
{
    bool found = false;
    ast_walk(e, visit_var, &found);
    return found;
}

/* ---- what a loop assigns ----------------------------------------------------------------------------------------- */

/* The call that is all that the statement evaluates: nothing else in it can show when the call changes a scalar. */
static const struct ast *call_alone(const struct ast *s)
{
    switch (s->kind) {
    case AST_EXPR_STMT: return s->expr_stmt.expr;
    case AST_VAR: return s->decl.value;
    case AST_LET: return s->decl.type ? NULL : s->decl.value;
    case AST_ASSIGN: return s->assign.target->kind == AST_NAME ? s->assign.value : NULL;
    case AST_RETURN: return s->ret.value;
    default: return NULL;
    }
}

static bool forget_assigned(void *cx, struct ast *s)
{
    struct checker *c = cx;
    const struct ast *call = call_alone(s);
    for (const struct ast *a = call && call->kind == AST_CALL ? call->call.args : NULL; a; a = a->next) {
        const bool changes = a->arg.dir == DIR_INOUT && a->arg.value->kind == AST_NAME;
        struct symbol *given = changes ? declare_lookup(c, a->arg.value->name) : NULL;
        if (given && given->kind == SYM_VAR) values_forget(c, given);
    }
    const bool names = s->kind == AST_ASSIGN && s->assign.target->kind == AST_NAME;
    struct symbol *v = names ? declare_lookup(c, s->assign.target->name) : NULL;
    if (v && v->kind == SYM_VAR) values_forget(c, v);
    if (v) decided_forget(c, v);
    return ast_is_statement(s);
}

/* Nothing is known any more about what the body of a loop assigns.  Scalars of structs change in many ways: by calls,
 * through second names. */
static void forget_in_loop(struct checker *c, struct ast *body)
{
    ast_walk(body, forget_assigned, c);
    for (const struct scope *o = c->scope; o; o = o->parent)
        for (size_t i = 0; i < o->names.count; i++)
            if (o->names.data[i]->field_count) structs_forget(c, o->names.data[i]);
}

/* ---- control ----------------------------------------------------------------------------------------------------- */

static void check_body(struct checker *c, struct ast *block)
{
    c->loop_depth++;
    check_block(c, block);
    c->loop_depth--;
}

static void check_for(struct checker *c, struct ast *s)
{
    const struct size *low = exprs_int(c, s->loop.low, "the start of a loop"),
                      *high = exprs_int(c, s->loop.high, "the end of a loop");
    const struct size *step =
                          s->loop.step ? exprs_size(c, s->loop.step, "the step of a loop") : size_const(c->sizes, 1),
                      *zero = size_const(c->sizes, 0);
    size_t mark = facts_mark(c->facts);
    if (step && size_expand(c->sizes, step) == zero) {
        diag_error(c->diag, DIAG_E15, s->loop.step->at, "the step is 0");
        step = NULL;
    }
    unreached_loop(c, s);
    names_push(c, NULL);
    struct symbol *i = names_new(c, SYM_LOOP, s->name, s);
    i->type = c->int_;
    s->symbol = i;
    names_declare(c, i, s->name_at);
    if (step && !facts_prove_order(c->facts, zero, step, 1) && !facts_prove_order(c->facts, step, zero, 1)) {
        struct check *k = region_check(c, CHECK_STEP, s->loop.step->at);
        if (k) k->a = step;
    }
    if (low && high && step) {
        const struct size *at = size_symbol(c->sizes, i);
        if (facts_prove_order(c->facts, zero, step, 1)) {
            facts_add_order(c->facts, low, at, 0);
            facts_add_order(c->facts, at, high, 1);
        } else if (facts_prove_order(c->facts, step, zero, 1)) {
            facts_add_order(c->facts, at, low, 0);
            facts_add_order(c->facts, high, at, 1);
        }
    }
    forget_in_loop(c, s->loop.body); /* the bounds were taken once; the names in them may change */
    struct open_for loop;
    hoist_enter(c, &loop, s, low, high, step);
    check_body(c, s->loop.body);
    hoist_leave(c, &loop);
    names_pop(c);
    facts_reset(c->facts, mark);
}

static void check_while(struct checker *c, struct ast *s)
{
    struct ast *cond = s->while_.cond, *body = s->while_.body;
    bool first = s->kind == AST_DO_WHILE;
    forget_in_loop(c, body);
    size_t mark = facts_mark(c->facts);
    if (first) check_body(c, body);
    bool good = exprs_condition(c, cond);
    if (!first) {
        if (good) facts_add_condition(c->facts, cond, true);
        check_body(c, body);
    }
    facts_reset(c->facts, mark);
    if (good && !lookahead_jumps(body).breaks) facts_add_condition(c->facts, cond, false);
}

/* What stands in these is not done whenever the statement is: no check leaves them. */
static void check_inside(struct checker *c, struct ast *s, void (*check)(struct checker *c, struct ast *s))
{
    struct open_for *outer = c->open_for;
    c->open_for = NULL;
    check(c, s);
    c->open_for = outer;
}

static void check_if(struct checker *c, struct ast *s);

static void check_branches(struct checker *c, struct ast *s)
{
    struct ast *cond = s->if_.cond, *other = s->if_.other;
    bool good = exprs_condition(c, cond);
    size_t mark = facts_mark(c->facts);
    const enum truth truth = exprs_truth(c, cond);
    const bool was_left_out = exprs_enter(c, truth, true);
    if (good) notes_of(c, cond)->truth = truth;
    if (good) facts_add_condition(c->facts, cond, true);
    check_block(c, s->if_.then);
    facts_reset(c->facts, mark);
    c->is_left_out = was_left_out;
    if (other) {
        exprs_enter(c, truth, false);
        if (good) facts_add_condition(c->facts, cond, false);
        if (other->kind == AST_IF) {
            struct check **outer = c->checks;
            c->checks = &notes_of(c, other)->checks;
            check_if(c, other);
            c->checks = outer;
        } else {
            check_block(c, other);
        }
        facts_reset(c->facts, mark);
        c->is_left_out = was_left_out;
    }
    if (!good || (other && names_a_var(cond))) return;
    if (lookahead_ends(s->if_.then))
        facts_add_condition(c->facts, cond, false);
    else if (other && lookahead_ends(other))
        facts_add_condition(c->facts, cond, true);
}

static void check_if(struct checker *c, struct ast *s) { check_inside(c, s, check_branches); }

static void check_match(struct checker *c, struct ast *s)
{
    const struct type *t = exprs_check(c, s->match.value, AS_VALUE);
    bool good = !s->match.value->bad;
    if (good && t->kind != TYPE_INT && t->kind != TYPE_BOOL) {
        diag_error(c->diag, DIAG_E02, s->match.value->at, "'match' needs an integer or a bool, not %s", type_str(c, t));
        good = false;
    }
    struct ptrmap seen = {0}; /* the value as a size, which is one pointer, -> where it stands */
    for (struct ast *arm = s->match.arms; arm; arm = arm->next) {
        size_t mark = facts_mark(c->facts);
        for (struct ast *v = arm->arm.values; v; v = v->next) {
            struct constant now;
            exprs_check(c, v, AS_VALUE);
            if (v->bad || !good) continue;
            if (v->type->kind != t->kind) {
                diag_error(c->diag, DIAG_E02, v->at, "the value is %s here, expected %s", type_str(c, v->type),
                           type_str(c, t));
                continue;
            }
            if (!consteval(c, v, &now)) continue;
            const struct size *value = size_const(c->sizes, now.i);
            const struct ast *before = ptrmap_get(&seen, value);
            if (before) {
                diag_error(c->diag, DIAG_E16, v->at, "this value is matched twice");
                diag_note(c->diag, before->at, "the first time is here");
            } else {
                ptrmap_set(&seen, value, v);
            }
        }
        const struct ast *only = arm->arm.values;
        if (good && only && !only->next && !only->bad && only->value && s->match.value->value)
            facts_add_equal(c->facts, s->match.value->value, only->value);
        check_block(c, arm->arm.body);
        facts_reset(c->facts, mark);
    }
    ptrmap_free(&seen);
    if (s->match.other) check_block(c, s->match.other);
}

/* ---- drop, assert, print ----------------------------------------------------------------------------------------- */

static void refuse_drop(struct checker *c, const struct ast *n)
{
    const struct symbol *x = n->kind == AST_NAME ? n->symbol : NULL;
    if (n->type->kind != TYPE_GRID && x && !x->region && x->alias_of)
        diag_error(c->diag, DIAG_E11, n->at, "'%s' is a second name of '%s': drop that", x->name, x->alias_of->name);
    else if (n->kind == AST_MEMBER && type_is_scalar(n->type))
        diag_error(c->diag, DIAG_E11, n->at, "'%s' is %s: only tensors can be dropped", place_str(c, n),
                   type_str(c, n->type));
    else
        diag_error(c->diag, DIAG_E11, n->at, "'%s' is a view: drop the tensor itself", place_str(c, n));
}

static void check_drop(struct checker *c, struct ast *s)
{
    for (struct ast *n = s->drop.names; n; n = n->next) {
        const bool is_place = n->kind == AST_NAME || n->kind == AST_MEMBER || n->kind == AST_INDEX;
        if (is_place)
            exprs_check(c, n, AS_PLACE);
        else
            diag_error(c->diag, DIAG_E11, n->at, "this is a value: only a tensor that has a name can be dropped");
        const struct symbol *x = is_place && !n->bad ? structs_owner(n) : NULL;
        const struct symbol *array = is_place && !n->bad ? structs_array_of(n) : NULL;
        if (array && structs_place(n)) structs_pieces(c, n);
        if (array && (array->kind == SYM_LET || array->dir == DIR_OWN)) continue;
        if (array) x = array;
        if (x && n->type->kind != TYPE_GRID && (n->type->kind == TYPE_TENSOR || type_is_struct(n->type))) {
            if (!array) n->symbol = (struct symbol *)(uintptr_t)x; /* of a field: its own */
            if (x->kind == SYM_LET || x->dir == DIR_OWN) continue;
            diag_error(c->diag, DIAG_E11, n->at, "'%s' is borrowed from the caller and cannot be dropped here",
                       place_str(c, n));
            diag_help(c->diag, "an 'own' formal could be dropped");
        } else if (x && n->type->kind != TYPE_GRID) {
            diag_error(c->diag, DIAG_E11, n->at, "'%s' is %s: only tensors can be dropped", place_str(c, n),
                       type_str(c, n->type));
        } else if (is_place && !n->bad) {
            refuse_drop(c, n);
        }
        notes_bad(n);
    }
}

static void check_assert(struct checker *c, struct ast *s)
{
    struct constant v;
    struct ast *cond = s->check.cond;
    if (s->check.message) s->check.message->type = c->string;
    if (!exprs_condition(c, cond)) return;
    int truth = consteval(c, cond, &v) ? v.i != 0 : facts_decide(c->facts, cond, NULL);
    if (c->is_left_out && s->kind == AST_ASSERT) return;
    if (truth == 0 || (truth < 0 && s->kind == AST_STATIC_ASSERT)) {
        diag_error(c->diag, DIAG_E20, cond->at, truth == 0 ? "'%s' is false" : "'%s' is not known at compile time",
                   place_str(c, cond));
        if (s->check.message && truth == 0)
            diag_note(c->diag, s->check.message->at, "%s", s->check.message->string.text);
        notes_bad(s);
    }
    if (truth != 0) facts_add_condition(c->facts, cond, true); /* from what is false everything would follow */
}

static void check_print(struct checker *c, struct ast *s)
{
    for (struct ast *v = s->print.values; v; v = v->next) {
        const struct type *t = exprs_check(c, v, AS_VALUE);
        if (!v->bad && type_is_struct(t) && structs_place(v))
            structs_pieces(c, v);
        else if (!v->bad && !type_is_scalar(t) && t->kind != TYPE_STRING && t->kind != TYPE_TENSOR)
            diag_error(c->diag, DIAG_E02, v->at, "%s cannot be printed", type_str(c, t));
    }
}

/* ---- which one it is --------------------------------------------------------------------------------------------- */

static void check_stmt(struct checker *c, struct ast *s)
{
    struct check **outer = c->checks;
    c->checks = &notes_of(c, s)->checks;
    c->statement = s->at;
    c->alone = call_alone(s);
    switch (s->kind) {
    case AST_LET: lets_check_let(c, s); break;
    case AST_VAR: lets_check_var(c, s); break;
    case AST_VIEW:
        attrs_check(c, s, NULL);
        indexing_view(c, s);
        break;
    case AST_EXPR_STMT:
        attrs_check(c, s, s->expr_stmt.expr);
        if (s->expr_stmt.expr->kind == AST_CALL) {
            calls_statement(c, s->expr_stmt.expr);
        } else {
            exprs_check(c, s->expr_stmt.expr, AS_PLACE);
            if (!s->expr_stmt.expr->bad)
                diag_error(c->diag, DIAG_E19, s->at, "this statement does nothing: '%s' is not called",
                           place_str(c, s->expr_stmt.expr));
        }
        break;
    case AST_ASSIGN: assign_check(c, s); break;
    case AST_FOR: check_for(c, s); break;
    case AST_WHILE:
    case AST_DO_WHILE: check_inside(c, s, check_while); break;
    case AST_IF: check_if(c, s); break;
    case AST_MATCH: check_inside(c, s, check_match); break;
    case AST_SCOPE:
        if (s->scope.label) s->scope.label->type = c->string;
        check_block(c, s->scope.body);
        break;
    case AST_BLOCK: check_block(c, s); break;
    case AST_DROP: check_drop(c, s); break;
    case AST_RETURN: returns_check(c, s); break;
    case AST_BREAK:
    case AST_CONTINUE:
        if (c->loop_depth == 0) {
            diag_error(c->diag, DIAG_E19, s->at, "'%s' outside of a loop", s->kind == AST_BREAK ? "break" : "continue");
            notes_bad(s);
        }
        break;
    case AST_ASSERT:
    case AST_STATIC_ASSERT: check_assert(c, s); break;
    case AST_PRINT: check_print(c, s); break;
    default: break;
    }
    if (s->attrs)
        attrs_check_statement(c, s,
                              s->kind == AST_LET         ? s->decl.value
                              : s->kind == AST_ASSIGN    ? s->assign.value
                              : s->kind == AST_EXPR_STMT ? s->expr_stmt.expr
                                                         : NULL);
    c->checks = outer;
}

static void check_block(struct checker *c, struct ast *block)
{
    size_t mark = facts_mark(c->facts);
    bool is_reported = false;
    names_push(c, block);
    for (struct ast *s = block->block.stmts; s; s = s->next) {
        check_stmt(c, s);
        is_reported = is_reported || unreached_behind(c, s);
        hoist_passed(c, s);
    }
    names_pop(c);
    facts_reset(c->facts, mark);
}

/* Whoever was given a tensor was given a real one. */
static void know_extents(struct checker *c, const struct symbol *s)
{
    for (const struct type *t = s->type; t && t->kind != TYPE_ERROR; t = t->element)
        for (int k = 0; k < t->rank; k++) facts_add(c->facts, t->extent[k]);
    for (int i = 0; i < s->field_count; i++) know_extents(c, s->fields[i]);
}

void stmts_function(struct checker *c, struct symbol *s)
{
    struct ast *d = s->decl;
    c->function = s;
    c->loop_depth = 0;
    c->open_for = NULL;
    c->closed.count = 0;
    c->elements.count = 0;
    declare_body_scope(c, s);
    for (int i = 0; i < s->formal_count; i++) know_extents(c, s->formals[i]);
    for (int i = 0; i < s->dim_count; i++) { /* calls and entries see to it */
        const struct size *dim = size_symbol(c->sizes, s->dims[i]);
        if (!facts_prove(c->facts, dim)) facts_add(c->facts, dim);
    }
    c->checks = &notes_of(c, d->orch.body)->checks;
    for (struct ast *f = d->orch.formals; f; f = f->next) lost_check_type(c, f->formal.type);
    lost_check_type(c, d->orch.result);
    c->checks = NULL;
    check_block(c, d->orch.body);
    if (s->result->kind != TYPE_VOID && s->result->kind != TYPE_ERROR && !lookahead_ends(d->orch.body)) {
        struct span end = {d->at.file, d->at.end - 1, d->at.end};
        diag_error(c->diag, DIAG_E19, end, "'%s' can come to its end without a 'return'", s->name);
    }
    names_pop(c);
    facts_reset(c->facts, 0);
    c->function = NULL;
}
