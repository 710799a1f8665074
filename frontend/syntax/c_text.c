/* c_text.c - the names in a C body.
 * Idea       what stands in comments, strings and characters is no name, and neither is what continues a number.
 * Tests      test/lit/sema/e18-contiguous.pto, test/lit/codegen/kernel-bodies.pto
 */
#include "c_text.h"
#include <stdbool.h>

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Behind the comment or literal that begins at p; p: there is none. */
static const char *skip_text(const char *p, const char *end)
{
    if (end - p > 1 && p[0] == '/' && p[1] == '/') {
        /* a backslash takes the line end with it */
        while (p < end && *p != '\n') p += end - p > 1 && *p == '\\' ? 2 : 1;
    } else if (end - p > 1 && p[0] == '/' && p[1] == '*') {
        for (p += 2; end - p > 1 && !(p[0] == '*' && p[1] == '/');) p++;
        p += end - p > 1 ? 2 : end - p;
    } else if (*p == '"' || *p == '\'') {
        const char quote = *p++;
        while (p < end && *p != quote) p += end - p > 1 && *p == '\\' ? 2 : 1;
        p += p < end;
    }
    return p;
}

const char *c_text_name(const char *at, const char *end, size_t *length)
{
    while (at < end) {
        const char *behind = skip_text(at, end);
        if (behind == at && !is_word(*at)) behind++;
        if (behind > at) {
            at = behind;
            continue;
        }
        const bool is_number = *at >= '0' && *at <= '9';
        while (behind < end && (is_word(*behind) || (is_number && *behind == '.'))) behind++;
        *length = (size_t)(behind - at);
        if (!is_number) return at;
        at = behind;
    }
    return NULL;
}
