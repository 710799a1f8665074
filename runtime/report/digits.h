/* digits.h - the data of a report as text: numbers of few characters, and strings.
 * Tests      test/lit/host/report.test */
#ifndef PTOI_DIGITS_H
#define PTOI_DIGITS_H
#include "json.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A number as the script reads it: digits of five bits, the least first. */
static inline void digits_put(FILE *out, uint64_t n)
{
    for (; n >= 32; n >>= 5) putc(63 + (int)(n & 31) + 32, out);
    putc(63 + (int)n, out);
}

static inline void digits_put_signed(FILE *out, int64_t n)
{
    digits_put(out, n < 0 ? (uint64_t)(-n) * 2 - 1 : (uint64_t)n * 2);
}

/* A string of JSON in which nothing is a mark of XML. */
static inline void digits_put_string(FILE *out, const char *text)
{
    putc('"', out);
    for (const unsigned char *c = utf8_pass(out, text); *c; c = utf8_pass(out, (const char *)c + 1))
        if (*c < 0x20 || strchr("\"\\<>&", *c))
            fprintf(out, "\\u%04x", *c);
        else
            putc(*c, out);
    putc('"', out);
}

#endif
