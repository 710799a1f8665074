/* scope.h - the names that can be used at a place. */
#ifndef PTOC_LSP_SCOPE_H
#define PTOC_LSP_SCOPE_H
#include "names.h"

struct in_scope {
    const char *name;
    const struct symbol *symbol; /* NULL: in index notation */
    const struct ast *decl;
    enum name_kind kind;
};
typedef VEC(struct in_scope) scope_list;

/* All names that can be used at an offset of the document, the innermost first; a name may be there twice. */
void scope_names(struct result *r, size_t offset, scope_list *list);
/* The first of that name; NULL: there is none. */
const struct in_scope *scope_find(const scope_list *list, const char *name, size_t length);

#endif
