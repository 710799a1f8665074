/* decided.h - extents that the run decides: for the files that check declarations, calls and statements. */
#ifndef PTOC_DECIDED_H
#define PTOC_DECIDED_H
#include "checker.h"

struct matching;

/* ---- declarations: `?m` in the type of a result ---- */
/* The extent that a DECIDED node is; NULL: it stands elsewhere, which is reported (E19). */
const struct size *decided_extent(struct checker *c, struct ast *node);

/* ---- types ---- */
/* `want`, which is a type of `owner`, where each number of the owner is the extent that `got` has in its place. */
const struct type *decided_match(struct checker *c, const struct type *want, const struct type *got,
                                 const struct symbol *owner);

bool decided_names_number(const struct size *s); /* one that the run decides is in it */

/* ---- calls ---- */
/* Names in the caller for the numbers of the result; as the dimension variables they go into m->from and m->to. */
void decided_bind(struct checker *c, struct matching *m, struct ast *e, const struct target *target);
void decided_keep(struct checker *c, const struct call *call, struct symbol *owner); /* the new tensor or struct */

/* ---- statements ---- */
/* *value, a call that is a part of the statement s, gets a name: s becomes `let NAME = value;`, and what it was stands
 * behind it, with the name.  declared: as in struct target. */
void decided_split(struct checker *c, struct ast *s, struct ast **value, const char *name, const struct type *declared);
/* The same for a call that has been checked, whose result is `let`. */
void decided_name_value(struct checker *c, struct ast *s, struct ast **value, struct symbol *let);

/* ---- vars ---- */
bool decided_begins_var(const struct type *t); /* a value of this type has an extent that the var has as a number */
/* The type of a var that begins with a value of type t. */
const struct type *decided_of_var(struct checker *c, struct symbol *var, const struct type *t);
void decided_forget(struct checker *c, const struct symbol *var);                        /* its numbers may be others */
void decided_take(struct checker *c, const struct symbol *var, const struct type *from); /* var = something */

#endif
