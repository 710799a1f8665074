/* describe.h - declarations and what was found out about them, as text. */
#ifndef PTOC_LSP_DESCRIBE_H
#define PTOC_LSP_DESCRIBE_H
#include "names.h"

/* The declaration as it is written, without a body: "kernel add<N>(in a: f32[N], out b: f32[N]) on vector".  Of a
 * function or a kernel on one line. */
void describe_declaration(const struct result *r, const struct ast *decl, struct strbuf *out);
/* The type of a value: "f32[64, N]"; nothing of what has none. */
void describe_type(const struct symbol *s, struct strbuf *out);
/* The node that declares a name; NULL: it is not known. */
const struct ast *describe_node(struct result *r, const struct name_use *use);

#endif
