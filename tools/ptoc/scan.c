/* scan.c - see scan.h.
 * Idea       lines that a backslash joins are joined first, so a word is found however it was cut; then words are
 *            compared whole. Comments and strings are read like code: a word in a comment costs a build, never a wrong
 *            result.
 * Owner      nothing.
 * Invariant  a word of the list is found in every spelling that a preprocessor accepts, put together by ## too.
 * Blocks     never.
 * Tests      test/lit/run/cache-reads.test
 */
#include "scan.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *word, *reason;
    bool asks;
} words[] = {
    {"__TIME__", "it uses __TIME__", false},
    {"__DATE__", "it uses __DATE__", false},
    {"__TIMESTAMP__", "it uses __TIMESTAMP__", false},
    {"__has_include", "it uses __has_include", true},
    {"__has_include_next", "it uses __has_include", true},
    {"__has_embed", "it uses __has_embed", false},
};
enum { WORDS = sizeof words / sizeof *words };

static bool is_letter(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

/* The text without joined lines: a backslash, or its trigraph, with blanks and a newline behind it.  To be freed; NULL:
 * no memory. */
static char *join_lines(const char *text, size_t length, size_t *joined_length)
{
    char *joined = malloc(length + 1);
    size_t n = 0;
    for (size_t i = 0; joined && i < length; i++) {
        const bool is_trigraph = length - i >= 3 && memcmp(text + i, "?\?/", 3) == 0;
        size_t next = i + (is_trigraph ? 3 : 1);
        if (text[i] == '\\' || is_trigraph) {
            while (next < length && is_blank(text[next])) next++;
            if (next < length && text[next] == '\n') {
                i = next;
                continue;
            }
        }
        joined[n++] = text[i];
    }
    if (joined) joined[n] = '\0';
    *joined_length = n;
    return joined;
}

/* Does an #ifdef, #ifndef or `defined` stand before the word at `at`? */
static bool only_asks_whether_known(const char *text, const char *at)
{
    const char *p = at;
    while (p > text && (is_blank(p[-1]) || p[-1] == '(')) p--;
    return (p - text >= 7 && memcmp(p - 7, "defined", 7) == 0) || (p - text >= 5 && memcmp(p - 5, "ifdef", 5) == 0) ||
           (p - text >= 6 && memcmp(p - 6, "ifndef", 6) == 0);
}

/* ("name") or (<name>) at p. */
static bool asks_by_name(const char *p, scan_asked *asked, void *context)
{
    while (is_blank(*p)) p++;
    if (*p++ != '(') return false;
    while (is_blank(*p)) p++;
    const char close = *p == '"'   ? '"'
                       : *p == '<' ? '>'
                                   : '\0',
               *end = close ? p + 1 + strcspn(p + 1, close == '"' ? "\"\n" : ">\n") : p;
    if (!close || *end != close) return false;
    asked(context, p + 1, (size_t)(end - p - 1));
    return true;
}

static const char *scan_word(const char *text, const char *at, size_t length, bool is_system, scan_asked *asked,
                             void *context)
{
    for (int i = 0; i < WORDS; i++) {
        const size_t whole = strlen(words[i].word);
        if (length > whole || memcmp(at, words[i].word, length) != 0) continue;
        if (length < whole) {
            if (is_system) continue;
            return "it has a part of such a word, which ## may complete";
        }
        if (is_system && words[i].asks &&
            (only_asks_whether_known(text, at) || asks_by_name(at + length, asked, context)))
            return NULL;
        return words[i].reason;
    }
    return NULL;
}

static const char *scan_joined(const char *text, size_t length, bool is_system, scan_asked *asked, void *context)
{
    if (strlen(text) != length) return "it has a byte that is zero";
    for (const char *at = text; (at = strchr(at, '_')) != NULL;) {
        const size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        const char *reason = at > text && is_letter(at[-1]) ? NULL : scan_word(text, at, n, is_system, asked, context);
        if (reason) return reason;
        at += n;
    }
    return NULL;
}

const char *scan_source(const char *text, size_t length, bool is_system, scan_asked *asked, void *context)
{
    size_t joined_length;
    char *joined = join_lines(text, length, &joined_length);
    const char *reason =
        joined ? scan_joined(joined, joined_length, is_system, asked, context) : "there is no memory to inspect it";
    free(joined);
    return reason;
}

/* A macro of the assembler could put a name together, so macros count. */
const char *scan_assembly(const char *text, size_t length)
{
    static const char *const directives[] = {".incbin", ".include", ".macro", ".irp", ".rept", ".altmacro"};
    for (const char *at = text, *end = text + length; (at = memchr(at, '.', (size_t)(end - at))) != NULL; at++)
        for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
            if ((size_t)(end - at) >= strlen(directives[i]) &&
                strncasecmp(at, directives[i], strlen(directives[i])) == 0)
                return "its assembly may read other files";
    return NULL;
}
