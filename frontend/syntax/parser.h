/* parser.h - text to AST.  One call a file; nothing is kept between calls. */
#ifndef PTOC_PARSER_H
#define PTOC_PARSER_H
#include "ast.h"
#include "diag.h"
#include <stdio.h>

struct arena;
struct interner;

struct front { /* what every stage of the front end is given */
    struct arena *mem;
    struct interner *names;
    struct source_map *sources;
    struct diag *diag;
};

/* Parses one file.  Reports every syntax error it can recover from; the result is never NULL, and is only worth
 * checking when diag_error_count() did not change.  Nesting deeper than 256 is an error. */
struct program_ast *parse_file(struct front *front, uint32_t file);

void tokens_dump(struct front *front, uint32_t file, FILE *out);                        /* --emit=tokens */
void ast_dump(const struct front *front, const struct program_ast *program, FILE *out); /* --emit=ast */

#endif
