/* strbuf.h - text that grows. */
#ifndef PTOC_STRBUF_H
#define PTOC_STRBUF_H
#include <stdarg.h>
#include <stddef.h>

struct strbuf {
    char *data; /* NUL-terminated once anything was added; may be NULL when empty */
    size_t length, capacity;
};

void strbuf_add(struct strbuf *b, const char *text, size_t length);
void strbuf_puts(struct strbuf *b, const char *text);
void strbuf_putc(struct strbuf *b, char c);
void strbuf_cut(struct strbuf *b, size_t length); /* leaves the first `length` bytes; at most as many as there are */
void strbuf_printf(struct strbuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vprintf(struct strbuf *b, const char *format, va_list args);
void strbuf_json(struct strbuf *b, const char *text, size_t length);     /* "quoted and escaped" */
void strbuf_c_string(struct strbuf *b, const char *text, size_t length); /* a C string literal, no trigraphs */
const char *strbuf_text(const struct strbuf *b);                         /* never NULL */
void strbuf_free(struct strbuf *b);

/* A text that is freed where its block ends, by whatever way. */
#define STRBUF(name) struct strbuf name __attribute__((cleanup(strbuf_free))) = {0}

#endif
