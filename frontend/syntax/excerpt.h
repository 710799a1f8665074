/* excerpt.h - one line of source with a range marked under it, fit for a terminal. */
#ifndef PTOC_EXCERPT_H
#define PTOC_EXCERPT_H
#include <stddef.h>

struct strbuf;

struct excerpt_style {
    const char *mark_on, *mark_off; /* put around the marks: colour, or "" */
    char first, rest;               /* the marks: '^' '~' */
};

/* Adds two lines to out: the text behind its line number, and under it marks from byte begin to byte end of the
 * text. */
void excerpt_add(struct strbuf *out, int line_number, const char *text, size_t length, size_t begin, size_t end,
                 struct excerpt_style style);

/* Adds text, with what a terminal would obey or show wrongly (control and direction characters, broken UTF-8)
 * replaced. */
void excerpt_add_safe(struct strbuf *out, const char *text, size_t length);

#endif
