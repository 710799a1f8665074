/* positions.c - bytes of a text, and the lines and characters by which a client names them.
 * Idea       the compiler counts bytes, the protocol UTF-16 units; they are converted here and nowhere else.  For the
 *            protocol a lone "\r" ends a line, too; the compiler's own lines end with "\n" alone.
 * Invariant  an offset that is given out is at most the length of the text, and not inside of a character.
 * Tests      test/lsp/test_positions.c
 */
#include "positions.h"
#include <string.h>

void lines_make(struct lines *l, const char *text, size_t length)
{
    l->text = text;
    l->length = length;
    l->starts.count = 0;
    vec_push(&l->starts, 0);
    for (size_t i = 0; i < length; i++) {
        const bool is_end = text[i] == '\n' || (text[i] == '\r' && (i + 1 == length || text[i + 1] != '\n'));
        if (is_end) vec_push(&l->starts, (uint32_t)(i + 1));
    }
}

void lines_free(struct lines *l) { vec_free(&l->starts); }

/* The bytes of the character at p; one for a byte that is not UTF-8. */
static size_t character_bytes(const char *p, const char *end)
{
    const unsigned char c = (unsigned char)*p;
    const size_t bytes = c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc2 && c < 0xe0 ? 2 : 1;
    if (bytes > (size_t)(end - p)) return 1;
    for (size_t i = 1; i < bytes; i++)
        if (((unsigned char)p[i] & 0xc0) != 0x80) return 1;
    return bytes;
}

static uint32_t units(size_t bytes, enum encoding encoding)
{
    return encoding == ENCODING_UTF8 ? (uint32_t)bytes : bytes == 4 ? 2 : 1;
}

/* Where the line ends, in front of "\n", "\r\n" or "\r". */
static const char *line_end(const struct lines *l, size_t line)
{
    const bool is_last = line + 1 == l->starts.count;
    const char *begin = l->text + l->starts.data[line];
    const char *end = l->text + (is_last ? l->length : l->starts.data[line + 1] - 1);
    return end > begin && end[-1] == '\r' && !is_last ? end - 1 : end;
}

size_t lines_offset(const struct lines *l, struct position p, enum encoding encoding)
{
    if (p.line >= l->starts.count) return l->length;
    const char *at = l->text + l->starts.data[p.line], *end = line_end(l, p.line);
    for (uint32_t character = 0; at < end;) {
        const size_t bytes = character_bytes(at, end);
        character += units(bytes, encoding);
        if (character > p.character) break;
        at += bytes;
    }
    return (size_t)(at - l->text);
}

struct position lines_position(const struct lines *l, size_t offset, enum encoding encoding)
{
    if (offset > l->length) offset = l->length;
    size_t low = 0, high = l->starts.count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (l->starts.data[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    struct position p = {(uint32_t)low, 0};
    const char *at = l->text + l->starts.data[low], *stop = l->text + offset, *end = line_end(l, low);
    if (stop > end) stop = end; /* between "\r" and "\n" a client has no position */
    while (at < stop) {
        const size_t bytes = character_bytes(at, end);
        if (bytes > (size_t)(stop - at)) break; /* inside of a character: its begin */
        p.character += units(bytes, encoding);
        at += bytes;
    }
    return p;
}

struct range lines_range(const struct lines *l, size_t begin, size_t end, enum encoding encoding)
{
    return (struct range){lines_position(l, begin, encoding), lines_position(l, end, encoding)};
}

bool position_is_before(struct position a, struct position b)
{
    return a.line < b.line || (a.line == b.line && a.character < b.character);
}

bool ranges_touch(struct range a, struct range b)
{
    return !position_is_before(a.end, b.begin) && !position_is_before(b.end, a.begin);
}

void position_json(struct strbuf *out, struct position p)
{
    strbuf_printf(out, "{\"line\":%u,\"character\":%u}", p.line, p.character);
}

void range_json(struct strbuf *out, struct range r)
{
    strbuf_puts(out, "{\"start\":");
    position_json(out, r.begin);
    strbuf_puts(out, ",\"end\":");
    position_json(out, r.end);
    strbuf_putc(out, '}');
}
