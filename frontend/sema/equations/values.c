/* values.c - expressions of a kernel in index notation, and their types.
 * Idea       bottom up; what literals and constants alone make has no type until it meets something that has one.
 *            Integers that no data decides stay sizes, so that indices, ranges and conditions read the same thing.
 * Invariant  operands have one type when a node is made: every conversion is a cast that stands in the tree.
 * Tests      test/lit/equations/refused-types.pto
 */
#include "parts.h"
#include <ctype.h>
#include <string.h>

/* ---- types ------------------------------------------------------------------------------------------------------- */

bool eq_is_float(enum elem e) { return e == ELEM_F16 || e == ELEM_BF16 || e == ELEM_F32 || e == ELEM_F64; }

bool eq_is_integer(enum elem e) { return e >= ELEM_I8 && e <= ELEM_U64; }

enum elem eq_computed(enum elem e) { return e == ELEM_F16 || e == ELEM_BF16 ? ELEM_F32 : e; }

int eq_float_rank(enum elem e) { return e == ELEM_F64 ? 3 : e == ELEM_F32 ? 2 : 1; }

const char *eq_type_text(struct eq_work *w, const struct eq_value *v)
{
    (void)w;
    return !v->is_literal ? elem_name(v->type) : eq_has_real_literal(v->expr) ? "a number with a point" : "an integer";
}

struct eq_expr *eq_new(struct eq_work *w, enum eq_kind kind, enum elem type, struct span at)
{
    struct eq_expr *e = arena_new(w->c->mem, struct eq_expr);
    e->kind = kind;
    e->type = type;
    e->at = at;
    return e;
}

/* Is it an operation of integers alone?  What literals make by it is an integer, whatever it meets. */
static bool is_of_integers(enum eq_kind kind) { return kind == EQ_BITNOT || (kind >= EQ_MOD && kind <= EQ_SHR); }

static enum eq_constant combine(enum eq_kind kind, int64_t a, int64_t b, int64_t *r)
{
    const bool divides = b != 0 && !(a == INT64_MIN && b == -1), shifts = b >= 0 && b < 64;
    bool fits = true;
    switch (kind) {
    case EQ_ADD: fits = !__builtin_add_overflow(a, b, r); break;
    case EQ_SUB: fits = !__builtin_sub_overflow(a, b, r); break;
    case EQ_MUL: fits = !__builtin_mul_overflow(a, b, r); break;
    case EQ_DIV: *r = (fits = divides) ? a / b : 0; break;
    case EQ_MOD: *r = (fits = divides) ? a % b : 0; break;
    case EQ_SHL:
        *r = shifts ? (int64_t)((uint64_t)a << b) : 0;
        fits = shifts && *r >> b == a;
        break;
    case EQ_SHR: *r = (fits = shifts) ? a >> b : 0; break;
    case EQ_BITOR: *r = a | b; break;
    case EQ_BITXOR: *r = a ^ b; break;
    case EQ_BITAND: *r = a & b; break;
    case EQ_MIN: *r = a < b ? a : b; break;
    case EQ_MAX: *r = a > b ? a : b; break;
    default: return EQ_NOT_CONSTANT;
    }
    return fits ? EQ_CONSTANT : EQ_TOO_LARGE;
}

enum eq_constant eq_constant_of(const struct eq_expr *e, int64_t *value)
{
    int64_t a = 0, b = 0;
    if (e->kind == EQ_INT) return *value = e->integer, EQ_CONSTANT;
    if (!e->a || e->c || e->kind == EQ_CAST) return EQ_NOT_CONSTANT;
    const enum eq_constant first = eq_constant_of(e->a, &a);
    if (first != EQ_CONSTANT) return first;
    if (e->kind == EQ_BITNOT) return *value = ~a, EQ_CONSTANT;
    if (e->kind == EQ_NEG) return combine(EQ_SUB, 0, a, value);
    if (e->kind == EQ_ABS) return combine(a < 0 ? EQ_SUB : EQ_ADD, 0, a, value);
    const enum eq_constant second = e->b ? eq_constant_of(e->b, &b) : EQ_NOT_CONSTANT;
    return second == EQ_CONSTANT ? combine(e->kind, a, b, value) : second;
}

const struct size *eq_as_size(struct eq_work *w, const struct eq_value *v)
{
    int64_t value;
    if (!v->expr) return NULL;
    if (v->expr->kind == EQ_SIZE) return v->expr->size;
    if (v->type != ELEM_I64 || !(v->is_literal || v->expr->kind == EQ_INT)) return NULL;
    return eq_constant_of(v->expr, &value) == EQ_CONSTANT ? size_const(w->c->sizes, value) : NULL;
}

/* An integer of literals and constants that has no value: E15. */
bool eq_refuse_large(struct eq_work *w, const struct eq_value *v, struct span at)
{
    int64_t value;
    if (!v->is_literal || v->type != ELEM_I64 || eq_constant_of(v->expr, &value) != EQ_TOO_LARGE) return false;
    diag_error(w->c->diag, DIAG_E15, at, "the result does not fit in 64 bits");
    w->failed = true;
    return true;
}

static struct eq_value of_size(struct eq_work *w, const struct size *s, struct span at)
{
    struct eq_expr *e = eq_new(w, EQ_SIZE, ELEM_I64, at);
    e->size = s;
    return (struct eq_value){e, ELEM_I64, false};
}

static double real_of(const struct eq_expr *e) { return e->kind == EQ_REAL ? e->real : (double)e->integer; }

/* What literals alone made becomes one number, where it is one in i64. */
static void fold(struct eq_expr *e)
{
    int64_t value;
    if (eq_constant_of(e, &value) != EQ_CONSTANT) return;
    *e = (struct eq_expr){.kind = EQ_INT, .type = e->type, .at = e->at, .integer = value};
}

/* What literals alone made, as one of type `to` in which it is computed: the conversion is done at each of them. */
static struct eq_expr *retype(struct eq_work *w, const struct eq_expr *e, enum elem to)
{
    struct eq_expr *n = eq_new(w, e->kind, to, e->at);
    *n = *e;
    n->type = to;
    if (e->kind == EQ_INT || e->kind == EQ_REAL) {
        n->kind = eq_is_float(to) ? EQ_REAL : EQ_INT;
        if (eq_is_float(to)) n->real = to == ELEM_F32 ? (double)(float)real_of(e) : real_of(e);
    } else if (e->kind == EQ_SIZE) {
        return e->type == to ? n : eq_convert(w, (struct eq_value){n, ELEM_I64, false}, to);
    } else if (eq_is_float(to) && is_of_integers(e->kind)) {
        n = retype(w, e, ELEM_I64);
        fold(n);
        return eq_convert(w, (struct eq_value){n, ELEM_I64, false}, to);
    } else {
        if (e->a && e->kind != EQ_SELECT) n->a = retype(w, e->a, to);
        if (e->kind == EQ_SELECT) n->a = e->a;
        if (e->b) n->b = retype(w, e->b, to);
        if (e->c) n->c = retype(w, e->c, to);
    }
    return n;
}

struct eq_expr *eq_convert(struct eq_work *w, struct eq_value v, enum elem to)
{
    if (!v.expr) return NULL;
    struct eq_expr *e = v.is_literal ? retype(w, v.expr, eq_computed(to)) : v.expr;
    if (v.is_literal && to == ELEM_I64) fold(e);
    if (e->type == to) return e;
    struct eq_expr *cast = eq_new(w, EQ_CAST, to, e->at);
    cast->a = e;
    return cast;
}

/* The type of an operation on two; ELEM_NONE: they have none. */
static enum elem common(enum elem a, enum elem b)
{
    if (a == b) return a;
    if (a == ELEM_BOOL || b == ELEM_BOOL) return ELEM_NONE;
    if (eq_is_float(a) && eq_is_float(b))
        return eq_float_rank(a) == eq_float_rank(b) ? ELEM_F32 : eq_float_rank(a) > eq_float_rank(b) ? a : b;
    if (eq_is_float(a) || eq_is_float(b)) return eq_is_float(a) ? a : b;
    return elem_bytes(a) == elem_bytes(b) ? ELEM_NONE : elem_bytes(a) > elem_bytes(b) ? a : b;
}

bool eq_has_real_literal(const struct eq_expr *e)
{
    const bool is_of_reals = (e->kind >= EQ_EXP && e->kind <= EQ_POW) || (e->kind >= EQ_FLOOR && e->kind <= EQ_ROUND);
    if (e->kind == EQ_REAL || is_of_reals) return true;
    return (e->a && e->kind != EQ_SELECT && eq_has_real_literal(e->a)) || (e->b && eq_has_real_literal(e->b)) ||
           (e->c && eq_has_real_literal(e->c));
}

static bool literal_fits(int64_t value, enum elem to)
{
    const int bits = elem_bytes(to) * 8;
    if (to == ELEM_I64) return true;
    if (to >= ELEM_U8) return value >= 0 && (bits == 64 || value >> bits == 0);
    return value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1);
}

/* An integer in it that does not fit in integers of this type; NULL: none. */
static const struct eq_expr *misfit(const struct eq_expr *e, enum elem to)
{
    if (e->kind == EQ_INT) return literal_fits(e->integer, to) ? NULL : e;
    const struct eq_expr *const parts[] = {e->kind == EQ_SELECT ? NULL : e->a, e->b, e->c};
    for (int i = 0; i < 3; i++) {
        const struct eq_expr *bad = parts[i] && e->kind != EQ_CAST ? misfit(parts[i], to) : NULL;
        if (bad) return bad;
    }
    return NULL;
}

static bool takes_literal(struct eq_work *w, const struct eq_value *v, enum elem to, struct span at, bool is_stored)
{
    if (to == ELEM_BOOL || (eq_is_integer(to) && eq_has_real_literal(v->expr))) {
        diag_error(w->c->diag, DIAG_E02, v->expr->at, "the literal meets %s here, which cannot hold it", elem_name(to));
        if (to == ELEM_BOOL)
            diag_help(w->c->diag, "a bool is 'true', 'false', or what a comparison makes");
        else if (is_stored)
            diag_help(w->c->diag, "a cast says that it may be rounded: %s(...)", elem_name(to));
        else
            diag_help(w->c->diag, "cast the other operand: f32(...)");
        w->failed = true;
        return false;
    }
    const struct eq_expr *bad = eq_is_integer(to) ? misfit(v->expr, to) : NULL;
    int64_t value;
    if (!bad) return true;
    if (eq_constant_of(v->expr, &value) == EQ_CONSTANT && literal_fits(value, to)) {
        fold(v->expr);
        return true;
    }
    diag_error(w->c->diag, DIAG_E15, bad == v->expr ? at : bad->at, "%lld does not fit in %s", (long long)bad->integer,
               elem_name(to));
    w->failed = true;
    return false;
}

struct eq_expr *eq_fit(struct eq_work *w, struct eq_value v, enum elem to, struct span at, const char *what)
{
    if (!v.expr) return NULL;
    if (v.is_literal) return takes_literal(w, &v, to, at, true) ? eq_convert(w, v, to) : NULL;
    const bool widens = v.type == to || (eq_is_float(to) && eq_is_integer(v.type)) ||
                        (v.type != ELEM_BOOL && to != ELEM_BOOL && common(v.type, to) == to);
    if (widens) {
        struct eq_expr *e = eq_convert(w, v, eq_computed(to));
        return to == eq_computed(to) ? e : eq_convert(w, (struct eq_value){e, to, false}, to);
    }
    diag_error(w->c->diag, DIAG_E02, at, "%s has elements of type %s, but the value is %s", what, elem_name(to),
               elem_name(v.type));
    if (to != ELEM_BOOL)
        diag_help(w->c->diag, "a cast says that it may be rounded: %s(...)", elem_name(to));
    else
        diag_help(w->c->diag, "compare it with a number");
    w->failed = true;
    return NULL;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static struct eq_value literal(struct eq_work *w, const struct type *t, int64_t i, double f, struct span at)
{
    const bool is_real = t->kind == TYPE_F32 || t->kind == TYPE_F64;
    struct eq_expr *e = eq_new(w, is_real ? EQ_REAL : EQ_INT, ELEM_I64, at);
    if (is_real)
        e->real = f;
    else
        e->integer = i;
    if (is_real) e->type = ELEM_F64;
    if (t->kind == TYPE_BOOL) e->type = ELEM_BOOL;
    return (struct eq_value){e, e->type, t->kind != TYPE_BOOL};
}

static struct eq_value of_symbol(struct eq_work *w, struct symbol *s, struct span at)
{
    s->is_named = true;
    if (s->type->kind == TYPE_ERROR) return eq_fail(w);
    if (s->kind == SYM_CONST) return literal(w, s->type, s->int_value, s->real_value, at);
    if (s->type->kind == TYPE_INT) return of_size(w, size_symbol(w->c->sizes, s), at);
    if (s->kind == SYM_FORMAL && type_is_scalar(s->type)) {
        const enum elem t = s->type->kind == TYPE_F64 ? ELEM_F64 : s->type->kind == TYPE_F32 ? ELEM_F32 : ELEM_BOOL;
        struct eq_expr *e = eq_new(w, EQ_SCALAR, t, at);
        e->scalar = s;
        return (struct eq_value){e, t, false};
    }
    if (s->type->kind == TYPE_TENSOR)
        diag_error(w->c->diag, DIAG_E03, at, "'%s' is a tensor: an element of it has %d %s", s->name, s->type->rank,
                   s->type->rank == 1 ? "index" : "indices");
    else
        diag_error(w->c->diag, DIAG_E19, at, "'%s' is no number", s->name);
    return eq_fail(w);
}

/* Once for each name and statement. */
static struct eq_value stray(struct eq_work *w, const char *name, struct span at)
{
    for (size_t i = 0; i < w->said.count; i++)
        if (w->said.data[i] == name) return eq_fail(w);
    vec_push(&w->said, name);
    if (eq_is_read_early(w, name, at)) return eq_fail(w);
    diag_error(w->c->diag, DIAG_E19, at, "'%s' is neither on the left nor bound by a reduction", name);
    if (w->stmt && w->stmt->kind == EQ_LET && w->frees.count == 0)
        diag_help(w->c->diag, "a temporary of many elements has its indices on the left: let t[%s] = ...", name);
    else
        diag_help(w->c->diag, "sum(%s: ...) binds it, and so does 'for %s in 0 .. n { }'", name, name);
    return eq_fail(w);
}

static struct eq_value of_name(struct eq_work *w, const char *name, struct span at)
{
    struct eq_name *n = eq_find(w, name);
    if (n && n->kind == EQ_NAME_ALIAS) return n->alias;
    if (n && n->kind == EQ_NAME_VAR) return of_size(w, size_symbol(w->c->sizes, n->var->symbol), at);
    if (n && n->kind == EQ_NAME_BAD) return eq_fail(w);
    if (n) {
        if (n->temp->rank == 0) {
            struct ast place = {.kind = AST_INDEX, .at = at, .name = name};
            struct eq_access *a = eq_access_of(w, &place, false);
            if (!a) return eq_fail(w);
            struct eq_expr *e = eq_new(w, EQ_LOAD, n->temp->elem, at);
            e->access = a;
            return (struct eq_value){e, n->temp->nominal, false};
        }
        diag_error(w->c->diag, DIAG_E03, at, "'%s' is a temporary: an element of it has %d %s", name, n->temp->rank,
                   n->temp->rank == 1 ? "index" : "indices");
        return eq_fail(w);
    }
    struct symbol *s = eq_outer(w, name);
    if (s && s->kind != SYM_MODULE) return of_symbol(w, s, at);
    if (!w->on_left) return stray(w, name, at);
    struct eq_var *v = eq_declare_var(w, EQ_FREE, name, at);
    vec_push(&w->frees, v);
    return of_size(w, size_symbol(w->c->sizes, v->symbol), at);
}

static struct eq_value of_member(struct eq_work *w, struct ast *n)
{
    struct ast *object = n->member.object;
    struct symbol *m = object->kind == AST_NAME && !eq_find(w, object->name) ? eq_outer(w, object->name) : NULL;
    if (!m || m->kind != SYM_MODULE) {
        diag_error(w->c->diag, DIAG_E19, n->at, "'.%s' has no meaning in a kernel in index notation", n->name);
        return eq_fail(w);
    }
    m->is_named = true;
    struct symbol *s = m->target ? names_in_module(m->target, n->name) : NULL;
    if (s) declare_resolve(w->c, s);
    if (s && s->kind == SYM_CONST) return of_symbol(w, s, n->at);
    if (m->target) diag_error(w->c->diag, DIAG_E01, n->name_at, "'%s' has no constant '%s'", m->name, n->name);
    return eq_fail(w);
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

static bool compares(enum eq_kind op, int64_t a, int64_t b)
{
    switch (op) {
    case EQ_EQ: return a == b;
    case EQ_NE: return a != b;
    case EQ_LT: return a < b;
    case EQ_LE: return a <= b;
    case EQ_GT: return a > b;
    default: return a >= b;
    }
}

int eq_decided(const struct eq_expr *e)
{
    if (e->kind == EQ_INT) return e->integer != 0;
    if (e->kind == EQ_NOT) return eq_decided(e->a) < 0 ? -1 : !eq_decided(e->a);
    if (e->kind == EQ_AND || e->kind == EQ_OR) {
        const int stop = e->kind == EQ_OR, a = eq_decided(e->a), b = eq_decided(e->b);
        return a == stop || b == stop ? stop : a < 0 || b < 0 ? -1 : !stop;
    }
    if (e->kind < EQ_EQ || e->kind > EQ_GE || e->a->kind != EQ_INT || e->b->kind != EQ_INT) return -1;
    return compares(e->kind, e->a->integer, e->b->integer);
}

struct eq_value eq_value_under(struct eq_work *w, const struct eq_expr *cond, bool truth, struct ast *n)
{
    const struct eq_guard *const outer = w->guard;
    const bool was_left_out = w->c->is_left_out;
    struct eq_guard *guard = arena_new(w->c->mem, struct eq_guard);
    *guard = (struct eq_guard){cond, truth, outer};
    w->guard = guard;
    w->c->is_left_out |= eq_decided(cond) == !truth;
    const struct eq_value v = eq_value_of(w, n);
    w->c->is_left_out = was_left_out;
    w->guard = outer;
    return v;
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static const enum eq_kind kinds[] = {
    [OP_OR] = EQ_OR,         [OP_AND] = EQ_AND,       [OP_EQ] = EQ_EQ,         [OP_NE] = EQ_NE,   [OP_LT] = EQ_LT,
    [OP_LE] = EQ_LE,         [OP_GT] = EQ_GT,         [OP_GE] = EQ_GE,         [OP_ADD] = EQ_ADD, [OP_SUB] = EQ_SUB,
    [OP_MUL] = EQ_MUL,       [OP_DIV] = EQ_DIV,       [OP_MOD] = EQ_MOD,       [OP_SHL] = EQ_SHL, [OP_SHR] = EQ_SHR,
    [OP_BITOR] = EQ_BITOR,   [OP_BITXOR] = EQ_BITXOR, [OP_BITAND] = EQ_BITAND, [OP_NEG] = EQ_NEG, [OP_NOT] = EQ_NOT,
    [OP_BITNOT] = EQ_BITNOT,
};

static const struct size *size_result(struct eq_work *w, enum ast_op op, const struct size *x, const struct size *y)
{
    struct size_table *t = w->c->sizes;
    int64_t by = 1;
    switch (op) {
    case OP_ADD: return size_binary(t, SIZE_ADD, x, y);
    case OP_SUB: return size_sub(t, x, y);
    case OP_MUL: return size_binary(t, SIZE_MUL, x, y);
    case OP_DIV:
    case OP_MOD: /* of what may be 0, the value is found when the kernel runs */
        if (size_is_const(y, &by) ? by == 0 : !facts_prove_order(w->c->facts, size_const(t, 1), y, 0)) return NULL;
        return size_binary(t, op == OP_DIV ? SIZE_DIV : SIZE_MOD, x, y);
    default: return NULL;
    }
}

static bool refuse_constants(struct eq_work *w, const struct ast *n, const struct eq_value *b)
{
    const enum ast_op op = n->binary.op;
    int64_t by = 1;
    const bool is_const = (b->is_literal || b->expr->kind == EQ_INT) && eq_constant_of(b->expr, &by) == EQ_CONSTANT;
    if (w->c->is_left_out) return false;
    if ((op == OP_DIV || op == OP_MOD) && is_const && by == 0) {
        diag_error(w->c->diag, DIAG_E15, n->binary.op_at, "division by zero");
        return true;
    }
    if ((op == OP_SHL || op == OP_SHR) && is_const && (by < 0 || by > 63)) {
        diag_error(w->c->diag, DIAG_E15, n->binary.right->at, "a shift is by 0 to 63 bits, not by %lld", (long long)by);
        return true;
    }
    return false;
}

static bool takes(enum ast_op op, const struct eq_value *v)
{
    const bool is_bool = v->type == ELEM_BOOL;
    if (op == OP_OR || op == OP_AND) return is_bool;
    if (op == OP_MOD || (op >= OP_BITOR && op <= OP_SHR))
        return eq_is_integer(v->type) && !(v->is_literal && eq_has_real_literal(v->expr));
    return !is_bool || op == OP_EQ || op == OP_NE;
}

/* The type in which two operands meet, or ELEM_NONE, reported. */
static enum elem meet(struct eq_work *w, const struct eq_value *a, const struct eq_value *b, struct span at,
                      const char *op)
{
    if (a->is_literal && b->is_literal)
        return eq_has_real_literal(a->expr) || eq_has_real_literal(b->expr) ? ELEM_F64 : ELEM_I64;
    if (a->is_literal) return takes_literal(w, a, b->type, a->expr->at, false) ? b->type : ELEM_NONE;
    if (b->is_literal) return takes_literal(w, b, a->type, b->expr->at, false) ? a->type : ELEM_NONE;
    const enum elem t = common(a->type, b->type);
    if (t != ELEM_NONE) return t;
    diag_error(w->c->diag, DIAG_E02, at, "%s cannot be used with %s and %s", op, elem_name(a->type),
               elem_name(b->type));
    if (a->type != ELEM_BOOL && b->type != ELEM_BOOL)
        diag_help(w->c->diag, "neither is the wider: cast one of them");
    else
        diag_help(w->c->diag, "select(cond, a, b) makes a number of a bool, and so does a cast");
    w->failed = true;
    return ELEM_NONE;
}

/* Two operands of one type; op: for messages. */
bool eq_join(struct eq_work *w, struct eq_value *a, struct eq_value *b, struct span at, const char *op,
             struct eq_value *joined)
{
    if (!a->expr || !b->expr) return false;
    const enum elem t = meet(w, a, b, at, op);
    if (t == ELEM_NONE) return false;
    *joined = (struct eq_value){NULL, t, a->is_literal && b->is_literal};
    a->expr = joined->is_literal ? retype(w, a->expr, t) : eq_convert(w, *a, eq_computed(t));
    b->expr = joined->is_literal ? retype(w, b->expr, t) : eq_convert(w, *b, eq_computed(t));
    return a->expr && b->expr;
}

static struct eq_value of_binary(struct eq_work *w, struct ast *n)
{
    const enum ast_op op = n->binary.op;
    const bool is_logic = op == OP_AND || op == OP_OR;
    struct eq_value a = eq_value_of(w, n->binary.left), v;
    struct eq_value b = is_logic && a.expr && a.type == ELEM_BOOL
                            ? eq_value_under(w, a.expr, op == OP_AND, n->binary.right)
                            : eq_value_of(w, n->binary.right);
    if (!a.expr || !b.expr) return eq_fail(w);
    if (!takes(op, &a) || !takes(op, &b)) {
        const struct eq_value *bad = takes(op, &a) ? &b : &a;
        diag_error(w->c->diag, DIAG_E02, n->binary.op_at, "'%s' cannot be used with %s", ast_op_text(op),
                   bad->is_literal ? "this literal" : elem_name(bad->type));
        if (bad->type == ELEM_BOOL)
            diag_help(w->c->diag, "select(cond, a, b) makes a number of a bool, and so does a cast");
        return eq_fail(w);
    }
    if (refuse_constants(w, n, &b)) return eq_fail(w);
    const struct size *x = eq_as_size(w, &a), *y = eq_as_size(w, &b);
    const bool is_literal = a.is_literal && b.is_literal, compares = op >= OP_EQ && op <= OP_GE;
    const struct size *size = x && y && !is_literal && !compares ? size_result(w, op, x, y) : NULL;
    if (size) return of_size(w, size, n->at);
    const char *text = arena_printf(w->c->mem, "'%s'", ast_op_text(op));
    if (!eq_join(w, &a, &b, n->binary.op_at, text, &v)) return eq_fail(w);
    const bool is_bool = compares || is_logic;
    struct eq_expr *e = eq_new(w, kinds[op], is_bool ? ELEM_BOOL : eq_computed(v.type), n->at);
    e->a = a.expr;
    e->b = b.expr;
    if ((op == OP_DIV || op == OP_MOD) && eq_is_integer(e->type)) /* a constant divides by what it is */
        e->may_fail = b.expr->kind != EQ_INT || b.expr->integer == -1;
    w->out->may_fail |= e->may_fail && !is_literal;
    if (is_bool && v.type == ELEM_I64 && is_literal) {
        fold(a.expr);
        fold(b.expr);
    }
    if (is_bool) return (struct eq_value){e, ELEM_BOOL, false};
    const bool is_same = a.expr->kind == EQ_INT && b.expr->kind == EQ_INT; /* in each type */
    if (is_literal && is_same && (op == OP_ADD || op == OP_SUB || op == OP_MUL)) fold(e);
    return (struct eq_value){e, v.type, is_literal};
}

static bool is_least(const struct ast *n)
{
    return n->kind == AST_INT && !n->integer.too_large && n->integer.value == (uint64_t)INT64_MAX + 1;
}

static struct eq_value of_unary(struct eq_work *w, struct ast *n)
{
    const enum ast_op op = n->binary.op;
    if (op == OP_NEG && is_least(n->binary.left)) return literal(w, w->c->int_, INT64_MIN, 0, n->at);
    struct eq_value a = eq_value_of(w, n->binary.left);
    if (!a.expr) return eq_fail(w);
    const bool fits = op == OP_NOT      ? a.type == ELEM_BOOL
                      : op == OP_BITNOT ? eq_is_integer(a.type) && !(a.is_literal && eq_has_real_literal(a.expr))
                                        : a.type != ELEM_BOOL;
    if (!fits) {
        diag_error(w->c->diag, DIAG_E02, n->at, "'%s' cannot be used with %s", ast_op_text(op), eq_type_text(w, &a));
        return eq_fail(w);
    }
    if (op == OP_NEG && a.is_literal && a.expr->kind == EQ_INT && a.expr->integer != INT64_MIN) {
        struct eq_expr *e = eq_new(w, EQ_INT, ELEM_I64, n->at);
        e->integer = -a.expr->integer;
        return (struct eq_value){e, ELEM_I64, true};
    }
    const struct size *x = op == OP_NEG && !a.is_literal ? eq_as_size(w, &a) : NULL;
    const struct size *negative = x ? size_scale(w->c->sizes, x, -1) : NULL;
    if (negative) return of_size(w, negative, n->at);
    struct eq_expr *e = eq_new(w, kinds[op], a.expr->type, n->at);
    e->a = a.expr;
    return (struct eq_value){e, a.type, a.is_literal};
}

/* ---- which one it is --------------------------------------------------------------------------------------------- */

static struct eq_value of_index(struct eq_work *w, struct ast *n)
{
    struct eq_access *a = eq_access_of(w, n, false);
    if (!a) return eq_fail(w);
    const enum elem stored = a->formal ? a->formal->type->elem : a->temp->elem;
    struct eq_expr *e = eq_new(w, EQ_LOAD, stored, n->at);
    e->access = a;
    struct eq_value v = {e, a->formal ? stored : a->temp->nominal, false};
    v.expr = eq_convert(w, v, eq_computed(stored));
    return v;
}

/* One above the largest i64 is a u64 and no literal: sizes, and what literals make, are i64. */
static struct eq_value of_integer(struct eq_work *w, const struct ast *n)
{
    if (n->integer.too_large) {
        diag_error(w->c->diag, DIAG_E15, n->at, "%s does not fit in 64 bits", n->integer.digits);
        return eq_fail(w);
    }
    const struct eq_value v = literal(w, w->c->int_, (int64_t)n->integer.value, 0, n->at);
    return v.expr->integer >= 0 ? v : (struct eq_value){eq_convert(w, v, ELEM_U64), ELEM_U64, false};
}

/* The word, with the blanks after it: parentheses around the operand are no part of its place, and stay. */
static struct span word_await(const struct eq_work *w, const struct ast *n)
{
    const char *text = source_get(w->c->front->sources, n->at.file)->text;
    uint32_t end = n->at.begin + (uint32_t)strlen("await");
    while (isspace((unsigned char)text[end])) end++;
    return (struct span){n->at.file, n->at.begin, end};
}

struct eq_value eq_value_of(struct eq_work *w, struct ast *n)
{
    switch (n->kind) {
    case AST_NAME: return of_name(w, n->name, n->at);
    case AST_MEMBER: return of_member(w, n);
    case AST_INT: return of_integer(w, n);
    case AST_FLOAT: return literal(w, w->c->f64, 0, n->real.value, n->at);
    case AST_BOOL: return literal(w, w->c->bool_, n->boolean.value, 0, n->at);
    case AST_UNARY: return of_unary(w, n);
    case AST_BINARY: return of_binary(w, n);
    case AST_INDEX: return of_index(w, n);
    case AST_CALL: return eq_call(w, n);
    case AST_REDUCTION: return eq_reduction(w, n);
    case AST_AWAIT:
        diag_error(w->c->diag, DIAG_E19, n->at, "in a kernel nothing is awaited: its arguments are there");
        diag_fix(w->c->diag, word_await(w, n), "", "remove 'await'");
        return eq_fail(w);
    default: diag_error(w->c->diag, DIAG_E19, n->at, "a number is needed here"); return eq_fail(w);
    }
}

const struct size *eq_size_of(struct eq_work *w, struct ast *n, const char *what)
{
    const struct eq_value v = eq_value_of(w, n);
    if (!v.expr) return NULL;
    const struct size *size = eq_as_size(w, &v);
    if (size) return size;
    if (eq_refuse_large(w, &v, n->at)) return NULL;
    w->failed = true;
    if (!eq_is_integer(v.type))
        diag_error(w->c->diag, DIAG_E02, n->at, "%s must be an integer, not %s", what, eq_type_text(w, &v));
    else
        diag_error(w->c->diag, DIAG_E19, n->at, "%s is known before the kernel reads anything: it cannot be '%s'", what,
                   place_str(w->c, n));
    return NULL;
}
