/* exprs.c - types and sizes of expressions.
 * Idea       one walk, bottom up; an integer gets its symbolic value beside its type, so that shapes, bounds and
 *            constants all read the same thing.
 * Invariant  a node with an error is `bad`, and so is everything above it; nothing bad raises a second error.
 * Tests      test/lit/sema/
 */
#include "checker.h"
#include "support/nearest.h"
#include <string.h>

bool exprs_is_number(const struct type *t) { return t->kind == TYPE_INT || t->kind == TYPE_F32 || t->kind == TYPE_F64; }

const struct type *exprs_common(struct checker *c, const struct type *a, const struct type *b)
{
    if (a->kind == TYPE_F64 || b->kind == TYPE_F64) return c->f64;
    return a->kind == TYPE_F32 || b->kind == TYPE_F32 ? c->f32 : c->int_;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const struct type *use_symbol(struct checker *c, struct ast *e, struct symbol *s)
{
    e->symbol = s;
    s->is_named = true;
    switch (s->kind) {
    case SYM_MODULE:
    case SYM_STRUCT:
    case SYM_KERNEL:
    case SYM_ORCH:
    case SYM_ELEM:
        diag_error(c->diag, DIAG_E19, e->at, "'%s' is a %s, not a value", s->name,
                   s->kind == SYM_MODULE   ? "module"
                   : s->kind == SYM_STRUCT ? "struct"
                   : s->kind == SYM_KERNEL ? "kernel"
                   : s->kind == SYM_ELEM   ? "type of elements"
                                           : "function");
        if (s->kind == SYM_KERNEL || s->kind == SYM_ORCH) diag_help(c->diag, "call it: %s(...)", s->name);
        return notes_fail(c, e);
    default: break;
    }
    if (s->type->kind == TYPE_ERROR) return notes_fail(c, e);
    e->type = s->type;
    if (type_is_struct(s->type))
        structs_name(c, e, s);
    else if (s->type->kind == TYPE_INT)
        e->value = s->kind == SYM_CONST ? size_const(c->sizes, s->int_value) : size_symbol(c->sizes, s);
    else if (s->type->kind == TYPE_TENSOR)
        notes_of(c, e)->region = s->region ? s->region : region_whole(c, s);
    else if (s->type->kind == TYPE_GRID)
        notes_of(c, e)->region = s->region;
    return e->type;
}

static void append_checks(struct check **list, struct check *more)
{
    while (*list) list = &(*list)->next;
    *list = more;
}

static const struct type *check_member(struct checker *c, struct ast *e)
{
    struct ast *object = e->member.object;
    struct symbol *s = object->kind == AST_NAME ? declare_lookup(c, object->name) : NULL;
    if (s && s->kind == SYM_MODULE) {
        object->symbol = s;
        s->is_named = true;
        if (!s->target) return notes_fail(c, e);
        struct symbol *inside = names_in_module(s->target, e->name);
        if (!inside || inside->kind == SYM_MODULE) {
            names_unknown(c, e->name_at, e->name, "name", s->target);
            return notes_fail(c, e);
        }
        declare_resolve(c, inside);
        return use_symbol(c, e, inside);
    }
    struct check **outer = c->checks, *own = NULL;
    if (outer) c->checks = &own;
    const struct type *t = exprs_check(c, object, AS_PLACE);
    c->checks = outer;
    if (object->bad) return notes_fail(c, e);
    if (t->kind == TYPE_TENSOR && strcmp(e->name, "T") == 0) {
        if (own) append_checks(outer, own);
        return shapes_transpose(c, e);
    }
    if (t->kind != TYPE_STRUCT || !structs_place(object)) {
        diag_error(c->diag, DIAG_E19, e->name_at, "%s has no member '%s'", type_str(c, t), e->name);
        if (t->kind == TYPE_ARRAY)
            diag_help(c->diag, "its elements have: [i].%s", e->name);
        else if (t->kind == TYPE_TENSOR)
            members_help(c, e);
        if (strcmp(e->name, "await") == 0) diag_help(c->diag, "'await' stands before the element: await x[0]");
        return notes_fail(c, e);
    }
    const struct symbol *structure = t->structure;
    const struct struct_place *place = structs_place(object);
    for (int i = 0; i < structure->formal_count; i++)
        if (structure->formals[i]->name == e->name && i < place->symbol->field_count) {
            structs_member(c, e, place, i);
            if (own) append_checks(notes_is_element(e) ? &notes_of(c, e)->checks : outer, own);
            return e->type;
        }
    diag_error(c->diag, DIAG_E01, e->name_at, "struct '%s' has no field '%s'", structure->name, e->name);
    const char *names[MAX_FORMALS];
    int count = 0;
    for (; count < structure->formal_count && count < MAX_FORMALS; count++)
        names[count] = structure->formals[count]->name;
    const char *near = nearest_word(e->name, names, count);
    if (near) diag_fix(c->diag, e->name_at, near, "did you mean '%s'?", near);
    return notes_fail(c, e);
}

/* A name of a wrong type is wrong at every use: it is reported once. */
static bool is_blamed_before(const struct ast *e)
{
    if ((e->kind != AST_NAME && e->kind != AST_MEMBER) || !e->symbol) return false;
    bool before = e->symbol->is_blamed;
    e->symbol->is_blamed = true;
    return before;
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static const struct type *check_integer(struct checker *c, struct ast *e, bool negated)
{
    uint64_t limit = (uint64_t)INT64_MAX + negated;
    if (e->integer.too_large || e->integer.value > limit) {
        diag_error(c->diag, DIAG_E15, e->at, "%s does not fit in %s", e->integer.digits,
                   e->integer.too_large ? "64 bits" : "i64");
        return notes_fail(c, e);
    }
    e->value = size_const(c->sizes, (int64_t)(negated ? 0 - e->integer.value : e->integer.value));
    return e->type = c->int_;
}

/* Only the value of constants is known not to fit: the normal form of n * M + M overflows also where n is -1. */
static const struct type *check_overflow(struct checker *c, struct ast *e, const struct size *a, const struct size *b)
{
    if (c->is_left_out || !size_is_const(a, NULL) || !size_is_const(b, NULL)) return e->type;
    diag_error(c->diag, DIAG_E15, e->at, "the result does not fit in 64 bits");
    return notes_fail(c, e);
}

static const struct type *check_unary(struct checker *c, struct ast *e)
{
    struct ast *l = e->binary.left;
    if (e->binary.op == OP_NEG && l->kind == AST_INT) { /* the smallest integer has no positive twin */
        const struct type *t = check_integer(c, l, true);
        e->value = l->value;
        return l->bad ? notes_fail(c, e) : (e->type = t);
    }
    const struct type *t = exprs_check(c, l, AS_VALUE);
    if (l->bad) return notes_fail(c, e);
    const enum ast_op op = e->binary.op;
    if (op == OP_NOT ? t->kind != TYPE_BOOL : op == OP_BITNOT ? t->kind != TYPE_INT : !exprs_is_number(t)) {
        diag_error(c->diag, DIAG_E02, e->at, "'%s' needs %s, not %s", ast_op_text(op),
                   op == OP_NOT      ? "a bool"
                   : op == OP_BITNOT ? "an integer"
                                     : "a number",
                   type_str(c, t));
        if (op == OP_BITNOT && t->kind == TYPE_BOOL) diag_fix(c->diag, e->binary.op_at, "!", "write '!'");
        return notes_fail(c, e);
    }
    e->type = t;
    if (op == OP_BITNOT) {
        if (l->value) e->value = size_complement(c->sizes, l->value);
        return e->type;
    }
    if (!l->value || t->kind != TYPE_INT) return e->type;
    e->value = size_scale(c->sizes, l->value, -1);
    return e->value ? e->type : check_overflow(c, e, l->value, l->value);
}

enum truth exprs_truth(struct checker *c, const struct ast *condition)
{
    struct constant known;
    if (!consteval(c, condition, &known) || known.type->kind != TYPE_BOOL) return TRUTH_OF_RUN;
    return known.i != 0 ? TRUTH_ALWAYS : TRUTH_NEVER;
}

bool exprs_enter(struct checker *c, enum truth condition, bool truth)
{
    const bool outer = c->is_left_out;
    c->is_left_out |= condition == (truth ? TRUTH_NEVER : TRUTH_ALWAYS);
    return outer;
}

static enum size_kind size_kind_of(enum ast_op op)
{
    switch (op) {
    case OP_ADD: return SIZE_ADD;
    case OP_MUL: return SIZE_MUL;
    case OP_DIV: return SIZE_DIV;
    case OP_MOD: return SIZE_MOD;
    case OP_BITOR: return SIZE_OR;
    case OP_BITXOR: return SIZE_XOR;
    case OP_BITAND: return SIZE_AND;
    case OP_SHL: return SIZE_SHL;
    default: return SIZE_SHR;
    }
}

/* NULL: an operand has no value, or, with *failed, the result has none. */
static const struct size *binary_value(struct checker *c, const struct ast *e, bool *failed)
{
    const struct size *x = e->binary.left->value, *y = e->binary.right->value;
    if (!x || !y) return NULL;
    const struct size *value =
        e->binary.op == OP_SUB ? size_sub(c->sizes, x, y) : size_binary(c->sizes, size_kind_of(e->binary.op), x, y);
    *failed = !value;
    return value;
}

static const struct type *check_arithmetic(struct checker *c, struct ast *e, const struct type *a, const struct type *b)
{
    const struct size *y = e->binary.right->value;
    int64_t zero = 1;
    bool failed = false;
    e->type = exprs_common(c, a, b);
    if (e->type->kind != TYPE_INT) return e->type;
    enum ast_op op = e->binary.op;
    if ((op == OP_DIV || op == OP_MOD) && y && size_is_const(y, &zero) && zero == 0) {
        if (c->is_left_out) return e->type;
        diag_error(c->diag, DIAG_E15, e->binary.op_at, "division by zero");
        return notes_fail(c, e);
    }
    int64_t by;
    if ((op == OP_SHL || op == OP_SHR) && y && size_is_const(y, &by) && (by < 0 || by > 63)) {
        if (c->is_left_out) return e->type;
        diag_error(c->diag, DIAG_E15, e->binary.right->at, "a shift is by 0 to 63 bits, not by %lld", (long long)by);
        return notes_fail(c, e);
    }
    e->value = binary_value(c, e, &failed);
    return failed ? check_overflow(c, e, e->binary.left->value, y) : e->type;
}

static bool is_of_bits(enum ast_op op) { return op >= OP_BITOR && op <= OP_SHR; }

static bool takes_operand(enum ast_op op, const struct type *t)
{
    if (op == OP_OR || op == OP_AND) return t->kind == TYPE_BOOL;
    if (op == OP_MOD || is_of_bits(op)) return t->kind == TYPE_INT;
    return exprs_is_number(t) || ((op == OP_EQ || op == OP_NE) && t->kind == TYPE_BOOL);
}

static bool is_one(const struct size *extent)
{
    int64_t value;
    return size_is_const(extent, &value) && value == 1;
}

static void help_with_operands(struct checker *c, const struct ast *e, const struct type *a, const struct type *b)
{
    static const char *const of_bools[] = {[OP_BITOR] = "||", [OP_BITXOR] = "!=", [OP_BITAND] = "&&"};
    const enum ast_op op = e->binary.op;
    const struct ast *named = a->kind == TYPE_TENSOR ? e->binary.left : e->binary.right;
    const struct type *t = a->kind == TYPE_TENSOR ? a : b;
    const bool is_compared = (op >= OP_EQ && op <= OP_GE) || exprs_is_number(a) || exprs_is_number(b);
    if (t->kind == TYPE_TENSOR && t->rank == 1 && is_compared && is_one(t->extent[0]) && named->kind == AST_NAME)
        diag_help(c->diag, "the value of its element is 'await %s[0]'", named->name);
    else if (a->kind == TYPE_TENSOR || b->kind == TYPE_TENSOR)
        diag_help(c->diag, "tensors are computed by kernels: import \"std/tile.pto\" has add, sub, mul, scale");
    else if (a->kind == TYPE_STRING || b->kind == TYPE_STRING)
        diag_help(c->diag, "strings stand only in 'print' and 'assert': print \"n is\", n;");
    else if (a->kind == TYPE_BOOL && b->kind == TYPE_BOOL && op >= OP_BITOR && op <= OP_BITAND)
        diag_fix(c->diag, e->binary.op_at, of_bools[op], "'%s' is of integers: of bools write '%s'", ast_op_text(op),
                 of_bools[op]);
    else if (is_of_bits(op) && exprs_is_number(a) && exprs_is_number(b))
        diag_help(c->diag, "only integers have bits: 'i64(x)' is x without its fraction");
}

static const struct type *check_binary(struct checker *c, struct ast *e)
{
    struct ast *l = e->binary.left, *r = e->binary.right;
    enum ast_op op = e->binary.op;
    const struct type *a = exprs_check(c, l, AS_VALUE), *b;
    if (op == OP_AND || op == OP_OR) { /* the right side is looked at only where the left side did not decide */
        size_t mark = facts_mark(c->facts);
        struct open_for *outer = c->open_for; /* no check leaves a loop from here */
        const bool was_left_out = exprs_enter(c, exprs_truth(c, l), op == OP_AND);
        if (!l->bad) facts_add_condition(c->facts, l, op == OP_AND);
        c->open_for = NULL;
        b = exprs_check(c, r, AS_VALUE);
        c->open_for = outer;
        c->is_left_out = was_left_out;
        facts_reset(c->facts, mark);
    } else {
        b = exprs_check(c, r, AS_VALUE);
    }
    if (l->bad || r->bad) return notes_fail(c, e);
    const bool equates = op == OP_EQ || op == OP_NE;
    if (!takes_operand(op, a) || !takes_operand(op, b) || (equates && exprs_is_number(a) != exprs_is_number(b))) {
        bool is_left = !takes_operand(op, a) || (equates && !exprs_is_number(a));
        if (is_blamed_before(is_left ? l : r)) return notes_fail(c, e);
        diag_error(c->diag, DIAG_E02, e->binary.op_at, "'%s' cannot be used with %s and %s", ast_op_text(op),
                   type_str(c, a), type_str(c, b));
        help_with_operands(c, e, a, b);
        return notes_fail(c, e);
    }
    if (op <= OP_GE) return e->type = c->bool_;
    return check_arithmetic(c, e, a, b);
}

/* ---- await, elements --------------------------------------------------------------------------------------------- */

static const struct type *check_await(struct checker *c, struct ast *e)
{
    struct check **outer = c->checks;
    c->checks = &notes_of(c, e)->checks;
    const struct type *t = exprs_check(c, e->await.operand, AS_PLACE);
    c->checks = outer;
    if (e->await.operand->bad) return notes_fail(c, e);
    if (!c->function) {
        diag_error(c->diag, DIAG_E19, e->at, "'await' cannot stand here, outside of a function");
        return notes_fail(c, e);
    }
    if (!notes_is_element(e->await.operand)) {
        diag_error(c->diag, DIAG_E19, e->at, "'await' needs one element of a tensor, not %s", type_str(c, t));
        if (t->kind == TYPE_TENSOR && t->rank == 1)
            diag_help(c->diag, "await one element: await %s[0]", place_str(c, e->await.operand));
        return notes_fail(c, e);
    }
    return e->type = t;
}

void exprs_say_await(struct checker *c, const struct ast *e)
{
    if (region_of(e)->base->await_count++ >= 3) return;
    diag_error(c->diag, DIAG_E19, e->at, "'%s' is an element of a tensor: its value needs 'await'", place_str(c, e));
    diag_fix(c->diag, (struct span){e->at.file, e->at.begin, e->at.begin}, "await ", "wait for it");
}

static const struct type *check_index(struct checker *c, struct ast *e, enum use use)
{
    if (e->index.is_shape) return shapes_as(c, e);
    struct check **outer = c->checks, *own = NULL;
    if (outer) c->checks = &own;
    exprs_check(c, e->index.object, AS_PLACE);
    const struct type *t = indexing_check(c, e);
    c->checks = outer;
    /* An element is read where it stands, each time; a slice is made before its statement or call. */
    if (own) append_checks(notes_is_element(e) ? &notes_of(c, e)->checks : outer, own);
    if (e->bad || use == AS_PLACE || !notes_is_element(e)) return t;
    if (!region_is_host(e->note->region)) {
        exprs_say_await(c, e);
        return notes_fail(c, e);
    }
    return t;
}

/* The callee may do anything with its arguments, so `ranks()` is none. */
static const struct type *check_call_of_value(struct checker *c, struct ast *e)
{
    const bool may_name_ranks = c->may_name_ranks;
    c->may_name_ranks = false;
    const struct type *t = calls_value(c, e, NULL);
    c->may_name_ranks = may_name_ranks;
    return t;
}

const struct type *exprs_check(struct checker *c, struct ast *e, enum use use)
{
    struct symbol *s;
    e->type = c->error;
    switch (e->kind) {
    case AST_NAME:
        if (!(s = e->symbol && e->symbol->kind == SYM_LET ? e->symbol : declare_lookup(c, e->name))) {
            names_unknown(c, e->at, e->name, "name", NULL);
            return notes_fail(c, e);
        }
        return use_symbol(c, e, s);
    case AST_MEMBER: return check_member(c, e);
    case AST_INT: return check_integer(c, e, false);
    case AST_FLOAT: return e->type = c->f64;
    case AST_BOOL: return e->type = c->bool_;
    case AST_STRING: return e->type = c->string;
    case AST_UNARY: return check_unary(c, e);
    case AST_BINARY: return check_binary(c, e);
    case AST_AWAIT: return check_await(c, e);
    case AST_INDEX: return check_index(c, e, use);
    case AST_CALL:
        if (e->call.callee->kind == AST_NAME && !declare_lookup(c, e->call.callee->name) &&
            builtins_find(e->call.callee->name))
            return builtin_calls_check(c, e);
        if (shapes_is_permutation(c, e)) return shapes_permute(c, e);
        return check_call_of_value(c, e);
    case AST_REDUCTION:
        diag_error(c->diag, DIAG_E19, e->at, "a reduction stands in a kernel in index notation, and nowhere else");
        diag_help(c->diag, "kernel total<N>(in x: f32[N], out s: f32[1]) => { s[0] = sum(i: x[i]); }");
        return notes_fail(c, e);
    default:
        if (!e->bad) diag_error(c->diag, DIAG_E19, e->at, "a value is needed here");
        return notes_fail(c, e);
    }
}

static const struct size *take_symbol(struct checker *c, struct ast *e)
{
    struct symbol *s = names_new(c, SYM_LET, arena_printf(c->mem, "%s", place_str(c, e)), e);
    s->hidden = true;
    s->type = c->int_;
    notes_of(c, e)->taken = s;
    e->value = size_symbol(c->sizes, s);
    if (e->kind == AST_INDEX && region_of(e)->base->dir == DIR_HOST) values_know_element(c, s, region_of(e));
    return e->value;
}

const struct size *exprs_take(struct checker *c, struct ast *e)
{
    bool failed = false;
    if (e->value || !c->function) return e->value;
    if (e->kind == AST_UNARY) {
        const struct size *value = exprs_take(c, e->binary.left);
        e->value = !value                      ? NULL
                   : e->binary.op == OP_BITNOT ? size_complement(c->sizes, value)
                                               : size_scale(c->sizes, value, -1);
    } else if (e->kind == AST_BINARY) {
        exprs_take(c, e->binary.left);
        exprs_take(c, e->binary.right);
        e->value = binary_value(c, e, &failed);
    } else if (e->kind == AST_CALL && !call_of(e)) {
        e->value = builtin_calls_take(c, e);
    }
    return e->value ? e->value : take_symbol(c, e);
}

/* The part of e that has operands with a value and none itself. */
static const struct ast *overflowing(const struct ast *e)
{
    if (e->value || (e->kind != AST_UNARY && e->kind != AST_BINARY)) return NULL;
    const struct ast *left = e->binary.left, *right = e->kind == AST_BINARY ? e->binary.right : left;
    if (left->value && right->value) return e;
    const struct ast *inner = overflowing(left);
    return inner ? inner : overflowing(right);
}

const struct size *exprs_int(struct checker *c, struct ast *e, const char *what)
{
    const struct type *t = exprs_check(c, e, AS_VALUE);
    if (e->bad) return NULL;
    if (t->kind != TYPE_INT) {
        if (!is_blamed_before(e)) {
            diag_error(c->diag, DIAG_E02, e->at, "%s must be an integer, not %s", what, type_str(c, t));
            if (t->kind == TYPE_TENSOR && t->rank == 1 && t->elem >= ELEM_I8 && t->elem <= ELEM_U64 &&
                e->kind == AST_NAME)
                diag_help(c->diag, "the value of one element is 'await %s[0]'", e->name);
            else if (t->kind == TYPE_F64 || t->kind == TYPE_F32)
                diag_help(c->diag, "'i64(x)' is x without its fraction; '/' of two integers is one");
        }
        notes_bad(e);
        return NULL;
    }
    if (!exprs_take(c, e)) {
        if (e->kind == AST_CALL)
            diag_error(c->diag, DIAG_E19, e->at, "%s of a declaration cannot be '%s': its value is not known there",
                       what, place_str(c, e));
        else if (overflowing(e))
            diag_error(c->diag, DIAG_E15, overflowing(e)->at, "the result does not fit in 64 bits");
        else
            diag_error(c->diag, DIAG_E19, e->at, "%s of a declaration cannot be an element of an array", what);
        notes_bad(e);
    }
    return e->value;
}

const struct size *exprs_size(struct checker *c, struct ast *e, const char *what)
{
    const struct size *size = exprs_int(c, e, what);
    lost_check(c, e);
    return size;
}

bool exprs_condition(struct checker *c, struct ast *e)
{
    const struct type *t = exprs_check(c, e, AS_VALUE);
    if (e->bad) return false;
    if (t->kind == TYPE_BOOL) return true;
    if (is_blamed_before(e)) return notes_bad(e);
    diag_error(c->diag, DIAG_E02, e->at, "a condition must be a bool, not %s", type_str(c, t));
    if (t->kind == TYPE_INT)
        diag_fix(c->diag, (struct span){e->at.file, e->at.end, e->at.end}, " != 0", "compare it with a number");
    return notes_bad(e);
}

bool exprs_fits(struct checker *c, const struct ast *e, const struct type *to, const char *what)
{
    const struct type *from = e->type;
    if (e->bad || to->kind == TYPE_ERROR || from->kind == TYPE_ERROR) return false;
    if (from->kind == to->kind && type_is_scalar(from)) return true;
    if ((to->kind == TYPE_F32 || to->kind == TYPE_F64) && exprs_is_number(from)) return true;
    if (is_blamed_before(e)) return false;
    diag_error(c->diag, DIAG_E02, e->at, "%s is %s here, expected %s", what, type_str(c, from), type_str(c, to));
    if (to->kind == TYPE_BOOL && from->kind == TYPE_INT)
        diag_fix(c->diag, (struct span){e->at.file, e->at.end, e->at.end}, " != 0", "compare it with a number");
    return false;
}
