/* methods.h - the requests that the server answers. */
#ifndef PTOC_LSP_METHODS_H
#define PTOC_LSP_METHODS_H
#include "server.h"

request_function *methods_find(const char *method); /* NULL: there is none of that name */
void methods_capabilities(struct strbuf *out);      /* members of the object that says so to the client */
/* The file is saved: what the C compiler says about the bodies of its kernels. */
void bodies_check(struct server *s, struct document *d);
/* The first message of the C compiler about the bodies of a changed program, where the program had fewer before; NULL:
 * there is none.  The text is the arena's of `after`. */
const char *bodies_new_message(struct server *s, const char *path, const struct check_request *before,
                               struct result *after);

#endif
