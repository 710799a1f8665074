/* out.h - lines of generated C, each with the place in the .pto text it comes from.
 *
 * Sections are written apart (functions before the tables they need are known) and joined; #line is decided when the
 * joined text is rendered, which is the only time at which lines are counted. */
#ifndef PTOC_OUT_H
#define PTOC_OUT_H
#include "support/strbuf.h"
#include "support/vec.h"
#include <stdbool.h>

struct out_line {
    char *text;
    const char *file; /* of the .pto text; NULL: the generated file itself */
    int line;
    const void *unless; /* not needed where this is used; or NULL */
    bool joined;        /* goes on from the line above, wherever that is from: needs no #line of its own */
};

struct out {
    VEC(struct out_line) lines;
    int depth; /* of indentation, in steps of 4 */
    const char *file;
    int line;
};

/* where the following lines come from; NULL: the generated file */
void out_at(struct out *o, const char *file, int line);
void out_line(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same before a block, and behind it. */
void out_open(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_close(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* of the preprocessor: not indented */
void out_directive(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* joined, one step further in */
void out_more(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line that out_settle() removes if `key` is used by then. */
void out_line_unless(struct out *o, const void *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
void out_settle(struct out *o, bool (*is_used)(const void *cx, const void *key), const void *cx);
/* as it is; may hold newlines */
void out_raw(struct out *o, const char *file, int line, const char *text, size_t length);
void out_append(struct out *o, struct out *other); /* moves the lines of other to the end of o */
void out_render(const struct out *o, const char *self, bool line_directives, struct strbuf *to);
void out_clear(struct out *o);

#endif
