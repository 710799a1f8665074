/* source.h - the bytes of a file, and how a place in them is shown to a person.
 *
 * A span is two byte offsets in one file: 12 bytes, so every node has one.  Line and column are computed when asked. */
#ifndef PTOC_SOURCE_H
#define PTOC_SOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
    uint32_t file;       /* index in the source map */
    uint32_t begin, end; /* bytes, end excluded */
};

struct source {
    const char *path; /* as the user would name it; what messages and #line show */
    const char *text; /* text[length] is the NUL sentinel */
    size_t length;
    bool is_generated; /* by the compiler: there are no warnings about it */
};

struct place {
    int line, column; /* from 1; columns count bytes */
};

struct source_map;

struct source_map *source_map_create(void);
void source_map_destroy(struct source_map *m);
/* Reads a file ("-": standard input).  Refuses directories, FIFOs and devices, and more than 1 GiB.  Returns its index,
 * or -1 with a reason in *why (static text).  A path that was read before gives the same index and is not read
 * again. */
int source_map_read(struct source_map *m, const char *path, const char **why);
/* copies */
int source_map_add(struct source_map *m, const char *path, const char *text, size_t length);
/* The same of a text that the compiler has made of another file. */
int source_map_add_generated(struct source_map *m, const char *path, const char *text, size_t length);
/* From now on source_map_read() finds this text at the path, by whatever links a caller names it, and not what is on
 * disk: a file that is open in an editor.  The text is the caller's, and stays there as long as the map. */
void source_map_overlay(struct source_map *m, const char *path, const char *text, size_t length);
bool source_map_can_read(const struct source_map *m, const char *path); /* it is there, or lies over what is there */
const struct source *source_get(const struct source_map *m, uint32_t file);
struct place source_place(const struct source_map *m, uint32_t file, uint32_t offset);
/* The line (without its end) that contains offset. */
const char *source_line(const struct source_map *m, uint32_t file, uint32_t offset, size_t *length);

static inline struct span span_join(struct span a, struct span b)
{
    struct span s = {a.file, a.begin, b.end};
    return s;
}

#endif
