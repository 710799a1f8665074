/* positions.h - bytes of a text, and the lines and characters by which a client names them. */
#ifndef PTOC_LSP_POSITIONS_H
#define PTOC_LSP_POSITIONS_H
#include "support/strbuf.h"
#include "support/vec.h"
#include <stdbool.h>
#include <stdint.h>

struct position {
    uint32_t line, character; /* from 0; characters as the client counts them */
};

struct range {
    struct position begin, end;
};

/* What a character is: a UTF-16 unit, or a byte where the client offers that. */
enum encoding { ENCODING_UTF16, ENCODING_UTF8 };

/* The lines of a text, which is the caller's. */
struct lines {
    const char *text;
    size_t length;
    VEC(uint32_t) starts;
};

void lines_make(struct lines *l, const char *text, size_t length); /* l is zeroed, or was made before */
void lines_free(struct lines *l);
/* What lies behind the end of a line, or of the text, is that end. */
size_t lines_offset(const struct lines *l, struct position p, enum encoding encoding);
struct position lines_position(const struct lines *l, size_t offset, enum encoding encoding);
struct range lines_range(const struct lines *l, size_t begin, size_t end, enum encoding encoding);

bool position_is_before(struct position a, struct position b);
bool ranges_touch(struct range a, struct range b); /* share a place, be it only an end */
void position_json(struct strbuf *out, struct position p);
void range_json(struct strbuf *out, struct range r); /* {"start":..,"end":..} */

#endif
