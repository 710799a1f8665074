/* range.c - between which bounds does an integer lie?
 * Needs types, constants and sizes.  Gives range_of_expr, range_of_size.  Look: pto_add and plain + in ptoc build
 * --emit=c Method intervals: constants are known, dimension variables are not negative, a loop variable lies in its
 * loop, a let has the range
 *        of its value, a var may be anything.  All arithmetic in 128 bits.
 */
#include "range.h"
#include "support/arena.h"

static const struct interval anything = {INT64_MIN, INT64_MAX};

static struct interval clamp(__int128 lo, __int128 hi, bool *fits)
{
    struct interval r = {lo < INT64_MIN ? INT64_MIN : (int64_t)lo, hi > INT64_MAX ? INT64_MAX : (int64_t)hi};
    *fits = lo >= INT64_MIN && hi <= INT64_MAX;
    if (lo > INT64_MAX || hi < INT64_MIN) /* never finishes: any range is true */
        return anything;
    return r;
}

static struct interval of_corners(const __int128 *corner, int count, bool *fits)
{
    __int128 lo = corner[0], hi = corner[0];
    for (int i = 1; i < count; i++) {
        if (corner[i] < lo) lo = corner[i];
        if (corner[i] > hi) hi = corner[i];
    }
    return clamp(lo, hi, fits);
}

static struct interval divide(struct interval a, struct interval b, bool *fits)
{
    bool has_zero = b.lo <= 0 && b.hi >= 0;
    /* A run goes on only with a divisor that is not zero. */
    if (b.lo == 0) b.lo = 1;
    if (b.hi == 0) b.hi = -1;
    if (b.lo > b.hi) {
        *fits = false;
        return anything;
    }
    __int128 corner[8];
    int n = 0;
    int64_t ends[4] = {b.lo, b.hi, b.lo, b.hi};
    if (b.lo < 0 && b.hi > 0) ends[2] = -1, ends[3] = 1;
    for (int i = 0; i < 4; i++) {
        corner[n++] = (__int128)a.lo / ends[i];
        corner[n++] = (__int128)a.hi / ends[i];
    }
    struct interval r = of_corners(corner, n, fits);
    if (r.lo > 0 && a.lo <= 0) r.lo = 0;
    if (r.hi < 0 && a.hi >= 0) r.hi = 0;
    *fits = *fits && !has_zero;
    return r;
}

static struct interval modulo(struct interval a, struct interval b, bool *fits)
{
    *fits = !(b.lo <= 0 && b.hi >= 0) && !(a.lo == INT64_MIN && b.lo <= -1 && b.hi >= -1);
    __int128 low = b.lo < 0 ? -(__int128)b.lo : b.lo, high = b.hi < 0 ? -(__int128)b.hi : b.hi;
    __int128 most = (low > high ? low : high) - 1;
    if (most < 0) most = 0;
    __int128 below = a.lo < 0 ? -(__int128)a.lo : 0, above = a.hi > 0 ? a.hi : 0;
    return (struct interval){(int64_t) - (below < most ? below : most), (int64_t)(above < most ? above : most)};
}

/* Of `|`, `^` and `&`: the fewest bits that hold both operands hold the result. */
static struct interval of_bits(enum ast_op op, struct interval a, struct interval b)
{
    const bool a_positive = a.lo >= 0, b_positive = b.lo >= 0;
    if (op == OP_BITAND && (a_positive || b_positive))
        return (struct interval){0, !a_positive ? b.hi : !b_positive || a.hi < b.hi ? a.hi : b.hi};
    const uint64_t ends = (uint64_t)(a.lo < 0 ? ~a.lo : a.lo) | (uint64_t)(a.hi < 0 ? ~a.hi : a.hi) |
                          (uint64_t)(b.lo < 0 ? ~b.lo : b.lo) | (uint64_t)(b.hi < 0 ? ~b.hi : b.hi);
    const int64_t most = ends == 0 ? 0 : (int64_t)(UINT64_MAX >> __builtin_clzll(ends));
    return (struct interval){a_positive && b_positive ? 0 : ~most, most};
}

/* fits: C's own operator can be used, which knows no negative number and no lost bit. */
static struct interval shift_left(struct interval a, struct interval b, bool *fits)
{
    if (a.lo < 0 || b.hi < 0 || b.lo > 63) {
        *fits = false;
        return anything;
    }
    const int least = b.lo < 0 ? 0 : (int)b.lo, most = b.hi > 63 ? 63 : (int)b.hi;
    const struct interval r = clamp((__int128)a.lo << least, (__int128)a.hi << most, fits);
    *fits = *fits && b.lo >= 0 && b.hi <= 63;
    return r;
}

static struct interval shift_right(struct interval a, struct interval b, bool *fits)
{
    *fits = b.lo >= 0 && b.hi <= 63;
    if (b.hi < 0 || b.lo > 63) return anything;
    const int least = b.lo < 0 ? 0 : (int)b.lo, most = b.hi > 63 ? 63 : (int)b.hi;
    return (struct interval){a.lo >> (a.lo < 0 ? least : most), a.hi >> (a.hi < 0 ? most : least)};
}

struct interval range_apply(enum ast_op op, struct interval a, struct interval b, bool *fits)
{
    switch (op) {
    case OP_ADD: return clamp((__int128)a.lo + b.lo, (__int128)a.hi + b.hi, fits);
    case OP_SUB: return clamp((__int128)a.lo - b.hi, (__int128)a.hi - b.lo, fits);
    case OP_MUL: {
        __int128 corner[4] = {(__int128)a.lo * b.lo, (__int128)a.lo * b.hi, (__int128)a.hi * b.lo,
                              (__int128)a.hi * b.hi};
        return of_corners(corner, 4, fits);
    }
    case OP_DIV: return divide(a, b, fits);
    case OP_MOD: return modulo(a, b, fits);
    case OP_BITOR:
    case OP_BITXOR:
    case OP_BITAND: *fits = true; return of_bits(op, a, b);
    case OP_SHL: return shift_left(a, b, fits);
    case OP_SHR: return shift_right(a, b, fits);
    case OP_BITNOT: *fits = true; return (struct interval){~a.hi, ~a.lo};
    case OP_NEG: return clamp(-(__int128)a.hi, -(__int128)a.lo, fits);
    default: *fits = true; return (struct interval){0, 1};
    }
}

/* A name that is an extent of an array that exists: not negative, and where it is the only extent, no larger than
 * memory. */
static struct interval range_of_extent(const struct ranges *p, const struct symbol *s, struct interval r)
{
    if (!p->function || p->function->kind != SYM_ORCH) return r;
    for (int f = 0; f < p->function->formal_count; f++) {
        const struct type *t = p->function->formals[f]->type;
        if (t->kind != TYPE_TENSOR) continue;
        for (int d = 0; d < t->rank; d++) {
            if (t->extent[d]->kind != SIZE_SYMBOL || t->extent[d]->symbol != s) continue;
            if (r.lo < 0) r.lo = 0;
            if (t->rank == 1 && r.hi > INT64_MAX / elem_bytes(t->elem) / 2) r.hi = INT64_MAX / elem_bytes(t->elem) / 2;
        }
    }
    return r;
}

static struct interval range_of_loop(struct ranges *p, const struct ast *n)
{
    struct interval low = range_of_expr(p, n->loop.low), high = range_of_expr(p, n->loop.high);
    struct interval step = n->loop.step ? range_of_expr(p, n->loop.step) : (struct interval){1, 1};
    struct interval up = {low.lo, high.hi > INT64_MIN ? high.hi - 1 : INT64_MIN};
    struct interval down = {high.lo < INT64_MAX ? high.lo + 1 : INT64_MAX, low.hi};
    struct interval r = step.lo > 0 ? up
                        : step.hi < 0
                            ? down
                            : (struct interval){up.lo < down.lo ? up.lo : down.lo, up.hi > down.hi ? up.hi : down.hi};
    return r.lo <= r.hi ? r : low; /* else the body never runs */
}

static int formal_index(const struct symbol *callee, const struct symbol *s)
{
    for (int f = 0; f < callee->formal_count; f++)
        if (callee->formals[f] == s) return f;
    return -1;
}

static struct interval range_of_symbol(struct ranges *p, const struct symbol *s)
{
    if (s->has_value) return (struct interval){s->int_value, s->int_value};
    const struct interval *given = ptrmap_get(&p->given, s);
    if (given) return *given;
    if (s->decided_name) return (struct interval){0, INT64_MAX};
    const struct call *call = p->binding;
    if (call && (s->kind == SYM_DIM || s->kind == SYM_FORMAL)) {
        struct interval r = anything;
        p->binding = NULL; /* what the names stand for is the caller's */
        for (int d = 0; d < call->callee->dim_count; d++)
            if (call->callee->dims[d] == s) r = range_of_size(p, call->dims[d]);
        int f = formal_index(call->callee, s);
        if (f >= 0 && call->values[f]) r = range_of_expr(p, call->values[f]);
        p->binding = call;
        return r;
    }
    switch (s->kind) {
    case SYM_DIM: return range_of_extent(p, s, (struct interval){0, INT64_MAX});
    case SYM_PARAM: return range_of_extent(p, s, anything);
    case SYM_FORMAL: return range_of_extent(p, s, anything);
    case SYM_LET:
    case SYM_LOOP: break;
    default: return anything;
    }
    struct interval *known = ptrmap_get(&p->known, s);
    if (known) return *known;
    struct interval *r = arena_new(p->mem, struct interval);
    *r = anything;
    ptrmap_set(&p->known, s, r);
    if (s->kind == SYM_LOOP)
        *r = range_of_loop(p, s->decl);
    else if (s->decl->kind == AST_LET && s->decl->decl.value && s->type->kind == TYPE_INT)
        *r = range_of_expr(p, s->decl->decl.value);
    return *r;
}

static struct interval range_of_minmax(bool min, struct interval a, struct interval b)
{
    if (min) return (struct interval){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
    return (struct interval){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static struct interval range_of_ceil_div(struct interval a, struct interval b)
{
    if (a.lo >= 0 && b.lo > 0)
        return (struct interval){a.lo / b.hi + (a.lo % b.hi > 0), a.hi / b.lo + (a.hi % b.lo > 0)};
    return anything;
}

enum { MAX_SIZE_NODES = 1000 }; /* sizes share their parts: written out they can be larger than any time allows */

struct interval range_of_size(struct ranges *p, const struct size *s)
{
    bool fits;
    struct interval r;
    if (s->count > 0 && size_node_count(s, MAX_SIZE_NODES) == MAX_SIZE_NODES) return anything;
    switch (s->kind) {
    case SIZE_CONST: return (struct interval){s->value, s->value};
    case SIZE_SYMBOL: return range_of_symbol(p, s->symbol);
    case SIZE_ADD:
    case SIZE_MUL:
        r = range_of_size(p, s->arg[0]);
        for (int i = 1; i < s->count; i++)
            r = range_apply(s->kind == SIZE_ADD ? OP_ADD : OP_MUL, r, range_of_size(p, s->arg[i]), &fits);
        return r;
    case SIZE_DIV:
    case SIZE_MOD:
        return range_apply(s->kind == SIZE_DIV ? OP_DIV : OP_MOD, range_of_size(p, s->arg[0]),
                           range_of_size(p, s->arg[1]), &fits);
    case SIZE_OR:
    case SIZE_XOR:
    case SIZE_AND:
    case SIZE_SHL:
    case SIZE_SHR: {
        static const enum ast_op ops[] = {[SIZE_OR] = OP_BITOR,
                                          [SIZE_XOR] = OP_BITXOR,
                                          [SIZE_AND] = OP_BITAND,
                                          [SIZE_SHL] = OP_SHL,
                                          [SIZE_SHR] = OP_SHR};
        return range_apply(ops[s->kind], range_of_size(p, s->arg[0]), range_of_size(p, s->arg[1]), &fits);
    }
    case SIZE_MINIMUM:
    case SIZE_MAXIMUM:
        r = range_of_size(p, s->arg[0]);
        for (int i = 1; i < s->count; i++) r = range_of_minmax(s->kind == SIZE_MINIMUM, r, range_of_size(p, s->arg[i]));
        return r;
    case SIZE_CEIL_DIV: return range_of_ceil_div(range_of_size(p, s->arg[0]), range_of_size(p, s->arg[1]));
    case SIZE_ABS: return (struct interval){0, INT64_MAX};
    case SIZE_LOG2: return (struct interval){0, 62};
    default: return anything;
    }
}

static struct interval range_of_builtin(struct ranges *p, const struct ast *n)
{
    const char *name = n->call.callee->name;
    const struct ast *first = n->call.args ? n->call.args->arg.value : NULL;
    const struct ast *second = first && n->call.args->next ? n->call.args->next->arg.value : NULL;
    bool min = name[0] == 'm' && name[1] == 'i', max = name[0] == 'm' && name[1] == 'a';
    if ((min || max) && second) {
        struct interval r = range_of_expr(p, first);
        for (const struct ast *a = n->call.args->next; a; a = a->next)
            r = range_of_minmax(min, r, range_of_expr(p, a->arg.value));
        return r;
    }
    if (name[0] == 'c' && second) return range_of_ceil_div(range_of_expr(p, first), range_of_expr(p, second));
    if (select_of(n)) {
        const struct interval yes = range_of_expr(p, second),
                              no = range_of_expr(p, n->call.args->next->next->arg.value);
        return (struct interval){yes.lo < no.lo ? yes.lo : no.lo, yes.hi > no.hi ? yes.hi : no.hi};
    }
    if (name[0] == 'i') return first->type->kind == TYPE_BOOL ? (struct interval){0, 1} : range_of_expr(p, first);
    if (name[0] == 'l') return (struct interval){0, 62};
    return name[0] == 'a' || name[0] == 'd' ? (struct interval){0, INT64_MAX} : anything;
}

struct interval range_of_expr(struct ranges *p, const struct ast *n)
{
    bool fits;
    int64_t value;
    if (!n || !n->type || n->type->kind != TYPE_INT) return anything;
    if (n->value && size_is_const(n->value, &value)) return (struct interval){value, value};
    switch (n->kind) {
    case AST_INT: return (struct interval){(int64_t)n->integer.value, (int64_t)n->integer.value};
    case AST_NAME:
    case AST_MEMBER: return n->symbol ? range_of_symbol(p, n->symbol) : anything;
    case AST_UNARY: return range_apply(n->binary.op, range_of_expr(p, n->binary.left), (struct interval){0, 0}, &fits);
    case AST_BINARY:
        return range_apply(n->binary.op, range_of_expr(p, n->binary.left), range_of_expr(p, n->binary.right), &fits);
    case AST_CALL: return call_of(n) ? anything : range_of_builtin(p, n);
    default: return anything;
    }
}
