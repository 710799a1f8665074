/* navigation.h - where a name is declared and used, for those who ask. */
#ifndef PTOC_LSP_NAVIGATION_H
#define PTOC_LSP_NAVIGATION_H
#include "names.h"
#include "server.h"

/* The name at params.position, of the good result of *document; NULL: there is none. */
const struct name_use *name_under(struct server *s, const json_t *params, struct document **document);
/* Are two names, of two results, declared at the same place of the same file? */
bool name_is_same(const struct result *r, const struct name_use *use, const struct result *of,
                  const struct name_use *name);
bool name_is_of_library(const struct server *s, const struct result *r, const struct name_use *use); /* of std/ */

/* One place where a name stands. */
struct name_place {
    struct location at;
    struct document *document; /* in whose result it is */
    const struct name_use *use;
};
typedef VEC(struct name_place) place_list;

/* Each place once, in all that is open and what that imports. */
void places_of(struct server *s, struct document *d, const struct name_use *name, bool with_declaration,
               place_list *list);
void places_free(place_list *list);

#endif
