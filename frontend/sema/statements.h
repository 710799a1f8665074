/* statements.h - for the files that check statements.
 *
 * stmts.c blocks, control, and which statement it is   lets.c let and var   assign.c   returns.c
 * attrs.c   homes.c   unreached.c   vars.c tensors that change */
#ifndef PTOC_STATEMENTS_H
#define PTOC_STATEMENTS_H
#include "checker.h"

void lets_check_let(struct checker *c, struct ast *s);
void lets_check_var(struct checker *c, struct ast *s);
void assign_check(struct checker *c, struct ast *s);
/* The value of an assignment to a tensor is none. */
void assign_say_not_tensor(struct checker *c, const struct ast *place, const struct ast *v);
void returns_check(struct checker *c, struct ast *s);
void attrs_check(struct checker *c, struct ast *s, const struct ast *value);
/* What holds only for a statement that has been checked: @timeout and @at are about a kernel, @dist about a tensor. */
void attrs_check_statement(struct checker *c, struct ast *s, const struct ast *value);
/* unreached.c: control never comes past s, and what follows it in its block is reported. */
bool unreached_behind(struct checker *c, struct ast *s);
void unreached_loop(struct checker *c, const struct ast *s); /* a `for` whose bounds are numbers in the text */
void homes_check(struct checker *c, struct ast *s, const struct ast *attr); /* homes.c: @dist */

/* ---- vars.c: tensors that change ---- */
/* The var is the result of a call, or takes over what `value` names; false: reported. */
bool vars_declare(struct checker *c, struct ast *s, struct symbol *var);
void vars_assign(struct checker *c, struct ast *s);
/* Does v name a whole tensor, or a whole struct, that a var of its function may take over if the function owns it? */
bool vars_can_take(const struct ast *v);
/* `p.a = t;`: each field of the struct `let` that is given a tensor which exists becomes a `var`; are there any? */
bool vars_given_fields(struct checker *c, struct symbol *let, const struct ast *s);
/* `let t = a;` keeps the present value of the var that v names.  false: v names none. */
bool vars_keep(struct checker *c, struct symbol *let, const struct ast *v, const struct type *t);

#endif
