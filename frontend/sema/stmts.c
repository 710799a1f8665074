/* stmts.c - statements of a function.
 * Idea       one walk in program order; what a condition says is known where it holds, what a loop assigns is not known
 *            in it.
 * Gives      types, symbols, regions and run-time checks of a whole body.
 * Invariant  every statement has its own place for run-time checks, so none is made before the sizes it needs exist.
 * Tests      test/lit/sema/
 */
#include "hoist.h"
#include "support/nearest.h"
#include <string.h>

/* A let of a larger value is a name of its own: values share their parts, and written out they double from let to
 * let. */
enum { MAX_DEFINITION = 500 };

static void check_block(struct checker *c, struct ast *block);

/* ---- questions about statements ---------------------------------------------------------------------------------- */

static bool has_break(const struct ast *s)
{
    for (; s; s = s->next) switch (s->kind) {
        case AST_BREAK: return true;
        case AST_BLOCK:
            if (has_break(s->block.stmts)) return true;
            break;
        case AST_SCOPE:
            if (has_break(s->scope.body->block.stmts)) return true;
            break;
        case AST_IF:
            if (has_break(s->if_.then->block.stmts)) return true;
            if (s->if_.other &&
                (s->if_.other->kind == AST_IF ? has_break(s->if_.other) : has_break(s->if_.other->block.stmts)))
                return true;
            break;
        case AST_MATCH:
            for (const struct ast *a = s->match.arms; a; a = a->next)
                if (has_break(a->arm.body->block.stmts)) return true;
            if (s->match.other && has_break(s->match.other->block.stmts)) return true;
            break;
        default: break;
        }
    return false;
}

static bool ends(const struct ast *s);

static bool list_ends(const struct ast *s)
{
    for (; s; s = s->next)
        if (ends(s)) return true;
    return false;
}

/* Control never comes out at the end of this statement. */
static bool ends(const struct ast *s)
{
    switch (s->kind) {
    case AST_RETURN:
    case AST_BREAK:
    case AST_CONTINUE: return true;
    case AST_BLOCK: return list_ends(s->block.stmts);
    case AST_SCOPE: return list_ends(s->scope.body->block.stmts);
    case AST_IF: return s->if_.other && ends(s->if_.then) && ends(s->if_.other);
    case AST_WHILE:
        return s->while_.cond->kind == AST_BOOL && s->while_.cond->boolean.value &&
               !has_break(s->while_.body->block.stmts);
    case AST_MATCH:
        for (const struct ast *a = s->match.arms; a; a = a->next)
            if (!ends(a->arm.body)) return false;
        return s->match.other && ends(s->match.other);
    default: return false;
    }
}

static bool names_a_var(const struct ast *e)
{
    if (!e) return false;
    switch (e->kind) {
    case AST_NAME: return e->symbol && e->symbol->kind == SYM_VAR;
    case AST_UNARY: return names_a_var(e->binary.left);
    case AST_BINARY: return names_a_var(e->binary.left) || names_a_var(e->binary.right);
    case AST_CALL:
        for (const struct ast *a = e->call.args; a; a = a->next)
            if (names_a_var(a->arg.value)) return true;
        return false;
    case AST_MEMBER: return !e->symbol || e->symbol->kind == SYM_VAR;
    case AST_INT:
    case AST_FLOAT:
    case AST_BOOL: return false;
    default: return true;
    }
}

const struct symbol *stmts_forget(struct checker *c, struct symbol *var)
{
    struct symbol *old = names_new(c, SYM_LET, var->name, var->decl);
    old->hidden = true;
    old->type = var->type;
    facts_forget(c->facts, var, old);
    exprs_forget(c, var);
    return old;
}

/* Nothing is known any more about what these statements assign. */
static void forget_assigned(struct checker *c, const struct ast *s)
{
    for (; s; s = s->next) {
        struct symbol *v;
        switch (s->kind) {
        case AST_ASSIGN:
            v = s->assign.target->kind == AST_NAME ? names_lookup(c, s->assign.target->name) : NULL;
            if (v && v->kind == SYM_VAR) stmts_forget(c, v);
            break;
        case AST_BLOCK: forget_assigned(c, s->block.stmts); break;
        case AST_SCOPE: forget_assigned(c, s->scope.body->block.stmts); break;
        case AST_FOR: forget_assigned(c, s->loop.body->block.stmts); break;
        case AST_WHILE:
        case AST_DO_WHILE: forget_assigned(c, s->while_.body->block.stmts); break;
        case AST_IF:
            forget_assigned(c, s->if_.then->block.stmts);
            if (s->if_.other)
                forget_assigned(c, s->if_.other->kind == AST_IF ? s->if_.other : s->if_.other->block.stmts);
            break;
        case AST_MATCH:
            for (const struct ast *a = s->match.arms; a; a = a->next) forget_assigned(c, a->arm.body->block.stmts);
            if (s->match.other) forget_assigned(c, s->match.other->block.stmts);
            break;
        default: break;
        }
    }
}

/* The same before the body of a loop.  Scalars of structs change in many ways: by calls, through second names. */
static void forget_in_loop(struct checker *c, const struct ast *body)
{
    forget_assigned(c, body);
    for (const struct scope *o = c->scope; o; o = o->parent)
        for (size_t i = 0; i < o->names.count; i++)
            if (o->names.data[i]->field_count) structs_forget(c, o->names.data[i]);
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static void check_attrs(struct checker *c, struct ast *s, const struct ast *value)
{
    static const char *const known[] = {"priority", "name", "timeout"};
    for (struct ast *a = s->attrs; a; a = a->next) {
        bool found = false, is_name = strcmp(a->name, "name") == 0;
        for (size_t i = 0; i < 3; i++) found |= strcmp(known[i], a->name) == 0;
        if (!found) {
            const char *near = nearest_word(a->name, known, 3);
            diag_error(c->diag, DIAG_E17, a->name_at, "unknown attribute '@%s'", a->name);
            if (near)
                diag_fix(c->diag, a->name_at, near, "did you mean '@%s'?", near);
            else
                diag_help(c->diag, "attributes are @priority(n), @name(\"text\") and @timeout(ms)");
            for (struct ast *x = a->attr.args; x; x = x->next) exprs_check(c, x, AS_VALUE);
            continue;
        }
        for (const struct ast *b = s->attrs; b != a; b = b->next) {
            if (b->name != a->name) continue;
            diag_error(c->diag, DIAG_E17, a->name_at, "attribute '@%s' is given twice", a->name);
            break;
        }
        struct ast *arg = a->attr.args;
        if (!arg || arg->next) diag_error(c->diag, DIAG_E17, a->at, "'@%s' takes one argument", a->name);
        for (struct ast *x = arg; x; x = x->next) {
            exprs_check(c, x, AS_VALUE);
            if (x->bad || x->type->kind == (is_name ? TYPE_STRING : TYPE_INT)) continue;
            diag_error(c->diag, DIAG_E02, x->at, "'@%s' takes %s, not %s", a->name, is_name ? "a string" : "an integer",
                       type_str(c, x->type));
        }
        if (!value || value->kind != AST_CALL)
            diag_error(c->diag, DIAG_E17, a->at, "'@%s' stands before a statement that is no call", a->name);
    }
}

/* What holds only for a call that is known: @timeout is about one kernel. */
static void check_timeout(struct checker *c, const struct ast *s, const struct ast *value)
{
    for (const struct ast *a = s->attrs; a; a = a->next) {
        int64_t ms;
        const struct call *call = value && value->kind == AST_CALL ? call_of(value) : NULL;
        if (strcmp(a->name, "timeout") != 0 || !a->attr.args || a->attr.args->bad) continue;
        if (size_is_const(a->attr.args->value, &ms) && ms < 1)
            diag_error(c->diag, DIAG_E15, a->attr.args->at,
                       "the limit %lld of '@timeout' must be at least 1 (milliseconds)", (long long)ms);
        if (!call || call->callee->kind != SYM_ORCH) continue;
        diag_error(c->diag, DIAG_E17, a->at, "'@timeout' is for a kernel, '%s' is a function", call->callee->name);
        diag_help(c->diag, "put it before the calls of kernels in '%s'", call->callee->name);
    }
}

/* ---- let, var ---------------------------------------------------------------------------------------------------- */

struct return_scan {
    const char *name;
    int same, other;
};

static bool is_named(const struct ast *e, const char *name) { return e && e->kind == AST_NAME && e->name == name; }

/* A call in it moves the tensor of this name away. */
static bool moves(const struct ast *e, const char *name)
{
    if (!e || e->kind != AST_CALL) return false;
    for (const struct ast *a = e->call.args; a; a = a->next)
        if ((a->arg.dir == DIR_OWN && is_named(a->arg.value, name)) || moves(a->arg.value, name)) return true;
    return false;
}

static bool drops(const struct ast *s, const char *name)
{
    for (const struct ast *n = s->drop.names; n; n = n->next)
        if (is_named(n, name)) return true;
    return false;
}

static void scan_returns(const struct ast *s, struct return_scan *r, bool hidden)
{
    for (; s; s = s->next) {
        switch (s->kind) {
        case AST_LET:
        case AST_VAR:
        case AST_VIEW:
            if (s->kind != AST_VIEW && !hidden && moves(s->decl.value, r->name)) r->other++;
            hidden |= s->name == r->name;
            break;
        case AST_RETURN:
            if (!hidden && is_named(s->ret.value, r->name))
                r->same++;
            else
                r->other++;
            break;
        case AST_EXPR_STMT:
            if (!hidden && moves(s->expr_stmt.expr, r->name)) r->other++;
            break;
        case AST_ASSIGN:
            if (!hidden && moves(s->assign.value, r->name)) r->other++;
            break;
        case AST_DROP:
            if (!hidden && drops(s, r->name)) r->other++;
            break;
        case AST_BLOCK: scan_returns(s->block.stmts, r, hidden); break;
        case AST_SCOPE: scan_returns(s->scope.body->block.stmts, r, hidden); break;
        case AST_FOR: scan_returns(s->loop.body->block.stmts, r, hidden || s->name == r->name); break;
        case AST_WHILE:
        case AST_DO_WHILE: scan_returns(s->while_.body->block.stmts, r, hidden); break;
        case AST_IF:
            scan_returns(s->if_.then->block.stmts, r, hidden);
            for (const struct ast *o = s->if_.other; o; o = o->kind == AST_IF ? o->if_.other : NULL)
                scan_returns(o->kind == AST_IF ? o->if_.then->block.stmts : o->block.stmts, r, hidden);
            break;
        case AST_MATCH:
            for (const struct ast *a = s->match.arms; a; a = a->next) scan_returns(a->arm.body->block.stmts, r, hidden);
            if (s->match.other) scan_returns(s->match.other->block.stmts, r, hidden);
            break;
        default: break;
        }
    }
}

/* Every return that can follow this let in its block returns it: it can live where the result goes. */
static bool is_returned(struct checker *c, const struct ast *let)
{
    struct return_scan r = {.name = let->name};
    if (!c->function->result_place) return false;
    scan_returns(let->next, &r, false);
    return r.same > 0 && r.other == 0;
}

static bool is_task_call(struct checker *c, const struct ast *e)
{
    return e->kind == AST_CALL && (e->call.callee->kind != AST_NAME || names_lookup(c, e->call.callee->name) ||
                                   !names_is_builtin(e->call.callee->name));
}

/* A let that is returned lies in the place of the result. */
static void set_returned(struct checker *c, struct symbol *let)
{
    const struct type *a = let->type, *b = c->function->result;
    for (; a->kind == TYPE_ARRAY && b->kind == TYPE_ARRAY; a = a->element) b = b->element;
    bool same = a->kind == b->kind && a->structure == b->structure; /* else it is an error, said at the return */
    structs_set_returned(let, let->returned && same ? c->function->result_place : NULL);
}

static void let_storage(struct checker *c, struct ast *s, struct symbol *let, const struct type *t)
{
    if (type_is_scalar(t)) {
        diag_error(c->diag, DIAG_E19, s->at, "'%s' has no value: a let of a scalar never changes", let->name);
        diag_help(c->diag, "give it one here, or make it a 'var'");
        return;
    }
    let->type = t;
    region_check_extents(c, t, s->decl.type);
    let->type = region_capture_type(c, let, t);
    structs_declare_fields(c, let);
    set_returned(c, let);
}

static const struct type *with_array_rank(struct checker *c, const struct type *t, int array_rank)
{
    struct type *r = arena_new(c->mem, struct type);
    *r = *t;
    r->array_rank = array_rank;
    return r;
}

static void let_value(struct checker *c, struct ast *s, struct symbol *let, const struct type *want)
{
    struct ast *v = s->decl.value;
    const char *what = arena_printf(c->mem, "'%s'", let->name);
    struct target target = {.let = let, .declared = want};
    let->returned = is_returned(c, s);
    if (let->returned && c->function->result->kind == TYPE_TENSOR) let->place = c->function->result_place;
    const struct type *t = is_task_call(c, v) ? calls_value(c, v, &target) : exprs_check(c, v, AS_VALUE);
    if (v->bad) return;
    if (want && type_is_scalar(want) && type_is_scalar(t)) {
        if (!exprs_fits(c, v, want, what)) return;
        t = want;
    } else if (want && !calls_same_type(c, v->at, what, t, want)) {
        if (type_is_scalar_array(want) && type_is_scalar(t))
            diag_help(c->diag, "without a value the array begins with zeros");
        return;
    }
    switch (t->kind) {
    case TYPE_INT:
        let->type = t;
        if (!v->value) return;
        if (size_names_var(v->value))
            facts_add_equal(c->facts, size_symbol(c->sizes, let), v->value);
        else if (!v->value || size_node_count(size_expand(c->sizes, v->value), MAX_DEFINITION) < MAX_DEFINITION)
            let->definition = v->value;
        return;
    case TYPE_F64:
    case TYPE_F32:
    case TYPE_BOOL: let->type = t; return;
    case TYPE_TENSOR:
        if (v->kind == AST_CALL) { /* its type was set with the call; the declared one says what is an array */
            if (want) v->type = let->type = with_array_rank(c, let->type, want->array_rank);
            return;
        }
        structs_set_returned(let, NULL);
        let->type = region_capture_type(c, let, t);
        let->region = region_capture_region(c, let, region_of(v));
        return;
    case TYPE_STRUCT:
    case TYPE_ARRAY:
        if (v->kind == AST_CALL) return; /* declared with the call */
        structs_set_returned(let, NULL);
        structs_alias(c, let, structs_place(v), t);
        return;
    default:
        diag_error(c->diag, DIAG_E19, v->at, "'%s' cannot be %s", let->name, type_str(c, t));
        if (t->kind == TYPE_STRING) diag_help(c->diag, "strings stand only in 'print' and 'assert'");
        if (t->kind == TYPE_GRID) diag_help(c->diag, "a tiled view is named by 'view'");
    }
}

static void check_let(struct checker *c, struct ast *s)
{
    struct symbol *let = names_new(c, SYM_LET, s->name, s);
    const struct type *t = s->decl.type ? declare_type(c, s->decl.type) : NULL;
    s->symbol = let;
    check_attrs(c, s, s->decl.value);
    if (!t && !s->decl.value) {
        diag_error(c->diag, DIAG_E19, s->at, "'%s' has neither a type nor a value", s->name);
        diag_help(c->diag, "let %s: f32[N]; names a tensor, let %s = ...; a value", s->name, s->name);
    } else if (t && t->kind == TYPE_ERROR) {
        if (s->decl.value) exprs_check(c, s->decl.value, AS_PLACE);
    } else if (s->decl.value) {
        let_value(c, s, let, t);
    } else {
        let->returned = is_returned(c, s);
        let_storage(c, s, let, t);
    }
    if (let->type->kind == TYPE_ERROR) exprs_bad(s);
    names_declare(c, let, s->name_at);
}

static void check_var(struct checker *c, struct ast *s)
{
    struct symbol *var = names_new(c, SYM_VAR, s->name, s);
    struct ast *v = s->decl.value;
    const struct type *want = s->decl.type ? declare_type(c, s->decl.type) : NULL, *got = exprs_check(c, v, AS_VALUE);
    s->symbol = var;
    if (!v->bad && (!want || want->kind != TYPE_ERROR)) {
        if (!want) want = got;
        if (!type_is_scalar(want)) {
            diag_error(c->diag, DIAG_E19, s->at, "a var is a scalar, not %s", type_str(c, want));
            if (!s->attrs)
                diag_fix(c->diag, (struct span){s->at.file, s->at.begin, s->at.begin + 3}, "let",
                         want->kind == TYPE_ARRAY || want->array_rank > 0
                             ? "arrays are named by 'let'; the elements of one of scalars can change"
                             : "tensors are named by 'let' and never change");
        } else if (exprs_fits(c, v, want, arena_printf(c->mem, "'%s'", s->name))) {
            var->type = want;
            if (v->value && want->kind == TYPE_INT) facts_add_equal(c->facts, size_symbol(c->sizes, var), v->value);
        }
    }
    if (var->type->kind == TYPE_ERROR) exprs_bad(s);
    names_declare(c, var, s->name_at);
}

/* ---- assignment -------------------------------------------------------------------------------------------------- */

/* May this function write there? */
static bool check_assignable(struct checker *c, struct ast *place, const struct symbol *base)
{
    if (base->kind != SYM_FORMAL || (base->dir != DIR_IN && base->dir != DIR_HOST && base->dir != DIR_ACC)) return true;
    diag_error(c->diag, DIAG_E08, place->at, "'%s' is an '%s' formal of '%s' and cannot be written here", base->name,
               direction_text(base->dir), c->function->name);
    const struct ast *d = base->decl;
    diag_note(c->diag, d->at, "'%s' is declared here", base->name);
    diag_fix(c->diag,
             d->formal.dir == DIR_NONE ? (struct span){d->at.file, d->name_at.begin, d->name_at.begin}
                                       : d->formal.dir_at,
             d->formal.dir == DIR_NONE ? "out " : "out", "make it 'out'");
    return false;
}

static void assign_scalar(struct checker *c, struct ast *s, struct symbol *target)
{
    struct ast *v = s->assign.value;
    exprs_check(c, v, AS_VALUE);
    /* a field */
    if (target->kind == SYM_FORMAL && target->decl->kind == AST_FORMAL && target->name != target->decl->name) {
        check_assignable(c, s->assign.target, target);
        exprs_bad(s);
        return;
    }
    if (target->kind != SYM_VAR) {
        static const char *const text[] = {
            [SYM_CONST] = "const",   [SYM_PARAM] = "param", [SYM_DIM] = "dimension variable",
            [SYM_FORMAL] = "formal", [SYM_LET] = "let",     [SYM_LOOP] = "loop variable"};
        diag_error(c->diag, DIAG_E19, s->assign.target->at, "'%s' is a %s and never changes", target->name,
                   text[target->kind]);
        diag_note(c->diag, target->decl->name_at, "'%s' is declared here", target->name);
        if (target->kind != SYM_LET)
            diag_help(c->diag, "a copy of it may change: var k = %s;", target->name);
        else if (!target->decl->attrs)
            diag_fix(c->diag, (struct span){target->decl->at.file, target->decl->at.begin, target->decl->at.begin + 3},
                     "var", "make it a 'var'");
        exprs_bad(s);
        return;
    }
    bool fits = exprs_fits(c, v, target->type, arena_printf(c->mem, "'%s'", target->name));
    const struct symbol *var = target;
    const struct size *old = size_symbol(c->sizes, stmts_forget(c, target)), *value = NULL;
    if (!fits)
        exprs_bad(s);
    else if (v->value && target->type->kind == TYPE_INT)
        value = size_substitute(c->sizes, v->value, &var, &old, 1);
    if (value) facts_add_equal(c->facts, size_symbol(c->sizes, target), value);
}

/* An element of an array of scalars. */
static void assign_element(struct checker *c, struct ast *s)
{
    struct ast *place = s->assign.target, *v = s->assign.value;
    exprs_check(c, v, AS_VALUE);
    if (!check_assignable(c, place, region_of(place)->base) ||
        !exprs_fits(c, v, place->type, arena_printf(c->mem, "'%s'", place_str(c, place))))
        exprs_bad(s);
}

static void say_not_tensor(struct checker *c, const struct ast *place, const struct ast *v)
{
    diag_error(c->diag, DIAG_E02, v->at, "'%s' is a tensor, it cannot be %s", place_str(c, place),
               type_str(c, v->type));
    if (type_is_scalar(v->type))
        diag_help(c->diag, "elements are written by kernels: fill(out %s, %s);", place_str(c, place), place_str(c, v));
}

static void assign_tensor(struct checker *c, struct ast *s)
{
    struct ast *place = s->assign.target, *v = s->assign.value;
    const struct region *r = region_of(place);
    if (!is_task_call(c, v)) {
        exprs_check(c, v, AS_PLACE);
        if (!v->bad && v->type->kind != TYPE_TENSOR)
            say_not_tensor(c, place, v);
        else if (!v->bad) {
            diag_error(c->diag, DIAG_E19, s->at, "tensors are not copied by '='");
            diag_help(c->diag, "use a copy kernel: copy(%s, out %s);", place_str(c, v), place_str(c, place));
        }
        exprs_bad(s);
        return;
    }
    if (!check_assignable(c, place, r->base)) {
        exprs_check(c, v, AS_PLACE);
        exprs_bad(s);
        return;
    }
    struct target target = {.destination = r, .type = place->type, .place = place};
    const struct type *t = calls_value(c, v, &target);
    if (!v->bad && t->kind != TYPE_TENSOR)
        diag_error(c->diag, DIAG_E02, v->at, "the result is %s, expected %s", type_str(c, t), type_str(c, place->type));
    if (v->bad || t->kind != TYPE_TENSOR) exprs_bad(s);
}

static void assign_struct(struct checker *c, struct ast *s)
{
    struct ast *place = s->assign.target, *v = s->assign.value;
    const struct struct_place *into = structs_place(place);
    struct leaves leaves;
    if (!is_task_call(c, v)) {
        exprs_check(c, v, AS_PLACE);
        if (!v->bad && !type_is_struct(v->type))
            diag_error(c->diag, DIAG_E02, v->at, "'%s' is %s, it cannot be %s", place_str(c, place),
                       type_str(c, place->type), type_str(c, v->type));
        else if (!v->bad) {
            diag_error(c->diag, DIAG_E19, s->at, "structs are not copied by '='");
            diag_help(c->diag, "let v = %s; is a second name for it; copy its tensors with a copy kernel",
                      place_str(c, v));
        }
        exprs_bad(s);
        return;
    }
    structs_leaves(c, &leaves, into, into->symbol);
    for (int i = 0; i < leaves.count; i++) {
        const struct symbol *base = leaves.leaf[i].region ? leaves.leaf[i].region->base : leaves.leaf[i].scalar;
        if (check_assignable(c, place, base)) continue;
        exprs_check(c, v, AS_PLACE);
        exprs_bad(s);
        return;
    }
    struct target target = {.into = into, .type = place->type, .place = place};
    const struct type *t = calls_value(c, v, &target);
    if (!v->bad && !type_is_struct(t))
        diag_error(c->diag, DIAG_E02, v->at, "the result is %s, expected %s", type_str(c, t), type_str(c, place->type));
    if (v->bad || !type_is_struct(t)) exprs_bad(s);
}

static bool is_made_by_call(const struct ast *e)
{
    while (e->kind == AST_MEMBER || e->kind == AST_INDEX)
        e = e->kind == AST_MEMBER ? e->member.object : e->index.object;
    return e->kind == AST_CALL;
}

static void check_assign(struct checker *c, struct ast *s)
{
    struct ast *target = s->assign.target, *v = s->assign.value;
    check_attrs(c, s, v);
    const struct type *t = exprs_check(c, target, AS_PLACE);
    if (target->bad) {
        exprs_check(c, v, AS_PLACE);
        exprs_bad(s);
    } else if (is_made_by_call(target)) {
        exprs_check(c, v, AS_PLACE);
        diag_error(c->diag, DIAG_E19, target->at, "'%s' cannot be assigned: nothing could read it afterwards",
                   place_str(c, target));
        exprs_bad(s);
    } else if (t->kind == TYPE_TENSOR && region_of(target) && target->kind != AST_CALL) {
        assign_tensor(c, s);
    } else if (exprs_is_element(target) && type_is_scalar_array(region_of(target)->base->type)) {
        assign_element(c, s);
    } else if (type_is_scalar(t) && (target->kind == AST_NAME || target->kind == AST_MEMBER)) {
        assign_scalar(c, s, target->symbol);
    } else if (type_is_struct(t) && structs_place(target) && target->kind != AST_CALL) {
        assign_struct(c, s);
    } else {
        exprs_check(c, v, AS_PLACE);
        if (!target->bad) {
            diag_error(c->diag, DIAG_E19, target->at, "'%s' cannot be assigned", place_str(c, target));
            if (exprs_is_element(target))
                diag_help(c->diag, "elements are written by kernels: pass 'out' with the region [i +: 1]");
        }
        exprs_bad(s);
    }
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
    const struct size *step = s->loop.step ? exprs_int(c, s->loop.step, "the step of a loop") : size_const(c->sizes, 1),
                      *zero = size_const(c->sizes, 0);
    size_t mark = facts_mark(c->facts);
    if (step && size_expand(c->sizes, step) == zero) {
        diag_error(c->diag, DIAG_E15, s->loop.step->at, "the step is 0");
        step = NULL;
    }
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
    forget_in_loop(c, s->loop.body->block.stmts); /* the bounds were taken once; the names in them may change */
    struct turn turn;
    hoist_enter(c, &turn, s, low, high, step);
    check_body(c, s->loop.body);
    hoist_leave(c, &turn);
    names_pop(c);
    facts_reset(c->facts, mark);
}

static void check_while_turns(struct checker *c, struct ast *s)
{
    struct ast *cond = s->while_.cond, *body = s->while_.body;
    bool first = s->kind == AST_DO_WHILE;
    forget_in_loop(c, body->block.stmts);
    size_t mark = facts_mark(c->facts);
    if (first) check_body(c, body);
    bool good = exprs_condition(c, cond);
    if (!first) {
        if (good) facts_add_condition(c->facts, cond, true);
        check_body(c, body);
    }
    facts_reset(c->facts, mark);
    if (good && !has_break(body->block.stmts)) facts_add_condition(c->facts, cond, false);
}

/* What stands in these is not done whenever the statement is: no check leaves them. */
static void check_inside(struct checker *c, struct ast *s, void (*check)(struct checker *c, struct ast *s))
{
    struct turn *outer = c->turn;
    c->turn = NULL;
    check(c, s);
    c->turn = outer;
}

static void check_while(struct checker *c, struct ast *s) { check_inside(c, s, check_while_turns); }

static void check_if(struct checker *c, struct ast *s);

static void check_branches(struct checker *c, struct ast *s)
{
    struct ast *cond = s->if_.cond, *other = s->if_.other;
    bool good = exprs_condition(c, cond);
    size_t mark = facts_mark(c->facts);
    if (good) facts_add_condition(c->facts, cond, true);
    check_block(c, s->if_.then);
    facts_reset(c->facts, mark);
    if (other) {
        if (good) facts_add_condition(c->facts, cond, false);
        if (other->kind == AST_IF) {
            struct check **outer = c->checks;
            c->checks = &exprs_note(c, other)->checks;
            check_if(c, other);
            c->checks = outer;
        } else {
            check_block(c, other);
        }
        facts_reset(c->facts, mark);
    }
    if (!good || (other && names_a_var(cond))) return;
    if (ends(s->if_.then))
        facts_add_condition(c->facts, cond, false);
    else if (other && ends(other))
        facts_add_condition(c->facts, cond, true);
}

static void check_if(struct checker *c, struct ast *s) { check_inside(c, s, check_branches); }

static void check_arms(struct checker *c, struct ast *s)
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

static void check_match(struct checker *c, struct ast *s) { check_inside(c, s, check_arms); }

/* ---- return, drop, assert, print --------------------------------------------------------------------------------- */

/* The tensor that v names, or one of the struct's, and whether all of it is this function's to give. */
static struct symbol *returned_base(const struct ast *v, bool *whole)
{
    const struct struct_place *p = structs_place(v);
    struct symbol *base = p ? p->symbol : region_of(v)->base;
    base->is_lent = true;
    *whole = v->kind == AST_NAME && !v->symbol->region && !v->symbol->alias_of;
    return base;
}

/* A tensor or a struct. */
static void return_tensors(struct checker *c, struct ast *s)
{
    struct ast *v = s->ret.value;
    const struct type *want = c->function->result;
    struct struct_place *into = arena_new(c->mem, struct struct_place);
    struct target target = {.type = want, .returns = true};
    const char *what = arena_printf(c->mem, "the result of '%s'", c->function->name);
    into->symbol = c->function->result_place;
    if (type_is_struct(want))
        target.into = into;
    else
        target.destination = region_whole(c, into->symbol);
    if (is_task_call(c, v)) {
        const struct type *t = calls_value(c, v, &target);
        if (v->bad || (type_is_struct(want) ? type_is_struct(t) : t->kind == TYPE_TENSOR)) return;
        calls_same_type(c, v->at, what, t, want);
        exprs_bad(s);
        return;
    }
    const struct type *t = exprs_check(c, v, AS_PLACE);
    if (v->bad || !calls_same_type(c, v->at, what, t, want)) {
        exprs_bad(s);
        return;
    }
    bool whole;
    const struct symbol *base = returned_base(v, &whole);
    bool owned = base->kind == SYM_LET || (base->kind == SYM_FORMAL && base->dir == DIR_OWN);
    if (owned && whole) return;
    if (owned) {
        const struct symbol *named = v->kind == AST_NAME ? v->symbol->alias_of : NULL;
        const char *owner = named ? named->name : structs_place(v) ? base->decl->name : base->name;
        diag_error(c->diag, DIAG_E10, v->at, "'%s' is %s '%s', which ends with this function", place_str(c, v),
                   structs_relation(v), owner);
        diag_note(c->diag, base->decl->at, "'%s' is declared here", base->name);
    } else {
        diag_error(c->diag, DIAG_E10, v->at, "'%s' belongs to the caller and cannot be returned", place_str(c, v));
        diag_note(c->diag, base->decl->at, "'%s' is declared here", base->name);
    }
    const struct symbol *copy = names_lookup(c, intern_str(c->front->names, "copy"));
    if (copy && copy->kind == SYM_KERNEL)
        diag_help(c->diag, "return a copy: return copy(%s);", place_str(c, v));
    else
        diag_help(c->diag, "return the result of a kernel that copies it%s", owned ? "" : ", or take it as 'own'");
    exprs_bad(s);
}

static void say_returns_nothing(struct checker *c, const struct ast *v)
{
    const struct symbol *base = v->kind == AST_NAME ? v->symbol : NULL;
    diag_error(c->diag, DIAG_E19, v->at, "'%s' returns nothing", c->function->name);
    if (v->bad) return;
    if (base && base->kind == SYM_FORMAL && (base->dir == DIR_OUT || base->dir == DIR_INOUT)) {
        diag_help(c->diag, "'%s' is %s: the caller has it already when it is written", base->name,
                  direction_text(base->dir));
    } else if (type_is_scalar(v->type)) {
        uint32_t at = c->function->decl->orch.body->at.begin;
        const char *type = type_str(c, v->type);
        diag_fix(c->diag, (struct span){v->at.file, at, at}, arena_printf(c->mem, "-> %s ", type),
                 "its head declares the result: '-> %s'", type);
    } else {
        diag_help(c->diag, "its head declares the result: '-> %s'", type_str(c, v->type));
    }
}

static void check_return(struct checker *c, struct ast *s)
{
    struct ast *v = s->ret.value;
    const struct type *want = c->function->result;
    if (want->kind == TYPE_ERROR || !v || want->kind == TYPE_VOID) {
        if (v) exprs_check(c, v, AS_PLACE);
        if (want->kind == TYPE_ERROR || (want->kind == TYPE_VOID && !v)) return;
        if (v)
            say_returns_nothing(c, v);
        else
            diag_error(c->diag, DIAG_E19, s->at, "'%s' returns %s: a value is needed", c->function->name,
                       type_str(c, want));
        exprs_bad(s);
        return;
    }
    if (want->kind == TYPE_TENSOR || type_is_struct(want)) {
        return_tensors(c, s);
        return;
    }
    exprs_check(c, v, AS_VALUE);
    if (v->bad)
        exprs_bad(s);
    else if (!exprs_fits(c, v, want, arena_printf(c->mem, "the result of '%s'", c->function->name)))
        exprs_bad(s);
}

static void check_drop(struct checker *c, struct ast *s)
{
    for (struct ast *n = s->drop.names; n; n = n->next) {
        exprs_check(c, n, AS_PLACE);
        if (n->bad) continue;
        const struct symbol *x = n->symbol;
        bool owned = (x->kind == SYM_LET && !x->region) || (x->kind == SYM_FORMAL && x->dir == DIR_OWN);
        if (n->type->kind == TYPE_GRID || x->region)
            diag_error(c->diag, DIAG_E11, n->at, "'%s' is a view: drop the tensor itself", x->name);
        else if (x->alias_of)
            diag_error(c->diag, DIAG_E11, n->at, "'%s' is a second name of '%s': drop that", x->name,
                       x->alias_of->name);
        else if (n->type->kind != TYPE_TENSOR && !type_is_struct(n->type))
            diag_error(c->diag, DIAG_E11, n->at, "'%s' is %s: only tensors can be dropped", x->name,
                       type_str(c, n->type));
        else if (!owned) {
            diag_error(c->diag, DIAG_E11, n->at, "'%s' is borrowed from the caller and cannot be dropped here",
                       x->name);
            diag_help(c->diag, "an 'own' formal could be dropped");
        } else
            continue;
        exprs_bad(n);
    }
}

static void check_assert(struct checker *c, struct ast *s)
{
    struct constant v;
    struct ast *cond = s->check.cond;
    if (s->check.message) s->check.message->type = c->string;
    if (!exprs_condition(c, cond)) return;
    int truth = consteval(c, cond, &v) ? v.i != 0 : facts_decide(c->facts, cond, NULL);
    if (truth == 0 || (truth < 0 && s->kind == AST_STATIC_ASSERT)) {
        diag_error(c->diag, DIAG_E20, cond->at, truth == 0 ? "'%s' is false" : "'%s' is not known at compile time",
                   place_str(c, cond));
        if (s->check.message && truth == 0)
            diag_note(c->diag, s->check.message->at, "%s", s->check.message->string.text);
        exprs_bad(s);
    }
    if (truth != 0) facts_add_condition(c->facts, cond, true); /* from what is false everything would follow */
}

static void check_print(struct checker *c, struct ast *s)
{
    for (struct ast *v = s->print.values; v; v = v->next) {
        const struct type *t = exprs_check(c, v, AS_VALUE);
        if (!v->bad && type_is_struct(t) && structs_place(v))
            structs_print(c, v);
        else if (!v->bad && !type_is_scalar(t) && t->kind != TYPE_STRING && t->kind != TYPE_TENSOR)
            diag_error(c->diag, DIAG_E02, v->at, "%s cannot be printed", type_str(c, t));
    }
}

static void check_stmt(struct checker *c, struct ast *s)
{
    struct check **outer = c->checks;
    c->checks = &exprs_note(c, s)->checks;
    c->statement = s->at;
    switch (s->kind) {
    case AST_LET: check_let(c, s); break;
    case AST_VAR: check_var(c, s); break;
    case AST_VIEW: region_view(c, s); break;
    case AST_EXPR_STMT:
        check_attrs(c, s, s->expr_stmt.expr);
        if (s->expr_stmt.expr->kind == AST_CALL) {
            calls_statement(c, s->expr_stmt.expr);
        } else {
            exprs_check(c, s->expr_stmt.expr, AS_PLACE);
            if (!s->expr_stmt.expr->bad)
                diag_error(c->diag, DIAG_E19, s->at, "this statement does nothing: '%s' is not called",
                           place_str(c, s->expr_stmt.expr));
        }
        break;
    case AST_ASSIGN: check_assign(c, s); break;
    case AST_FOR: check_for(c, s); break;
    case AST_WHILE:
    case AST_DO_WHILE: check_while(c, s); break;
    case AST_IF: check_if(c, s); break;
    case AST_MATCH: check_match(c, s); break;
    case AST_SCOPE:
        if (s->scope.label) s->scope.label->type = c->string;
        check_block(c, s->scope.body);
        break;
    case AST_BLOCK: check_block(c, s); break;
    case AST_DROP: check_drop(c, s); break;
    case AST_RETURN: check_return(c, s); break;
    case AST_BREAK:
    case AST_CONTINUE:
        if (c->loop_depth == 0)
            diag_error(c->diag, DIAG_E19, s->at, "'%s' outside of a loop", s->kind == AST_BREAK ? "break" : "continue");
        break;
    case AST_ASSERT:
    case AST_STATIC_ASSERT: check_assert(c, s); break;
    case AST_PRINT: check_print(c, s); break;
    default: break;
    }
    if (s->attrs)
        check_timeout(c, s,
                      s->kind == AST_LET         ? s->decl.value
                      : s->kind == AST_ASSIGN    ? s->assign.value
                      : s->kind == AST_EXPR_STMT ? s->expr_stmt.expr
                                                 : NULL);
    c->checks = outer;
}

static void check_block(struct checker *c, struct ast *block)
{
    size_t mark = facts_mark(c->facts);
    names_push(c, block);
    for (struct ast *s = block->block.stmts; s; s = s->next) {
        check_stmt(c, s);
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
    c->turn = NULL;
    c->closed.count = 0;
    c->elements.count = 0;
    declare_body_scope(c, s);
    for (int i = 0; i < s->formal_count; i++) know_extents(c, s->formals[i]);
    check_block(c, d->orch.body);
    if (s->result->kind != TYPE_VOID && s->result->kind != TYPE_ERROR && !ends(d->orch.body)) {
        struct span end = {d->at.file, d->at.end - 1, d->at.end};
        diag_error(c->diag, DIAG_E19, end, "'%s' can come to its end without a 'return'", s->name);
    }
    names_pop(c);
    facts_reset(c->facts, 0);
    c->function = NULL;
}
