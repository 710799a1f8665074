/* statements.h - for the files that check statements.
 *
 * stmts.c blocks, control, and which statement it is   lets.c let and var   assign.c   returns.c
 * attrs.c */
#ifndef PTOC_STATEMENTS_H
#define PTOC_STATEMENTS_H
#include "checker.h"

void lets_check_let(struct checker *c, struct ast *s);
void lets_check_var(struct checker *c, struct ast *s);
void assign_check(struct checker *c, struct ast *s);
void returns_check(struct checker *c, struct ast *s);
void attrs_check(struct checker *c, struct ast *s, const struct ast *value);
/* What holds only for a call that is known: @timeout is about one kernel. */
void attrs_check_timeout(struct checker *c, const struct ast *s, const struct ast *value);

#endif
