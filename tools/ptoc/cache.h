/* cache.h - programs that `ptoc run` built before, so that an unchanged one starts at once.
 *
 * A program is found by everything that it was made from, written out as one text: the generated C, the words of both command lines,
 * what the user's C files say, and which files the compiler and the libraries are.  The text stands behind the program in the same
 * file and is compared whole: nothing is believed because of a hash. */
#ifndef PTOC_CACHE_H
#define PTOC_CACHE_H
#include "support/strbuf.h"
#include <stdbool.h>

struct cache_key {
    struct strbuf text;
    bool is_unsure; /* something may change without the text: nothing is looked up or kept */
};

void cache_add_words(struct cache_key *k, const char *what, const char *const *words, size_t count);
void cache_add_text(struct cache_key *k, const char *what, const char *text, size_t length);
void cache_add_file(struct cache_key *k, const char *path);   /* by its place, size and times */
void cache_add_program(struct cache_key *k, const char *name); /* the same of a program looked for in PATH; no file: the word alone */
void cache_add_headers(struct cache_key *k, const char *folder); /* cache_add_file of all in it */
/* A C file by what it says, with what it includes in quotes, looked for beside it and in `include`. */
void cache_add_source(struct cache_key *k, const char *path, const char *include);

/* The path of the program that the key describes, to be freed; NULL: there is none. */
char *cache_find(const struct cache_key *k);
/* Keeps a copy of the program; what can not be kept is not. */
void  cache_keep(const struct cache_key *k, const char *program);
void  cache_key_free(struct cache_key *k);

#endif
