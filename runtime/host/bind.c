/* bind.c - dimension variables from the arrays that were given.
 * Idea       three passes: an extent that is exactly a variable says its value; an extent with one open variable in
 *            which it is linear is solved; then every extent of every array is computed from the variables and
 *            compared.
 * Invariant  nothing is rounded: a solution is an integer from 0 that gives exactly the extent in the file.
 * Tests      test/runtime/test_bind.c
 */
#include "bind.h"

#include <inttypes.h>

/* Extent dim of formal with variable v set to value; false when it cannot be computed. */
static bool extent_at(const struct binding *b, int32_t formal, int32_t dim, int32_t v, int64_t value, int64_t *extent)
{
    int64_t kept = b->dims[v];
    b->dims[v] = value;
    bool good = b->entry->extent(formal, dim, b->call, extent);
    b->dims[v] = kept;
    return good;
}

enum solution { SOLVED, NOT_LINEAR, NO_INTEGER, NEGATIVE };

/* Is the extent slope * v + base, and where is it target?  A function like min(v, 100) looks linear near 0, so it is
 * looked at in several other places, far out and around the solution; where it cannot be computed there, it says
 * nothing. */
static enum solution solve(const struct binding *b, int32_t formal, int32_t dim, int32_t v, int64_t target,
                           int64_t *value)
{
    int64_t base, at_one, slope, rest;
    if (!extent_at(b, formal, dim, v, 0, &base) || !extent_at(b, formal, dim, v, 1, &at_one) ||
        __builtin_sub_overflow(at_one, base, &slope) || slope == 0 || __builtin_sub_overflow(target, base, &rest))
        return NOT_LINEAR;
    int64_t guess = slope == -1 ? -rest : rest / slope;
    int64_t low = guess > INT64_MAX - 1 || guess < 1 ? 0 : guess - 1;
    const int64_t probes[] = {2, 3, 5, 17, 1000, 1 << 20, INT64_C(1) << 31, low, low + 1, low + 2};
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        int64_t extent, expected;
        if (!extent_at(b, formal, dim, v, probes[i], &extent)) continue;
        if (__builtin_mul_overflow(slope, probes[i], &expected) || __builtin_add_overflow(expected, base, &expected) ||
            extent != expected)
            return NOT_LINEAR;
    }
    *value = guess;
    if (rest % slope != 0) return NO_INTEGER;
    return guess < 0 ? NEGATIVE : SOLVED;
}

/* The one open variable that this extent mentions, or -1. */
static int32_t only_open(const struct binding *b, uint64_t uses)
{
    int32_t open = -1;
    for (int32_t v = 0; v < b->entry->dim_count && v < 64; v++)
        if ((uses >> v & 1) && b->origin[v] == BIND_NOTHING) {
            if (open >= 0) return -1;
            open = v;
        }
    return open;
}

static const char *array_text_of(const struct binding *b, int32_t formal, char *text, size_t size)
{
    return ptoi_array_text(&b->formals[formal].array, text, size);
}

static int fail_solving(const struct binding *b, int32_t formal, int32_t dim, int32_t v, int64_t value, bool negative,
                        struct host_error *e)
{
    const PTOFormal *f = &b->entry->formals[formal];
    char shape[256], why[64];
    if (negative)
        snprintf(why, sizeof why, "would make it %" PRId64, value);
    else
        snprintf(why, sizeof why, "is no extent for any integer");
    return host_fail(e, HOST_FILE, "'%s' is %s, declared %s: extent %d, %" PRId64 ", does not bind '%s', it %s",
                     f->name, array_text_of(b, formal, shape, sizeof shape), f->text, dim,
                     b->formals[formal].array.shape[dim], b->entry->dims[v], why);
}

static void bind_exact(struct binding *b)
{
    for (int32_t f = 0; f < b->entry->formal_count; f++)
        for (int32_t d = 0; b->formals[f].given && d < b->entry->formals[f].rank; d++) {
            int32_t v = b->entry->formals[f].exact[d];
            if (v >= 0 && b->origin[v] == BIND_NOTHING) {
                b->dims[v] = b->formals[f].array.shape[d];
                b->origin[v] = f;
            }
        }
}

/* Solves what can be solved once; *progress says whether anything was. */
static int bind_linear(struct binding *b, bool *progress, struct host_error *e)
{
    *progress = false;
    for (int32_t f = 0; f < b->entry->formal_count; f++)
        for (int32_t d = 0; b->formals[f].given && d < b->entry->formals[f].rank; d++) {
            int32_t v = only_open(b, b->entry->formals[f].uses[d]);
            if (v < 0) continue;
            int64_t value = 0;
            enum solution s = solve(b, f, d, v, b->formals[f].array.shape[d], &value);
            if (s == NO_INTEGER || s == NEGATIVE) return fail_solving(b, f, d, v, value, s == NEGATIVE, e);
            if (s == SOLVED) {
                b->dims[v] = value;
                b->origin[v] = f;
                *progress = true;
            }
        }
    return HOST_OK;
}

static int fail_open(const struct binding *b, int32_t v, struct host_error *e)
{
    const char *name = b->entry->dims[v], *const option = e->is_of_call ? "the argument " : "--dim ";
    for (int32_t f = 0; f < b->entry->formal_count; f++) {
        const PTOFormal *formal = &b->entry->formals[f];
        for (int32_t d = 0; d < formal->rank; d++)
            if (v < 64 && (formal->uses[d] >> v & 1)) {
                if (b->formals[f].given)
                    return host_fail(e, HOST_USAGE, "the extents of '%s' (%s) do not determine '%s'; give %s%s=NUMBER",
                                     formal->name, formal->text, name, option, name);
                return host_fail(e, HOST_USAGE, "nothing binds '%s', an extent of '%s' (%s); give %s%s=NUMBER", name,
                                 formal->name, formal->text, option, name);
            }
    }
    return host_fail(e, HOST_USAGE, "nothing binds '%s'; give %s%s=NUMBER", name, option, name);
}

/* The array in the file says one thing, the variables another: names what bound them. */
static int fail_extent(const struct binding *b, int32_t f, int32_t d, int64_t expected, struct host_error *e)
{
    const PTOFormal *formal = &b->entry->formals[f];
    char shape[256], other_shape[256];
    int64_t extent = b->formals[f].array.shape[d];
    array_text_of(b, f, shape, sizeof shape);
    int32_t option = -1;
    for (int32_t v = 0; v < b->entry->dim_count && v < 64; v++) {
        int32_t other = b->origin[v];
        if (!(formal->uses[d] >> v & 1)) continue;
        if (other == BIND_OPTION)
            option = v;
        else if (other != f)
            return host_fail(e, HOST_FILE,
                             "'%s' is %s, but extent %d (of %s) is %" PRId64 " with '%s' %s, which makes '%s' %" PRId64,
                             formal->name, shape, d, formal->text, expected, b->entry->formals[other].name,
                             array_text_of(b, other, other_shape, sizeof other_shape), b->entry->dims[v], b->dims[v]);
    }
    if (option >= 0)
        return host_fail(e, HOST_FILE, "'%s' is %s, but extent %d (of %s) is %" PRId64 " with %s%s=%" PRId64,
                         formal->name, shape, d, formal->text, expected, e->is_of_call ? "" : "--dim ",
                         b->entry->dims[option], b->dims[option]);
    return host_fail(e, HOST_FILE, "'%s' is %s, but extent %d (of %s) is %" PRId64 ", not %" PRId64, formal->name,
                     shape, d, formal->text, expected, extent);
}

static int check_formal(struct binding *b, int32_t f, struct host_error *e)
{
    const PTOFormal *formal = &b->entry->formals[f];
    struct host_array *a = &b->formals[f].array;
    if (bind_is_decided(formal)) return HOST_OK; /* the run says its shape */
    for (int32_t d = 0; d < formal->rank; d++) {
        int64_t extent;
        if (!b->entry->extent(f, d, b->call, &extent))
            return host_fail(e, HOST_USAGE, "extent %d of '%s' (%s) overflows or divides by zero", d, formal->name,
                             formal->text);
        if (extent < 0)
            return host_fail(e, HOST_USAGE, "extent %d of '%s' (%s) is negative: %" PRId64, d, formal->name,
                             formal->text, extent);
        if (b->formals[f].given && a->shape[d] != extent) return fail_extent(b, f, d, extent, e);
        a->shape[d] = extent;
    }
    char shape[256];
    if (formal->rank > 0 && !array_measure(a))
        return host_fail(e, HOST_USAGE, "the size of '%s' overflows: %s", formal->name,
                         array_text_of(b, f, shape, sizeof shape));
    return HOST_OK;
}

int ptoi_bind(struct binding *b, struct host_error *e)
{
    bind_exact(b);
    for (bool progress = true; progress;) {
        int code = bind_linear(b, &progress, e);
        if (code != HOST_OK) return code;
    }
    for (int32_t v = 0; v < b->entry->dim_count; v++)
        if (b->origin[v] == BIND_NOTHING) return fail_open(b, v, e);
    for (int32_t f = 0; f < b->entry->formal_count; f++) {
        int code = check_formal(b, f, e);
        if (code != HOST_OK) return code;
    }
    return HOST_OK;
}
