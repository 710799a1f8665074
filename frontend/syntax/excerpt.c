/* excerpt.c - one line of source with a range marked under it.
 * Idea       the line is walked once, character by character; the marks advance by what each character takes on the
 *            screen.
 * Owner      nothing; writes to a strbuf.
 * Invariant  both lines have the same width up to the end of the marks: tabs are blanks, a character that a terminal
 *            would obey is shown as one '?', a wide character has two marks.
 * Blocks     never; of a very long line only a window around the range is looked at.
 * Tests      test/lit/diag/excerpt.test, test/frontend/test_excerpt.c
 */
#include "excerpt.h"
#include "support/strbuf.h"
#include <stdbool.h>
#include <stdint.h>

enum { TAB_WIDTH = 4, LONG_LINE = 160, BEFORE_RANGE = 60, GUTTER = 5 };

struct glyph {
    size_t bytes;
    int width;
    bool printable; /* else: shown as '?' */
};

static bool is_between(uint32_t c, uint32_t low, uint32_t high) { return c >= low && c <= high; }

static int width_of(uint32_t c)
{
    if (is_between(c, 0x300, 0x36f) || is_between(c, 0x200b, 0x200d) || is_between(c, 0xfe00, 0xfe0f)) return 0;
    if (is_between(c, 0x1100, 0x115f) || is_between(c, 0x2e80, 0x303e) || is_between(c, 0x3041, 0xa4cf) ||
        is_between(c, 0xac00, 0xd7a3) || is_between(c, 0xf900, 0xfaff) || is_between(c, 0xfe30, 0xfe6f) ||
        is_between(c, 0xff00, 0xff60) || is_between(c, 0xffe0, 0xffe6) || is_between(c, 0x1f300, 0x1f64f) ||
        is_between(c, 0x1f900, 0x1f9ff) || is_between(c, 0x20000, 0x3fffd))
        return 2;
    return 1;
}

static bool is_obeyed_by_terminals(uint32_t c)
{
    return c < 0x20 || is_between(c, 0x7f, 0x9f) || is_between(c, 0x200e, 0x200f) || is_between(c, 0x2028, 0x202e) ||
           is_between(c, 0x2066, 0x2069) || c == 0xfeff;
}

static struct glyph next_glyph(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;
    const struct glyph broken = {1, 1, false};
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (n == 0 || n > length) return broken;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return broken;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || is_between(c, 0xd800, 0xdfff)) return broken;
    if (is_obeyed_by_terminals(c)) return (struct glyph){n, 1, false};
    return (struct glyph){n, width_of(c), true};
}

void excerpt_add_safe(struct strbuf *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        struct glyph g = next_glyph(text + i, length - i);
        if (g.printable)
            strbuf_add(out, text + i, g.bytes);
        else
            strbuf_putc(out, text[i] == '\n' || text[i] == '\t' ? ' ' : '?');
        i += g.bytes;
    }
}

static bool is_inside_character(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

void excerpt_add(struct strbuf *out, int line_number, const char *text, size_t length, size_t begin, size_t end,
                 struct excerpt_style style)
{
    if (begin > length) begin = length;
    if (end > length) end = length;
    if (end <= begin) end = begin + 1;
    size_t from = 0, to = length;
    if (length > LONG_LINE) {
        from = begin > BEFORE_RANGE ? begin - BEFORE_RANGE : 0;
        to = length - from > LONG_LINE ? from + LONG_LINE : length;
        while (from < begin && is_inside_character(text[from])) from++;
        while (to < length && to > begin && is_inside_character(text[to])) to--;
    }

    STRBUF(marks);
    strbuf_printf(out, "%*d | ", GUTTER, line_number);
    strbuf_printf(&marks, "%*s | ", GUTTER, "");
    if (from > 0) strbuf_puts(out, "...");
    if (from > 0) strbuf_puts(&marks, "   ");
    int column = 0;
    bool is_marking = false;
    for (size_t i = from; i <= to;) {
        bool at_end = i == to;
        struct glyph g = at_end ? (struct glyph){1, 1, true} : next_glyph(text + i, to - i);
        bool is_tab = !at_end && text[i] == '\t';
        if (is_tab) g.width = TAB_WIDTH - column % TAB_WIDTH;
        // A byte in the middle of a character marks the whole character.
        bool is_marked = i < end && i + g.bytes > begin;
        if (is_marked && !is_marking) strbuf_puts(&marks, style.mark_on);
        for (int k = 0; k < g.width && (is_marked || !is_marking); k++) {
            bool is_first = is_marked && !is_marking;
            strbuf_putc(&marks, is_first ? style.first : is_marked ? style.rest : ' ');
            if (is_first) is_marking = true;
        }
        if (at_end) break;
        if (is_tab)
            strbuf_printf(out, "%*s", g.width, "");
        else if (g.printable)
            strbuf_add(out, text + i, g.bytes);
        else
            strbuf_putc(out, '?');
        column += g.width;
        i += g.bytes;
    }
    if (to < length) strbuf_puts(out, "...");
    strbuf_putc(out, '\n');
    strbuf_add(out, strbuf_text(&marks), marks.length);
    strbuf_puts(out, style.mark_off);
    strbuf_putc(out, '\n');
}
