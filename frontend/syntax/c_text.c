/* c_text.c - C bodies: comments, literals and names.
 * Idea       what stands in comments, strings and characters is no name and no brace, and neither is what continues a
 *            number; nothing else of C is known.
 * Owner      nothing.
 * Tests      test/lit/lexer/, test/lit/sema/e18-contiguous.pto, test/lit/codegen/kernel-bodies.pto
 */
#include "c_text.h"
#include <limits.h>
#include <string.h>

bool c_text_is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Behind the character at p; a backslash takes the next one with it, and a line end of two bytes is one. */
static const char *step(const char *p, const char *end)
{
    if (*p != '\\' || end - p < 2) return p + 1;
    return p[1] == '\r' && end - p > 2 && p[2] == '\n' ? p + 3 : p + 2;
}

const char *c_text_skip(const char *p, const char *end)
{
    if (*p == '"' || *p == '\'') {
        const char quote = *p++;
        while (p < end && *p != quote && *p != '\n') p = step(p, end);
        return p < end && *p == quote ? p + 1 : p; /* the C compiler will say what is wrong with the other one */
    }
    if (end - p < 2 || *p != '/') return p;
    if (p[1] == '/') {
        while (p < end && *p != '\n') p = step(p, end);
    } else if (p[1] == '*') {
        for (p += 2; end - p > 1 && !(p[0] == '*' && p[1] == '/');) p++;
        return end - p > 1 ? p + 2 : NULL;
    }
    return p;
}

const char *c_text_name(const char *at, const char *end, size_t *length, int *depth)
{
    while (at < end) {
        const char *behind = c_text_skip(at, end);
        if (!behind) return NULL;
        if (behind == at && !c_text_is_word(*at)) {
            if (depth) *depth += (*at == '[') - (*at == ']');
            behind++;
        }
        if (behind > at) {
            at = behind;
            continue;
        }
        const bool is_number = *at >= '0' && *at <= '9';
        while (behind < end && (c_text_is_word(*behind) || (is_number && *behind == '.'))) behind++;
        *length = (size_t)(behind - at);
        if (!is_number) return at;
        at = behind;
    }
    return NULL;
}

/* The first use of the name from `at` on; NULL: there is none. */
static const char *next_use(const char *at, const char *end, const char *name)
{
    size_t length;
    while ((at = c_text_name(at, end, &length, NULL)) != NULL) {
        if (length == strlen(name) && memcmp(at, name, length) == 0) return at;
        at += length;
    }
    return NULL;
}

static bool is_address_taken(const char *begin, const char *use)
{
    return use > begin && use[-1] == '&' && !(use > begin + 1 && use[-2] == '&');
}

enum c_use c_text_use(const char *begin, const char *end, const char *name)
{
    enum c_use found = C_USE_NONE;
    for (const char *p = begin; (p = next_use(p, end, name)) != NULL; p += strlen(name)) {
        if (is_address_taken(begin, p)) return C_USE_ADDRESS;
        found = C_USE_VALUE;
    }
    return found;
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) p++;
    return p;
}

/* The constant index in square brackets at p; -1: there is none. */
static int constant_index(const char *p, const char *end)
{
    p = skip_blanks(p, end);
    if (p == end || *p != '[') return -1;
    p = skip_blanks(p + 1, end);
    if (p == end || *p < '0' || *p > '9') return -1;
    const int number = *p++ - '0'; /* no tensor has 10 dimensions */
    p = skip_blanks(p, end);
    return p < end && *p == ']' ? number : -1;
}

int c_text_indexed(const char *begin, const char *end, const char *name)
{
    int count = 0;
    for (const char *p = begin; (p = next_use(p, end, name)) != NULL; p += strlen(name)) {
        const int index = is_address_taken(begin, p) ? -1 : constant_index(p + strlen(name), end);
        if (index < 0) return INT_MAX;
        if (index >= count) count = index + 1;
    }
    return count;
}
