/* json.h - strings in the quoting of JSON and of DOT.
 * Invariant  the output is UTF-8, whatever bytes a name has: another byte becomes U+FFFD, as in --diag=json. */
#ifndef PTOI_JSON_H
#define PTOI_JSON_H
#include <stdio.h>

/* Writes one character that is not ASCII; how many bytes it has. */
static inline int utf8_character(FILE *out, const unsigned char *c)
{
    int length = *c >= 0xc2 && *c < 0xe0 ? 2 : *c >= 0xe0 && *c < 0xf0 ? 3 : *c >= 0xf0 && *c < 0xf5 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80) length = 0; /* also the end of the text */
    if ((*c == 0xe0 && length && c[1] < 0xa0) || (*c == 0xed && length && c[1] > 0x9f)) length = 0;
    if ((*c == 0xf0 && length && c[1] < 0x90) || (*c == 0xf4 && length && c[1] > 0x8f)) length = 0;
    if (length > 0)
        fwrite(c, 1, (size_t)length, out);
    else
        fputs("\xef\xbf\xbd", out);
    return length > 0 ? length : 1;
}

/* Writes the characters that are not ASCII; the first byte after them. */
static inline const unsigned char *utf8_pass(FILE *out, const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    while (*c >= 0x80) c += utf8_character(out, c);
    return c;
}

static inline void json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = utf8_pass(out, text); *c; c = utf8_pass(out, (const char *)c + 1))
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    fputc('"', out);
}

/* DOT shows \\n as the end of a line and has no other escape for a control character: a blank takes its place. */
static inline void dot_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = utf8_pass(out, text); *c; c = utf8_pass(out, (const char *)c + 1))
        if (*c == '"' || *c == '\\' || *c == '\n')
            fprintf(out, "\\%c", *c == '\n' ? 'n' : *c);
        else
            fputc(*c < 0x20 ? ' ' : *c, out);
    fputc('"', out);
}

#endif
