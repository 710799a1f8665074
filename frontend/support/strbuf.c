/* strbuf.c - text that grows, and the two ways ptoc quotes text.
 * Idea       one malloc'ed piece that doubles; the terminating NUL is always there once anything was added.
 * Owner      the owner of the struct; strbuf_free() gives the memory back and leaves an empty buffer.
 * Invariant  data == NULL, or length < capacity and data[length] == 0.
 * Blocks     never; out of memory ends the program with exit code 3.
 * Tests      test/frontend/test_strbuf.c
 */
#include "strbuf.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void make_room(struct strbuf *b, size_t more)
{
    if (b->data != NULL && more < b->capacity - b->length) return;
    size_t wanted = b->capacity == 0 ? 64 : b->capacity;
    bool fits = more < SIZE_MAX / 4 && b->length < SIZE_MAX / 4;
    while (fits && wanted - b->length <= more) wanted *= 2;
    char *grown = fits ? realloc(b->data, wanted) : NULL;
    if (grown == NULL) {
        fputs("ptoc: out of memory\n", stderr);
        exit(3);
    }
    b->data = grown;
    b->capacity = wanted;
    b->data[b->length] = '\0';
}

void strbuf_add(struct strbuf *b, const char *text, size_t length)
{
    make_room(b, length);
    if (length > 0) memcpy(b->data + b->length, text, length);
    b->length += length;
    b->data[b->length] = '\0';
}

void strbuf_puts(struct strbuf *b, const char *text) { strbuf_add(b, text, strlen(text)); }

void strbuf_putc(struct strbuf *b, char c) { strbuf_add(b, &c, 1); }

void strbuf_vprintf(struct strbuf *b, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length > 0) {
        make_room(b, (size_t)length);
        vsnprintf(b->data + b->length, (size_t)length + 1, format, again);
        b->length += (size_t)length;
    }
    va_end(again);
}

void strbuf_printf(struct strbuf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_vprintf(b, format, args);
    va_end(args);
}

/* Bytes of a well-formed UTF-8 sequence at text, or 0. */
static size_t utf8_length(const unsigned char *text, size_t length)
{
    unsigned char c = text[0];
    size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (n == 0 || n > length) return 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f)) return 0;
    if ((c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] > 0x8f)) return 0;
    return n;
}

void strbuf_json(struct strbuf *b, const char *text, size_t length)
{
    strbuf_putc(b, '"');
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x80) {
            // A byte that is not UTF-8 would make the whole line unreadable as JSON: the replacement character instead.
            size_t n = utf8_length((const unsigned char *)text + i, length - i);
            strbuf_add(b, n > 0 ? text + i : "\xef\xbf\xbd", n > 0 ? n : 3);
            i += n > 0 ? n : 1;
            continue;
        }
        switch (c) {
        case '"': strbuf_puts(b, "\\\""); break;
        case '\\': strbuf_puts(b, "\\\\"); break;
        case '\n': strbuf_puts(b, "\\n"); break;
        case '\r': strbuf_puts(b, "\\r"); break;
        case '\t': strbuf_puts(b, "\\t"); break;
        default:
            if (c < 0x20 || c == 0x7f)
                strbuf_printf(b, "\\u%04x", c);
            else
                strbuf_putc(b, (char)c);
        }
        i++;
    }
    strbuf_putc(b, '"');
}

void strbuf_c_string(struct strbuf *b, const char *text, size_t length)
{
    strbuf_putc(b, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        switch (c) {
        case '"': strbuf_puts(b, "\\\""); break;
        case '\\': strbuf_puts(b, "\\\\"); break;
        case '\n': strbuf_puts(b, "\\n"); break;
        case '\t': strbuf_puts(b, "\\t"); break;
        // "??x" would be a trigraph.
        case '?': strbuf_puts(b, i > 0 && text[i - 1] == '?' ? "\\?" : "?"); break;
        default:
            // Three octal digits always: a digit that follows can not become part of the escape.
            if (c < 0x20 || c >= 0x7f)
                strbuf_printf(b, "\\%03o", c);
            else
                strbuf_putc(b, (char)c);
        }
    }
    strbuf_putc(b, '"');
}

const char *strbuf_text(const struct strbuf *b) { return b->data != NULL ? b->data : ""; }

void strbuf_cut(struct strbuf *b, size_t length)
{
    if (length >= b->length) return;
    b->length = length;
    b->data[length] = '\0';
}

void strbuf_free(struct strbuf *b)
{
    free(b->data);
    *b = (struct strbuf){0};
}
