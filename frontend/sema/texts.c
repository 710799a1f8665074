/* texts.c - types, sizes and pieces of the program as messages print them.
 * Owner      a few buffers, used one after the other: a text is good for one message.
 * Tests      test/lit/sema/
 */
#include "checker.h"

struct strbuf *texts_next(struct checker *c)
{
    struct strbuf *b = &c->text[c->next_text++ % 8];
    b->length = 0;
    strbuf_puts(b, "");
    return b;
}

const char *type_str(struct checker *c, const struct type *t)
{
    struct strbuf *b = texts_next(c);
    type_text(t, b);
    return strbuf_text(b);
}

const char *size_str(struct checker *c, const struct size *a)
{
    struct strbuf *b = texts_next(c);
    size_text(a, b);
    return strbuf_text(b);
}

const char *place_str(struct checker *c, const struct ast *e)
{
    struct strbuf *b = texts_next(c);
    const char *text = source_get(c->front->sources, e->at.file)->text;
    uint32_t length = e->at.end - e->at.begin, shown = length > 40 ? 37 : length;
    for (uint32_t i = 0; i < shown; i++) {
        char ch = text[e->at.begin + i];
        strbuf_putc(b, ch == '\n' || ch == '\t' || ch == '\r' ? ' ' : ch);
    }
    if (shown < length) strbuf_puts(b, "...");
    return strbuf_text(b);
}
