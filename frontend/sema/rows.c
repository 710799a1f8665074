/* rows.c - linear inequalities between integers: do they contradict each other?
 * Method     what equations say is put in the place of unknowns, then Fourier-Motzkin elimination, the unknown first
 *            that makes the fewest rows.  Each row is divided by its common factor, and its constant rounded down.
 * Tests      test/lit/sema/e05*.pto, parity.pto
 */
#include "rows.h"
#include "support/integers.h"
#include <stdlib.h>
#include <string.h>

/* Integers: divide by the common factor and round the constant down.  Returns true for a contradiction. */
bool rows_add(struct rows *s, struct row *r)
{
    int64_t g = 0;
    *s->work -= 1 + s->count / 32;
    for (int i = 0; i < s->atoms; i++) {
        if (r->c[i] == INT64_MIN) return false;
        g = gcd(g, r->c[i]);
    }
    if (g == 0) return r->k < 0;
    if (g > 1) {
        for (int i = 0; i < s->atoms; i++) r->c[i] /= g;
        r->k = r->k / g - (r->k % g < 0);
    }
    for (int i = 0; i < s->count; i++)
        if (memcmp(s->row[i].c, r->c, sizeof *r->c * (size_t)s->atoms) == 0) {
            if (r->k < s->row[i].k) s->row[i].k = r->k;
            return false;
        }
    if (s->count == MAX_ROWS) return false;
    memcpy(s->row[s->count].c, r->c, sizeof *r->c * (size_t)s->atoms);
    s->row[s->count++].k = r->k;
    return false;
}

/* p and n added so that unknown v falls out; false: a number is too large. */
static bool combine(const struct rows *s, const struct row *p, const struct row *n, int v, struct row *out)
{
    int64_t a = p->c[v], b = -n->c[v], g = gcd(a, b), x, y;
    a /= g;
    b /= g;
    for (int i = 0; i < s->atoms; i++) {
        if (__builtin_mul_overflow(p->c[i], b, &x) || __builtin_mul_overflow(n->c[i], a, &y) ||
            __builtin_add_overflow(x, y, &out->c[i]))
            return false;
    }
    return !__builtin_mul_overflow(p->k, b, &x) && !__builtin_mul_overflow(n->k, a, &y) &&
           !__builtin_add_overflow(x, y, &out->k);
}

static bool is_negated(const struct rows *s, const struct row *a, const struct row *b)
{
    for (int i = 0; i < s->atoms; i++)
        if (a->c[i] != -b->c[i]) return false;
    return b->k != INT64_MIN && a->k == -b->k;
}

/* An unknown that an equation gives as a sum of the others; -1: none.  a, b: the rows that are the equation. */
static int solved_unknown(const struct rows *s, const bool *done, int *a, int *b)
{
    for (*a = 0; *a < s->count; ++*a)
        for (int v = 0; v < s->atoms; v++) {
            if (done[v] || s->row[*a].c[v] != 1) continue;
            for (*b = 0; *b < s->count; ++*b)
                if (s->row[*b].c[v] == -1 && is_negated(s, &s->row[*a], &s->row[*b])) return v;
            break; /* none is this row's negation */
        }
    return -1;
}

/* Puts what equations say in the place of unknowns: unlike elimination this loses no solution in integers. */
static bool substitute(struct rows *s, bool *done)
{
    int a, b;
    for (int v; *s->work >= 0 && (v = solved_unknown(s, done, &a, &b)) >= 0;) {
        const struct row up = s->row[a], down = s->row[b];
        struct row changed[MAX_ROWS];
        int count = 0, kept = 0;
        for (int i = 0; i < s->count; i++) {
            struct row *r = &s->row[i];
            if (r->c[v] == 0)
                s->row[kept++] = *r;
            else if (i != a && i != b && combine(s, r->c[v] > 0 ? r : &up, r->c[v] > 0 ? &down : r, v, &changed[count]))
                count++;
        }
        s->count = kept;
        done[v] = true;
        for (int i = 0; i < count; i++)
            if (rows_add(s, &changed[i])) return true;
    }
    return false;
}

bool rows_contradict(struct rows *s)
{
    bool done[MAX_ATOMS] = {false};
    if (substitute(s, done)) return true;
    for (;;) {
        int best = -1;
        long best_cost = 0;
        for (int v = 0; v < s->atoms; v++) {
            long p = 0, n = 0;
            if (done[v]) continue;
            for (int i = 0; i < s->count; i++) p += s->row[i].c[v] > 0, n += s->row[i].c[v] < 0;
            long cost = p * n - p - n;
            if (best < 0 || cost < best_cost) best = v, best_cost = cost;
        }
        if (best < 0 || *s->work < 0) return false;
        done[best] = true;
        int count = s->count, kept = 0;
        struct row *old = malloc(sizeof *old * (size_t)(count ? count : 1));
        if (!old) return false;
        memcpy(old, s->row, sizeof *old * (size_t)count);
        for (int i = 0; i < count; i++)
            if (old[i].c[best] == 0) s->row[kept++] = old[i];
        s->count = kept;
        bool contradiction = false;
        for (int i = 0; i < count && !contradiction; i++)
            for (int k = 0; k < count && old[i].c[best] > 0 && !contradiction && *s->work >= 0; k++) {
                struct row r;
                if (old[k].c[best] < 0 && combine(s, &old[i], &old[k], best, &r)) contradiction = rows_add(s, &r);
            }
        free(old);
        if (contradiction) return true;
    }
}
