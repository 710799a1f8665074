/* cache.h - programs that `ptoc run` built before, so that an unchanged one starts at once; and kernels of them.
 *
 * A program is found by a key, the inputs of its build: the generated C, the words of the command lines, the
 * environment of the compilers.  It is valid only if each file that the build read is unchanged (reads.h).  The whole
 * key is compared. */
#ifndef PTOC_CACHE_H
#define PTOC_CACHE_H
#include "reads.h"

enum { CACHE_PROGRAMS = 64, CACHE_KERNELS = 1024 };

struct cache {
    int folder; /* -1: nothing is kept */
    char *path; /* of it, for messages */
    int most;   /* entries; those that were not used for longest go */
    bool is_installed;
};

/* kind: NULL: programs; else what is kept in a folder of this name below that of the programs.  Nothing is kept where
 * others may write to the folder; that is said in a line on standard error. */
void cache_open(struct cache *c, const char *kind, int most);
/* A folder of the installation with objects.  Whatever user can write to it can replace ptoc, so anyone's files are
 * taken.  Nothing in it is forgotten, and the key says all that they were made from. */
void cache_open_installed(struct cache *c, const char *path);
void cache_close(struct cache *c);

enum { CACHE_NAME_BYTES = 40 };
/* What the file of this key is called in the folder. */
void cache_name(const struct cache *c, const struct strbuf *key, char name[CACHE_NAME_BYTES]);

/* A descriptor of the program, to be executed, or -1: there is none.  *path: where it was found, to be freed. */
int cache_find(const struct cache *c, const struct strbuf *key, char **path);
/* The bytes of the program in a file of cache_find, which has more behind it; -1: it cannot be read. */
int64_t cache_program_bytes(int file);
/* Adds the list of what the program was built from.  False: it cannot be read. */
bool cache_list(int file, struct strbuf *list);
/* Writes it there and closes the descriptor; an exit code, after a message. */
int cache_copy(int file, const char *path);
/* Keeps a copy of the program; what cannot be kept is not.  list: of reads_list; empty in an installation.  False: it
 * is not kept. */
bool cache_keep(const struct cache *c, const struct strbuf *key, const struct strbuf *list, const char *program);

/* Words of a key, with their number of bytes so that no two keys run together. */
void cache_key_text(struct strbuf *key, const char *what, const char *text, size_t length);
void cache_key_words(struct strbuf *key, const char *what, const char *const *words, size_t count);

#endif
