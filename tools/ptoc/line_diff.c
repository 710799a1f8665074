/* line_diff.c - the difference of two texts, line by line.
 * Idea       equal ends are cut off; of the rest the longest common subsequence is kept.  A rest too large for its
 *            table is shown as one change.
 * Owner      nothing.
 * Tests      test/lit/fmt/modes.test
 */
#include "line_diff.h"
#include "support/vec.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { CONTEXT = 3 };
static const size_t max_cells = 16u << 20;

struct line {
    const char *text;
    size_t length;
    char mark; /* ' ', '-' or '+' */
};

typedef VEC(struct line) lines;

static lines split(const struct strbuf *b)
{
    lines all = {0};
    const char *text = strbuf_text(b), *end = text + b->length;
    while (text < end) {
        const char *behind = memchr(text, '\n', (size_t)(end - text));
        behind = behind == NULL ? end : behind + 1;
        vec_push(&all, ((struct line){text, (size_t)(behind - text), ' '}));
        text = behind;
    }
    return all;
}

static bool is_equal(const struct line *a, const struct line *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static void put(lines *out, struct line l, char mark)
{
    l.mark = mark;
    vec_push(out, l);
}

/* length[i][k]: of the longest common subsequence of a[i..] and b[k..]. */
static void merge(const struct line *a, size_t m, const struct line *b, size_t n, lines *out)
{
    size_t width = n + 1, i = 0, k = 0;
    uint32_t *length = (m + 1) * width <= max_cells ? calloc((m + 1) * width, sizeof *length) : NULL;
    for (size_t x = m; length != NULL && x-- > 0;)
        for (size_t y = n; y-- > 0;) {
            uint32_t down = length[(x + 1) * width + y], right = length[x * width + y + 1];
            length[x * width + y] = is_equal(&a[x], &b[y]) ? length[(x + 1) * width + y + 1] + 1
                                    : down > right         ? down
                                                           : right;
        }
    while (i < m || k < n) {
        if (length != NULL && i < m && k < n && is_equal(&a[i], &b[k])) {
            put(out, a[i++], ' ');
            k++;
        } else if (i < m && (k == n || length == NULL || length[(i + 1) * width + k] >= length[i * width + k + 1])) {
            put(out, a[i++], '-');
        } else {
            put(out, b[k++], '+');
        }
    }
    free(length);
}

static void print_hunk(const lines *all, size_t begin, size_t end, size_t old_line, size_t new_line, struct strbuf *out)
{
    size_t old_count = 0, new_count = 0;
    for (size_t i = begin; i < end; i++) old_count += all->data[i].mark != '+', new_count += all->data[i].mark != '-';
    strbuf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", old_line + (old_count > 0), old_count, new_line + (new_count > 0),
                  new_count);
    for (size_t i = begin; i < end; i++) {
        const struct line *l = &all->data[i];
        strbuf_putc(out, l->mark);
        strbuf_add(out, l->text, l->length);
        if (l->text[l->length - 1] != '\n') strbuf_puts(out, "\n\\ No newline at end of file\n");
    }
}

static void print_hunks(const lines *all, struct strbuf *out)
{
    size_t old_line = 0, new_line = 0, at = 0; /* lines before all->data[at] */
    for (size_t i = 0; i < all->count; i++) {
        if (all->data[i].mark == ' ') continue;
        size_t begin = i > CONTEXT ? i - CONTEXT : 0, end = i, quiet = 0;
        if (begin < at) begin = at;
        while (end < all->count && quiet <= 2 * CONTEXT) quiet = all->data[end++].mark == ' ' ? quiet + 1 : 0;
        if (quiet > CONTEXT) end -= quiet - CONTEXT;
        for (; at < begin; at++) old_line++, new_line++;
        print_hunk(all, begin, end, old_line, new_line, out);
        for (; at < end; at++) old_line += all->data[at].mark != '+', new_line += all->data[at].mark != '-';
        i = end - 1;
    }
}

void line_diff(const char *name, const struct strbuf *before, const struct strbuf *after, struct strbuf *out)
{
    lines a = split(before), b = split(after), all = {0};
    size_t head = 0, tail = 0;
    while (head < a.count && head < b.count && is_equal(&a.data[head], &b.data[head])) head++;
    while (tail < a.count - head && tail < b.count - head &&
           is_equal(&a.data[a.count - 1 - tail], &b.data[b.count - 1 - tail]))
        tail++;
    for (size_t i = 0; i < head; i++) put(&all, a.data[i], ' ');
    merge(a.data + head, a.count - head - tail, b.data + head, b.count - head - tail, &all);
    for (size_t i = a.count - tail; i < a.count; i++) put(&all, a.data[i], ' ');
    if (head != a.count || head != b.count) strbuf_printf(out, "--- %s\n+++ %s (formatted)\n", name, name);
    print_hunks(&all, out);
    vec_free(&a);
    vec_free(&b);
    vec_free(&all);
}
