/* names_parts.h - what the files that collect names share; nobody else includes it. */
#ifndef PTOC_LSP_NAMES_PARTS_H
#define PTOC_LSP_NAMES_PARTS_H
#include "names.h"

struct names_work {
    struct result *result;
    const struct module *module;
    struct ast *head; /* the KERNEL, ORCH or STRUCT that is walked, or NULL */
    struct name_list *names;
};

/* It is dropped where the two pieces of text differ: the checker has put a node of its own into the tree. */
void uses_add(struct names_work *w, struct name_use use);
/* A use of the symbol; NULL: nothing. */
void uses_add_symbol(struct names_work *w, struct span at, const struct ast *node, const struct symbol *s);
struct symbol *uses_lookup(const struct module *m, const char *name); /* NULL: it has no such name */

/* names_equations.c: the body of a kernel in index notation. */
void names_of_equations(struct names_work *w, struct ast *block);
/* names_c.c: the C body of a kernel. */
void names_of_c(struct names_work *w, const struct ast *kernel);

#endif
