/* ptrmap.h - from a pointer to a pointer, for the notes of a stage about nodes and symbols that it does not own.
 * Idea       open addressing, power of two, grown at half full; never walked, so no address can reach the output.
 * Owner      the declarer, who zeroes it and calls ptrmap_free.  With `mem` set its memory is the arena's and nothing
 *            has to be freed.
 * Tests      every test of test/lit/codegen
 */
#ifndef PTOC_PTRMAP_H
#define PTOC_PTRMAP_H
#include <stddef.h>

struct arena;

struct ptrmap_entry {
    const void *key;
    void *value;
};

struct ptrmap {
    struct ptrmap_entry *entries;
    size_t count, capacity;
    struct arena *mem; /* or NULL */
};

void *ptrmap_get(const struct ptrmap *m, const void *key); /* NULL: not there */
void ptrmap_set(struct ptrmap *m, const void *key, void *value);
void ptrmap_free(struct ptrmap *m);

#endif
