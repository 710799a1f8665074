/* test_size_linear.c - sizes as polynomials: what is split is put together again, what is multiplied is divided again,
 * and no quotient leaves a remainder. */
#include "unit.h"

#include "sema/size.h"
#include "sema/symbol.h"
#include "support/arena.h"
#include <string.h>

enum { NAMES = 3, TRIES = 20000 };

static uint64_t seed = 1;
static struct arena *mem;
static struct size_table *sizes;
static struct symbol names[NAMES];

static int below(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

static void begin(void)
{
    mem = arena_create();
    sizes = size_table_create(mem);
    memset(names, 0, sizeof names);
    for (int i = 0; i < NAMES; i++) names[i] = (struct symbol){.kind = SYM_FORMAL, .name = "abc" + i};
}

static void end(void) { arena_destroy(mem); }

static const struct size *plus(const struct size *a, const struct size *b)
{
    return size_binary(sizes, SIZE_ADD, a, b);
}

static const struct size *times(const struct size *a, const struct size *b)
{
    return size_binary(sizes, SIZE_MUL, a, b);
}

static const struct size *name(int i) { return size_symbol(sizes, &names[i]); }

/* A sum of up to `most` products, over the names from `first` on, their halves, and numbers. */
static const struct size *polynomial(int most, int first)
{
    const struct size *sum = size_const(sizes, below(5) - 2);
    for (int i = below(most + 1); i > 0; i--) {
        const struct size *product = size_const(sizes, below(9) - 4);
        for (int k = below(4); k > 0; k--) {
            const struct size *atom = name(first + below(NAMES - first));
            if (below(5) == 0) atom = size_binary(sizes, SIZE_DIV, atom, size_const(sizes, 2));
            product = times(product, atom);
        }
        sum = plus(sum, product);
    }
    return sum;
}

TEST(a_linear_size_is_factor_times_name_plus_rest)
{
    begin();
    for (int i = 0; i < TRIES; i++) {
        const struct size *const factor = polynomial(3, 1), *const rest = polynomial(3, 1), *got_factor, *got_rest;
        const struct size *const a = plus(times(factor, name(0)), rest);
        const bool is_linear = size_is_linear(sizes, a, &names[0], &got_factor, &got_rest);
        EXPECT(is_linear == (factor != size_const(sizes, 0)));
        EXPECT(!is_linear || (got_factor == factor && got_rest == rest));
    }
    end();
}

TEST(a_power_or_a_part_of_another_operation_is_not_linear)
{
    const struct size *factor, *rest;
    begin();
    const struct size *const a = name(0), *const half = size_binary(sizes, SIZE_DIV, a, size_const(sizes, 2));
    EXPECT(!size_is_linear(sizes, times(a, a), &names[0], &factor, &rest));
    EXPECT(!size_is_linear(sizes, plus(times(a, a), a), &names[0], &factor, &rest));
    EXPECT(!size_is_linear(sizes, times(a, half), &names[0], &factor, &rest));
    EXPECT(!size_is_linear(sizes, plus(half, a), &names[0], &factor, &rest));
    EXPECT(!size_is_linear(sizes, name(1), &names[0], &factor, &rest));
    end();
}

TEST(a_product_is_divided_by_its_factor)
{
    begin();
    for (int i = 0; i < TRIES; i++) {
        const struct size *const a = polynomial(3, 0), *const b = polynomial(3, 0);
        if (b != size_const(sizes, 0)) EXPECT(size_quotient(sizes, times(a, b), b) == a);
    }
    end();
}

TEST(a_quotient_leaves_no_remainder)
{
    int found = 0;
    begin();
    for (int i = 0; i < TRIES; i++) {
        const struct size *const a = polynomial(3, 0), *const b = polynomial(2, 0), *q = size_quotient(sizes, a, b);
        if (!q) continue;
        EXPECT(times(q, b) == a);
        found += b->kind != SIZE_CONST && a->kind != SIZE_CONST;
    }
    EXPECT(found > 10);
    EXPECT(size_quotient(sizes, name(0), size_const(sizes, 0)) == NULL);
    EXPECT(size_quotient(sizes, size_const(sizes, INT64_MIN), size_const(sizes, -1)) == NULL);
    EXPECT(size_quotient(sizes, plus(name(0), size_const(sizes, 1)), name(0)) == NULL);
    end();
}
