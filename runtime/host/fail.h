/* fail.h - how the parts of the command line report a mistake.
 * Idea       a function that can fail returns an exit code and leaves one line of text; only program.c prints it.
 * Invariant  the text is one line, whatever a file name or an argument contains.
 * Tests      test/runtime/test_npy.c, test_options.c, test_bind.c
 */
#ifndef PTO_HOST_FAIL_H
#define PTO_HOST_FAIL_H
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum host_exit { HOST_OK = 0, HOST_RUN = 1, HOST_USAGE = 2, HOST_INTERNAL = 3, HOST_FILE = 4 };

struct host_error {
    const char *id;  /* "E16" where the message has an explain page, else NULL */
    char text[1024]; /* longer texts end in dots */
    bool is_of_call; /* a program calls: there are arguments, and no options of a command line */
};

/* Returns code, so that a caller can write `return host_fail(...)`. */
__attribute__((format(printf, 3, 4))) static inline int host_fail(struct host_error *e, int code, const char *format,
                                                                  ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    e->id = NULL;
    if (length >= (int)sizeof e->text) memcpy(e->text + sizeof e->text - 4, "...", 4);
    for (char *c = e->text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    return code;
}

static inline int host_fail_memory(struct host_error *e) { return host_fail(e, HOST_INTERNAL, "out of memory"); }
#endif
