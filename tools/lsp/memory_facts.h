/* memory_facts.h - what codegen decided about the memory of a program, for hints and hovers. */
#ifndef PTOC_LSP_MEMORY_FACTS_H
#define PTOC_LSP_MEMORY_FACTS_H
#include "result.h"

enum release_place {
    RELEASE_BEHIND, /* the statement that ends at `at` */
    RELEASE_BEFORE, /* the statements of the block that begins at `at` */
    RELEASE_ELSE    /* in an else branch that the statement which ends at `at` does not have */
};

/* A lifetime that ends before its block does, where the program does not say so. */
struct release {
    const struct symbol *tensor;
    enum release_place place;
    struct span at;
};
typedef VEC(struct release) release_list;

/* How much heap a function or a scope of one needs. */
struct need {
    struct span at; /* the text up to the brace that opens it ends here */
    bool is_function;
    char *need, *peak; /* "512 bytes"; peak: NULL for a scope */
};
typedef VEC(struct need) need_list;

/* Both leave the list empty for a program with an error. */
void memory_releases(struct result *r, release_list *list);
void memory_needs(struct result *r, need_list *list);
void memory_needs_free(need_list *list);
/* Adds a sentence on where a tensor lies, and how large it is; nothing, where that is not known. */
void memory_describe(struct result *r, const struct symbol *tensor, struct strbuf *out);

#endif
