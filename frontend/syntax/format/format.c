/* format.c - a program in the usual layout.
 * Idea       text to pieces, pieces to text, until nothing changes any more.
 * Owner      nothing.
 * Invariant  each round can only take away a gap that a person made, so the rounds end; after too many the gaps are
 *            given up.
 * Blocks     never.
 * Tests      test/lit/fmt/
 */
#include "format.h"
#include "pieces.h"
#include <string.h>

enum { MAX_ROUNDS = 8 };

static void print_blanks(struct strbuf *out, int count)
{
    while (count-- > 0) strbuf_putc(out, ' ');
}

static void print(const pieces *list, struct strbuf *out)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct piece *p = &list->data[i];
        for (int k = 0; i > 0 && k < p->break_before; k++) strbuf_putc(out, '\n');
        print_blanks(out, i == 0 || p->break_before ? pieces_indent(list, i) : p->space_before);
        strbuf_add(out, p->text, (size_t)p->length);
    }
    if (list->count > 0) strbuf_putc(out, '\n');
}

static void format_once(struct front *front, uint32_t file, const char *text, size_t length, bool keeps_gaps,
                        struct strbuf *out)
{
    pieces list = {0};
    pieces_read(front, file, text, length, &list);
    for (size_t i = 0; i < list.count && !keeps_gaps; i++)
        if (list.data[i].gap > 1) list.data[i].gap = 1;
    pieces_space(&list);
    pieces_break(&list);
    print(&list, out);
    vec_free(&list);
}

void format_file(struct front *front, uint32_t file, struct strbuf *out)
{
    const struct source *s = source_get(front->sources, file);
    strbuf_add(out, s->text, s->length);
    for (int round = 0; round <= MAX_ROUNDS + 1; round++) {
        struct strbuf next = {0};
        format_once(front, file, strbuf_text(out), out->length, round < MAX_ROUNDS, &next);
        bool is_same = next.length == out->length && memcmp(strbuf_text(&next), strbuf_text(out), next.length) == 0;
        strbuf_free(out);
        *out = next;
        if (is_same) break;
    }
}
