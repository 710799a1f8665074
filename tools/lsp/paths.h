/* paths.h - files as a client names them. */
#ifndef PTOC_LSP_PATHS_H
#define PTOC_LSP_PATHS_H
#include "support/strbuf.h"

/* "file:///a%20b" is "/a b"; a URI of another kind is its own path.  To be freed. */
char *path_of_uri(const char *uri);
void uri_of_path(struct strbuf *out, const char *path);
/* Without links and `..`; of a file that is not there, the path itself.  To be freed. */
char *path_real(const char *path);

#endif
