/* source_text.c - a piece of the program's text on one line.
 * Tests      test/lit/codegen/
 */
#include "source_text.h"
#include "support/arena.h"
#include "support/strbuf.h"
#include <ctype.h>
#include <string.h>

const char *source_one_line(struct front *front, struct arena *mem, struct span at)
{
    const struct source *source = source_get(front->sources, at.file);
    STRBUF(b);
    for (uint32_t i = at.begin; i < at.end && i < source->length; i++) {
        char c = source->text[i];
        if (c == '/' && (source->text[i + 1] == '/' || source->text[i + 1] == '*')) { /* a comment is left out */
            const char *stop = source->text[i + 1] == '/' ? "\n" : "*/";
            const char *end = strstr(source->text + i + 2, stop);
            i = end ? (uint32_t)(end - source->text) + (uint32_t)strlen(stop) - 1 : at.end;
            c = ' ';
        }
        bool blank = isspace((unsigned char)c);
        if (blank && (b.length == 0 || b.data[b.length - 1] == ' ')) continue;
        if (c == '*' && i + 1 < at.end && source->text[i + 1] == '/')
            strbuf_puts(&b, "* ");
        else
            strbuf_putc(&b, blank ? ' ' : c);
    }
    while (b.length > 0 && (b.data[b.length - 1] == ' ' || b.data[b.length - 1] == ';')) b.data[--b.length] = '\0';
    return arena_copy(mem, strbuf_text(&b), b.length);
}
