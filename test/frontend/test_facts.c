/* test_facts.c - proofs about integers: nothing is proved that is wrong for some values, and each rule of an operator
 * is.
 * Idea       random facts and questions over three integers are asked of every value in a small cube, where they can be
 *            counted out: the least value of an expression is never proved to be one more.  A table has what each
 *            operator promises, as sharp as it is: one less cannot be proved.
 */
#include "unit.h"

#include "sema/facts.h"
#include "support/arena.h"
#include "support/strbuf.h"
#include "sema/symbol.h"
#include <stdio.h>
#include <string.h>

enum { NAMES = 3, LEAST = -4, MOST = 6, SIDE = MOST - LEAST + 1, POINTS = SIDE * SIDE * SIDE };

static uint64_t seed = 1;

static int below(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

/* ---- expressions, with values of their own: the constructors of sizes are asked, too ---- */

struct expr {
    enum size_kind kind;
    int64_t value; /* CONST; SYMBOL: its number */
    const struct expr *left, *right;
    const struct size *size;
};

static struct arena *mem;
static struct size_table *sizes;
static struct facts *facts;
static struct symbol names[NAMES];

static void begin(void)
{
    static const char *const name[NAMES] = {"a", "b", "c"};
    mem = arena_create();
    sizes = size_table_create(mem);
    facts = facts_create(mem, sizes);
    memset(names, 0, sizeof names);
    for (int i = 0; i < NAMES; i++) names[i] = (struct symbol){.kind = SYM_FORMAL, .name = name[i]};
}

static void end(void)
{
    facts_reset(facts, 0);
    arena_destroy(mem);
}

static const struct expr *leaf(enum size_kind kind, int64_t value)
{
    struct expr *e = arena_new(mem, struct expr);
    *e = (struct expr){.kind = kind, .value = value};
    e->size = kind == SIZE_CONST ? size_const(sizes, value) : size_symbol(sizes, &names[value]);
    return e;
}

/* NULL: there is no such size. */
static const struct expr *node(enum size_kind kind, const struct expr *left, const struct expr *right)
{
    struct expr *e = arena_new(mem, struct expr);
    *e = (struct expr){.kind = kind, .left = left, .right = right};
    e->size = right ? size_binary(sizes, kind, left->size, right->size) : size_unary(sizes, kind, left->size);
    return e->size ? e : NULL;
}

static int64_t floor_log2(int64_t a)
{
    int64_t n = 0;
    while (a >>= 1) n++;
    return n;
}

static bool value_of(const struct expr *e, const int64_t *at, int64_t *value)
{
    int64_t a = 0, b = 0;
    if (e->left && !value_of(e->left, at, &a)) return false;
    if (e->right && !value_of(e->right, at, &b)) return false;
    switch (e->kind) {
    case SIZE_CONST: *value = e->value; return true;
    case SIZE_SYMBOL: *value = at[e->value]; return true;
    case SIZE_ADD: *value = a + b; return true;
    case SIZE_MUL: *value = a * b; return true;
    case SIZE_MINIMUM: *value = a < b ? a : b; return true;
    case SIZE_MAXIMUM: *value = a > b ? a : b; return true;
    case SIZE_OR: *value = a | b; return true;
    case SIZE_XOR: *value = a ^ b; return true;
    case SIZE_AND: *value = a & b; return true;
    case SIZE_ABS: *value = a < 0 ? -a : a; return true;
    case SIZE_DIV: return b != 0 && (*value = a / b, true);
    case SIZE_MOD: return b != 0 && (*value = a % b, true);
    case SIZE_CEIL_DIV: return b != 0 && (*value = a / b + (a % b != 0 && (a < 0) == (b < 0)), true);
    case SIZE_SHL: return b >= 0 && b <= 20 && (*value = a * (INT64_C(1) << b), true);
    case SIZE_SHR: return b >= 0 && b <= 63 && (*value = a >> b, true);
    default: return a >= 1 && (*value = floor_log2(a), true); /* LOG2 */
    }
}

static const struct expr *some(int depth)
{
    static const enum size_kind kinds[] = {SIZE_ADD,     SIZE_ADD, SIZE_MUL, SIZE_DIV,  SIZE_MOD,
                                           SIZE_MINIMUM, SIZE_OR,  SIZE_XOR, SIZE_AND,  SIZE_MAXIMUM,
                                           SIZE_SHL,     SIZE_SHR, SIZE_ABS, SIZE_LOG2, SIZE_CEIL_DIV};
    const struct expr *e = NULL;
    if (depth == 0 || below(6) == 0) return below(3) ? leaf(SIZE_SYMBOL, below(NAMES)) : leaf(SIZE_CONST, below(9) - 3);
    while (!e) {
        const enum size_kind kind = kinds[below(sizeof kinds / sizeof *kinds)];
        const bool is_unary = kind == SIZE_ABS || kind == SIZE_LOG2;
        e = node(kind, some(depth - 1), is_unary ? NULL : some(depth - 1));
    }
    return e;
}

/* ---- conditions ---- */

static struct ast *comparison(enum ast_op op, const struct expr *a, const struct expr *b)
{
    struct ast *left = arena_new(mem, struct ast), *right = arena_new(mem, struct ast), *e = arena_new(mem, struct ast);
    *left = (struct ast){.kind = AST_NAME, .value = a->size};
    *right = (struct ast){.kind = AST_NAME, .value = b->size};
    *e = (struct ast){.kind = AST_BINARY, .binary = {.op = op, .left = left, .right = right}};
    return e;
}

struct condition {
    struct ast *ast;
    enum ast_op op; /* of a comparison; AND OR NOT: of conditions */
    const struct expr *a, *b;
    const struct condition *left, *right;
};

static const struct condition *compare(enum ast_op op, const struct expr *a, const struct expr *b)
{
    struct condition *c = arena_new(mem, struct condition);
    *c = (struct condition){.ast = comparison(op, a, b), .op = op, .a = a, .b = b};
    return c;
}

static const struct condition *join(enum ast_op op, const struct condition *left, const struct condition *right)
{
    struct condition *c = arena_new(mem, struct condition);
    struct ast *e = arena_new(mem, struct ast);
    *e = (struct ast){.kind = right ? AST_BINARY : AST_UNARY,
                      .binary = {.op = op, .left = left->ast, .right = right ? right->ast : NULL}};
    *c = (struct condition){.ast = e, .op = op, .left = left, .right = right};
    return c;
}

static const struct condition *some_condition(int depth)
{
    static const enum ast_op ops[] = {OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE};
    if (depth == 0 || below(2)) return compare(ops[below(6)], some(1), some(below(3) == 0));
    const int which = below(3);
    const struct condition *left = some_condition(depth - 1);
    return which == 0 ? join(OP_NOT, left, NULL) : join(which == 1 ? OP_AND : OP_OR, left, some_condition(depth - 1));
}

/* 1, 0; -1: it has no value */
static int truth_at(const struct condition *c, const int64_t *at)
{
    int64_t a, b;
    if (c->left) {
        const int l = truth_at(c->left, at), r = c->right ? truth_at(c->right, at) : 0;
        if (l < 0 || r < 0) return -1;
        return c->op == OP_NOT ? !l : c->op == OP_AND ? l && r : l || r;
    }
    if (!value_of(c->a, at, &a) || !value_of(c->b, at, &b)) return -1;
    switch (c->op) {
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_LT: return a < b;
    case OP_LE: return a <= b;
    case OP_GT: return a > b;
    default: return a >= b;
    }
}

/* ---- the cube ---- */

static bool is_open[POINTS]; /* the facts hold there */

static void point(int n, int64_t *at)
{
    for (int i = 0; i < NAMES; i++, n /= SIDE) at[i] = n % SIDE + LEAST;
}

static void add(const struct condition *c, bool truth)
{
    int64_t at[NAMES];
    facts_add_condition(facts, c->ast, truth);
    for (int n = 0; n < POINTS; n++) {
        point(n, at);
        is_open[n] &= truth_at(c, at) == truth;
    }
}

/* Points where e has a value, and its least one. */
static int count_least(const struct expr *e, int64_t *least)
{
    int found = 0;
    int64_t at[NAMES], value;
    for (int n = 0; n < POINTS; n++) {
        point(n, at);
        if (!is_open[n] || !value_of(e, at, &value)) continue;
        if (found++ == 0 || value < *least) *least = value;
    }
    return found;
}

static int proved, asked, decided;

static void ask_least(const struct expr *e)
{
    int64_t least = 0;
    if (count_least(e, &least) == 0) return;
    asked++;
    proved += facts_prove_order(facts, size_const(sizes, least), e->size, 0);
    EXPECT(!facts_prove_order(facts, size_const(sizes, least), e->size, 1));
    EXPECT(!facts_prove_order(facts, size_const(sizes, least + 1), e->size, 0));
    EXPECT(!facts_prove(facts, size_sub(sizes, e->size, size_const(sizes, least + 1))));
    EXPECT(!facts_contradict(facts));
}

static void ask_condition(const struct condition *c)
{
    int64_t at[NAMES];
    const int is = facts_decide(facts, c->ast, NULL);
    decided += is >= 0;
    for (int n = 0; n < POINTS && is >= 0; n++) {
        point(n, at);
        if (is_open[n]) EXPECT(truth_at(c, at) != !is);
    }
}

static void ask_some(void)
{
    for (int i = 0; i < 4; i++) ask_least(some(2));
    for (int i = 0; i < 3; i++) ask_condition(some_condition(2));
}

static void know_signs(void)
{
    for (int i = 0; i < NAMES; i++)
        if (below(3)) add(compare(OP_GE, leaf(SIZE_SYMBOL, i), leaf(SIZE_CONST, below(4) - 1)), true);
    for (int i = 0; i < NAMES; i++)
        if (below(2)) add(compare(OP_LE, leaf(SIZE_SYMBOL, i), leaf(SIZE_CONST, below(6))), true);
}

TEST(nothing_is_proved_that_is_wrong_somewhere)
{
    enum { MANY = 1500 };
    proved = asked = decided = 0;
    for (int round = 0; round < MANY; round++) {
        bool outer[POINTS];
        begin();
        memset(is_open, true, sizeof is_open);
        know_signs();
        for (int i = below(3); i > 0; i--) add(some_condition(1), below(2));
        ask_some();
        const size_t mark = facts_mark(facts);
        memcpy(outer, is_open, sizeof outer);
        for (int i = 0; i < 2; i++) add(some_condition(0), true);
        ask_some();
        facts_reset(facts, mark); /* what was proved with them is not believed behind them */
        memcpy(is_open, outer, sizeof outer);
        ask_some();
        end();
    }
    printf("%d of %d least values proved, %d conditions decided\n", proved, asked, decided);
    EXPECT(proved * 3 > asked && decided > MANY);
}

/* ---- what each operator promises ---- */

static const struct size *constant(int64_t value) { return size_const(sizes, value); }
static const struct size *name(int i) { return size_symbol(sizes, &names[i]); }
static const struct size *plus(const struct size *a, const struct size *b)
{
    return size_binary(sizes, SIZE_ADD, a, b);
}
static const struct size *times(const struct size *a, const struct size *b)
{
    return size_binary(sizes, SIZE_MUL, a, b);
}

/* a <= b is proved, and a < b is not. */
static void expect_at_most(const struct size *a, const struct size *b)
{
    const bool is = facts_prove_order(facts, a, b, 0), is_less = facts_prove_order(facts, a, b, 1);
    if (is && !is_less) return;
    STRBUF(text);
    size_text(a, &text);
    strbuf_puts(&text, " <= ");
    size_text(b, &text);
    printf("%s: %s\n", strbuf_text(&text), is ? "less is proved" : "not proved");
    EXPECT(is && !is_less);
}

static void expect_equal(const struct size *a, const struct size *b)
{
    expect_at_most(a, b);
    expect_at_most(b, a);
    EXPECT(facts_prove_equal(facts, a, b));
}

static void at_least(int i, int64_t value) { facts_add_order(facts, constant(value), name(i), 0); }

TEST(quotients_lie_within_a_divisor)
{
    begin();
    at_least(1, 1);
    const struct size *a = name(0), *b = name(1), *slack = plus(b, constant(-1));
    const struct size *down = size_binary(sizes, SIZE_DIV, a, b), *up = size_binary(sizes, SIZE_CEIL_DIV, a, b);
    expect_at_most(times(b, down), plus(a, slack));
    expect_at_most(a, plus(times(b, down), slack));
    expect_at_most(a, times(b, up));
    expect_at_most(times(b, up), plus(a, slack));
    EXPECT(!facts_prove(facts, down) && !facts_prove(facts, up));
    at_least(0, 0);
    expect_at_most(times(b, down), a);
    expect_at_most(constant(0), down);
    expect_at_most(constant(0), up);
    end();
}

TEST(remainders_are_below_the_divisor)
{
    begin();
    const struct size *a = name(0), *b = name(1), *rest = size_binary(sizes, SIZE_MOD, a, b);
    expect_equal(a, plus(times(b, size_binary(sizes, SIZE_DIV, a, b)), rest));
    EXPECT(!facts_prove_order(facts, rest, b, 0));
    at_least(1, 1);
    expect_at_most(rest, plus(b, constant(-1)));
    EXPECT(!facts_prove(facts, rest));
    at_least(0, 0);
    expect_at_most(constant(0), rest);
    end();
}

TEST(shifts_round_down)
{
    begin();
    const struct size *a = name(0), *by = name(1), *eighth = size_binary(sizes, SIZE_SHR, a, constant(3));
    const struct size *right = size_binary(sizes, SIZE_SHR, a, by), *left = size_binary(sizes, SIZE_SHL, a, by);
    const struct size *sign = size_binary(sizes, SIZE_SHR, a, constant(62));
    expect_at_most(times(constant(8), eighth), a);
    expect_at_most(a, plus(times(constant(8), eighth), constant(7)));
    expect_at_most(times(constant(INT64_C(1) << 62), sign), a);
    EXPECT(!facts_prove(facts, right) && !facts_prove_order(facts, a, left, 0));
    at_least(0, 0);
    expect_at_most(constant(0), right);
    expect_at_most(right, a);
    expect_at_most(a, left);
    end();
}

TEST(bits_of_numbers_that_are_not_negative)
{
    begin();
    const struct size *a = name(0), *b = name(1), *zero = constant(0);
    const struct size *both = size_binary(sizes, SIZE_AND, a, b), *any = size_binary(sizes, SIZE_OR, a, b),
                      *one = size_binary(sizes, SIZE_XOR, a, b);
    EXPECT(!facts_prove(facts, both) && !facts_prove(facts, any) && !facts_prove(facts, one));
    at_least(0, 0);
    expect_at_most(zero, both);
    expect_at_most(both, a);
    EXPECT(!facts_prove_order(facts, both, b, 0) && !facts_prove(facts, any) && !facts_prove(facts, one));
    at_least(1, 0);
    expect_at_most(both, b);
    expect_at_most(zero, any);
    expect_at_most(any, plus(a, b));
    expect_at_most(a, any);
    expect_at_most(b, any);
    expect_at_most(zero, one);
    expect_at_most(one, plus(a, b));
    end();
}

TEST(least_and_greatest)
{
    begin();
    const struct size *a = name(0), *b = name(1), *least = size_binary(sizes, SIZE_MINIMUM, a, b),
                      *most = size_binary(sizes, SIZE_MAXIMUM, a, b);
    expect_at_most(least, a);
    expect_at_most(least, b);
    expect_at_most(a, most);
    expect_at_most(b, most);
    expect_at_most(least, most);
    expect_equal(plus(least, most), plus(a, b));
    at_least(0, 2);
    at_least(1, 3);
    expect_at_most(constant(2), least);
    expect_at_most(constant(3), most);
    facts_add_order(facts, a, constant(7), 0);
    facts_add_order(facts, b, constant(9), 0);
    expect_at_most(least, constant(7));
    expect_at_most(most, constant(9));
    expect_at_most(plus(constant(2), most), plus(most, least)); /* both are split */
    end();
}

TEST(magnitudes_and_logarithms)
{
    begin();
    const struct size *a = name(0), *size = size_unary(sizes, SIZE_ABS, a), *log = size_unary(sizes, SIZE_LOG2, a);
    expect_at_most(a, size);
    expect_at_most(size_scale(sizes, a, -1), size);
    expect_at_most(constant(0), size);
    expect_at_most(constant(0), log);
    expect_at_most(log, constant(62));
    end();
}

TEST(extents_that_the_run_decides_are_not_negative)
{
    begin();
    names[0].decided_name = "m";
    names[1].decided_name = "k";
    expect_at_most(constant(0), name(0));
    expect_at_most(constant(0), plus(name(0), name(1)));
    EXPECT(!facts_prove(facts, name(2)));
    end();
}

TEST(constants_are_what_they_are)
{
    begin();
    EXPECT(facts_prove(facts, constant(0)) && !facts_prove(facts, constant(-1)));
    EXPECT(facts_prove_order(facts, name(0), name(0), 0) && !facts_prove_order(facts, name(0), name(0), 1));
    end();
}

TEST(long_sums)
{
    enum { LONGEST = 31, TOO_LONG = 40 }; /* MAX_SUM terms with the constant, and more */
    struct symbol many[TOO_LONG] = {0};
    begin();
    const struct size *sum = constant(-1), *half = NULL;
    for (int i = 0; i < TOO_LONG; i++) {
        many[i] = (struct symbol){.kind = SYM_FORMAL, .name = "x"};
        sum = plus(sum, size_symbol(sizes, &many[i]));
        if (i + 1 == LONGEST) half = sum;
    }
    facts_add(facts, half);
    EXPECT(facts_prove(facts, size_scale(sizes, half, 2)));
    facts_add(facts, sum); /* what is known is believed, however long */
    EXPECT(facts_prove(facts, sum) && facts_prove(facts, plus(sum, constant(1))));
    EXPECT(!facts_prove(facts, plus(sum, constant(-1))));
    end();
}

TEST(an_order_holds_times_what_is_not_negative)
{
    begin();
    const struct size *a = name(0), *b = name(1), *x = name(2);
    const struct size *less = plus(plus(times(x, a), a), constant(1)), *more = plus(times(x, b), b);
    facts_add_order(facts, a, b, 1);
    EXPECT(!facts_prove_order(facts, less, more, 0));
    at_least(2, 0);
    expect_at_most(less, more);
    at_least(2, 1);
    expect_at_most(plus(less, constant(1)), more);
    end();
}

/* ---- conditions as facts, and as questions ---- */

/* Where `op` has that truth, a + gap <= b; is_reversed: b + gap <= a. */
static void when(enum ast_op op, bool truth, bool is_reversed, int64_t gap)
{
    for (int i = 0; i < 2; i++) {
        const struct expr a = {.kind = SIZE_SYMBOL, .size = name(i)}, b = {.kind = SIZE_SYMBOL, .size = name(1 - i)};
        const struct size *less = name(is_reversed ? 1 - i : i), *more = name(is_reversed ? i : 1 - i);
        const size_t mark = facts_mark(facts);
        facts_add_condition(facts, comparison(op, &a, &b), truth);
        expect_at_most(plus(less, constant(gap)), more);
        facts_reset(facts, mark);
    }
}

TEST(conditions_are_facts)
{
    begin();
    facts_add(facts, name(2)); /* so that no mark is the first */
    when(OP_LT, true, false, 1);
    when(OP_LT, false, true, 0);
    when(OP_LE, true, false, 0);
    when(OP_LE, false, true, 1);
    when(OP_GT, true, true, 1);
    when(OP_GT, false, false, 0);
    when(OP_GE, true, true, 0);
    when(OP_GE, false, false, 1);
    for (int reversed = 0; reversed < 2; reversed++) {
        when(OP_EQ, true, reversed, 0);
        when(OP_NE, false, reversed, 0);
    }
    end();
}

TEST(numbers_apart_are_ordered_where_one_is_not_greater)
{
    for (int i = 0; i < 2; i++) {
        begin();
        const struct expr a = {.kind = SIZE_SYMBOL, .size = name(i)}, b = {.kind = SIZE_SYMBOL, .size = name(1 - i)};
        struct ast *apart = comparison(i ? OP_NE : OP_EQ, &a, &b);
        facts_add_order(facts, name(0), name(1), 0);
        facts_add_condition(facts, apart, i);
        expect_at_most(plus(name(0), constant(1)), name(1));
        EXPECT(!facts_not_zero(facts, 0));
        end();
    }
}

TEST(numbers_apart_are_remembered)
{
    begin();
    facts_add(facts, name(2));
    facts_add_apart(facts, name(0), constant(4));
    const size_t mark = facts_mark(facts);
    facts_add_apart(facts, name(1), name(0));
    EXPECT(facts_not_zero(facts, 0) == size_sub(sizes, name(0), name(1)));
    EXPECT(facts_not_zero(facts, 1) == size_sub(sizes, constant(4), name(0)));
    facts_reset(facts, mark);
    EXPECT(facts_not_zero(facts, 0) == size_sub(sizes, constant(4), name(0)));
    EXPECT(facts_not_zero(facts, 1) == NULL);
    facts_reset(facts, 1);
    EXPECT(facts_not_zero(facts, 0) == NULL);
    end();
}

/* What is known when a + gap <= b is all there is: 1, 0 or -1. */
static void expect_decided(int64_t gap, enum ast_op op, int is)
{
    begin();
    const struct expr a = {.kind = SIZE_SYMBOL, .size = name(0)}, b = {.kind = SIZE_SYMBOL, .size = name(1)};
    struct ast *c = comparison(op, &a, &b), *opposite = arena_new(mem, struct ast);
    *opposite = (struct ast){.kind = AST_UNARY, .binary = {.op = OP_NOT, .left = c}};
    facts_add_order(facts, name(0), name(1), gap);
    EXPECT_EQ(facts_decide(facts, c, NULL), is);
    EXPECT_EQ(facts_decide(facts, opposite, NULL), is < 0 ? is : !is);
    end();
}

TEST(conditions_are_decided)
{
    expect_decided(1, OP_LT, 1);
    expect_decided(0, OP_LT, -1);
    expect_decided(0, OP_LE, 1);
    expect_decided(-1, OP_LE, -1);
    expect_decided(0, OP_GT, 0);
    expect_decided(-1, OP_GT, -1);
    expect_decided(1, OP_GE, 0);
    expect_decided(0, OP_GE, -1);
    expect_decided(1, OP_EQ, 0);
    expect_decided(0, OP_EQ, -1);
    expect_decided(1, OP_NE, 1);
    expect_decided(0, OP_NE, -1);
}

TEST(and_and_or_are_decided_by_one_side)
{
    begin();
    const struct expr a = {.kind = SIZE_SYMBOL, .size = name(0)}, zero = {.size = constant(0)},
                      ten = {.size = constant(10)};
    at_least(0, 0);
    struct ast *side[] = {
        [0] = comparison(OP_LT, &a, &zero), [1] = comparison(OP_GE, &a, &zero), [2] = comparison(OP_GT, &a, &ten)};
    static const int is[] = {0, 1, -1};
    for (int l = 0; l < 3; l++)
        for (int r = 0; r < 3; r++) {
            struct ast both = {.kind = AST_BINARY, .binary = {.op = OP_AND, .left = side[l], .right = side[r]}};
            struct ast any = {.kind = AST_BINARY, .binary = {.op = OP_OR, .left = side[l], .right = side[r]}};
            EXPECT_EQ(facts_decide(facts, &both, NULL), is[l] == 0 || is[r] == 0 ? 0 : is[l] < 0 || is[r] < 0 ? -1 : 1);
            EXPECT_EQ(facts_decide(facts, &any, NULL), is[l] == 1 || is[r] == 1 ? 1 : is[l] < 0 || is[r] < 0 ? -1 : 0);
        }
    end();
}

TEST(a_new_value_leaves_what_is_known_to_the_old_one)
{
    struct symbol old = {.kind = SYM_FORMAL, .name = "old"};
    begin();
    names[0].kind = SYM_VAR;
    facts_add_order(facts, name(0), name(1), 1);
    facts_forget(facts, &names[0], &old);
    expect_at_most(plus(size_symbol(sizes, &old), constant(1)), name(1));
    const size_t mark = facts_mark(facts);
    facts_forget(facts, &names[2], &old); /* of which nothing is known */
    EXPECT(facts_mark(facts) == mark);
    EXPECT(!facts_prove_order(facts, name(0), name(1), 0));
    end();
}
